"""One call without a server: the stages in order. They are accept (read, examine, validate), run,
render.

A served call takes the same stages in `server/call.py`.
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

    `from_floats`: the text was written from values that a host has read, as in `handle_arguments`.

    Raises:
        ToolInputError: only with `errors="protocol"`, for the host to answer as JSON-RPC -32602.
    """
    try:
        values, remarks = accept_bytes(contract, body, from_floats)
        # The tool runs inside this `try` too: it may raise ToolInputError itself, for a rule that
        # no type can express, and that is answered like a refusal of ours.
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
    """`handle_bytes` for a host that has parsed the arguments already."""
    return handle_bytes(
        contract,
        # The bytes of the call are gone, because the host has parsed them. They are written again,
        # so that hosts of both kinds take the same way.
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
    """`handle_bytes` for async tools. Sync ones run in a thread."""
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
    """`handle_bytes_async` for a host that has parsed the arguments already."""
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
    """Return the result of a tool that ran, also if its value cannot be sent."""
    try:
        # Not in the `try` of the caller: the tool has run by now. A failure must not look like a
        # refusal, after which the agent would call again.
        return render.value_result(value, remarks)
    # A serializer of the author runs here and may raise anything, even SystemExit.
    except (Exception, SystemExit) as error:
        logger.error("the result of tool %r cannot be sent", contract.name, exc_info=error)
        return render.unsendable_result(error)


def _failure_result(contract: Contract, error: ToolInputError | ToolError, errors: Errors) -> Json:
    """The result for the agent, or the refusal itself for a host that answers by protocol."""
    if isinstance(error, ToolError):
        return render.tool_error_result(error)
    # Only refused arguments are an error of the protocol. A tool that fails returns a result with
    # `isError`, as the MCP specification asks for.
    if errors == "protocol":
        raise error
    return render.refusal_result(error, contract.limits)
