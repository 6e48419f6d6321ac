"""The steps that all adapters share: arguments are converted to values, and exceptions to tool
results.
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
"""The key for the arguments of a task in its queue. Their value is JSON text. A client cannot send
this key itself, because the arguments of a client are inside that text.
"""


def accept_call(contract: Contract, arguments: Json, original: OriginalRequest) -> Accepted:
    """Return the values of the arguments, and the repairs. If the original message is known, the
    arguments are read from that message.

    Raises:
        ToolInputError: the arguments are refused.
    """
    reading = _read(contract, arguments, original)
    if reading is None:
        return _accept_values(contract, arguments)
    return accept_reading(contract, reading)


def queue_arguments(contract: Contract, arguments: Json, original: OriginalRequest) -> Json:
    """Return the arguments to queue for a task. They contain the original text of the call, because
    the worker may be in another process.

    Only JSON can be queued, not the values that the author's validation returns. So the validation
    runs twice: here, before there is a task, and again in the worker.

    Raises:
        ToolInputError: the call must not become a task.
    """
    reading = _read(contract, arguments, original)
    if reading is None:
        _accept_values(contract, arguments)
        return arguments
    accept_reading(contract, reading)
    return {_QUEUED: as_text(reading[0])}


def accept_queued(contract: Contract, queued: Json) -> Accepted:
    """Do the same as `accept_call` for arguments from `queue_arguments`. Raises ToolInputError."""
    text = queued.get(_QUEUED)
    if text is None:
        return accept_call(contract, queued, NO_REQUEST)
    return accept_bytes(contract, text.encode())


def _read(contract: Contract, arguments: Json, original: OriginalRequest) -> Reading | None:
    """Return the arguments as they were sent. If the original message is unknown, return them as
    the host passed them on. Return None if the arguments are Python values that are not JSON.
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
    """Return True if HTTP headers must repeat some arguments. The host compares such headers with
    the arguments, but not if the arguments are JSON text.
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
    """Accept arguments that are Python values. Only the author's validation is applied to them."""
    try:
        return values_of(contract, arguments), []
    except InvalidValues as error:
        raise invalid_values(contract, error, arguments) from None


def error_result(error: BaseException | None, contract: Contract, name: str) -> Json | None:
    """Return the tool result for an exception whose text agents may read. Return None for any other
    exception, because the host hides its text.
    """
    if isinstance(error, ToolInputError):
        # The name in the call may differ from the contract's, for example on a mounted server.
        if error.tool in ("", contract.name):
            error = error.replaced(tool=name)
        return render.refusal_result(error, contract.limits)
    return render.tool_error_result(error) if isinstance(error, ToolError) else None


def meta_with_repairs(meta: Mapping[str, Any] | None, repairs: list[Remark]) -> Json:
    """Return the `_meta` of a result, with the repairs and notes added."""
    made = dict(meta or {})
    ours = render.remarks_data(repairs)
    made[render.META_KEY] = {**made.get(render.META_KEY, {}), **ours}
    return made
