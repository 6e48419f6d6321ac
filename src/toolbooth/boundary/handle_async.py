"""One call of an async tool, wire to wire: as `handle.py`, but for the one stage that may await."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolbooth.boundary import render
from toolbooth.boundary.accept import accept_bytes
from toolbooth.boundary.call_async import run_async
from toolbooth.boundary.handle import Errors, Result, encode, refused
from toolbooth.context import Context
from toolbooth.contract import Contract
from toolbooth.errors import ToolError, ToolInputError


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
        return render.value_result(await run_async(contract, function, values, context, injected), repairs)
    except ToolInputError as error:
        return refused(contract, error, errors)
    except ToolError as error:
        return render.tool_error_result(error)


async def handle_arguments_async(
    contract: Contract, arguments: Any, function: Callable[..., Any] | None = None, **how: Any
) -> Result:
    """`handle_bytes_async` for a host that has parsed the arguments already."""
    return await handle_bytes_async(contract, encode(arguments), function, **how)
