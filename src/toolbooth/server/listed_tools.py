"""Finds the tools of a server by name, and lists them in pages. Some tools are made only when they
are first needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from toolbooth.server import messages
from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.dispatch.names import near_to, nearest
from toolbooth.server.encoded_tools import EncodedTools, Page
from toolbooth.server.promised import PromisedTools
from toolbooth.server.stored_list import EarlierList, StoredList, StoredTool, stored_tool
from toolbooth.server.tool import Shows, Tool


class UnknownTool(LookupError):
    """Raised if there is no tool with this name. The message suggests a similar name."""


class ListedTools:
    """The tools of a registry: the base class of `ToolRegistry`."""

    def __init__(self, page_size: int) -> None:
        self.tools: dict[str, Tool] = {}
        self.hidden: dict[str, Tool] = {}
        """The tools behind dispatchers. They are not listed, but agents can still call them by
        their own names.
        """
        self.promised = PromisedTools()
        """Tools that will be made by `find` or `complete` when they are first needed."""
        self.changes = 0  # counts registrations, so that older lists are made again
        self.page_size = page_size
        self.earlier: EarlierList | None = None
        """A list that an earlier process stored. It is used until all tools are made."""
        self._encoded = EncodedTools(page_size)
        self._unfinished = _UnfinishedList()

    def find(self, name: str, shows: Shows | None = None) -> Tool:
        """Return the tool with this name. If there is none, raise UnknownTool. Its message suggests
        only tools that the caller may see.
        """
        found = self.tools.get(name) or self.hidden.get(name)
        if found is None:
            is_new = name in self.promised
            self.promised.make(name)
            found = self.tools.get(name) or self.hidden.get(name)
            # The stored list may be outdated, so each new tool is compared with its entry.
            if is_new and self.earlier is not None:
                self.earlier.compare(name, found)
        if found is None:
            self._make_near(name)
            near = nearest(name, self.tools, self.hidden, shows)
            raise UnknownTool(messages.unknown_tool(name, near))
        return found

    def _make_near(self, name: str) -> None:
        """Make the tool whose name is most similar, so that it can be suggested. If it turns out
        that there is no such tool, try the next most similar name.
        """
        left = [*self.tools, *self.hidden, *self.promised]
        near = near_to(name, left)
        while near is not None and near in self.promised:
            self.promised.make_listed(near)
            left.remove(near)
            near = near if near in self.tools or near in self.hidden else near_to(name, left)

    def complete(self) -> None:
        """Make all tools that are not made yet. The order of the list does not depend on when they
        are made.
        """
        if self.promised.is_complete:
            return
        for name in self.promised:
            self.promised.make(name)
        ranked = sorted(self.tools.items(), key=lambda each: self.promised.rank(each[0]))
        self.tools = dict(ranked)
        self.promised.is_complete = True

    def page(self, start: int, shows: Shows | None) -> Page | None:
        """Return the page of `tools/list` that begins at the position `start`: the tools as JSON,
        and the start of the next page. Return None if no page begins there.
        """
        if not self.promised.is_complete:
            stored = None if self.earlier is None else self.earlier.found()
            return (stored or self._listed()).page(start, shows, self.find)
        narrows = None if shows is None else partial(narrowed, shows=shows)
        return self._encoded.page(start, self.tools, narrows, self.changes)

    def _listed(self) -> StoredList:
        """Return the list of all tools. Those that were not called are listed without being made:
        a tool needs far more memory than its entry.
        """
        if not self.promised.is_listed:
            for name in self.promised:
                self.promised.enter(name)
            self.promised.is_listed = True
        known = self._unfinished
        if known.found is None or known.changes != self.changes:
            known.changes = self.changes
            entries = {**known.entries_of(self.tools), **self.promised.listed}
            ranked = sorted(entries.values(), key=lambda each: self.promised.rank(each.name))
            known.found = StoredList(ranked, self.page_size)
        return known.found


class _UnfinishedList:
    """The list of a registry while some of its tools are not made."""

    def __init__(self) -> None:
        self.found: StoredList | None = None
        self.changes = 0
        """The number of registrations when the list was made."""
        self._entries: dict[str, tuple[Tool, StoredTool]] = {}

    def entries_of(self, tools: Mapping[str, Tool]) -> dict[str, StoredTool]:
        """Return the entries of tools. The entry of each tool is written once."""
        for name, tool in tools.items():
            known = self._entries.get(name)
            if known is None or known[0] is not tool:
                self._entries[name] = (tool, stored_tool(tool))
        return {name: self._entries[name][1] for name in tools}
