"""A time at which the process of a server ends, whatever its tools do."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic

_PATIENCE = 1.0
"""Seconds that the end of the process waits for a client that does not read."""


class Deadline:
    """Ends the process at a certain time, in a thread of its own: a tool that hangs may hold the
    event loop, or the interpreter, which waits for threads before it exits. `last_words` is called
    in that thread first.
    """

    def __init__(self, last_words: Callable[[], None] = lambda: None) -> None:
        self.last_words = last_words
        self.is_set = False
        # A queue of this kind can be used in a signal handler.
        self.times: SimpleQueue[tuple[float, int] | None] = SimpleQueue()
        threading.Thread(target=self._watch, daemon=True).start()

    def set(self, seconds: float, *, exit_code: int = 0) -> None:
        """Exit after so many seconds. The earliest of several times counts."""
        self.is_set = True
        self.times.put((monotonic() + seconds, exit_code))

    def set_first(self, seconds: float) -> None:
        """The same, unless a time has been set already."""
        if not self.is_set:
            self.set(seconds)

    def clear(self) -> None:
        """Exit at no time."""
        self.times.put(None)

    def _watch(self) -> None:
        earliest: tuple[float, int] | None = None
        while True:
            # Python allows no timeout beyond TIMEOUT_MAX, which infinity is.
            rest = inf if earliest is None else max(0.0, earliest[0] - monotonic())
            try:
                found = self.times.get(timeout=min(rest, threading.TIMEOUT_MAX))
            except Empty:
                break
            if found is None:
                return
            earliest = min(found, earliest or found)
        # A client that does not read, or a log that is stuck, must not hold up the end.
        words = threading.Thread(target=self._last_words, daemon=True)
        words.start()
        words.join(_PATIENCE)
        # `sys.exit` waits for the threads of tools, and one that hangs is why this thread is here.
        os._exit(earliest[1] if earliest else 0)

    def _last_words(self) -> None:
        self.last_words()
        logging.shutdown()
