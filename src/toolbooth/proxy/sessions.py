"""Manages the sessions of a proxy over HTTP. Each client has one session with its own server.

A handshake session counts as one client. All stateless requests with the same credential also count
as one client.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from toolbooth.proxy import messages
from toolbooth.proxy.exchange import Exchange, Outbox
from toolbooth.proxy.records import Records
from toolbooth.proxy.session import Server, Session

logger = logging.getLogger("toolbooth.proxy")

_MOST_WAITING = 1_000
_MOST_BYTES_WAITING = 16 * 1024 * 1024
"""The limits for the messages that wait until a client listens. Further messages are dropped, with
one line in the log.
"""
_TICK = 1.0


class TooMany(Exception):
    """No further server may be started."""


class HttpSession:
    """One client and its servers."""

    def __init__(
        self,
        name: str,
        servers: Sequence[Server],
        records: Records,
        ended: Callable[[HttpSession], None],
    ) -> None:
        self.name = name
        self.upstream = Session(servers, self.to_client, records, ended=lambda: ended(self))
        self.client_side = self.upstream.client_side
        self.exchanges: list[Exchange] = []
        self.stream: Outbox | None = None
        self.suspended: dict[str, Exchange] = {}
        """Answers whose streams are closed for now. Each is stored under the id with which the
        client can request the rest.
        """
        self.unheard: list[bytes] = []
        self.has_dropped = False
        self.used = monotonic()

    @property
    def is_idle(self) -> bool:
        return not self.exchanges and self.stream is None

    def slow(self, is_slow: bool) -> None:
        """Stop reading from the server if a client reads too slowly. Start again when the client
        has caught up.
        """
        if is_slow:
            self.upstream.pause()
        else:
            self.upstream.resume()

    def to_client(self, body: bytes, about: Any, ends: bool) -> None:
        """Add a message to the stream on which the client expects it."""
        if isinstance(about, Exchange):
            about.put(body, "last" if ends else "message")
        elif self.stream is not None:
            self.stream.put(body)
        elif self.exchanges:
            self.exchanges[-1].put(body)
        else:
            self._keep(body)

    def _keep(self, body: bytes) -> None:
        """Keep a message until the client listens, or drop it."""
        size = sum(map(len, self.unheard)) + len(body)
        if len(self.unheard) < _MOST_WAITING and size <= _MOST_BYTES_WAITING:
            self.unheard.append(body)
        elif not self.has_dropped:
            self.has_dropped = True
            logger.warning(messages.NOBODY_LISTENS, len(self.unheard))

    def listen(self) -> Outbox | None:
        """Return a stream for messages that belong to no request. Return None if the client already
        has one.
        """
        if self.stream is not None:
            return None
        self.stream = made = Outbox(self.slow)
        for body in self.unheard:
            made.put(body)
        self.unheard.clear()
        self.has_dropped = False
        return made


class Sessions:
    """All sessions. `most` is their maximum number. None means that there is no limit."""

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        records: Records,
        most: int | None,
        idle_seconds: float,
    ) -> None:
        self.servers = servers
        self.records = records
        self.most = most
        self.idle_seconds = idle_seconds
        timeouts = (server.timeout / 10 for server in servers)
        self.tick_seconds = min(_TICK, idle_seconds / 4, *timeouts)
        self.by_name: dict[str, HttpSession] = {}
        self._starting: dict[str, asyncio.Future[HttpSession]] = {}
        self._ticking: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def find(self, name: str) -> HttpSession | None:
        """Return the session with this name. Return None if there is none."""
        found = self.by_name.get(name)
        if found is not None:
            found.used = monotonic()
        return found

    async def new(self) -> HttpSession:
        """Start a session for a handshake. Raises TooMany and OSError."""
        return await self._start(secrets.token_urlsafe(24))

    async def of(self, name: str) -> HttpSession:
        """Return the session of a credential. The first request with a credential starts the
        session.

        Raises:
            TooMany: no further server may be started.
            OSError: a server cannot be started.
        """
        found = self.find(name)
        if found is not None:
            return found
        # Two requests that arrive at the same time must not start two servers.
        starting = self._starting.get(name)
        if starting is None:
            starting = asyncio.ensure_future(self._start(name))
            self._starting[name] = starting
            starting.add_done_callback(lambda _: self._starting.pop(name, None))
        return await asyncio.shield(starting)

    async def _start(self, name: str) -> HttpSession:
        if self.most is not None and len(self.by_name) >= self.most:
            raise TooMany
        session = HttpSession(name, self.servers, self.records, self._stop)
        self.by_name[name] = session
        if self._ticking is None:
            self._ticking = asyncio.ensure_future(self._tick())
        try:
            await session.upstream.start()
        except OSError:
            del self.by_name[name]
            raise
        return session

    def end(self, session: HttpSession) -> None:
        """End a session and stop its server."""
        for exchange in session.exchanges:
            exchange.close()
        self._stop(session)

    def _stop(self, session: HttpSession) -> None:
        """Stop the servers of a session. The client can still read the answers that wait for it."""
        self.by_name.pop(session.name, None)
        task = asyncio.ensure_future(session.upstream.stop())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End all sessions."""
        for session in list(self.by_name.values()):
            self.end(session)
        if self._ticking is not None:
            self._ticking.cancel()
            self._ticking = None
        with suppress(Exception):
            await asyncio.gather(*self._ending)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.tick_seconds)
            now = monotonic()
            for session in list(self.by_name.values()):
                session.client_side.expire(now)
                if not session.is_idle:
                    session.used = now
                elif now - session.used > self.idle_seconds:
                    self.end(session)
