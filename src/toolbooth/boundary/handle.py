"""One call, wire to wire. Start here. The stages in order: accept (read, examine, validate), call, render."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from toolbooth.boundary import call, render
from toolbooth.boundary.accept import accept_bytes
from toolbooth.context import Context
from toolbooth.contract import Contract
from toolbooth.errors import ToolError, ToolInputError

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
        return refused(contract, error, errors)
    except ToolError as error:
        return render.tool_error_result(error)


def handle_arguments(
    contract: Contract, arguments: Any, function: Callable[..., Any] | None = None, **how: Any
) -> Result:
    """`handle_bytes` for a host that has parsed the arguments already."""
    return handle_bytes(contract, encode(arguments), function, **how)


def encode(arguments: Any) -> bytes:
    """Parsed arguments as the bytes they came from, so that both ways in are one. Raises TypeError for non-JSON."""
    try:
        return json.dumps(arguments, separators=(",", ":")).encode()
    except RecursionError:
        # Deeper than Python itself goes: the reader refuses it by name.
        return b"[" * 300


def refused(contract: Contract, error: ToolInputError, errors: Errors) -> Result:
    """The result that tells the agent, or the error itself where the host answers by protocol."""
    if errors == "protocol":
        raise error
    return render.refusal_result(error, contract.limits)
