"""`tools/list` as JSON, in pages. Each tool is written once, until the next registration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import orjson

from toolbooth.server.tool import Tool

MOST_BYTES = 1024 * 1024
"""In one page, unless its only tool is larger."""

Page = tuple[bytes, int | None]
"""The tools of a page as JSON, and where the next page begins."""


class EncodedTools:
    """What is kept of the list of one registry."""

    def __init__(self, most: int) -> None:
        self.most = most
        """Tools in one page."""
        self._tools: dict[str, bytes] = {}
        self._pages: dict[int, Page] = {}
        self._made_at = 0

    def page(
        self, start: int, listed: Mapping[str, Tool], shown: Sequence[Tool] | None, changes: int
    ) -> Page | None:
        """The page that begins at this tool; None if none begins there. `shown` are the tools that
        this caller is shown, if not all that are listed. `changes` counts registrations.
        """
        if self._made_at != changes:
            self._tools.clear()
            self._pages.clear()
            self._made_at = changes
        if shown is not None:
            return self._paged(self._encoded(shown, listed)).get(start)
        if not self._pages:
            self._pages = self._paged(self._encoded(listed.values(), listed))
        return self._pages.get(start)

    def _encoded(self, tools: Iterable[Tool], listed: Mapping[str, Tool]) -> list[bytes]:
        return [self._encoded_tool(tool, listed) for tool in tools]

    def _encoded_tool(self, tool: Tool, listed: Mapping[str, Tool]) -> bytes:
        # What a dispatcher shows to one caller alone is not the registered tool, and is not kept.
        if tool is not listed.get(tool.name):
            return orjson.dumps(tool.listing())
        if tool.name not in self._tools:
            self._tools[tool.name] = orjson.dumps(tool.listing())
        return self._tools[tool.name]

    def _paged(self, encoded: list[bytes]) -> dict[int, Page]:
        starts = self._starts(encoded)
        pages: dict[int, Page] = {}
        for start, end in pairwise((*starts, len(encoded))):
            following = end if end < len(encoded) else None
            pages[start] = (b"[" + b",".join(encoded[start:end]) + b"]", following)
        return pages

    def _starts(self, encoded: list[bytes]) -> list[int]:
        """Where each page begins."""
        starts = [0]
        size = 0
        for index, each in enumerate(encoded):
            size += len(each) + 1
            is_full = size > MOST_BYTES or index - starts[-1] >= self.most
            if is_full and index > starts[-1]:
                starts.append(index)
                size = len(each) + 1
        return starts
