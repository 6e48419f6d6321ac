"""Limits how many calls of one sync tool run at the same time.

Sync tools run in threads, and the number of threads is limited. With this limit, a tool that hangs
blocks only some of the threads, and other tools can still run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from math import ceil
from time import monotonic
from weakref import WeakKeyDictionary

MOST_RUNNING = 16
"""By default, this many calls of one sync tool may run at the same time. This is a quarter of the
threads.
"""

MOST_WAITING = 256
"""At most this many calls of one tool wait. Further calls are answered that the tool is busy."""

_LONGEST_PAUSE = 60


class Busy(Exception):
    """Raised if the call cannot run now. Nothing was done. The call may be sent again after
    `seconds`.
    """

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(seconds)


class Turns:
    """The calls of one sync tool in one event loop. Each call needs a turn to run."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._most = most
        self._waiting = 0
        self._usual = 0.0  # seconds of a call

    async def take(self, limit: float | None) -> None:
        """Wait for a turn, but at most `limit` seconds. Raises Busy."""
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
        """Count a call that begins in a thread. Return a function that must be called in the event
        loop when the thread has ended, even if the caller no longer waits. This function also
        cancels `timer`.
        """
        return partial(self._end, monotonic(), timer)

    def _end(self, start: float, timer: asyncio.TimerHandle) -> None:
        timer.cancel()
        seconds = monotonic() - start
        # A moving average follows a tool that becomes slower, but a single slow call changes
        # little.
        self._usual = seconds if not self._usual else 0.8 * self._usual + 0.2 * seconds
        self._free.release()

    def _pause(self) -> int:
        """Return the number of seconds until a turn will probably be free."""
        # The number of waiting calls, including this one, is divided by the usual rate of all
        # turns.
        expected = ceil(self._usual * (self._waiting + 1) / self._most)
        return min(_LONGEST_PAUSE, max(1, expected))


class TurnsByLoop:
    """The turns of one sync tool. Each event loop that calls the tool has its own."""

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
