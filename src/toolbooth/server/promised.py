"""Makes tools only when they are first needed, because making a thousand tools takes seconds, and
keeping them takes a hundred megabytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

from toolbooth.server.stored_list import StoredTool

Lister = Callable[[], StoredTool | None]
"""Writes the entry of a tool for the list. Returns None if the tool does not exist."""


class PromisedTools:
    """The names of tools that are not made yet. Each has a function that makes the tool."""

    def __init__(self) -> None:
        self._makers: dict[str, Callable[[], object]] = {}
        self._listers: dict[str, Lister] = {}
        self._making: set[str] = set()
        self.listed: dict[str, StoredTool] = {}
        """The entries of the list that were written without making their tools."""
        self._ranks: dict[str, int] = {}
        self._listed_by: dict[str, str] = {}
        self._lock = threading.RLock()
        self.is_complete = True
        """True if all tools are made, and the list is in its final order."""
        self.is_listed = True
        """True if the entries of all tools that are not made are written."""

    def add(
        self,
        name: str,
        make: Callable[[], object],
        behind: Iterable[str] = (),
        lister: Lister | None = None,
    ) -> None:
        """Add a name. `make` registers the tool, or finds out that there is no such tool. For a
        dispatcher, `make` also makes the tools in `behind`. `lister` returns the entry of the tool
        in the list, without making the tool.
        """
        self.is_complete = self.is_listed = False
        self._makers[name] = make
        if lister is not None:
            self._listers[name] = lister
        self._ranks.setdefault(name, len(self._ranks))
        self._listed_by |= dict.fromkeys(behind, name)

    def __bool__(self) -> bool:
        return bool(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._makers))

    def make(self, name: str) -> None:
        """Make the tool with this name, if it is not made yet. If another thread is already making
        it, wait.
        """
        with self._once(name) as make:
            if make is not None:
                try:
                    make()
                finally:
                    # Removed even after an error, so that a tool that cannot be made is not tried
                    # again for every call.
                    self._drop(name)

    def make_listed(self, name: str) -> None:
        """Make the tool with this name, and the dispatcher that it is behind."""
        self.make(self._listed_by.get(name, name))

    def enter(self, name: str) -> None:
        """Write the entry of a tool for the list, unless it was written before. A tool without a
        `lister` is made, and so is a tool behind a dispatcher, with its dispatcher.
        """
        lister = self._listers.get(name)
        if lister is None or name in self._listed_by:
            self.make_listed(name)
            return
        with self._once(name) as make:
            if make is None or name in self.listed:
                return
            entry: StoredTool | None = None
            try:
                entry = lister()
            finally:
                if entry is None:  # there is no such tool, or it cannot be made
                    self._drop(name)
            if entry is not None:
                self.listed[name] = entry

    @contextmanager
    def _once(self, name: str) -> Generator[Callable[[], object] | None]:
        """Yield the function that makes a tool, if it is not made yet. Other threads wait."""
        if name not in self._makers:
            yield None
            return
        # The lock is reentrant, because making a dispatcher makes the tools behind it in the same
        # thread.
        with self._lock:
            # Another thread may have made it during the wait, or this thread is already making it.
            if name not in self._makers or name in self._making:
                yield None
                return
            self._making.add(name)
            try:
                yield self._makers[name]
            finally:
                self._making.discard(name)

    def _drop(self, name: str) -> None:
        del self._makers[name]
        self._listers.pop(name, None)

    def rank(self, name: str) -> int:
        """Return the position of a tool in the list. It does not depend on when the tool is made.
        Tools that the author registered directly come first.
        """
        return self._ranks.get(name, -1)
