"""Ends the process of a server at a certain time, even if its tools hang."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic

_PATIENCE = 1.0
"""When the process ends, a client that does not read its answers gets this many more seconds."""


class Deadline:
    """Ends the process at a certain time, from its own thread. This is needed because a tool that
    hangs may block the event loop. It may also block the exit of the interpreter, which waits for
    all threads. Before the process ends, the thread calls `last_words`.
    """

    def __init__(self, last_words: Callable[[], None] = lambda: None) -> None:
        self.last_words = last_words
        self.is_set = False
        # A SimpleQueue can be used in a signal handler.
        self.times: SimpleQueue[tuple[float, int] | None] = SimpleQueue()
        threading.Thread(target=self._watch, daemon=True).start()

    def set(self, seconds: float, *, exit_code: int = 0) -> None:
        """Exit after this many seconds. If a time is already set, the earlier one counts."""
        self.is_set = True
        self.times.put((monotonic() + seconds, exit_code))

    def set_first(self, seconds: float) -> None:
        """Exit after this many seconds, unless a time is already set."""
        if not self.is_set:
            self.set(seconds)

    def clear(self) -> None:
        """Remove the time. The process then does not end by itself."""
        self.times.put(None)

    def _watch(self) -> None:
        earliest: tuple[float, int] | None = None
        while True:
            # Python allows no timeout above TIMEOUT_MAX, so infinity is replaced.
            rest = inf if earliest is None else max(0.0, earliest[0] - monotonic())
            try:
                found = self.times.get(timeout=min(rest, threading.TIMEOUT_MAX))
            except Empty:
                break
            if found is None:
                return
            earliest = min(found, earliest or found)
        # The end must not be delayed by a client that does not read, or by a blocked log.
        words = threading.Thread(target=self._last_words, daemon=True)
        words.start()
        words.join(_PATIENCE)
        # `sys.exit` would wait for the threads of tools, and one of them may hang.
        os._exit(earliest[1] if earliest else 0)

    def _last_words(self) -> None:
        self.last_words()
        logging.shutdown()
