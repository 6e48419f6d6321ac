"""One HTTP request of a client, and the messages that go back on it."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Literal

from toolbooth.proxy.message import value_of
from toolbooth.proxy.sse import primer
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.revisions import STATELESS, ProtocolError, check_param_headers

_MUCH = 1024 * 1024
"""Bytes that wait for a client before its server is no longer read."""


Kind = Literal["message", "last", "frame", "pause"]
"""A message; the one that answers the request; a frame of the stream; the end of the stream for
now, without an answer.
"""
Item = tuple[bytes, Kind]


class Outbox:
    """Messages that wait for a client to take them."""

    def __init__(self, slow: Callable[[bool], None]) -> None:
        self.slow = slow
        """Called with whether more waits than should."""
        self.items: deque[Item] = deque()
        self.size = 0
        self.is_slow = False
        self.is_closed = False
        self._arrived = asyncio.Event()

    def put(self, body: bytes, kind: Kind = "message") -> None:
        """Add a message, or something else for its stream."""
        if self.is_closed:
            return
        self.items.append((body, kind))
        self.size += len(body)
        self._arrived.set()
        if self.size > _MUCH and not self.is_slow:
            self.is_slow = True
            self.slow(True)

    async def next(self) -> Item:
        """The next item."""
        while not self.items:
            self._arrived.clear()
            await self._arrived.wait()
        body, kind = self.items.popleft()
        self.size -= len(body)
        if self.is_slow and self.size <= _MUCH // 2:
            self.is_slow = False
            self.slow(False)
        return body, kind

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
        self.resume_id = ""
        """With this id, the client can ask for the rest of its answer."""
        self.is_suspended = False

    def streams(self) -> None:
        """The server answers with a stream, so the client gets one, too."""
        self.put(b"")

    def primed(self, seconds: float | None) -> None:
        """The server may close the stream and go on with the answer later. So may this side."""
        if not self.resume_id:
            self.resume_id = secrets.token_urlsafe(12)
            self.put(primer(self.resume_id, seconds), "frame")

    def suspended(self) -> None:
        """The server has closed the stream, and goes on with the answer later."""
        if self.resume_id:
            self.put(b"", "pause")

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
