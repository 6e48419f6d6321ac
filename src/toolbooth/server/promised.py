"""Tools that are made when they are first needed: to make a thousand of them takes seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator


class PromisedTools:
    """The names of tools that are not made yet, and how to make each of them."""

    def __init__(self) -> None:
        self._makers: dict[str, Callable[[], object]] = {}
        self._making: set[str] = set()
        self._ranks: dict[str, int] = {}
        self._listed_by: dict[str, str] = {}
        self._lock = threading.RLock()
        self.is_complete = True
        """Whether all of them are made, and in their places in the list."""

    def add(self, name: str, make: Callable[[], object], behind: Iterable[str] = ()) -> None:
        """`make` registers the tool of this name, or finds that there is none after all. Of a
        dispatcher it makes those `behind` it, too.
        """
        self.is_complete = False
        self._makers[name] = make
        self._ranks.setdefault(name, len(self._ranks))
        self._listed_by |= dict.fromkeys(behind, name)

    def __bool__(self) -> bool:
        return bool(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._makers))

    def make(self, name: str) -> None:
        """Make the tool of this name, if that is still to be done. Other threads wait for it."""
        if name not in self._makers:
            return
        # Reentrant, since making a dispatcher makes the tools behind it in the same thread.
        with self._lock:
            # It may have been made while this thread waited, or be asked for while it is made.
            if name not in self._makers or name in self._making:
                return
            self._making.add(name)
            try:
                self._makers[name]()
            finally:
                self._making.discard(name)
                # Also after an error: a tool that cannot be made is not tried again for every call.
                del self._makers[name]

    def make_listed(self, name: str) -> None:
        """Make the tool of this name, and the dispatcher that it is called through."""
        self.make(self._listed_by.get(name, name))

    def rank(self, name: str) -> int:
        """The place of a tool in the list, whenever it was made. Tools that were registered at once
        come first.
        """
        return self._ranks.get(name, -1)
