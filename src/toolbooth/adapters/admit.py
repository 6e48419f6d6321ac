"""What all adapters do alike: arguments that the host has read -> values, and what is told of the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbooth.adapters.sent import read_sent, request_under_way
from toolbooth.boundary import render
from toolbooth.boundary.accept import Accepted, accept_bytes, accept_reading, invalid_values
from toolbooth.boundary.decode import Repair
from toolbooth.boundary.handle import encode
from toolbooth.boundary.read import Unreadable
from toolbooth.boundary.validate import values_of
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.publish import input_schema
from toolbooth.server.revisions import VERSION_KEY

_NO_TEXT = "headers repeat some of the arguments, so they must be one JSON object, not the text of one"


def admit(contract: Contract, arguments: dict[str, Any], body: bytes | None) -> Accepted:
    """The function's values and the repairs made, from the message itself where it is known. Raises ToolInputError."""
    if body is None:
        return _as_handed_over(contract, arguments)
    try:
        reading = read_sent(contract, body, arguments)
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    if reading is None:
        return _as_handed_over(contract, arguments)
    if isinstance(reading[0], str) and _headers_repeat(contract):
        problem = Problem(code="not-an-object", path="$", message=_NO_TEXT)
        raise ToolInputError([problem], tool=contract.name)
    return accept_reading(contract, reading)


def _headers_repeat(contract: Contract) -> bool:
    """Whether headers must say what some arguments say, which a host has not looked for in text."""
    ctx = request_under_way()
    if ctx.request is None or VERSION_KEY not in (ctx.params.get("_meta") or ()):
        return False
    return b'"x-mcp-header"' in encode(input_schema(contract))


def _as_handed_over(contract: Contract, arguments: dict[str, Any]) -> Accepted:
    try:
        body = encode(arguments)
    except TypeError:  # Python values, from a call within the process: nothing has been on a wire
        try:
            return values_of(contract, arguments), []
        except InvalidValues as error:
            raise invalid_values(contract, error, arguments) from None
    return accept_bytes(contract, body)


def told(error: BaseException | None, contract: Contract, name: str) -> dict[str, Any] | None:
    """The tool result for an exception that agents may read; None for any other, which its host masks."""
    if isinstance(error, ToolInputError):
        error.tool = name if error.tool in ("", contract.name) else error.tool
        return render.refusal_result(error, contract.limits)
    return render.tool_error_result(error) if isinstance(error, ToolError) else None


def reporting(meta: Mapping[str, Any] | None, repairs: list[Repair]) -> dict[str, Any]:
    """A result's `_meta`, with the repairs in it."""
    made = dict(meta or {})
    ours = render.value_result("", repairs)["_meta"][render.META_KEY]
    made[render.META_KEY] = {**made.get(render.META_KEY, {}), **ours}
    return made
