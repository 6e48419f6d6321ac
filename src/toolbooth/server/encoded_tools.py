"""`tools/list` as JSON, in pages. Each tool is written once, until the next registration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from toolbooth.server.tool import Tool

MOST_BYTES = 1024 * 1024
"""In one page, unless its only tool is larger."""

Page = tuple[bytes, int | None]
"""The tools of a page as JSON, and where the next page begins."""


Narrowed = Callable[[Tool], Tool | None]
"""A tool as one caller is shown it; None if it is not shown."""


class EncodedTools:
    """The encoded tools of one registry, kept for its lists."""

    def __init__(self, most: int) -> None:
        self.most = most
        """Tools in one page."""
        self._tools: dict[str, bytes] = {}
        self._pages: dict[int, Page] = {}
        self._made_at = 0

    def page(
        self, start: int, listed: Mapping[str, Tool], narrowed: Narrowed | None, changes: int
    ) -> Page | None:
        """The page that begins at this tool of the list; None if none begins there. Without
        `narrowed`, every caller is shown the same. `changes` counts registrations.
        """
        if self._made_at != changes:
            self._tools.clear()
            self._pages.clear()
            self._made_at = changes
        if narrowed is not None:
            # Each caller may be shown other tools, so pages begin elsewhere and cannot be kept.
            return self._page(start, listed, narrowed) if 0 <= start <= len(listed) else None
        # All pages at once: where a page begins depends on those before it, and only the beginnings
        # are known as cursors.
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
        # A dispatcher as one caller sees it is not the registered tool, and is not kept.
        if tool is not listed.get(tool.name):
            return orjson.dumps(tool.listing())
        if tool.name not in self._tools:
            self._tools[tool.name] = orjson.dumps(tool.listing())
        return self._tools[tool.name]


def page_of(start: int, end: int, written: Callable[[int], bytes | None], most: int) -> Page:
    """The tools from one on, as many as fit. A caller is asked for no more tools than that: to ask
    takes longer than to write them. `written` gives a tool as JSON; None: it is not shown.
    """
    page: list[bytes] = []
    room = MOST_BYTES
    for index in range(start, end):
        encoded = written(index)
        if encoded is None:
            continue
        room -= len(encoded) + 1
        # At least one tool per page: a tool that is larger than a page would never be listed
        # otherwise.
        if page and (room < 0 or len(page) == most):
            # The next page begins at a tool that is certainly shown, so no page is empty.
            return _joined(page), index
        page.append(encoded)
    return _joined(page), None


def _unchanged(tool: Tool) -> Tool:
    return tool


def _joined(encoded: list[bytes]) -> bytes:
    return b"[" + b",".join(encoded) + b"]"
