"""Runs tools that need a thread or have a time limit. Logs a call that takes long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from toolbooth.boundary.run import bound_call, run_async
from toolbooth.context import Context
from toolbooth.errors import ToolError
from toolbooth.server import messages
from toolbooth.server.tool import Tool

logger = logging.getLogger("toolbooth.server")

Ended = Callable[[], None]

_LONG = 60.0
"""A call that takes longer than this many seconds is logged."""


async def run_in_thread(tool: Tool, values: Any, context: Context) -> Any:
    """Run a sync tool in a thread. Only a limited number of calls of a tool run at the same time,
    so a call may have to wait. A call counts as running until its thread ends.
    """
    run = bound_call(tool.contract, tool.function, values, context, None)
    turns = tool.turns.here()
    # The limit applies separately to waiting and to running, so a call that waited still has its
    # full time to run.
    await turns.take(tool.timeout)
    return await run_limited(tool, run, turns.begin(long_timer(tool)))


def long_timer(tool: Tool) -> asyncio.TimerHandle:
    """Start a timer that logs a call if it takes long. The caller has to cancel the timer."""
    loop, name = asyncio.get_running_loop(), tool.contract.name
    return loop.call_later(_LONG, logger.warning, messages.RUNS_LONG, name)


async def run_limited(tool: Tool, run: Callable[[], Any], ended: Ended | None = None) -> Any:
    """Run `run`, the function of a tool with its arguments. If the tool has a time limit, stop
    waiting when the limit has passed. `ended` is called when the function of a sync tool has ended.
    """
    seconds = tool.timeout
    if seconds is None:
        return await run_async(run, is_async=tool.is_async, ended=ended)
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await run_async(run, is_async=tool.is_async, ended=ended)
    except TimeoutError:
        if not limit.expired():  # raised by the tool itself, for example by a socket
            raise
        message = messages.timed_out(seconds, stopped=tool.is_async)
        raise ToolError(tool.name, message) from None
