"""Writes `tools/list` as JSON, in pages. Each tool is encoded once. After a new registration, the
tools are encoded again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from toolbooth.server.tool import Tool

MOST_BYTES = 1024 * 1024
"""The largest size of a page in bytes. A page with only one tool may be larger."""

Page = tuple[bytes, int | None]
"""The tools of a page as JSON, and the position at which the next page begins; None after the last
page.
"""


Narrowed = Callable[[Tool], Tool | None]
"""A function that returns a tool as one caller sees it, or None if the caller may not see it."""


class EncodedTools:
    """The encoded tools of one registry."""

    def __init__(self, most: int) -> None:
        self.most = most
        """The largest number of tools in one page."""
        self._tools: dict[str, bytes] = {}
        self._pages: dict[int, Page] = {}
        self._made_at = 0

    def page(
        self, start: int, listed: Mapping[str, Tool], narrowed: Narrowed | None, changes: int
    ) -> Page | None:
        """Return the page of the list that begins at the position `start`. Return None if no page
        begins there. If `narrowed` is None, every caller sees the same tools. `changes` is the
        number of registrations so far.
        """
        if self._made_at != changes:
            self._tools.clear()
            self._pages.clear()
            self._made_at = changes
        if narrowed is not None:
            # Each caller may see different tools, so pages begin at different places and cannot be
            # cached.
            return self._page(start, listed, narrowed) if 0 <= start <= len(listed) else None
        # All pages are made together, because the start of a page depends on the pages before it.
        # Only these starts are valid cursors.
        following: int | None = None if self._pages else 0
        while following is not None:
            found = self._pages[following] = self._page(following, listed, _unchanged)
            following = found[1]
        return self._pages.get(start)

    def _page(self, start: int, listed: Mapping[str, Tool], narrowed: Narrowed) -> Page:
        tools = list(listed.values())

        def written(index: int) -> bytes | None:
            shown = narrowed(tools[index])
            return None if shown is None else self._encoded(shown, listed)

        return page_of(start, len(tools), written, self.most)

    def _encoded(self, tool: Tool, listed: Mapping[str, Tool]) -> bytes:
        # A dispatcher with only some of its tools is not the registered tool, and is not cached.
        if tool is not listed.get(tool.name):
            return orjson.dumps(tool.listing())
        if tool.name not in self._tools:
            self._tools[tool.name] = encoded_tool(tool)
        return self._tools[tool.name]


def encoded_tool(tool: Tool) -> bytes:
    """Return the entry of a tool for the list, as JSON to keep."""
    # orjson returns bytes with much room after them. A copy has only what it needs.
    return bytes(memoryview(orjson.dumps(tool.listing())))


def page_of(start: int, end: int, written: Callable[[int], bytes | None], most: int) -> Page:
    """Return a page with as many tools as fit, beginning at the position `start`. `written` returns
    a tool as JSON, or None if the caller may not see it. It is called only for the tools of this
    page, because checking permissions takes longer than writing.
    """
    page: list[bytes] = []
    room = MOST_BYTES
    for index in range(start, end):
        encoded = written(index)
        if encoded is None:
            continue
        room -= len(encoded) + 1
        # Each page has at least one tool. Otherwise a tool that is larger than a page would never
        # be listed.
        if page and (room < 0 or len(page) == most):
            # The next page begins at a tool that this caller may see, so no page is empty.
            return _joined(page), index
        page.append(encoded)
    return _joined(page), None


def _unchanged(tool: Tool) -> Tool:
    return tool


def _joined(encoded: list[bytes]) -> bytes:
    return b"[" + b",".join(encoded) + b"]"
