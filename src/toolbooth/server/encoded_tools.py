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
    """What is kept of the list of one registry."""

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
            return self._page(start, listed, narrowed) if 0 <= start <= len(listed) else None
        following: int | None = None if self._pages else 0
        while following is not None:
            found = self._pages[following] = self._page(following, listed, _unchanged)
            following = found[1]
        return self._pages.get(start)

    def _page(self, start: int, listed: Mapping[str, Tool], narrowed: Narrowed) -> Page:
        """The tools from one on, as many as fit. A caller is asked for no more tools than that: to
        ask takes longer than to write them.
        """
        tools = list(listed.values())
        page: list[bytes] = []
        room = MOST_BYTES
        for index in range(start, len(tools)):
            shown = narrowed(tools[index])
            if shown is None:
                continue
            encoded = self._encoded(shown, listed)
            room -= len(encoded) + 1
            if page and (room < 0 or len(page) == self.most):
                return _joined(page), index
            page.append(encoded)
        return _joined(page), None

    def _encoded(self, tool: Tool, listed: Mapping[str, Tool]) -> bytes:
        # What a dispatcher shows to one caller alone is not the registered tool, and is not kept.
        if tool is not listed.get(tool.name):
            return orjson.dumps(tool.listing())
        if tool.name not in self._tools:
            self._tools[tool.name] = orjson.dumps(tool.listing())
        return self._tools[tool.name]


def _unchanged(tool: Tool) -> Tool:
    return tool


def _joined(encoded: list[bytes]) -> bytes:
    return b"[" + b",".join(encoded) + b"]"
