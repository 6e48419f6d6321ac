"""One HTTP request of a client, and the messages that go back on it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from toolbooth.proxy.message import value_of
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.revisions import STATELESS, ProtocolError, check_param_headers

_MUCH = 1024 * 1024
"""Bytes that wait for a client before its server is no longer read."""


class Outbox:
    """Messages that wait for a client to take them."""

    def __init__(self, slow: Callable[[bool], None]) -> None:
        self.slow = slow
        """Called with whether more waits than should."""
        self.items: deque[tuple[bytes, bool]] = deque()
        self.size = 0
        self.is_slow = False
        self.is_closed = False
        self._arrived = asyncio.Event()

    def put(self, body: bytes, *, ends: bool) -> None:
        """Add a message; `ends`: it is the last one."""
        if self.is_closed:
            return
        self.items.append((body, ends))
        self.size += len(body)
        self._arrived.set()
        if self.size > _MUCH and not self.is_slow:
            self.is_slow = True
            self.slow(True)

    async def next(self) -> tuple[bytes, bool]:
        """The next message, and whether it is the last one."""
        while not self.items:
            self._arrived.clear()
            await self._arrived.wait()
        body, ends = self.items.popleft()
        self.size -= len(body)
        if self.is_slow and self.size <= _MUCH // 2:
            self.is_slow = False
            self.slow(False)
        return body, ends

    def close(self) -> None:
        """The client takes nothing any more."""
        self.is_closed = True
        self.items.clear()
        if self.is_slow:
            self.is_slow = False
            self.slow(False)


class Exchange(Outbox):
    """One request with its answer."""

    def __init__(self, headers: Mapping[str, str], slow: Callable[[bool], None]) -> None:
        super().__init__(slow)
        self.headers = headers

    def fault(self, tool: ProxiedTool, arguments: str | None) -> str | None:
        """How the headers of a call contradict its arguments; None if they do not."""
        if not tool.shown_headers or self.headers.get("mcp-protocol-version") not in STATELESS:
            return None
        sent: Any = value_of(arguments)
        try:
            check_param_headers(tool.shown_headers, sent, self.headers)
        except ProtocolError as error:
            return error.message
        return None
