"""Builds the refusal of a call: every problem, the declared fields, and the corrected call or the
edits. The agent needs nothing else to send the call again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import jiter

from toolbooth.boundary.complexity import is_costly
from toolbooth.boundary.correct import correct
from toolbooth.boundary.cures.in_place import cure_in_place
from toolbooth.boundary.cures.missing import found_elsewhere, is_filled
from toolbooth.boundary.examination import Examination
from toolbooth.boundary.examine import examine
from toolbooth.boundary.keys.declared import declared_in
from toolbooth.boundary.known_problems import KEY_PROBLEMS, repeats_examination
from toolbooth.boundary.mend import is_beyond_correction, mend
from toolbooth.boundary.mistakes import listed
from toolbooth.boundary.objections import IsExplained, problems_of
from toolbooth.boundary.read import Reading, read_as_written
from toolbooth.boundary.refusals import form_at, holds_secret
from toolbooth.boundary.secrecy import hide_secrets
from toolbooth.boundary.swallowed import Tags, has_tags, look_for_tags
from toolbooth.boundary.trial import as_published, problems_with
from toolbooth.boundary.validate import values_of
from toolbooth.boundary.values.explain import explained, with_meaning
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import (
    Declared,
    Edit,
    LeaveOut,
    Problem,
    Rewrite,
    ToolInputError,
)
from toolbooth.jsonvalue import Json, JsonPath, is_object
from toolbooth.shape_check import fits

_POINT = b"."

_MOST_IN_UNIONS = 100
"""If unions of models contain each other, at most this many errors are read."""

_MOST_LEVELS = 50
"""The arguments are looked for in at most this many objects of a request."""


def invalid_values(
    contract: Contract, error: InvalidValues, arguments: Any, *, is_json: bool = True
) -> ToolInputError:
    """Return the refusal for an error of the author's validation. `is_json` is true if the
    arguments are JSON. Only then can they be corrected.
    """
    # In such unions, one value may cause thousands of errors.
    most = _MOST_IN_UNIONS if contract.has_recursive_unions else None
    found = problems_of(error, contract.shape, arguments, most=most)
    missing = any(problem.code == "missing" and len(place.path) == 1 for place, problem in found)
    problems = [problem for _, problem in found]
    declared = _declared_beside(contract, problems, arguments)
    if missing:
        declared = {(): declared_in(*contract.shape.objects), **declared}
    shown_problems, more = listed(problems)
    if most is None:
        more += error.more
    elif error.one_form:
        more += max(0, error.count - most)
    corrected, edits = _cured(contract, arguments, problems) if is_json else (None, [])
    shown = corrected is not None and not holds_secret(contract.shape, corrected)
    return explained(
        contract,
        arguments,
        shown_problems,
        declared=declared,
        corrected=corrected if shown else None,
        edits=edits,
        more=more,
    )


def advised(contract: Contract, arguments: Json, refusal: ToolInputError) -> ToolInputError:
    """Add a corrected call to a refusal that the tool itself raised."""
    if refusal.edits or refusal.corrected is not None or refusal.more:
        return refusal
    problems = [with_meaning(each, contract, arguments) for each in refusal.problems]
    corrected, edits = _cured(contract, arguments, problems)
    shown = corrected is not None and not holds_secret(contract.shape, corrected)
    if shown:
        problems = [*refusal.problems]
    made = explained(
        contract,
        arguments,
        problems,
        declared={**refusal.declared},
        corrected=corrected if shown else None,
        edits=edits,
    )
    return refusal.replaced(
        problems=made.problems,
        declared=made.declared,
        corrected=made.corrected,
        edits=made.edits,
        form=made.form,
        is_empty=made.is_empty,
    )


def _cured(
    contract: Contract, arguments: Any, problems: Sequence[Problem]
) -> tuple[Any, list[Edit]]:
    """Return the corrected arguments and the edits. Missing fields are taken from other places in
    the call, and wrong values are replaced. The arguments are None if the boundary would still
    refuse them.
    """
    wrong = {each.path for each in problems if each.code == "invalid"}
    moved, moves = found_elsewhere(contract.shape, arguments, problems)
    # A problem of another kind, such as a missing field that was found nowhere, cannot be
    # corrected. So there is no corrected call.
    if is_costly(contract, arguments) or (not moves and len(wrong) < len(problems)):
        return None, []
    try:
        cured = None if moves else _in_place(contract, arguments, wrong)
        corrected, edits = cured or _accepted(
            contract, *correct(contract, moved, wrong), thorough=True
        )
    except KeyError:  # a caller in this process has passed a value that is not JSON
        return None, []
    edits = [*moves, *edits]
    if corrected is None or not edits:
        return None, []
    corrected = as_published(contract.shape, corrected)
    return (None, []) if problems_with(contract, corrected) else (corrected, edits)


def _declared_beside(
    contract: Contract, problems: list[Problem], arguments: Any
) -> dict[JsonPath, Declared]:
    """Return the declared fields of every object in which the author's validation has found an
    undeclared key.
    """
    declared: dict[JsonPath, Declared] = {}
    for each in problems:
        if each.code in ("unknown-key", "nested-wrapper"):
            form = form_at(contract.shape, each.path[:-1], arguments)
            if form is not None:
                declared[each.path[:-1]] = declared_in(form)
    return declared


def refusal_without_values(
    contract: Contract, decoded: Json, exam: Examination, tags: Tags, edits: Iterable[Edit] = ()
) -> ToolInputError:
    """Return the refusal of a call in which a text contains other arguments. The refusal must not
    repeat any part of such a text. So it has no corrected call, and the author's validation adds
    only missing fields.
    """
    texts = {problem.path for problem in tags.problems}
    others = [
        problem
        for problem in exam.problems
        if problem.path not in texts or problem.code in KEY_PROBLEMS
    ]
    invalid: list[Problem] = []
    if not (exam.has_stopped or is_costly(contract, decoded)):
        invalid = _validation_problems(contract, decoded, partial(repeats_examination, exam))
    swallowed = {(name,) for name in tags.names}
    missing = [
        problem
        for problem in invalid
        if problem.code == "missing" and problem.path not in swallowed
    ]
    problems, more = listed([*tags.problems, *others, *missing])
    return explained(
        contract,
        decoded,
        problems,
        declared=exam.declared,
        edits=[*edits],
        more=exam.more + more,
    )


def refusal_of_examination(contract: Contract, decoded: Any, exam: Examination) -> ToolInputError:
    """Return the refusal with the problems of the examination only. Used if the author's validation
    would take too long.
    """
    problems, declared = exam.problems, exam.declared
    refusal = ToolInputError(problems, tool=contract.name, declared=declared, more=exam.more)
    return hide_secrets(refusal, contract.shape, decoded)


def refusal_of(
    contract: Contract,
    reading: Reading,
    decoded: Any,
    exam: Examination,
    earlier: InvalidValues | None,
) -> ToolInputError:
    """Return the refusal with all problems: those of the examination, and those that the author's
    validation finds in the rest of the call. The validation runs once.
    """
    arguments = reading[0]
    corrected, edits = _correction(contract, reading, decoded, exam)
    if corrected is not None and has_tags(corrected):
        tags = look_for_tags(contract.shape, corrected, corrected)
        if tags.problems:
            unsent = Tags((), tags.names, ())
            return refusal_without_values(contract, corrected, exam, unsent, edits)
    # Past the limit, problems were only counted, so the same ones could not be distinguished from
    # new ones.
    if exam.more:
        found = [
            each
            for each in _validation_problems(contract, decoded, None)
            if each.code == "missing" and each.path[-1] not in exam.wrapped_names
        ]
    elif corrected is not None:
        corrected, edits, found = _checked(contract, decoded, exam, corrected, edits)
    elif earlier is None or decoded != arguments:
        found = _validation_problems(contract, decoded, partial(repeats_examination, exam))
    elif contract.flattened or not all(
        each.model_path in exam.problem_paths for each in earlier.objections
    ):
        found = _problems(contract, earlier, decoded, partial(repeats_examination, exam))
    else:
        # The validation has only reported the problems of the examination again, at the same paths.
        found = []
    if edits and corrected is None:
        # With the edit `rename $.nmae to "name"`, the field `name` is not missing any more.
        found = [each for each in found if not is_filled(each, edits, arguments)]
    shown = corrected is not None and not holds_secret(contract.shape, corrected)
    # Leaving out an empty object does not help if nothing else in the call is right.
    if not shown:
        edits = [each for each in edits if not (isinstance(each, LeaveOut) and each.value == {})]
    declared = exam.declared
    if found:
        declared = {**declared, **_declared_beside(contract, found, arguments)}
    found, more = listed(found)
    return explained(
        contract,
        arguments,
        exam.problems + found,
        declared=declared,
        corrected=corrected if shown else None,
        edits=edits,
        more=exam.more + more,
    )


def _checked(
    contract: Contract, decoded: Any, exam: Examination, corrected: Any, edits: list[Edit]
) -> tuple[Any, list[Edit], list[Problem]]:
    """Replace the wrong values that a corrected call still contains. Return the corrected call, the
    edits and the problems that were found in it. If one of these problems remains, the corrected
    call is None.
    """
    corrected = as_published(contract.shape, corrected)
    found = problems_with(contract, corrected)
    if not found:
        return corrected, edits, []
    explained = partial(repeats_examination, exam)
    if found[0].code == "too-complex":
        return None, edits, _validation_problems(contract, decoded, explained)
    cured, further = _cured(contract, corrected, found)
    if cured is not None:
        # The agent should read of every value that the correction changes.
        return cured, [*edits, *further], found
    read = {each.source for each in edits if isinstance(each, Rewrite)}
    if any(each.path[: len(place)] == place for each in found for place in read):
        return None, [], _validation_problems(contract, decoded, explained)
    return None, edits, found


def _validation_problems(
    contract: Contract, arguments: Any, explained: IsExplained | None
) -> list[Problem]:
    """Return the problems that the author's validation finds. The arguments are refused already;
    this only adds problems to the refusal.
    """
    try:
        values_of(contract, arguments)
    except InvalidValues as error:
        return _problems(contract, error, arguments, explained)
    except Exception:  # such as ToolError, whose text does not belong in this refusal
        return []
    unsent = contract.unsent
    if unsent is None:
        return []
    error = InvalidValues(lambda: unsent(arguments))
    return _problems(contract, error, arguments, explained)


def _problems(
    contract: Contract, error: InvalidValues, arguments: Any, explained: IsExplained | None
) -> list[Problem]:
    found = problems_of(error, contract.shape, arguments, explained)
    return [problem for _, problem in found]


def _correction(
    contract: Contract, reading: Reading, decoded: Json, exam: Examination
) -> tuple[Any, list[Edit]]:
    """Return the corrected arguments and the edits. The corrected arguments are checked in the same
    way as the arguments of any call.
    """
    arguments, _, body = reading
    if exam.only_slips:
        mended = mend(contract.shape, exam.slips, contract.limits)
        if mended is not None:
            return decoded, mended
        if is_beyond_correction(contract.shape, exam.slips, contract.limits):
            return None, []
    if exam.only_wrong_values:
        cured = _in_place(contract, arguments, exam.problem_paths)
        if cured is not None:
            return cured
    # A number that was sent for text becomes that text, with the same digits.
    if _POINT in body and any(each.code == "wrong-type" for each in exam.problems):
        arguments = _as_written(arguments, body)
        return _accepted(contract, *correct(contract, arguments, size=len(body)), thorough=True)
    corrected, edits = correct(contract, arguments, size=len(body))
    return _accepted(contract, corrected, edits, thorough=exam.thorough)


def _as_written(arguments: Json, body: bytes) -> Json:
    """Return the arguments with numbers as they were written in `body`. The body may contain more
    than the arguments. Toolbooth's own server passes the whole request. In a call of a dispatcher,
    some arguments are one level deeper in the body.
    """
    whole, plain = read_as_written(body), jiter.from_json(body)
    if plain == arguments:
        return whole
    levels = [(plain, whole)]
    for read, written in islice(levels, _MOST_LEVELS):
        if is_object(read):
            levels += [(each, written[key]) for key, each in read.items()]
    # The same key may be at several levels. The right level is the one with the same value.
    made: Json = {}
    for key, value in arguments.items():
        found = (
            written[key]
            for read, written in levels
            if is_object(read) and key in read and read[key] == value
        )
        made[key] = next(found, value)
    return made


def _in_place(
    contract: Contract, arguments: Json, wrong: Collection[JsonPath]
) -> tuple[Any, list[Edit]] | None:
    """Replace the wrong values. Return the arguments and the edits. If some value cannot be
    replaced, the arguments are None, and only edits that the schema allows are returned. Return
    None if `correct` must look at the whole call.
    """
    cured = cure_in_place(contract, arguments, wrong)
    if cured is None:
        return None
    if cured.is_complete:
        return _accepted(contract, cured.arguments, [*cured.edits], thorough=False)
    if not cured.edits:
        return None, []
    refused = {each.path for each in problems_with(contract, cured.arguments)}
    return None, [each for each in cured.edits if refused.isdisjoint(((), each.source))]


def _accepted(
    contract: Contract, corrected: Any, edits: list[Edit], *, thorough: bool
) -> tuple[Any, list[Edit]]:
    """Repair the corrected call if necessary, and return it with its edits. The corrected call is
    None if its shape is still wrong.
    """
    if corrected is None:
        return None, edits
    try:
        repaired = _with_repairs(contract, corrected, thorough=thorough)
    # It was read from text and keeps numbers as written. The compiled check does not know such
    # numbers.
    except ValueError:
        repaired = _with_repairs(contract, corrected, thorough=True)
    return (repaired, edits) if repaired is not None else (None, [])


def _with_repairs(contract: Contract, corrected: Any, *, thorough: bool) -> Any:
    """Repair the corrected arguments and return them. Return None if the boundary would refuse them
    too.
    """
    if not thorough and fits(contract.shape, corrected):
        return corrected
    repaired, check = examine(contract.shape, corrected, contract.limits, thorough=thorough)
    return None if check.problems or check.has_stopped else repaired
