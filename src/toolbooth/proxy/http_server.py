"""Serves the proxy over HTTP, as one ASGI application for clients with and without a handshake.

A client with a handshake gets a session id from the proxy. All stateless requests with the same
credential share one session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from toolbooth.boundary.render import later_result
from toolbooth.boundary.run import off_the_loop
from toolbooth.contract import DEFAULT_LIMITS, LARGE
from toolbooth.jsonvalue import Json, is_object
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages, results
from toolbooth.proxy.client_side import is_sendable
from toolbooth.proxy.exchange import Exchange, Item, Outbox
from toolbooth.proxy.message import Message, NotAMessage, value_of
from toolbooth.proxy.records import Records
from toolbooth.proxy.session import Server
from toolbooth.proxy.sessions import HttpSession, Sessions, TooMany
from toolbooth.proxy.sse import framed
from toolbooth.server import messages as server_messages
from toolbooth.server.asgi import (
    EVENT_STREAM,
    LOCAL_HOSTS,
    STOPPED,
    Receive,
    Scope,
    Send,
    checked,
    left,
    plain,
    read_body,
)
from toolbooth.server.revisions import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    STATELESS,
    VERSION_KEY,
    ProtocolError,
    http_status,
    revision_of,
)
from toolbooth.server.web_hosts import allowed_hosts

_METHODS = ("POST", "GET", "DELETE")
_PING = b": ping\r\n\r\n"
_PING_SECONDS = 15.0
_SOON = 0.05
"""Seconds before the proxy starts to check if the client is still connected."""
_RETRY_AFTER = 5
_END: Json = {"type": "http.response.body", "body": b""}


class HttpProxy:
    """The ASGI application of the proxy."""

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        path: str = "/mcp",
        hosts: Iterable[str] = LOCAL_HOSTS,
        records: Records | None = None,
        most_sessions: int | None = None,
        idle_seconds: float = 600.0,
        max_body: int = DEFAULT_LIMITS.max_bytes,
        max_seconds: float = 30.0,
    ) -> None:
        self.path = path
        self.hosts = allowed_hosts(hosts)
        self.max_body = max_body
        self.max_seconds = max_seconds
        self.sessions = Sessions(
            servers,
            records=records or Records(),
            most=most_sessions,
            idle_seconds=idle_seconds,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        headers, fault = checked(scope, self.path, self.hosts, frozenset(), _METHODS)
        if fault is not None:
            await plain(send, *fault, allow=_METHODS)
            return
        try:
            await self._serve(scope["method"], headers, receive, send)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if error.args != (STOPPED,) or task is None:
                raise
            task.uncancel()  # the server stops, and the stream ends here

    async def _serve(
        self, method: str, headers: Mapping[str, str], receive: Receive, send: Send
    ) -> None:
        if method == "POST":
            try:
                body = await read_body(receive, self.max_body, self.max_seconds)
            except TimeoutError:
                await plain(send, 408, server_messages.body_too_slow(self.max_seconds))
                return
            if body is None:
                return
            if len(body) > self.max_body:
                await plain(send, 413, server_messages.body_too_long(self.max_body))
                return
            await self._post(headers, body, receive, send)
            return
        session = self.sessions.find(headers.get("mcp-session-id", ""))
        if session is None:
            await plain(send, 404, messages.NO_SUCH_SESSION)
        elif method == "DELETE":
            self.sessions.end(session)
            await _answer(send, 204, b"")
        else:
            await self._listen(session, headers.get("last-event-id", ""), receive, send)

    # --- one message ---

    async def _post(
        self, headers: Mapping[str, str], body: bytes, receive: Receive, send: Send
    ) -> None:
        try:
            # To parse a large message takes long enough to delay the messages of other clients.
            if len(body) > LARGE:
                message = await off_the_loop(lambda: wire.read(body))
            else:
                message = wire.read(body)
        except NotAMessage as error:
            await _answer(send, 400, results.unreadable(body, error))
            return
        if not is_sendable(message):
            await _answer(send, 400, results.no_request(message))
            return
        try:
            session = await self._session(message, headers)
        except ProtocolError as error:
            made = wire.error(message.id or "null", error.code, error.message, error.data)
            await _answer(send, http_status(error.code, headers), made)
            return
        except TooMany:
            status = 200 if message.method == "tools/call" else 503
            await _answer(send, status, _busy(message))
            return
        except OSError as error:
            words = messages.not_sent(str(error.strerror or error))
            await _answer(send, 502, wire.error(message.id or "null", INTERNAL_ERROR, words))
            return
        if session is None:
            words = messages.NO_SUCH_SESSION
            await _answer(send, 404, wire.error(message.id or "null", INVALID_REQUEST, words))
            return
        if message.method is None or message.id is None:
            session.client_side.take(message)
            await _answer(send, 202, b"")
            return
        await self._request(session, message, headers, receive, send)

    async def _session(self, message: Message, headers: Mapping[str, str]) -> HttpSession | None:
        """Return the session of a message. Return None if there is no such session. Raises
        ProtocolError and TooMany.
        """
        name = headers.get("mcp-session-id")
        if name is not None:
            return self.sessions.find(name)
        meta = value_of(message.at(message.params.get("_meta")))
        is_stateless = headers.get("mcp-protocol-version") in STATELESS
        if is_stateless or (is_object(meta) and VERSION_KEY in meta):
            if message.method is not None and message.id is not None:
                named = value_of(message.at(message.params.get("name")))
                params: Json = {"_meta": meta} if meta is not None else {}
                revision_of(message.method, {**params, "name": named}, headers)
            return await self.sessions.of(f"stateless {headers.get('authorization', '')}")
        if message.method != "initialize":
            raise ProtocolError(INVALID_REQUEST, messages.NO_SESSION_YET)
        return await self.sessions.new()

    async def _request(
        self,
        session: HttpSession,
        message: Message,
        headers: Mapping[str, str],
        receive: Receive,
        send: Send,
    ) -> None:
        exchange = Exchange(headers, session.slow)
        session.exchanges.append(exchange)
        is_first = message.method == "initialize"
        extra = [(b"mcp-session-id", session.name.encode())] if is_first else []
        try:
            session.client_side.take(message, exchange)
            await self._reply(exchange, extra, receive, send)
        except _ClientLeft:
            # A client with a handshake may have lost only this connection, and may continue on
            # another one.
            if exchange.is_stateless:
                session.client_side.client_left(exchange)
        finally:
            self._end(session, exchange)

    def _end(self, session: HttpSession, exchange: Exchange) -> None:
        """Handle the end of an exchange's stream. A suspended exchange is kept, so that the client
        can continue it.
        """
        if exchange.is_suspended:
            session.suspended[exchange.resume_id] = exchange
        else:
            exchange.close()
            session.exchanges.remove(exchange)

    async def _reply(
        self,
        exchange: Exchange,
        extra: list[tuple[bytes, bytes]],
        receive: Receive,
        send: Send,
    ) -> None:
        """Send the answer: one message as JSON, or several messages as a stream."""
        first: Item | None = None
        # Most answers arrive at once. Only for slower ones, the proxy checks if the client
        # disconnects.
        with suppress(TimeoutError):
            async with asyncio.timeout(_SOON):
                first = await exchange.next()
        if first is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PING_SECONDS):
                    first = await _unless_left(exchange, receive)
        if first == (b"", "last"):
            await _answer(send, 202, b"", extra)  # cancelled: there is no answer
            return
        if first is not None and first[1] == "last":
            await _answer(send, _status(first[0], exchange.headers), first[0], extra)
            return
        start = {"type": "http.response.start", "status": 200, "headers": [*EVENT_STREAM, *extra]}
        await send(start)
        await _stream(exchange, first, receive, send)

    async def _listen(
        self, session: HttpSession, last_id: str, receive: Receive, send: Send
    ) -> None:
        """Send the stream of the server's own messages, or the rest of an answer."""
        exchange = session.suspended.pop(last_id, None)
        outbox = session.listen() if exchange is None else exchange
        if outbox is None:
            await plain(send, 409, messages.ONE_STREAM)
            return
        if exchange is not None:
            exchange.is_suspended = False
        try:
            await send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM})
            await _stream(outbox, None, receive, send)
        except _ClientLeft:
            pass
        finally:
            if exchange is not None:
                self._end(session, exchange)
            else:
                outbox.close()
                session.stream = None

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await self.sessions.close()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return


