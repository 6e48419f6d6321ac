"""A list of tools that was written earlier: `tools/list` without making the tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.encoded_tools import Page, page_of
from toolbooth.server.tool import Shows, Tool

Find = Callable[[str], Tool]


@dataclass(frozen=True, slots=True)
class StoredTool:
    """One tool of the list, as JSON."""

    name: str
    encoded: bytes
    behind: tuple[str, ...] = ()
    """Of a dispatcher: the names of the tools behind it."""


def stored_tools(tools: Mapping[str, Tool]) -> list[StoredTool]:
    """What is to be stored of these tools."""
    return [_stored(tool) for tool in tools.values()]


def _stored(tool: Tool) -> StoredTool:
    subs = () if tool.table is None else tool.table.subs()
    behind = tuple(dict.fromkeys(sub.name for _, sub in subs))
    return StoredTool(tool.name, orjson.dumps(tool.listing()), behind)


class StoredList:
    """The whole list of one registry."""

    def __init__(self, tools: Sequence[StoredTool], most: int) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._in_order = list(tools)
        self._behind = {name for tool in tools for name in tool.behind}
        self._most = most
        """Tools in one page."""

    def page(self, start: int, shows: Shows | None, find: Find) -> Page | None:
        """The page that begins at this tool of the list; None if none begins there. `find` makes a
        dispatcher of which the caller is shown a part.
        """
        if not 0 <= start <= len(self._in_order):
            return None

        def written(index: int) -> bytes | None:
            return _written(self._in_order[index], shows, find)

        return page_of(start, len(self._in_order), written, self._most)

    def agrees_with(self, name: str, tool: Tool | None) -> bool:
        """Whether a tool is listed as it has been made; None: there is no tool of this name."""
        stored = self.tools.get(name)
        if tool is None or stored is None:
            # Both must know the name, or neither. A tool behind a dispatcher is known without an
            # entry of its own.
            return (tool is None) == (stored is None and name not in self._behind)
        return stored == _stored(tool)


def _written(tool: StoredTool, shows: Shows | None, find: Find) -> bytes | None:
    """A tool as a caller is shown it; None if it is not shown."""
    if shows is None:
        return tool.encoded
    # A dispatcher that is shown whole or not at all need not be made: only for a part of its tools
    # the entry has to be written again.
    shown = [shows(name) for name in tool.behind or (tool.name,)]
    if all(shown):
        return tool.encoded
    if not any(shown):
        return None
    found = narrowed(find(tool.name), shows)
    return None if found is None else orjson.dumps(found.listing())


class EarlierList(Protocol):
    """Where a registry may have a list that was written earlier."""

    def found(self) -> StoredList | None:
        """The list, looked for once; None if there is none that can be used."""
        ...

    def compare(self, name: str, tool: Tool | None) -> None:
        """A tool has been made; None: there is none of this name after all. A list that says
        otherwise is not used any more.
        """
        ...
