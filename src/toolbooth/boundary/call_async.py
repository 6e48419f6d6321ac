"""Stage 4 for async tools: the only stage that awaits. Apart from `call.py`, so that sync users never load asyncio."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterable, Iterable
from typing import Any, cast

from toolbooth.boundary.call import Function, Injected, bound_call, is_async
from toolbooth.context import Context
from toolbooth.contract import Contract


async def run_async(
    contract: Contract, function: Function | None, values: Any, context: Context | None, injected: Injected
) -> Any:
    """Call an async tool, or a sync one off the event loop."""
    chosen = function or contract.function
    if is_async(chosen):
        return await bound_call(contract, function, values, context, injected)()
    made = await asyncio.to_thread(bound_call(contract, function, values, context, injected))
    if inspect.isasyncgen(made):
        return [each async for each in cast("AsyncIterable[Any]", made)]
    if inspect.isgenerator(made):
        return await asyncio.to_thread(list, cast("Iterable[Any]", made))
    return await made if inspect.isawaitable(made) else made
