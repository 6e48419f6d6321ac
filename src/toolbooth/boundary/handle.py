"""One call, wire to wire. The stages in order: read, examine, validate, call, render. Start here.

A correct call takes the short way: read once, one compiled check, one validation run. Everything else is examined.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

from toolbooth.boundary import call, render
from toolbooth.boundary.correct import correct, holds_secret
from toolbooth.boundary.decode import CLIENT_KEYS, Repair
from toolbooth.boundary.examine import MOST_PROBLEMS, Examination, examine
from toolbooth.boundary.read import NOTHING, Reading, Unreadable, read_json
from toolbooth.boundary.validate import Located, problems_of, values_of
from toolbooth.context import Context
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.gate import fits

Errors = Literal["result", "protocol"]
Result = dict[str, Any]


def handle_bytes(
    contract: Contract,
    body: bytes,
    function: Callable[..., Any] | None = None,
    *,
    context: Context | None = None,
    injected: Mapping[str, Any] | None = None,
    errors: Errors = "result",
) -> Result:
    """Take the JSON text of `arguments` and return the MCP tool result.

    Raises:
        ToolInputError: only with `errors="protocol"`, for the host to answer as JSON-RPC -32602.
    """
    try:
        values, repairs = accept_bytes(contract, body)
        return render.value_result(call.run(contract, function, values, context, injected), repairs)
    except ToolInputError as error:
        return _refused(contract, error, errors)
    except ToolError as error:
        return render.tool_error_result(error)


async def handle_bytes_async(
    contract: Contract,
    body: bytes,
    function: Callable[..., Any] | None = None,
    *,
    context: Context | None = None,
    injected: Mapping[str, Any] | None = None,
    errors: Errors = "result",
) -> Result:
    """`handle_bytes` for async tools; sync ones run off the event loop."""
    try:
        values, repairs = accept_bytes(contract, body)
        return render.value_result(await call.run_async(contract, function, values, context, injected), repairs)
    except ToolInputError as error:
        return _refused(contract, error, errors)
    except ToolError as error:
        return render.tool_error_result(error)


def handle_arguments(
    contract: Contract, arguments: Any, function: Callable[..., Any] | None = None, **how: Any
) -> Result:
    """`handle_bytes` for a host that has parsed the arguments already."""
    return handle_bytes(contract, encode(arguments), function, **how)


async def handle_arguments_async(
    contract: Contract, arguments: Any, function: Callable[..., Any] | None = None, **how: Any
) -> Result:
    """`handle_bytes_async` for a host that has parsed the arguments already."""
    return await handle_bytes_async(contract, encode(arguments), function, **how)


def encode(arguments: Any) -> bytes:
    """Parsed arguments as the bytes they came from, so that both ways in are one. Raises TypeError for non-JSON."""
    try:
        return json.dumps(arguments, separators=(",", ":")).encode()
    except RecursionError:
        # Deeper than Python itself goes: the reader refuses it by name.
        return b"[" * 300


def _refused(contract: Contract, error: ToolInputError, errors: Errors) -> Result:
    if errors == "protocol":
        raise error
    return render.refusal_result(error, contract.limits)


def accept_bytes(contract: Contract, body: bytes) -> tuple[Any, list[Repair]]:
    """The function's values and the repairs made. Raises ToolInputError."""
    try:
        reading = read_json(body, contract.limits) if body else NOTHING
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    return accept_reading(contract, reading)


def accept_reading(contract: Contract, reading: Reading) -> tuple[Any, list[Repair]]:
    """`accept_bytes` for arguments that were read together with what they came in. Raises ToolInputError."""
    repairs: list[Repair] = []
    try:
        if type(reading.value) is not dict:
            reading, repairs = _object_of(contract, reading)
        value = cast("dict[str, Any]", reading.value)
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    thorough = reading.delicate or (contract.integers and reading.pointed)
    plain = not repairs and not thorough and CLIENT_KEYS.isdisjoint(value)
    if plain and fits(contract.shape, value):
        try:
            return values_of(contract, value), repairs
        except InvalidValues as error:
            raise invalid_values(contract, error, value) from None
    return _examined(contract, value, repairs, thorough=thorough)


def _object_of(contract: Contract, reading: Reading) -> tuple[Reading, list[Repair]]:
    """`arguments` that came as null (nothing sent) or as JSON text (PrefectHQ/fastmcp#883, 2025-06-20)."""
    repairs: list[Repair] = []
    while isinstance(reading.value, str):
        reading = read_json(reading.value.encode(), contract.limits)
        repairs = [Repair(code="json-text", path="$")]
    if reading.value is None and not repairs:
        return NOTHING, repairs
    if type(reading.value) is not dict:
        raise Unreadable("not-an-object", "the arguments must be one JSON object")
    return reading, repairs


def _examined(
    contract: Contract, arguments: dict[str, Any], repairs: list[Repair], *, thorough: bool
) -> tuple[Any, list[Repair]]:
    """The long way: repair what may be repaired, refuse what may not pass."""
    decoded, exam = examine(contract.shape, arguments, contract.limits, thorough=thorough or bool(repairs))
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
    corrected, edits = correct(contract.shape, arguments, contract.limits)
    settled: Any = None
    if corrected is not None:
        settled, check = examine(contract.shape, corrected, contract.limits, thorough=exam.thorough)
        if check.problems:
            corrected = settled = None
            edits = []
    found: list[tuple[Located, Problem]] = []
    try:
        values_of(contract, settled if corrected is not None else decoded)
    except InvalidValues as error:
        found = problems_of(error, contract.shape, decoded if corrected is None else settled)
        found = [each for each in found if corrected is not None or not _explained(each, exam)]
        corrected = None
    if settled is not None and holds_secret(contract.shape, settled):
        corrected = None
    return ToolInputError(
        [*exam.problems, *(problem for _, problem in found[:MOST_PROBLEMS])],
        tool=contract.name,
        declared=exam.declared,
        corrected=settled if corrected is not None else None,
        edits=edits,
        more=exam.more,
    )


def _explained(found: tuple[Located, Problem], exam: Examination) -> bool:
    """Whether a problem of the author's validation only repeats what the examination has said."""
    path, problem = found[0].path, found[1]
    if problem.code == "missing" and path and path[-1] in exam.inside:
        return True
    if found[0].branch is not None:
        path = found[0].branch[0]
    return any(path[: len(place)] == place or place[: len(path)] == path for place in exam.places if place)
