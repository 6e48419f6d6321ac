"""From the wire to the function's values, or to a refusal: read, examine, validate.

A correct call takes the short way: read once, one compiled check, one validation run. Everything else is examined.
"""

from __future__ import annotations

from typing import Any, cast

from toolbooth.boundary.correct import correct, holds_secret
from toolbooth.boundary.decode import CLIENT_KEYS, Repair
from toolbooth.boundary.examine import MOST_PROBLEMS, Examination, examine, whole_integers
from toolbooth.boundary.read import NOTHING, Reading, Unreadable, read_json
from toolbooth.boundary.validate import Located, problems_of, values_of
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import Problem, ToolInputError
from toolbooth.gate import fits

Accepted = tuple[Any, list[Repair]]


def accept_bytes(contract: Contract, body: bytes) -> Accepted:
    """The function's values and the repairs made. Raises ToolInputError."""
    try:
        reading = read_json(body, contract.limits, exact=contract.exact) if body else NOTHING
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    return accept_reading(contract, reading)


def accept_reading(contract: Contract, reading: Reading) -> Accepted:
    """`accept_bytes` for arguments that were read together with what they came in. Raises ToolInputError."""
    value, delicate, pointed = reading
    # The short way. Whatever is special about a call, the long way finds it again.
    if type(value) is dict and not delicate:
        arguments = cast("dict[str, Any]", value)
        if contract.proves:
            try:
                return contract.validate(arguments), []
            except InvalidValues:
                pass
        elif pointed and contract.integers:
            pass
        elif (contract.closed or CLIENT_KEYS.isdisjoint(arguments)) and fits(contract.shape, arguments):
            try:
                return values_of(contract, arguments), []
            except InvalidValues as error:
                raise invalid_values(contract, error, arguments) from None
    return _long_way(contract, reading)


def _long_way(contract: Contract, reading: Reading) -> Accepted:
    repairs: list[Repair] = []
    try:
        if type(reading[0]) is not dict:
            reading, repairs = _object_of(contract, reading)
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    value, delicate, pointed = reading
    thorough = delicate or bool(repairs)
    if pointed and contract.integers and not thorough:
        value = whole_integers(contract.shape, value)
    return _examined(contract, value, repairs, thorough=thorough)


def _object_of(contract: Contract, reading: Reading) -> tuple[Reading, list[Repair]]:
    """`arguments` that came as null (nothing sent) or as JSON text (PrefectHQ/fastmcp#883, 2025-06-20)."""
    repairs: list[Repair] = []
    while isinstance(reading[0], str):
        reading = read_json(reading[0].encode(), contract.limits)
        repairs = [Repair(code="json-text", path="$")]
    if reading[0] is None and not repairs:
        return NOTHING, repairs
    if type(reading[0]) is not dict:
        raise Unreadable("not-an-object", "the arguments must be one JSON object")
    return reading, repairs


def _examined(contract: Contract, arguments: dict[str, Any], repairs: list[Repair], *, thorough: bool) -> Accepted:
    """Repair what may be repaired, refuse what may not pass."""
    decoded, exam = examine(contract.shape, arguments, contract.limits, thorough=thorough)
    if exam.problems:
        raise _refusal(contract, arguments, decoded, exam)
    try:
        return values_of(contract, decoded), repairs + exam.repairs
    except InvalidValues as error:
        raise invalid_values(contract, error, decoded) from None


def invalid_values(contract: Contract, error: InvalidValues, arguments: Any) -> ToolInputError:
    """The refusal that says what the author's validation said."""
    found = problems_of(error, contract.shape, arguments)
    missing = any(problem.code == "missing" and len(place.path) == 1 for place, problem in found)
    names = dict.fromkeys(name for form in contract.shape.objects for name in form.names)
    declared = {"$": tuple(names)} if missing else {}
    problems = [problem for _, problem in found]
    more = max(0, len(problems) - MOST_PROBLEMS)
    return ToolInputError(problems[:MOST_PROBLEMS], tool=contract.name, declared=declared, more=more)


def _refusal(contract: Contract, arguments: dict[str, Any], decoded: Any, exam: Examination) -> ToolInputError:
    """All problems at once: the shape's, and what the author's validation says of the rest, run once."""
    corrected, edits = _correction(contract, arguments, exam)
    found: list[tuple[Located, Problem]] = []
    try:
        values_of(contract, decoded if corrected is None else corrected)
    except InvalidValues as error:
        found = problems_of(error, contract.shape, decoded if corrected is None else corrected)
        found = [each for each in found if corrected is not None or not _explained(each, exam)]
    shown = corrected is not None and not found and not holds_secret(contract.shape, corrected)
    return ToolInputError(
        [*exam.problems, *(problem for _, problem in found[:MOST_PROBLEMS])],
        tool=contract.name,
        declared=exam.declared,
        corrected=corrected if shown else None,
        edits=edits,
        more=exam.more,
    )


def _correction(contract: Contract, arguments: dict[str, Any], exam: Examination) -> tuple[Any, list[str]]:
    """The corrected arguments, checked as any call's would be, and the edits that lead there."""
    if not exam.declared:  # no key is out of place, so there is nothing that could be derived
        return None, []
    corrected, edits = correct(contract.shape, arguments, contract.limits)
    if corrected is None or (not exam.thorough and fits(contract.shape, corrected)):
        return corrected, edits
    settled, check = examine(contract.shape, corrected, contract.limits, thorough=exam.thorough)
    return (settled, edits) if not check.problems else (None, [])


def _explained(found: tuple[Located, Problem], exam: Examination) -> bool:
    """Whether a problem of the author's validation only repeats what the examination has said."""
    path, problem = found[0].path, found[1]
    if problem.code == "missing" and path and path[-1] in exam.inside:
        return True
    if found[0].branch is not None:
        path = found[0].branch[0]
    return any(path[: len(place)] == place or place[: len(path)] == path for place in exam.places if place)
