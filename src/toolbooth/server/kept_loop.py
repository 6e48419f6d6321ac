"""Runs a coroutine in an event loop that goes on if a tool calls `sys.exit` in a task."""

from __future__ import annotations

import asyncio
import logging
import signal
import traceback
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger("toolbooth.server")


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine as `asyncio.run` does, with one difference: if a task raises SystemExit or
    KeyboardInterrupt, the exception stays in that task. Ctrl-C and the exits of signal handlers
    still end the loop.
    """
    with asyncio.Runner() as runner:
        serving = runner.get_loop().create_task(main)
        while not serving.done():
            try:
                runner.run(_wait_for(serving))
            except (SystemExit, KeyboardInterrupt) as error:
                # asyncio ends the loop for these two exceptions, also if a tool has created the
                # task, for example with `asyncio.gather`. The loop can continue here: code that
                # awaits the task gets the exception.
                is_ending = serving.done() or serving.cancelling()
                if is_ending or not _is_of_a_task(error):
                    raise
                logger.error("a task of a tool raised %s", type(error).__name__, exc_info=error)


async def _wait_for(serving: asyncio.Task[None]) -> None:
    await serving


def _is_of_a_task(error: BaseException) -> bool:
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    # Outside of `Handle._run`, the loop only waits. An exception at this point comes from a signal
    # handler.
    if not any(code.co_name == "_run" for code in codes):
        return False
    handlers = map(signal.getsignal, signal.valid_signals())
    return all(getattr(each, "__code__", None) not in codes for each in handlers)
