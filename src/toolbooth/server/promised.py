"""Makes tools when they are first needed, because making a thousand of them takes seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator


class PromisedTools:
    """The names of tools that are made later, each with the function that makes the tool."""

    def __init__(self) -> None:
        self._makers: dict[str, Callable[[], object]] = {}
        self._making: set[str] = set()
        self._ranks: dict[str, int] = {}
        self._listed_by: dict[str, str] = {}
        self._lock = threading.RLock()
        self.is_complete = True
        """True if all of them are made and sorted into the list."""

    def add(self, name: str, make: Callable[[], object], behind: Iterable[str] = ()) -> None:
        """Add a name. `make` registers the tool, or finds out that the tool does not exist. For a
        dispatcher, `make` also makes the tools in `behind`.
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
        """Make the tool with this name, unless it was made before. Other threads wait until it is
        made.
        """
        if name not in self._makers:
            return
        # The lock is reentrant, because making a dispatcher makes the tools behind it in the same
        # thread.
        with self._lock:
            # Another thread may have made it during the wait, or this thread is already making it.
            if name not in self._makers or name in self._making:
                return
            self._making.add(name)
            try:
                self._makers[name]()
            finally:
                self._making.discard(name)
                # Removed even after an error, so that a tool that cannot be made is not tried again
                # for every call.
                del self._makers[name]

    def make_listed(self, name: str) -> None:
        """Make the tool with this name, and its dispatcher."""
        self.make(self._listed_by.get(name, name))

    def rank(self, name: str) -> int:
        """Return the position of a tool in the list. The position does not depend on when the tool
        was made. Tools that were registered directly come first.
        """
        return self._ranks.get(name, -1)
