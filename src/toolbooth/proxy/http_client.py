"""Sends HTTP/1.1 requests to one server. Connections are kept open, and each part of an answer is
passed on when it arrives.

This module uses `httptools` directly, because a general HTTP client takes more time for one request
than the guard takes to check a call.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote, unquote_to_bytes, urlsplit

import httptools

from toolbooth.proxy import messages

logger = logging.getLogger("toolbooth.proxy")

_MOST_IDLE = 16
_KEPT_IN_PATHS = "/?%:@!$&'()*+,;=[]"
"""The characters of a URL that are sent as they are, besides letters, digits and `_.-~`."""


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of a URL that are needed for a request."""

    host: str
    port: int
    path: str
    is_tls: bool
    authority: str
    credentials: str | None = None
    """The `Authorization` header, if the URL has a user."""

    @classmethod
    def of(cls, url: str) -> Address:
        """Return the address in a URL. Raises ValueError if the URL has no host or an unknown
        scheme.
        """
        found = urlsplit(url)
        if found.scheme not in ("http", "https") or not found.hostname:
            raise ValueError(url)
        is_tls = found.scheme == "https"
        path = (found.path or "/") + (f"?{found.query}" if found.query else "")
        path = quote(path, safe=_KEPT_IN_PATHS)
        user, _, authority = found.netloc.rpartition("@")
        credentials = f"Basic {b64encode(unquote_to_bytes(user)).decode()}" if user else None
        port = found.port or (443 if is_tls else 80)
        return cls(found.hostname, port, path, is_tls, authority, credentials)


class Receiver(Protocol):
    """Receives the answer to one request."""

    @property
    def stops_itself(self) -> bool:
        """Return True if the receiver itself pauses its exchange while its client reads slowly."""
        ...

    def headers(self, status: int, headers: Mapping[str, str]) -> None: ...
    def data(self, data: bytes) -> None: ...
    def ended(self) -> None: ...
    def failed(self, why: str, *, was_written: bool) -> None: ...


class HttpClient:
    """The connections to one address."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.idle: list[Connection] = []
        self.busy: set[Connection] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.slow_readers = 0

    def send(
        self, method: str, headers: Mapping[str, str], body: bytes, receiver: Receiver
    ) -> Exchange:
        """Write a request on a free connection. If there is none, open a new connection first."""
        request = _request(self.address, method, headers, body)
        exchange = Exchange(receiver)
        while self.idle:
            connection = self.idle.pop()
            if not connection.transport.is_closing():
                connection.write(request, exchange)
                return exchange
        task = asyncio.ensure_future(self._send_on_new(request, exchange))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return exchange

    async def _send_on_new(self, request: bytes, exchange: Exchange) -> None:
        address = self.address
        context = ssl.create_default_context() if address.is_tls else None
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(
                lambda: Connection(self), address.host, address.port, ssl=context
            )
        except OSError as error:
            exchange.receiver.failed(str(error.strerror or error), was_written=False)
            return
        if exchange.is_cancelled:
            connection.transport.close()
            return
        connection.write(request, exchange)

    def pause(self) -> None:
        """Stop reading answers, except those whose receiver has `stops_itself`. Each `pause` needs
        its own `resume` before reading continues.
        """
        self.slow_readers += 1
        for connection in self.busy:
            if connection.is_paused_with_others:
                connection.transport.pause_reading()

    def resume(self) -> None:
        self.slow_readers -= 1
        if self.slow_readers:
            return
        for connection in self.busy:
            if connection.is_paused_with_others:
                connection.transport.resume_reading()

    def keep(self, connection: Connection) -> None:
        """Keep a connection that has become free, for a later request."""
        self.busy.discard(connection)
        # The connection may be paused, because its last answer has filled the queue of a slow
        # client.
        connection.transport.resume_reading()
        if len(self.idle) < _MOST_IDLE:
            self.idle.append(connection)
        else:
            connection.transport.close()

    def close(self) -> None:
        for connection in (*self.idle, *self.busy):
            connection.transport.close()
        for task in self.tasks:
            task.cancel()


class Exchange:
    """One request that was sent."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.connection: Connection | None = None
        self.is_cancelled = False
        self.is_paused = False

    def pause(self) -> None:
        """Stop reading the answer."""
        self.is_paused = True
        if self.connection is not None:
            self.connection.transport.pause_reading()

    def resume(self) -> None:
        self.is_paused = False
        # If the answer is complete, the connection may be used for another request.
        if self.connection is not None and self.connection.exchange is self:
            self.connection.transport.resume_reading()

    def cancel(self) -> None:
        """Close the connection of the request. For a stateless request, this cancels the call."""
        self.is_cancelled = True
        if self.connection is not None:
            self.connection.transport.close()


class Connection(asyncio.Protocol):
    """One connection. It handles one request at a time."""

    transport: Any

    def __init__(self, client: HttpClient) -> None:
        self.client = client
        self.exchange: Exchange | None = None
        self.parser: Any = None
        self.found: dict[str, str] = {}

    def write(self, request: bytes, exchange: Exchange) -> None:
        self.exchange, exchange.connection = exchange, self
        self.parser = httptools.HttpResponseParser(self)
        self.found = {}
        self.client.busy.add(self)
        if self.client.slow_readers and self.is_paused_with_others:
            self.transport.pause_reading()
        self.transport.write(request)

    @property
    def is_paused_with_others(self) -> bool:
        """Return True if `HttpClient.pause` also stops reading from this connection."""
        return self.exchange is None or not self.exchange.receiver.stops_itself

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.exchange is None:
            self.transport.close()  # nothing was asked
            return
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._end(f"its answer is not HTTP: {error}")
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.client.busy.discard(self)
        if self in self.client.idle:
            self.client.idle.remove(self)
        self._end("the connection was closed")

    def _end(self, why: str) -> None:
        exchange, self.exchange = self.exchange, None
        if exchange is not None and not exchange.is_cancelled:
            exchange.receiver.failed(why, was_written=True)

    # --- callbacks of the parser ---

    def on_header(self, name: bytes, value: bytes) -> None:
        self.found[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self.exchange is not None and not self.exchange.is_cancelled:
            self.exchange.receiver.headers(self.parser.get_status_code(), self.found)

    def on_body(self, data: bytes) -> None:
        if self.exchange is not None and not self.exchange.is_cancelled:
            self.exchange.receiver.data(data)

    def on_message_complete(self) -> None:
        exchange, self.exchange = self.exchange, None
        if self.parser.should_keep_alive():
            self.client.keep(self)
        else:
            self.transport.close()
        if exchange is not None and not exchange.is_cancelled:
            exchange.receiver.ended()


class Done:
    """Receives an answer that is not needed."""

    stops_itself = True

    def __init__(self, rejected: Callable[[], None] | None = None) -> None:
        self.rejected = rejected
        """Called if the server does not accept the login."""
        self.event = asyncio.Event()

    def headers(self, status: int, headers: Mapping[str, str]) -> None:
        if status == 401 and self.rejected is not None:
            self.rejected()
        elif status >= 400:
            logger.warning(messages.NOT_TAKEN, status)

    def data(self, data: bytes) -> None: ...

    def ended(self) -> None:
        self.event.set()

    def failed(self, why: str, *, was_written: bool) -> None:
        self.event.set()


def _request(address: Address, method: str, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [f"{method} {address.path} HTTP/1.1", f"host: {address.authority}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body
