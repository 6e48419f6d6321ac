"""The steps that all adapters share: convert parsed arguments to values, and an exception to a tool
result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbooth.adapters.sdk.original_request import (
    NO_REQUEST,
    OriginalRequest,
    read_original,
    sdk_context,
)
from toolbooth.boundary import render
from toolbooth.boundary.accept import Accepted, accept_bytes, accept_reading, invalid_values
from toolbooth.boundary.read import Reading, Unreadable, read_json
from toolbooth.boundary.repairs import Remark
from toolbooth.boundary.validate import values_of
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, json_bytes
from toolbooth.publish import input_schema
from toolbooth.server.envelope import beside
from toolbooth.server.redact import as_text
from toolbooth.server.revisions import VERSION_KEY

_NO_TEXT = (
    "headers repeat some of the arguments, so they must be one JSON object, not the text of one"
)
_QUEUED = "toolbooth/arguments"
"""The key under which a worker gets the arguments of its task, as JSON text. Clients cannot send
it: their arguments are in the text.
"""


def accept_call(contract: Contract, arguments: Json, original: OriginalRequest) -> Accepted:
    """Return the function's values and the repairs. The arguments are read from the original
    message if it is known.

    Raises:
        ToolInputError: if the arguments are refused.
    """
    reading = _read(contract, arguments, original)
    if reading is None:
        return _accept_values(contract, arguments)
    return accept_reading(contract, reading)


def queue_arguments(contract: Contract, arguments: Json, original: OriginalRequest) -> Json:
    """Return arguments for a task. Its worker, maybe in another process, reads the call from them
    as it was sent.

    The author's validation runs here, before there is a task, and again in the worker: only JSON
    can be queued.

    Raises:
        ToolInputError: for a call that must not become a task.
    """
    reading = _read(contract, arguments, original)
    if reading is None:
        _accept_values(contract, arguments)
        return arguments
    accept_reading(contract, reading)
    return {_QUEUED: as_text(reading[0])}


def accept_queued(contract: Contract, queued: Json) -> Accepted:
    """`accept_call` for arguments that `queue_arguments` has made. Raises ToolInputError."""
    text = queued.get(_QUEUED)
    if text is None:
        return accept_call(contract, queued, NO_REQUEST)
    return accept_bytes(contract, text.encode())


def _read(contract: Contract, arguments: Json, original: OriginalRequest) -> Reading | None:
    """Return the arguments as sent, or as the host passed them on if nothing else is known; None if
    those are Python values.
    """
    message: Json = {}
    reading: Reading | None = None
    try:
        if original.body is not None:
            message, reading = read_original(contract, original.body, arguments)
        if original.params is not None and (problems := beside(message, original.params)):
            raise ToolInputError(problems, tool=contract.name)
        if reading is None:
            body = _encode(arguments)
            if body is None:
                return None
            exact = contract.has_decimals
            return read_json(body, contract.limits, exact=exact, from_floats=True)
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    if isinstance(reading[0], str) and _headers_repeat_arguments(contract):
        problem = Problem(code="not-an-object", path=(), message=_NO_TEXT)
        raise ToolInputError([problem], tool=contract.name)
    return reading


def _headers_repeat_arguments(contract: Contract) -> bool:
    """Whether headers must repeat some arguments. The host does not compare arguments inside JSON
    text.
    """
    context = sdk_context()
    if context.request is None or VERSION_KEY not in (context.params.get("_meta") or ()):
        return False
    return b'"x-mcp-header"' in json_bytes(input_schema(contract))


def _encode(arguments: Json) -> bytes | None:
    try:
        return json_bytes(arguments)
    except TypeError:  # a call within the process: its arguments have never been JSON
        return None


def _accept_values(contract: Contract, arguments: Json) -> Accepted:
    """Accept Python values: only the author's validation applies to them."""
    try:
        return values_of(contract, arguments), []
    except InvalidValues as error:
        raise invalid_values(contract, error, arguments) from None


def error_result(error: BaseException | None, contract: Contract, name: str) -> Json | None:
    """Return the tool result for an exception that agents may read; None for any other, which its
    host masks.
    """
    if isinstance(error, ToolInputError):
        # The name in the call may differ from the contract's, for example on a mounted server.
        if error.tool in ("", contract.name):
            error = error.replaced(tool=name)
        return render.refusal_result(error, contract.limits)
    return render.tool_error_result(error) if isinstance(error, ToolError) else None


def meta_with_repairs(meta: Mapping[str, Any] | None, repairs: list[Remark]) -> Json:
    """Return a result's `_meta`, with the repairs and notes in it."""
    made = dict(meta or {})
    ours = render.remarks_data(repairs)
    made[render.META_KEY] = {**made.get(render.META_KEY, {}), **ours}
    return made
