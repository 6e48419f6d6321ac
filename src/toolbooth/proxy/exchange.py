"""Represents one HTTP request of a client and the messages that are sent back on it."""

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
"""If more bytes than this wait for a client, the proxy stops reading from the client's server."""


Kind = Literal["message", "last", "frame", "pause"]
"""The kinds of items: a message, the last message (which answers the request), a frame of the
stream, and a pause (the stream ends for now, without an answer).
"""
Item = tuple[bytes, Kind]


class Outbox:
    """A queue of messages for a client."""

    def __init__(self, slow: Callable[[bool], None]) -> None:
        self.slow = slow
        """Called with True when too many bytes wait for the client. Called with False when the
        client has read enough of them.
        """
        self.items: deque[Item] = deque()
        self.size = 0
        self.is_slow = False
        self.is_closed = False
        self._arrived = asyncio.Event()
        self._when_read: list[Callable[[], None]] = []

    def put(self, body: bytes, kind: Kind = "message") -> None:
        """Add a message or another item of the stream."""
        if self.is_closed:
            return
        self.items.append((body, kind))
        self.size += len(body)
        self._arrived.set()
        if self.size > _MUCH and not self.is_slow:
            self.is_slow = True
            self.slow(True)

    async def next(self) -> Item:
        """Return the next item. Wait until there is one."""
        while not self.items:
            self._arrived.clear()
            await self._arrived.wait()
        body, kind = self.items.popleft()
        self.size -= len(body)
        if self.size <= _MUCH // 2:
            self._caught_up()
        return body, kind

    def when_read(self, call: Callable[[], None]) -> None:
        """Call a function once, as soon as the client has read enough of the waiting messages."""
        self._when_read.append(call)

    def _caught_up(self) -> None:
        if not self.is_slow:
            return
        self.is_slow = False
        self.slow(False)
        calls, self._when_read = self._when_read, []
        for call in calls:
            call()

    def close(self) -> None:
        """Drop all items, because the client does not read any more."""
        self.is_closed = True
        self.items.clear()
        self._caught_up()


class Exchange(Outbox):
    """One HTTP request and its answer."""

    def __init__(self, headers: Mapping[str, str], slow: Callable[[bool], None]) -> None:
        super().__init__(slow)
        self.headers = headers
        self.resume_id = ""
        """The client can send this id to request the rest of its answer."""
        self.is_suspended = False

    @property
    def is_stateless(self) -> bool:
        return self.headers.get("mcp-protocol-version") in STATELESS

    @property
    def param_headers(self) -> Mapping[str, str]:
        names = (name for name in self.headers if name.startswith("mcp-param-"))
        return {name: self.headers[name] for name in names}

    def streams(self) -> None:
        """Start a stream for the client, because the server answers with a stream."""
        self.put(b"")

    def primed(self, seconds: float | None) -> None:
        """Send the client an id with which it can request the rest of the answer. The server has
        sent such an id to the proxy, so the server may close its stream and continue the answer
        later.
        """
        if not self.resume_id:
            self.resume_id = secrets.token_urlsafe(12)
            self.put(primer(self.resume_id, seconds), "frame")

    def suspended(self) -> None:
        """Close the stream of the client for now. The server has closed its stream and will
        continue the answer later.
        """
        if self.resume_id:
            self.put(b"", "pause")

    def fault(self, tool: ProxiedTool, arguments: str | None) -> str | None:
        """Return a sentence that says how the headers of a call contradict its arguments. Return
        None if there is no contradiction.
        """
        if not tool.shown_headers or not self.is_stateless:
            return None
        sent: Any = value_of(arguments)
        try:
            check_param_headers(tool.shown_headers, sent, self.headers)
        except ProtocolError as error:
            return error.message
        return None
