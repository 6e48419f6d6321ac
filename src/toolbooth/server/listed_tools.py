"""The tools of a server as `tools/list` shows them, written once."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.tool import Shows, Tool


class ListedTools:
    """What a registry shows: the base of `ToolRegistry`."""

    def __init__(self, page_size: int) -> None:
        self.page_size = page_size
        self.tools: dict[str, Tool] = {}
        self.changes = 0  # counts registrations: what was made from an older list is made anew
        self._pages: dict[int, bytes] = {}
        self._listed: dict[str, bytes] = {}
        self._listed_at = 0

    def shown(self, shows: Shows) -> list[Tool]:
        """The tools of the list as one caller is shown them."""
        return [each for tool in self.tools.values() if (each := narrowed(tool, shows)) is not None]

    def encoded_listing(self, start: int) -> bytes:
        """One page of `tools/list` as JSON, made once."""
        self._forget_older()
        if start not in self._pages:
            page = list(self.tools.values())[start : start + self.page_size]
            self._pages[start] = self.encoded(page)
        return self._pages[start]

    def encoded(self, tools: Sequence[Tool]) -> bytes:
        """These tools as `tools/list` shows them, as JSON; each is written once."""
        self._forget_older()
        return b"[" + b",".join(map(self._encoded, tools)) + b"]"

    def _encoded(self, tool: Tool) -> bytes:
        # What a dispatcher shows to one caller alone is not the registered tool, and is not kept.
        if tool is not self.tools.get(tool.name):
            return orjson.dumps(tool.listing())
        if tool.name not in self._listed:
            self._listed[tool.name] = orjson.dumps(tool.listing())
        return self._listed[tool.name]

    def _forget_older(self) -> None:
        if self._listed_at != self.changes:
            self._pages.clear()
            self._listed.clear()
            self._listed_at = self.changes
