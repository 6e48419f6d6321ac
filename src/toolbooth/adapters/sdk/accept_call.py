"""What all adapters do alike: arguments that the host has read -> values, and what is told of the
outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbooth.adapters.sdk.original_request import (
    NOTHING_SENT,
    Json,
    UnderWay,
    read_sent,
    request_under_way,
)
from toolbooth.boundary import render
from toolbooth.boundary.accept import Accepted, accept_bytes, accept_reading, invalid_values
from toolbooth.boundary.handle import encode
from toolbooth.boundary.read import Reading, Unreadable, read_json
from toolbooth.boundary.repairs import Repair
from toolbooth.boundary.validate import values_of
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.publish import input_schema
from toolbooth.server.redact import as_text
from toolbooth.server.envelope import beside
from toolbooth.server.revisions import VERSION_KEY

_NO_TEXT = (
    "headers repeat some of the arguments, so they must be one JSON object, not the text of one"
)
_QUEUED = "toolbooth/arguments"
"""Under which a task is given its arguments, as JSON text. Nobody can send it: what is sent is the
text.
"""


def admit(contract: Contract, arguments: Json, sent: UnderWay) -> Accepted:
    """The function's values and the repairs made, from the message itself where it is known. Raises
    ToolInputError.
    """
    reading = _read(contract, arguments, sent)
    return (
        _as_they_are(contract, arguments) if reading is None else accept_reading(contract, reading)
    )


def queue(contract: Contract, arguments: Json, sent: UnderWay) -> Json:
    """What to give a task for arguments: its worker, maybe in another process, reads in it what was
    sent.

    The author's validation runs here, before there is a task, and again in the worker: between them
    is only JSON.

    Raises:
        ToolInputError: for a call that must not become a task.
    """
    reading = _read(contract, arguments, sent)
    if reading is None:
        _as_they_are(contract, arguments)
        return arguments
    accept_reading(contract, reading)
    return {_QUEUED: as_text(reading[0])}


def admit_queued(contract: Contract, queued: Json) -> Accepted:
    """`admit`, for what `queue` has made. Raises ToolInputError."""
    text = queued.get(_QUEUED)
    return (
        admit(contract, queued, NOTHING_SENT)
        if text is None
        else accept_bytes(contract, text.encode())
    )


def _read(contract: Contract, arguments: Json, sent: UnderWay) -> Reading | None:
    """The arguments as sent, or as handed over where nothing else is known; None if those are
    Python values.
    """
    try:
        message, reading = (
            ({}, None) if sent.body is None else read_sent(contract, sent.body, arguments)
        )
        if sent.params is not None and (problems := beside(message, sent.params)):
            raise ToolInputError(problems, tool=contract.name)
        if reading is None:
            body = _encoded(arguments)
            return (
                None
                if body is None
                else read_json(body, contract.limits, exact=contract.has_decimals)
            )
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    if isinstance(reading[0], str) and _headers_repeat(contract):
        problem = Problem(code="not-an-object", path=(), message=_NO_TEXT)
        raise ToolInputError([problem], tool=contract.name)
    return reading


def _headers_repeat(contract: Contract) -> bool:
    """Whether headers must say what some arguments say, which a host has not looked for in text."""
    ctx = request_under_way()
    if ctx.request is None or VERSION_KEY not in (ctx.params.get("_meta") or ()):
        return False
    return b'"x-mcp-header"' in encode(input_schema(contract))


def _encoded(arguments: Json) -> bytes | None:
    try:
        return encode(arguments)
    except TypeError:  # from a call within the process: nothing has been on a wire
        return None


def _as_they_are(contract: Contract, arguments: Json) -> Accepted:
    """Python values: all that is left is the author's validation."""
    try:
        return values_of(contract, arguments), []
    except InvalidValues as error:
        raise invalid_values(contract, error, arguments) from None


def told(error: BaseException | None, contract: Contract, name: str) -> dict[str, Any] | None:
    """The tool result for an exception that agents may read; None for any other, which its host
    masks.
    """
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
