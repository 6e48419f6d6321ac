"""The tools of a server: found by name, and listed in pages. Some are made when they are first
needed.
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
    """There is no tool of this name. The message has the one that may be meant."""


class ListedTools:
    """The tools of a registry: the base class of `ToolRegistry`."""

    def __init__(self, page_size: int) -> None:
        self.tools: dict[str, Tool] = {}
        self.hidden: dict[str, Tool] = {}
        """Behind dispatchers: not in the list, but called by name as ever."""
        self.promised = PromisedTools()
        """Tools that `find` and `complete` make, each when it is first needed."""
        self.changes = 0  # counts registrations, so that lists made before are made again
        self.page_size = page_size
        self.earlier: EarlierList | None = None
        """A list that was written earlier. It is used until all tools are made."""
        self._encoded = EncodedTools(page_size)

    def find(self, name: str, shows: Shows | None = None) -> Tool:
        """The tool of this name. Raises UnknownTool, which names only tools that the caller is
        shown.
        """
        found = self.tools.get(name) or self.hidden.get(name)
        if found is None:
            is_new = name in self.promised
            self.promised.make(name)
            found = self.tools.get(name) or self.hidden.get(name)
            # The list of an earlier process may be outdated. Each tool that is made shows whether
            # it still is as it was listed.
            if is_new and self.earlier is not None:
                self.earlier.compare(name, found)
        if found is None:
            self._make_near(name)
            near = nearest(name, self.tools, self.hidden, shows)
            raise UnknownTool(messages.unknown_tool(name, near))
        return found

    def _make_near(self, name: str) -> None:
        """Make the tool that this name is near to, if it is still promised. It may not be there
        after all: then the next one.
        """
        left = [*self.tools, *self.hidden, *self.promised]
        near = near_to(name, left)
        while near is not None and near in self.promised:
            self.promised.make_listed(near)
            left.remove(near)
            near = near if near in self.tools or near in self.hidden else near_to(name, left)

    def complete(self) -> None:
        """Make the tools that are still promised. The list does not depend on which were made
        first.
        """
        if self.promised.is_complete:
            return
        for name in self.promised:
            self.promised.make(name)
        ranked = sorted(self.tools.items(), key=lambda each: self.promised.rank(each[0]))
        self.tools = dict(ranked)
        self.promised.is_complete = True

    def page(self, start: int, shows: Shows | None) -> Page | None:
        """The page of `tools/list` that begins at this tool, as JSON, and where the next one
        begins; None if no page begins there.
        """
        stored = None if self.earlier is None or self.promised.is_complete else self.earlier.found()
        if stored is not None:
            return stored.page(start, shows, self.find)
        self.complete()
        narrows = None if shows is None else partial(narrowed, shows=shows)
        return self._encoded.page(start, self.tools, narrows, self.changes)
