"""Limits the calls of one sync tool that run at the same time.

Sync tools run in threads, whose number is limited. A tool that hangs can block only a part of them,
so other tools still run.
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
"""By default, this many calls of one sync tool run at a time: a quarter of the threads."""

MOST_WAITING = 256
"""At most this many calls of one tool wait. For more, the answer is that the tool is busy."""

_LONGEST_PAUSE = 60


class Busy(Exception):
    """The call cannot run now. Nothing was done. It may be sent again after `seconds`."""

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
        """Count a call that begins in a thread. Return a function that the thread must call when it
        ends, even if the caller no longer waits. This function also cancels `timer`.
        """
        return partial(self._end_from_thread, asyncio.get_running_loop(), monotonic(), timer)

    def _end_from_thread(
        self, loop: asyncio.AbstractEventLoop, start: float, timer: asyncio.TimerHandle
    ) -> None:
        with suppress(RuntimeError):  # the loop is closed, so no call waits for a turn
            loop.call_soon_threadsafe(self._end, monotonic() - start, timer)

    def _end(self, seconds: float, timer: asyncio.TimerHandle) -> None:
        timer.cancel()
        # A moving average follows a tool that becomes slower, but a single slow call changes
        # little.
        self._usual = seconds if not self._usual else 0.8 * self._usual + 0.2 * seconds
        self._free.release()

    def _pause(self) -> int:
        """Return the number of seconds after which a turn will probably be free."""
        # The number of waiting calls, including this one, is divided by the usual rate of all
        # turns.
        expected = ceil(self._usual * (self._waiting + 1) / self._most)
        return min(_LONGEST_PAUSE, max(1, expected))


class TurnsByLoop:
    """The turns of one sync tool, in each event loop that calls it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()

    def here(self) -> Turns:
        """Return the turns of the running event loop."""
        loop = asyncio.get_running_loop()
        # An asyncio semaphore belongs to one event loop, and `call_sync` may use a new loop for
        # each call.
        found = self._turns.get(loop)
        if found is None:
            found = self._turns[loop] = Turns(self._most)
        return found
