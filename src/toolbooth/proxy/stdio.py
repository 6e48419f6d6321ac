"""Serves the proxy over stdio, to one client on standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import IO, Any

from toolbooth.proxy.records import Records
from toolbooth.proxy.session import Server, Session
from toolbooth.server import messages as server_messages
from toolbooth.server.answers import error_reply
from toolbooth.server.envelope import only_id
from toolbooth.server.message_id import ids_at_ends
from toolbooth.server.pipes import Lines, as_blocking_as_before, read_lines
from toolbooth.server.revisions import PARSE_ERROR

DRAIN_SECONDS = 60.0
_TICKS = 20
"""During the time limit of a request, the proxy checks this many times if the limit has passed."""


async def serve(
    servers: Sequence[Server],
    *,
    source: IO[bytes] | None = None,
    sink: IO[bytes] | None = None,
    drain_seconds: float = DRAIN_SECONDS,
    records: Records | None = None,
) -> int:
    """Serve until standard input ends, or until a signal. Returns the exit code.

    Raises:
        OSError: the server cannot be started.
    """
    given, taken = source or sys.stdin.buffer, sink or sys.stdout.buffer
    with as_blocking_as_before(given.fileno()), as_blocking_as_before(taken.fileno()):
        proxy = _Proxy(servers, records or Records())
        await proxy.session.start()
        proxy.outlet = await outlet(taken, proxy.session)
        # The event loop gets a copy of the descriptor, because it closes the descriptor at the end
        # of the input.
        own = os.fdopen(os.dup(given.fileno()), "rb", buffering=0)
        return await proxy.run(own, drain_seconds)


class _Proxy:
    """One session with a client on standard input and output."""

    outlet: Outlet

    def __init__(self, servers: Sequence[Server], records: Records) -> None:
        self.session = Session(servers, self._to_client, records, ended=self.interrupt)
        self.client_side = self.session.client_side
        self.tick_seconds = min(1.0, *(server.timeout / _TICKS for server in servers))
        self.ended_input = asyncio.Event()
        self.is_interrupted = False
        self.exit_code = 0

    def _to_client(self, body: bytes, about: Any, ends: bool) -> None:
        if body:
            self.outlet.write(body)

    async def run(self, source: IO[bytes], drain_seconds: float) -> int:
        """Read lines until the source ends. Then wait for the answers of open requests."""
        ticking = asyncio.ensure_future(self._tick())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
                loop.add_signal_handler(number, self._signalled, number)
        lines = Lines(self.client_side.from_client, self._line_too_long, self.ended_input.set)
        reading = await read_lines(source, lines)
        await self.ended_input.wait()
        if reading is not None:
            reading.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(drain_seconds):
                await self._answers()
        ticking.cancel()
        await self.session.stop()
        await self.outlet.flush()
        return self.exit_code

    async def _answers(self) -> None:
        """Wait until every request has its answer."""
        while self.client_side.is_waiting and not self.is_interrupted and self.session.is_running:
            await self.outlet.written()

    def _signalled(self, number: int) -> None:
        self.exit_code = 128 + number if number == signal.SIGINT else 0
        self.interrupt()

    def interrupt(self) -> None:
        """End the session without waiting for answers."""
        self.is_interrupted = True
        self.ended_input.set()
        self.outlet.wake()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.tick_seconds)
            self.client_side.expire(monotonic())

    def _line_too_long(self, head: bytes, tail: bytes) -> None:
        request_id = only_id(ids_at_ends(head, tail))
        words = server_messages.LINE_TOO_LONG
        self.outlet.write(error_reply(request_id, PARSE_ERROR, words))


# --- standard output ----------------------------------------------------------------------------


class Outlet(asyncio.Protocol):
    """Writes messages as lines. If the client stops reading, the proxy stops reading from the
    server, so that only a limited number of bytes can wait.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.transport: Any = None
        self.file: IO[bytes] | None = None
        self.is_lost = False
        self._woken = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()

    def write(self, body: bytes) -> None:
        if self.file is not None:
            self.file.write(body + b"\n")
            self.file.flush()
        elif not self.is_lost:
            self.transport.write(body + b"\n")
        self.wake()

    def wake(self) -> None:
        """Wake the code that waits for the end of the session."""
        self._woken.set()

    async def written(self) -> None:
        """Wait until the next message is written."""
        self._woken.clear()
        await self._woken.wait()

    async def flush(self) -> None:
        """Wait until the client has read everything or has disconnected."""
        if self.transport is not None and not self.is_lost:
            self.transport.close()  # closes after the buffer is empty
            with suppress(TimeoutError):
                async with asyncio.timeout(5.0):
                    await self._drained.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._drained.clear()

    def pause_writing(self) -> None:
        self.session.pause()

    def resume_writing(self) -> None:
        self.session.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._drained.set()
        self.wake()


async def outlet(sink: IO[bytes], session: Session) -> Outlet:
    """Return the output to the client. The event loop can wait for a pipe, but not for a file."""
    made = Outlet(session)
    mode = os.fstat(sink.fileno()).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode):
        # This is a copy of the descriptor, because the transport closes its descriptor at the end.
        own = os.fdopen(os.dup(sink.fileno()), "wb", buffering=0)
        await asyncio.get_running_loop().connect_write_pipe(lambda: made, own)
    else:
        made.file = sink
    return made