class _ClientLeft(Exception):
    """The client has disconnected."""


async def _unless_left(outbox: Outbox, receive: Receive) -> Item:
    """Return the next message. Raises _ClientLeft if the client disconnects before there is one."""
    leaving = asyncio.ensure_future(left(receive))
    coming = asyncio.ensure_future(outbox.next())
    try:
        await asyncio.wait((leaving, coming), return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            return coming.result()
        raise _ClientLeft
    finally:
        leaving.cancel()
        coming.cancel()


async def _stream(outbox: Outbox, first: Item | None, receive: Receive, send: Send) -> None:
    """Send messages as events until the last message. Raises _ClientLeft."""
    leaving = asyncio.ensure_future(left(receive))
    sending = asyncio.ensure_future(_send_events(outbox, first, send))
    try:
        await asyncio.wait((leaving, sending), return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            raise _ClientLeft
        sending.result()
    finally:
        leaving.cancel()
        sending.cancel()


async def _send_events(outbox: Outbox, first: Item | None, send: Send) -> None:
    item = first
    while True:
        # The first byte shows clients, and other proxies on the way, that the stream is open.
        body, kind = (b"", "message") if item is None else item
        if kind == "pause":
            break
        shown = body if kind == "frame" else framed(body)
        sent = {"type": "http.response.body", "body": shown if body else _PING, "more_body": True}
        await send(sent)
        if kind == "last":
            await send(_END)
            return
        item = None
        with suppress(TimeoutError):
            async with asyncio.timeout(_PING_SECONDS):
                item = await outbox.next()
    if isinstance(outbox, Exchange):
        outbox.is_suspended = True
    await send(_END)


async def _answer(
    send: Send, status: int, body: bytes, extra: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    headers = [(b"content-length", str(len(body)).encode()), *extra]
    if body:
        headers.append((b"content-type", b"application/json"))
    if status == 503:
        headers.append((b"retry-after", str(_RETRY_AFTER).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _status(body: bytes, headers: Mapping[str, str]) -> int:
    """Return the HTTP status of an answer."""
    if b'"error"' not in body:
        return 200
    failure: Any = value_of(wire.read(body).part("error"))
    code = failure.get("code") if is_object(failure) else None
    return http_status(code, headers) if isinstance(code, int) else 200


def _busy(message: Message) -> bytes:
    """Return the answer to a request for which the proxy would have to start more servers than
    allowed.
    """
    if message.method != "tools/call":
        return wire.error(message.id or "null", INTERNAL_ERROR, messages.TOO_MANY_SESSIONS)
    name = value_of(message.at(message.params.get("name")))
    meta: Any = value_of(message.at(message.params.get("_meta"))) or {}
    words = messages.not_called(str(name), messages.TOO_MANY_SESSIONS)
    made = later_result("busy", words, _RETRY_AFTER)
    return wire.result(message.id or "null", results.completed(made, meta))
