"""Handles one call without a server.

The stages are accept (read, examine, validate), run and render. In a server, `server/call.py` runs
the same stages.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal

from toolbooth.boundary import render
from toolbooth.boundary.accept import accept_bytes
from toolbooth.boundary.repairs import Remark
from toolbooth.boundary.run import bound_call, is_async, run, run_async
from toolbooth.context import Context
from toolbooth.contract import Contract
from toolbooth.errors import ToolError, ToolInputError
from toolbooth.jsonvalue import Json, json_bytes

logger = logging.getLogger("toolbooth")

Errors = Literal["result", "protocol"]


def handle_bytes(
    contract: Contract,
    body: bytes,
    function: Callable[..., Any] | None = None,
    *,
    context: Context | None = None,
    injected: Mapping[str, Any] | None = None,
    errors: Errors = "result",
    from_floats: bool = False,
) -> Json:
    """Take the JSON text of `arguments` and return the MCP tool result.

    `from_floats` is true if a host has parsed the arguments, and the text was written from the
    parsed values, as `handle_arguments` does.

    Raises:
        ToolInputError: only with `errors="protocol"`. The host should answer with JSON-RPC error
        -32602.
    """
    try:
        values, remarks = accept_bytes(contract, body, from_floats)
        # The tool runs inside this `try` too. It may raise ToolInputError itself, for a rule that a
        # type cannot express. The answer is then the same as for our own refusal.
        value = run(contract, function, values, context, injected)
    except (ToolInputError, ToolError) as error:
        return _failure_result(contract, error, errors)
    return _value_result(contract, value, remarks)


def handle_arguments(
    contract: Contract,
    arguments: Any,
    function: Callable[..., Any] | None = None,
    *,
    context: Context | None = None,
    injected: Mapping[str, Any] | None = None,
    errors: Errors = "result",
) -> Json:
    """Do the same as `handle_bytes`, for a host that has already parsed the arguments."""
    return handle_bytes(
        contract,
        # The host has parsed the bytes of the call, so they no longer exist. The arguments are
        # written as bytes again, so that every host uses the same code.
        json_bytes(arguments),
        function,
        context=context,
        injected=injected,
        errors=errors,
        from_floats=True,
    )


async def handle_bytes_async(
    contract: Contract,
    body: bytes,
    function: Callable[..., Any] | None = None,
    *,
    context: Context | None = None,
    injected: Mapping[str, Any] | None = None,
    errors: Errors = "result",
    from_floats: bool = False,
) -> Json:
    """Do the same as `handle_bytes`, for async tools. Sync tools run in a thread."""
    try:
        # Only the tool may run in a thread. Reading and validating do no I/O, so they stay on the
        # event loop.
        values, remarks = accept_bytes(contract, body, from_floats)
        call = bound_call(contract, function, values, context, injected)
        value = await run_async(call, is_async=is_async(function or contract.function))
    except (ToolInputError, ToolError) as error:
        return _failure_result(contract, error, errors)
    return _value_result(contract, value, remarks)


async def handle_arguments_async(
    contract: Contract,
    arguments: Any,
    function: Callable[..., Any] | None = None,
    *,
    context: Context | None = None,
    injected: Mapping[str, Any] | None = None,
    errors: Errors = "result",
) -> Json:
    """Do the same as `handle_bytes_async`, for a host that has already parsed the arguments."""
    return await handle_bytes_async(
        contract,
        json_bytes(arguments),
        function,
        context=context,
        injected=injected,
        errors=errors,
        from_floats=True,
    )


def _value_result(contract: Contract, value: Any, remarks: list[Remark]) -> Json:
    """Return the result of a tool that ran. If its value cannot be sent, return an error result
    with the reason.
    """
    try:
        # This is outside the `try` of the caller, because the tool has already run. A failure must
        # not look like a refusal, or the agent would call again.
        return render.value_result(value, remarks)
    # The author's serializer runs here and may raise anything, even SystemExit.
    except (Exception, SystemExit) as error:
        logger.error("the result of tool %r cannot be sent", contract.name, exc_info=error)
        return render.unsendable_result(error)


def _failure_result(contract: Contract, error: ToolInputError | ToolError, errors: Errors) -> Json:
    """Return a failure as a result for the agent. With `errors="protocol"`, raise a refusal again,
    for the host.
    """
    if isinstance(error, ToolError):
        return render.tool_error_result(error)
    # Only refused arguments are a protocol error. The MCP specification requires a result with
    # `isError` for a tool that fails.
    if errors == "protocol":
        raise error
    return render.refusal_result(error, contract.limits)
