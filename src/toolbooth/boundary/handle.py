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
) -> Json:
    """Take the JSON text of `arguments` and return the MCP tool result.

    Raises:
        ToolInputError: only with `errors="protocol"`, for the host to answer as JSON-RPC -32602.
    """
    try:
        values, repairs = accept_bytes(contract, body)
        value = run(contract, function, values, context, injected)
        try:
            return render.value_result(value, repairs)
        except (Exception, SystemExit) as error:
            return _unsendable(contract, error)
    except (ToolInputError, ToolError) as error:
        return _failure_result(contract, error, errors)


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
    body = json_bytes(arguments)
    return handle_bytes(contract, body, function, context=context, injected=injected, errors=errors)


async def handle_bytes_async(
    contract: Contract,
    body: bytes,
    function: Callable[..., Any] | None = None,
    *,
    context: Context | None = None,
    injected: Mapping[str, Any] | None = None,
    errors: Errors = "result",
) -> Json:
    """`handle_bytes` for async tools. Sync ones run in a thread."""
    try:
        values, repairs = accept_bytes(contract, body)
        call = bound_call(contract, function, values, context, injected)
        value = await run_async(call, is_async=is_async(function or contract.function))
        try:
            return render.value_result(value, repairs)
        except (Exception, SystemExit) as error:
            return _unsendable(contract, error)
    except (ToolInputError, ToolError) as error:
        return _failure_result(contract, error, errors)


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
    body = json_bytes(arguments)
    return await handle_bytes_async(
        contract, body, function, context=context, injected=injected, errors=errors
    )


def _unsendable(contract: Contract, error: BaseException) -> Json:
    """The result of a tool that ran, and returned what cannot be sent."""
    logger.error("tool %r returned what cannot be sent", contract.name, exc_info=error)
    return render.unsendable_result(error)


def _failure_result(contract: Contract, error: ToolInputError | ToolError, errors: Errors) -> Json:
    """The result for the agent, or the refusal itself for a host that answers by protocol."""
    if isinstance(error, ToolError):
        return render.tool_error_result(error)
    if errors == "protocol":
        raise error
    return render.refusal_result(error, contract.limits)
