"""Finds the tools of a server by name, and lists them in pages. Some tools are made when they are
first needed.
"""

from __future__ import annotations

from functools import partial

from toolbooth.server import messages
from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.dispatch.names import near_to, nearest
from toolbooth.server.encoded_tools import EncodedTools, Page
from toolbooth.server.promised import PromisedTools
from toolbooth.server.stored_list import EarlierList
from toolbooth.server.tool import Shows, Tool


class UnknownTool(LookupError):
    """There is no tool with this name. The message suggests a similar one."""


class ListedTools:
    """The tools of a registry: the base class of `ToolRegistry`."""

    def __init__(self, page_size: int) -> None:
        self.tools: dict[str, Tool] = {}
        self.hidden: dict[str, Tool] = {}
        """The tools behind dispatchers. They are not listed, but can still be called by name."""
        self.promised = PromisedTools()
        """Tools that `find` and `complete` make when they are first needed."""
        self.changes = 0  # counts registrations, so that older lists are made again
        self.page_size = page_size
        self.earlier: EarlierList | None = None
        """A stored list from an earlier process. It is used until all tools are made."""
        self._encoded = EncodedTools(page_size)

    def find(self, name: str, shows: Shows | None = None) -> Tool:
        """Return the tool with this name. If there is none, raise UnknownTool. The error suggests
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
        """Make the tool with the most similar name, if it does not exist yet. If there is no such
        tool, make the one with the next name.
        """
        left = [*self.tools, *self.hidden, *self.promised]
        near = near_to(name, left)
        while near is not None and near in self.promised:
            self.promised.make_listed(near)
            left.remove(near)
            near = near if near in self.tools or near in self.hidden else near_to(name, left)

    def complete(self) -> None:
        """Make all remaining tools. The order of the list does not depend on the order of
        making.
        """
        if self.promised.is_complete:
            return
        for name in self.promised:
            self.promised.make(name)
        ranked = sorted(self.tools.items(), key=lambda each: self.promised.rank(each[0]))
        self.tools = dict(ranked)
        self.promised.is_complete = True

    def page(self, start: int, shows: Shows | None) -> Page | None:
        """Return the page of `tools/list` that begins at this tool, as JSON, and the start of the
        next page. Return None if no page begins at this tool.
        """
        stored = None if self.earlier is None or self.promised.is_complete else self.earlier.found()
        if stored is not None:
            return stored.page(start, shows, self.find)
        self.complete()
        narrows = None if shows is None else partial(narrowed, shows=shows)
        return self._encoded.page(start, self.tools, narrows, self.changes)
