"""Answers `tools/list` from a stored list, so that the tools need not be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.encoded_tools import Page, encoded_tool, page_of
from toolbooth.server.tool import Shows, Tool

Find = Callable[[str], Tool]


@dataclass(frozen=True, slots=True)
class StoredTool:
    """One tool of the stored list, as JSON."""

    name: str
    encoded: bytes
    behind: tuple[str, ...] = ()
    """For a dispatcher: the names of the tools behind it."""


def stored_tools(tools: Mapping[str, Tool]) -> list[StoredTool]:
    """Return what to store for these tools."""
    return [stored_tool(tool) for tool in tools.values()]


def stored_tool(tool: Tool) -> StoredTool:
    """Return the entry to store for a tool."""
    subs = () if tool.table is None else tool.table.subs()
    behind = tuple(dict.fromkeys(sub.name for _, sub in subs))
    return StoredTool(tool.name, encoded_tool(tool), behind)


class StoredList:
    """The stored list of one registry."""

    def __init__(self, tools: Sequence[StoredTool], most: int) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._in_order = list(tools)
        self._behind = {name for tool in tools for name in tool.behind}
        self._most = most
        """The largest number of tools in one page."""

    def page(self, start: int, shows: Shows | None, find: Find) -> Page | None:
        """Return the page of the list that begins at the position `start`. Return None if no page
        begins there. `find` makes a tool. It is called for a dispatcher if the caller may see only
        some of its tools.
        """
        if not 0 <= start <= len(self._in_order):
            return None

        def written(index: int) -> bytes | None:
            return _written(self._in_order[index], shows, find)

        return page_of(start, len(self._in_order), written, self._most)

    def agrees_with(self, name: str, tool: Tool | None) -> bool:
        """Return True if a tool equals its entry in the stored list. `tool` is None if the tool
        does not exist.
        """
        stored = self.tools.get(name)
        if tool is None or stored is None:
            # Either both sides know the name or neither does. A tool behind a dispatcher has no
            # entry of its own.
            return (tool is None) == (stored is None and name not in self._behind)
        return stored == stored_tool(tool)


def _written(tool: StoredTool, shows: Shows | None, find: Find) -> bytes | None:
    """Return the entry of a tool as this caller may see it. Return None if the caller may not see
    the tool.
    """
    if shows is None:
        return tool.encoded
    # A dispatcher is only made if the caller may see a part of its tools, because only then its
    # entry changes.
    shown = [shows(name) for name in tool.behind or (tool.name,)]
    if all(shown):
        return tool.encoded
    if not any(shown):
        return None
    found = narrowed(find(tool.name), shows)
    return None if found is None else orjson.dumps(found.listing())


class EarlierList(Protocol):
    """Finds the list that an earlier process stored for a registry."""

    def found(self) -> StoredList | None:
        """Return the stored list, or None if there is no usable one. The list is looked for only
        once.
        """
        ...

    def compare(self, name: str, tool: Tool | None) -> None:
        """Compare a new tool with its entry in the list. `tool` is None if the tool does not exist.
        If they differ, the list is not used any more.
        """
        ...
