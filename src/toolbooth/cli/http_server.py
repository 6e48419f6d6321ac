"""Runs the HTTP server of `toolbooth serve --http`: uvicorn with additional time limits. Without
these limits, uvicorn would wait forever for a slow request, and for tools that hang when the server
ends.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import sys
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

import uvicorn

from toolbooth.boundary.run import end_threads
from toolbooth.server import messages
from toolbooth.server.asgi import STOPPED, Application
from toolbooth.server.deadline import Deadline

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as HttpProtocol
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
else:
    # uvicorn has one class for httptools and one for h11. Both have the attributes that are used
    # here, except `pipeline`.
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as HttpProtocol

_LONGEST_HEAD = 64 * 1024
"""The limit for a request line and headers in bytes. h11 has its own limit; httptools has none."""

_GRACE = 1.0
"""Seconds after which another connection may replace an incomplete one. If many clients connect at
once, their requests may have arrived but not been read yet.
"""

_SWITCH_INTERVAL = 0.001
"""Seconds after which Python switches to another thread. The default is 0.005."""

_COLLECT_AFTER = 10_000
"""The number of new objects after which the garbage collector runs. Python's default is 700."""

_PATIENCE = 1.0
"""At the end, the process waits this many seconds for the last answers to be sent."""


class Incomplete:
    """The connections whose current request has not arrived completely. The oldest connection is
    first.
    """

    def __init__(self, *, seconds: float, most: int) -> None:
        self.seconds = seconds
        self._most = most
        self._timers: dict[_Connection, asyncio.TimerHandle] = {}

    def add(self, connection: _Connection) -> None:
        """Add a connection. Its time limit begins now. If the connection was added before, nothing
        changes.
        """
        if connection in self._timers:
            return
        loop = asyncio.get_running_loop()
        words = messages.body_too_slow(self.seconds)
        timer = loop.call_later(self.seconds, connection.refuse, 408, words)
        self._timers[connection] = timer
        if len(self._timers) > self._most:
            loop.call_later(_GRACE, self._make_room)

    def remove(self, connection: _Connection) -> None:
        """Remove a connection, because its request is complete or the connection is closed."""
        timer = self._timers.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def _make_room(self) -> None:
        while len(self._timers) > self._most:
            oldest = next(iter(self._timers))
            oldest.refuse(503, messages.TOO_MANY_INCOMPLETE)

    def __contains__(self, connection: _Connection) -> bool:
        return connection in self._timers


class _Connection(HttpProtocol):
    """A connection of uvicorn with a time limit for requests. The time limit applies while a
    request is missing or incomplete.

    Between an answer and the next request, uvicorn's own time limit for idle connections applies.
    """

    incomplete: ClassVar[Incomplete]

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.has_begun = False
        self.head_size = 0

    @property
    def latest(self) -> RequestResponseCycle | None:
        """Return the latest request whose headers are complete, with the state of its answer."""
        return self.cycle

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.incomplete.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.incomplete.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self.has_begun = True
        before = self.latest
        is_head = before is None or not before.more_body
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._is_complete():
            self.incomplete.remove(self)
        else:
            self.incomplete.add(self)
        is_head_going_on = is_head and self.latest is before
        self.head_size = self.head_size + len(data) if is_head_going_on else 0
        if self.head_size > _LONGEST_HEAD:
            self.refuse(431, messages.HEADERS_TOO_LONG)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # If a request was sent before the last answer, it is handled now.
        is_next = self.latest is not None and not self.latest.response_complete
        if is_next and not self._is_complete():
            self.incomplete.add(self)

    def shutdown(self) -> None:
        if self in self.incomplete:
            self.refuse(503, messages.SERVER_STOPPING)
        else:
            super().shutdown()

    def _is_complete(self) -> bool:
        """Return True if the last request on this connection has arrived completely. A request that
        must wait for the answer to an earlier request counts as complete.
        """
        latest = self.latest
        if latest is None or latest.response_complete:
            return False
        # With httptools, a request that is sent before the last answer waits in `pipeline`. It
        # waits for the server, so the client is not slow.
        return not latest.more_body or bool(getattr(self, "pipeline", None))

    def refuse(self, status: int, words: str) -> None:
        """Close the connection. Send an answer first, but only if the client would take it for the
        answer to the current request.
        """
        self.incomplete.remove(self)
        # A client that has sent nothing would read these bytes as the answer to its first request.
        if self.has_begun and self._may_answer():
            self.transport.write(_response(status, words))
        self.transport.close()

    def _may_answer(self) -> bool:
        latest = self.latest
        if latest is None:
            return True
        return not latest.response_started if latest.more_body else latest.response_complete


def _response(status: int, words: str) -> bytes:
    body = words.encode()
    phrase = HTTPStatus(status).phrase.encode()
    lines = (
        b"HTTP/1.1 %d %s" % (status, phrase),
        b"content-type: text/plain; charset=utf-8",
        b"content-length: %d" % len(body),
        b"connection: close",
        b"",
        body,
    )
    return b"\r\n".join(lines)


# --- the end of the process ---------------------------------------------------------------------


class _Server(uvicorn.Server):
    """uvicorn's server with a time limit for shutting down. After a signal, it ends in time even if
    tools hang.
    """

    def __init__(self, config: uvicorn.Config, stop_seconds: float) -> None:
        super().__init__(config)
        self.stop_seconds = stop_seconds
        self.stop_at: float | None = None
        self.exit_code = 0
        self.deadline = Deadline()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            super().run(sockets)
        finally:
            # A thread that still runs a tool has the rest of the time.
            self.deadline.set(self._rest(), exit_code=self.exit_code)
            end_threads()
            self.deadline.clear()

    def handle_exit(self, sig: int, frame: Any) -> None:
        # This runs in the signal handler, because a tool may block the event loop.
        if sig == signal.SIGINT:
            self.exit_code = 128 + sig
        self.deadline.set(self._rest() + _PATIENCE, exit_code=self.exit_code)
        if sig == signal.SIGTERM:
            signal.signal(sig, signal.SIG_DFL)  # a second one ends the process at once
            # uvicorn's own handler would raise the signal again at the end, and a process that
            # ended in order would have the exit code 143.
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        timer = asyncio.get_running_loop().call_later(self._rest(), self._answer_calls)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()

    def _rest(self) -> float:
        """Return the number of seconds until the server must end. The time begins when this is
        first called.
        """
        if self.stop_at is None:
            self.stop_at = monotonic() + self.stop_seconds
        return max(0.0, self.stop_at - monotonic())

    def _answer_calls(self) -> None:
        for task in self.server_state.tasks:
            task.cancel(STOPPED)


def serve(
    application: Application,
    listening: socket.socket,
    *,
    incomplete: Incomplete,
    stop_seconds: float,
) -> None:
    """Serve until SIGTERM or Ctrl-C. Then calls in progress have `stop_seconds` to end."""
    # Large bodies are parsed in threads. With these settings, the event loop can answer others
    # meanwhile: there are fewer garbage collections, they skip permanent objects, and threads
    # switch sooner. `make bench ARGS=hostile` measures it.
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    sys.setswitchinterval(_SWITCH_INTERVAL)

    # uvicorn creates the connections from a class, so an object can only be passed to them as an
    # attribute of that class. Each server gets its own class.
    class Connection(_Connection):
        pass

    Connection.incomplete = incomplete
    config = uvicorn.Config(application, http=Connection, log_level="warning", ws="none")
    _Server(config, stop_seconds).run([listening])
