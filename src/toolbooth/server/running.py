"""How many calls of one sync tool run at a time, and who waits.

Sync tools run in threads, and there are only so many. A tool that hangs may hold a part of them, so
that others still run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import ceil
from time import monotonic
from weakref import WeakKeyDictionary

MOST_RUNNING = 16
"""Calls of one sync tool that run at a time by default: a quarter of the threads."""

MOST_WAITING = 256
"""How many calls of one tool may wait. The next is answered that the tool is busy."""

_LONGEST_PAUSE = 60


class Busy(Exception):
    """The call cannot run now. Nothing was done; it may be made again after `seconds`."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(seconds)


class Turns:
    """The turns of one sync tool in one event loop."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._most = most
        self._waiting = 0
        self._usual = 0.0  # seconds of a call

    async def take(self, limit: float | None) -> None:
        """Wait for a turn, at most `limit` seconds. Raises Busy."""
        if not self._free.locked():
            await self._free.acquire()
            return
        if self._waiting >= MOST_WAITING:
            raise Busy(self._pause())
        self._waiting += 1
        try:
            async with asyncio.timeout(limit):
                await self._free.acquire()
        # The time limit of the tool has passed before it could begin. It has not run, so the call
        # can be sent again.
        except TimeoutError:
            raise Busy(self._pause()) from None
        finally:
            self._waiting -= 1

    def begin(self, timer: asyncio.TimerHandle) -> Callable[[], None]:
        """Count a call that begins in a thread. Returns a function to call there when it ends, also
        if its caller has gone. `timer` is cancelled then.
        """
        return partial(self._end_from_thread, asyncio.get_running_loop(), monotonic(), timer)

    def _end_from_thread(
        self, loop: asyncio.AbstractEventLoop, start: float, timer: asyncio.TimerHandle
    ) -> None:
        with suppress(RuntimeError):  # the loop is closed, so no call waits for a turn
            loop.call_soon_threadsafe(self._end, monotonic() - start, timer)

    def _end(self, seconds: float, timer: asyncio.TimerHandle) -> None:
        timer.cancel()
        # A moving average: it follows a tool that becomes slower, but one slow call alone changes
        # little.
        self._usual = seconds if not self._usual else 0.8 * self._usual + 0.2 * seconds
        self._free.release()

    def _pause(self) -> int:
        """Seconds after which a turn should be free."""
        # All that wait before it, and itself, at the usual pace of all turns together.
        expected = ceil(self._usual * (self._waiting + 1) / self._most)
        return min(_LONGEST_PAUSE, max(1, expected))


class TurnsByLoop:
    """The turns of one sync tool, in each event loop that calls it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()

    def here(self) -> Turns:
        """Those of the running event loop."""
        loop = asyncio.get_running_loop()
        # An asyncio semaphore belongs to one event loop, and `call_sync` may use a new loop for
        # each call.
        found = self._turns.get(loop)
        if found is None:
            found = self._turns[loop] = Turns(self._most)
        return found
