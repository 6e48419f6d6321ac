"""Runs slow work in a thread, so that the event loop can handle other messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from toolbooth.boundary.run import off_the_loop

Made = TypeVar("Made")


class Background:
    """The work that one session runs in threads."""

    def __init__(self) -> None:
        # The event loop itself does not keep tasks alive.
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, work: Callable[[], Made], then: Callable[[Made], None]) -> None:
        """Run `work` in a thread. Then call `then` with its result, in the event loop."""
        task = asyncio.ensure_future(self._run(work, then))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Callable[[], Made], then: Callable[[Made], None]) -> None:
        then(await off_the_loop(work))
