"""The tools of a server: found by name, and listed in pages. Some are made when they are first
needed.
"""

from __future__ import annotations

from functools import partial

from toolbooth.server import messages
from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.dispatch.names import is_near, nearest
from toolbooth.server.encoded_tools import EncodedTools, Page
from toolbooth.server.promised import PromisedTools
from toolbooth.server.tool import Shows, Tool


class UnknownTool(LookupError):
    """No tool of this name; says which one may be meant."""


class ListedTools:
    """What a registry has: the base of `ToolRegistry`."""

    def __init__(self, page_size: int) -> None:
        self.tools: dict[str, Tool] = {}
        self.hidden: dict[str, Tool] = {}
        """Behind dispatchers: not in the list, but called by name as ever."""
        self.promised = PromisedTools()
        """Tools that `find` and `complete` make, each when it is first needed."""
        self.changes = 0  # counts registrations: what was made from an older list is made anew
        self._encoded = EncodedTools(page_size)

    def find(self, name: str, shows: Shows | None = None) -> Tool:
        """The tool of this name. Raises UnknownTool, which names only tools that the caller is
        shown.
        """
        found = self.tools.get(name) or self.hidden.get(name)
        if found is None and self.promised:
            self.promised.make(name)
            found = self.tools.get(name) or self.hidden.get(name)
        if found is None:
            if is_near(name, self.promised):
                self.complete()  # the near one may be called through a dispatcher
            near = nearest(name, self.tools, self.hidden, shows)
            raise UnknownTool(messages.unknown_tool(name, near))
        return found

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
        self.complete()
        narrows = None if shows is None else partial(narrowed, shows=shows)
        return self._encoded.page(start, self.tools, narrows, self.changes)
