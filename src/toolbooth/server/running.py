"""The calls that are running: how many of one tool at a time, who waits, and which take long.

Sync tools run in threads, and there are only so many. A tool that hangs may hold a part of them, so
that others still run.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from math import ceil, inf
from time import monotonic
from weakref import WeakKeyDictionary

logger = logging.getLogger("toolbooth.server")

MOST_RUNNING = 16
"""Calls of one sync tool that run at a time by default: a quarter of the threads."""

MOST_WAITING = 256
"""Calls of one tool that wait; one more is told that the tool is busy."""

_LONG = 60.0
"""Seconds after which a call is logged."""

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
        except TimeoutError:
            raise Busy(self._pause()) from None
        finally:
            self._waiting -= 1

    def give_back(self, seconds: float) -> None:
        """The thread of a call has ended, also of one that nobody waits for any more."""
        self._usual = seconds if not self._usual else 0.8 * self._usual + 0.2 * seconds
        self._free.release()

    def _pause(self) -> int:
        """Seconds after which a turn should be free."""
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
        found = self._turns.get(loop)
        if found is None:
            found = self._turns[loop] = Turns(self._most)
        return found


class OpenCalls:
    """The calls that run in one event loop. Each that takes long is logged once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._started: dict[object, tuple[str, float]] = {}
        self._is_watched = False

    def begin(self, tool: str) -> object:
        """A call begins; give what is returned to `end`."""
        call = object()
        self._started[call] = (tool, monotonic())
        if not self._is_watched:
            self._is_watched = True
            self._loop.call_later(_LONG, self._look)
        return call

    def end(self, call: object) -> float:
        """A call has ended; returns its seconds."""
        return monotonic() - self._started.pop(call)[1]

    def end_from_thread(self, call: object, turns: Turns) -> None:
        """The thread of a call has ended."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits for a turn
            self._loop.call_soon_threadsafe(lambda: turns.give_back(self.end(call)))

    def _look(self) -> None:
        now, first = monotonic(), inf
        for call, (tool, start) in list(self._started.items()):
            if start + _LONG <= now:
                logger.warning("a call of tool %r has been running for %d s", tool, now - start)
                self._started[call] = (tool, inf)
            else:
                first = min(first, start + _LONG)
        self._is_watched = first < inf
        if self._is_watched:
            self._loop.call_later(first - now, self._look)


_open_calls: WeakKeyDictionary[asyncio.AbstractEventLoop, OpenCalls] = WeakKeyDictionary()


def open_calls() -> OpenCalls:
    """The calls of the running event loop."""
    loop = asyncio.get_running_loop()
    found = _open_calls.get(loop)
    if found is None:
        found = _open_calls[loop] = OpenCalls(loop)
    return found
