"""The proxy over stdio: one client on standard input and output, one upstream server."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from contextlib import suppress
from time import monotonic
from typing import IO, Any

from toolbooth.proxy.link import Link
from toolbooth.proxy.observation import Observation
from toolbooth.proxy.records import Records
from toolbooth.proxy.relay import Relay
from toolbooth.proxy.rules import Rules
from toolbooth.server import messages as server_messages
from toolbooth.server.answers import error_reply
from toolbooth.server.envelope import only_id
from toolbooth.server.message_id import ids_at_ends
from toolbooth.server.pipes import Lines, as_blocking_as_before, read_lines
from toolbooth.server.revisions import PARSE_ERROR

DRAIN_SECONDS = 60.0
_TICKS = 20
"""Open requests are checked this many times during their time limit."""


async def serve(
    link: Link,
    rules: Rules,
    *,
    source: IO[bytes] | None = None,
    sink: IO[bytes] | None = None,
    timeout: float = 300.0,
    drain_seconds: float = DRAIN_SECONDS,
    records: Records | None = None,
) -> int:
    """Serve until standard input ends, or until a signal. Returns the exit code.

    Raises:
        OSError: the server cannot be started.
    """
    given, taken = source or sys.stdin.buffer, sink or sys.stdout.buffer
    with as_blocking_as_before(given.fileno()), as_blocking_as_before(taken.fileno()):
        proxy = _Proxy(link, rules, timeout, records or Records())
        await link.start()
        proxy.outlet = await outlet(taken, link)
        # A copy of the descriptor, because the event loop closes what it has read to the end.
        own = os.fdopen(os.dup(given.fileno()), "rb", buffering=0)
        return await proxy.run(own, drain_seconds)


class _Proxy:
    """One session with a client on standard input and output."""

    outlet: Outlet

    def __init__(self, link: Link, rules: Rules, timeout: float, records: Records) -> None:
        self.link = link
        self.relay = Relay(rules, self._to_client, link, timeout=timeout, records=records)
        session: Relay | Observation = self.relay
        if rules.observe:
            session = Observation(rules, self._to_client, link, records)
            session.ended = self.interrupt
        self.session = link.session = session
        self.timeout = timeout
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
        lines = Lines(self.session.from_client, self._line_too_long, self.ended_input.set)
        reading = await read_lines(source, lines)
        await self.ended_input.wait()
        if reading is not None:
            reading.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(drain_seconds):
                await self._answers()
        ticking.cancel()
        await self.link.stop()
        await self.outlet.flush()
        return self.exit_code

    async def _answers(self) -> None:
        """Wait until every request has its answer."""
        while self.relay.open.by_key and not self.is_interrupted and self.link.is_running:
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
            await asyncio.sleep(min(1.0, self.timeout / _TICKS))
            self.relay.expire(monotonic())

    def _line_too_long(self, head: bytes, tail: bytes) -> None:
        request_id = only_id(ids_at_ends(head, tail))
        words = server_messages.LINE_TOO_LONG
        self.outlet.write(error_reply(request_id, PARSE_ERROR, words))


# --- standard output ----------------------------------------------------------------------------


class Outlet(asyncio.Protocol):
    """Writes messages as lines. If the client stops reading, the server is not read either, so only
    a limited number of bytes can wait.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
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
        self.link.pause()

    def resume_writing(self) -> None:
        self.link.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._drained.set()
        self.wake()


async def outlet(sink: IO[bytes], link: Link) -> Outlet:
    """Return the output to the client. A pipe is watched by the event loop, a file is not."""
    made = Outlet(link)
    mode = os.fstat(sink.fileno()).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode):
        # This is a copy of the descriptor, because the transport closes its descriptor at the end.
        own = os.fdopen(os.dup(sink.fileno()), "wb", buffering=0)
        await asyncio.get_running_loop().connect_write_pipe(lambda: made, own)
    else:
        made.file = sink
    return made
