"""Connects one session to an upstream server over HTTP. It uses Streamable HTTP, with or without a
handshake.

A request of a handshake session has the session id that the server assigned. The server may also
send messages of such a session on a separate stream. A stateless request needs no session, and is
cancelled by closing its response.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from toolbooth.jsonvalue import is_object
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages
from toolbooth.proxy.headers import is_stateless, stateless_headers
from toolbooth.proxy.http_client import Address, Done, Exchange, HttpClient
from toolbooth.proxy.link import Credentials, Session
from toolbooth.proxy.message import NotAMessage, value_of
from toolbooth.proxy.pending import Pending
from toolbooth.proxy.renewing import Renewing
from toolbooth.proxy.sse import Event, Events, TooLong
from toolbooth.server.pipes import LONGEST_LINE

logger = logging.getLogger("toolbooth.proxy")

_ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_RECONNECT = 1.0
"""Seconds before a stream is opened again. The server may set another time."""
_MOST_RECONNECTS = 5


class HttpLink:
    """One session with the server at a URL."""

    session: Session
    has_exchanges = True

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self.login = Renewing(credentials)
        address = Address.of(url)
        self.client = HttpClient(address)
        self.configured = {name.lower(): value for name, value in (headers or {}).items()}
        if address.credentials is not None:
            self.configured.setdefault("authorization", address.credentials)
        self.session_id: str | None = None
        self.version: str | None = None
        self.exchanges: dict[int, Exchange] = {}
        self.is_running = True
        self.stream: Exchange | None = None

    async def start(self) -> None:
        """Do nothing. The first request of the client opens the connection."""

    async def stop(self) -> None:
        self.is_running = False
        self.login.stop()
        if self.session_id is not None:
            done = Done()
            self.client.send("DELETE", {**self.headers(), **self.own_headers()}, b"", done)
            with suppress(TimeoutError):
                async with asyncio.timeout(2.0):
                    await done.event.wait()
        self.client.close()

    def pause(self) -> None:
        self.client.pause()

    def resume(self) -> None:
        self.client.resume()

    # --- messages for the server ---

    def request(self, body: bytes, pending: Pending) -> bool:
        if pending.method == "initialize":
            self.session_id = self.version = None
        if self.login.has_expired:
            self.post_with_new_login(body, pending)
        else:
            self._post(body, pending, may_renew=self.login.is_possible)
        return True

    def _post(self, body: bytes, pending: Pending, *, may_renew: bool) -> None:
        headers = (
            stateless_headers(body, pending) if is_stateless(body, pending) else self.headers()
        )
        sent = {**_ACCEPT, **headers, **pending.copied_headers, **self.own_headers()}
        receiver = _Answer(self, pending, body if may_renew else None)
        self.exchanges[pending.number] = self.client.send("POST", sent, body, receiver)

    def post_with_new_login(self, body: bytes, pending: Pending) -> None:
        """Send a request again with a new login. This is safe: the server did not accept the old
        login, so it has not run the request.
        """

        def post(is_new: bool) -> None:
            if pending.number not in self.session.waiting:
                return  # cancelled in the meantime
            if is_new:
                self._post(body, pending, may_renew=False)
            else:
                self.session.lost(pending, messages.LOGIN_NEEDED, was_written=False)

        self.login.renew(post)

    def send(self, body: bytes) -> bool:
        self._send(body, may_renew=self.login.is_possible)
        if b"notifications/initialized" in body:
            self.open_stream(None)
        return True

    def _send(self, body: bytes, *, may_renew: bool) -> None:
        def again(is_new: bool) -> None:
            if is_new:
                self._send(body, may_renew=False)
            else:
                logger.warning(messages.NOT_TAKEN, 401)

        done = Done((lambda: self.login.renew(again)) if may_renew else None)
        self.client.send("POST", {**_ACCEPT, **self.headers(), **self.own_headers()}, body, done)

    def cancel(self, body: bytes, pending: Pending) -> None:
        exchange = self.exchanges.pop(pending.number, None)
        if exchange is not None and is_stateless(b"", pending):
            exchange.cancel()
        else:
            self.send(body)

    def own_headers(self) -> dict[str, str]:
        """Return the headers that the user configured, and the login of the proxy."""
        return {**self.login.headers, **self.configured}

    def headers(self) -> dict[str, str]:
        """Return the headers of a handshake session."""
        found: dict[str, str] = {}
        if self.session_id is not None:
            found["mcp-session-id"] = self.session_id
        if self.version is not None:
            found["mcp-protocol-version"] = self.version
        return found

    # --- the stream of the server's own messages ---

    def open_stream(self, last_id: bytes | None) -> None:
        """Open a stream for messages that belong to no request. Some servers do not offer such a
        stream.
        """
        self.stream = self.get(_Stream(self, None, last_id))

    def get(self, stream: _Stream) -> Exchange:
        """Request a stream. It begins after the event with the last id that was received."""
        sent = {"accept": "text/event-stream", **self.headers(), **self.own_headers()}
        if stream.last_id is not None:
            sent["last-event-id"] = stream.last_id.decode("latin-1")
        return self.client.send("GET", sent, b"", stream)

    def resume_answer(self, pending: Pending, last_id: bytes, seconds: float, left: int) -> None:
        """Request the rest of an answer whose stream the server has closed on purpose."""

        def again() -> None:
            self.exchanges[pending.number] = self.get(_Stream(self, pending, last_id, left))

        asyncio.get_running_loop().call_later(seconds, again)

    # --- messages in the answers ---

    def keep_pace(self, pending: Pending | None) -> None:
        """Stop reading an answer while its client has much to read. Other answers are still read,
        because stateless clients may share this session.
        """
        about = None if pending is None else pending.about
        if pending is None or about is None or not about.is_slow:
            return
        exchange = self.exchanges.get(pending.number)
        if exchange is not None and not exchange.is_paused:
            exchange.pause()
            about.when_read(exchange.resume)

    def take(self, body: bytes, pending: Pending | None) -> None:
        """Pass on a message of the server. An answer has no id if the server could not read the id
        of the request. In this case, add the id.
        """
        if pending is not None and pending.method == "initialize":
            self._learn_version(body)
        if pending is not None and not pending.keeps_id and b'"error"' in body:
            with suppress(NotAMessage):
                message = wire.read(body)
                if message.id == "null" and message.method is None:
                    body = message.with_id(str(pending.number))
        self.session.from_upstream(body, None if pending is None else pending.about)

    def _learn_version(self, body: bytes) -> None:
        with suppress(NotAMessage):
            result: Any = value_of(wire.read(body).part("result"))
            version: Any = result.get("protocolVersion") if is_object(result) else None
            if isinstance(version, str):
                self.version = version

    def session_expired(self, pending: Pending, session_id: str) -> None:
        """Handle the error that the server does not know a session any more. The server has not
        run the request. Later requests get a new session, if there is none yet.
        """
        self.session.lost(pending, messages.SESSION_EXPIRED, was_written=False)
        if self.session_id == session_id:
            self.session_id = None
            self.session.upstream_started()


class _Answer:
    """Receives the answer to one request: one message as JSON, or a stream of several messages."""

    def __init__(self, link: HttpLink, pending: Pending, sent: bytes | None) -> None:
        self.link = link
        self.pending = pending
        self.sent = sent
        """The request, if it may be sent again with a new login."""
        self.session_id = link.session_id
        """The session of the request. The link may get a new session before the answer arrives."""
        self.status = 0
        self.is_json = False
        self.body: list[bytes] = []
        self.size = 0
        self.events: Events | None = None
        self.last: Event | None = None

    @property
    def stops_itself(self) -> bool:
        return self.pending.about is not None

    def headers(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        self.is_json = kind == "application/json"
        if kind == "text/event-stream" and status == 200:
            self.events = Events()
            if self.pending.about is not None:
                self.pending.about.streams()
        if self.pending.method == "initialize" and "mcp-session-id" in headers:
            self.link.session_id = headers["mcp-session-id"]

    def data(self, data: bytes) -> None:
        if self.events is not None:
            self._take_events(self.events, data)
            self.link.keep_pace(self.pending)
            return
        self.size += len(data)
        if self.size > LONGEST_LINE:
            self._give_up()
        else:
            self.body.append(data)

    def _take_events(self, events: Events, data: bytes) -> None:
        try:
            for event in events.feed(data):
                if event.id is not None or event.retry is not None:
                    self.last = Event(b"", event.id or _id_of(self.last), event.retry)
                if event.data:
                    self.link.take(event.data, self.pending)
                elif event.id is not None and self.pending.about is not None:
                    self.pending.about.primed(event.retry)
        except TooLong:
            self._give_up()

    def _give_up(self) -> None:
        exchange = self.link.exchanges.pop(self.pending.number, None)
        self.link.session.too_long(self.pending.number)
        if exchange is not None:
            exchange.cancel()

    def ended(self) -> None:
        link, pending = self.link, self.pending
        link.exchanges.pop(pending.number, None)
        if self.events is not None:
            last_id = _id_of(self.last)
            if last_id is None or self.last is None:
                link.session.lost(pending, messages.STREAM_ENDED, was_written=True)
            elif pending.number in link.session.waiting:
                seconds = _RECONNECT if self.last.retry is None else self.last.retry
                if pending.about is not None:
                    pending.about.suspended()
                link.resume_answer(pending, last_id, seconds, _MOST_RECONNECTS)
            return
        if self.status == 401 and self.sent is not None:
            link.post_with_new_login(self.sent, pending)
            return
        body = b"".join(self.body)
        if self.status == 401:
            link.session.lost(pending, messages.LOGIN_NEEDED, was_written=False)
            return
        # The body of an error may come from another program, such as {"error": "not found"}.
        if self.is_json and body and (self.status < 300 or _is_answer(body)):
            link.take(body, pending)
        elif self.status == 404 and self.session_id is not None:
            link.session_expired(pending, self.session_id)
            return
        # With a status below 500, the server itself reports that it did not handle the request.
        refused = 300 <= self.status < 500
        why = messages.http_status(self.status)
        link.session.lost(pending, why, was_written=not refused)

    def failed(self, why: str, *, was_written: bool) -> None:
        self.link.exchanges.pop(self.pending.number, None)
        self.link.session.lost(self.pending, why, was_written=was_written)


class _Stream:
    """Receives a stream that was requested with GET: the server's own stream, or the rest of an
    answer.
    """

    def __init__(
        self, link: HttpLink, pending: Pending | None, last_id: bytes | None, left: int = 0
    ) -> None:
        self.link = link
        self.pending = pending
        self.last_id = last_id
        self.left = left
        self.seconds = _RECONNECT
        self.events: Events | None = None
        self.is_rejected = False
        """True if the server did not accept the login."""
        self.may_renew = link.login.is_possible

    @property
    def stops_itself(self) -> bool:
        return self.pending is not None and self.pending.about is not None

    def headers(self, status: int, headers: Mapping[str, str]) -> None:
        self.is_rejected = status == 401
        if status == 200:
            self.events = Events()

    def data(self, data: bytes) -> None:
        if self.events is None:
            return
        with suppress(TooLong):
            for event in self.events.feed(data):
                self.last_id = self.last_id if event.id is None else event.id
                self.seconds = self.seconds if event.retry is None else event.retry
                if event.data:
                    self.link.take(event.data, self.pending)
        self.link.keep_pace(self.pending)

    def ended(self) -> None:
        link, pending = self.link, self.pending
        if self.is_rejected and self.may_renew:
            self.may_renew = self.is_rejected = False
            link.login.renew(self._renewed)
        elif pending is not None:
            self._ask_again(pending)
        # With a status of 405, the server offers no such stream.
        elif self.events is not None and link.is_running and link.session_id is not None:
            loop = asyncio.get_running_loop()
            loop.call_later(self.seconds, self._open_again, link.session_id)

    def _renewed(self, is_new: bool) -> None:
        if not is_new:
            self.ended()
        elif self.pending is None:
            self.link.stream = self.link.get(self)
        elif self.pending.number in self.link.session.waiting:
            self.link.exchanges[self.pending.number] = self.link.get(self)

    def _open_again(self, session_id: str) -> None:
        if self.link.is_running and self.link.session_id == session_id:
            self.link.open_stream(self.last_id)

    def _ask_again(self, pending: Pending) -> None:
        link = self.link
        link.exchanges.pop(pending.number, None)
        if pending.number not in link.session.waiting:
            return
        if self.events is None or self.last_id is None or self.left == 0:
            link.session.lost(pending, messages.STREAM_ENDED, was_written=True)
        else:
            link.resume_answer(pending, self.last_id, self.seconds, self.left - 1)

    def failed(self, why: str, *, was_written: bool) -> None:
        self.ended()


def _is_answer(body: bytes) -> bool:
    try:
        return wire.read(body).id is not None
    except NotAMessage:
        return False


def _id_of(event: Event | None) -> bytes | None:
    return None if event is None else event.id
