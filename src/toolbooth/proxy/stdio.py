"""The proxy over stdio: one client on standard input and output, one upstream server."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import IO, Any

from toolbooth.proxy.child import PAUSES, Child, Listener, id_of_long_line
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
"""How often in its time a request is looked at."""


async def serve(
    command: Sequence[str],
    rules: Rules,
    *,
    source: IO[bytes] | None = None,
    sink: IO[bytes] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    timeout: float = 300.0,
    pauses: Sequence[float] = PAUSES,
    drain_seconds: float = DRAIN_SECONDS,
    records: Records | None = None,
) -> int:
    """Serve until standard input ends, or until a signal. Returns the exit code.

    Raises:
        OSError: the command cannot be started.
    """
    given, taken = source or sys.stdin.buffer, sink or sys.stdout.buffer
    with as_blocking_as_before(given.fileno()), as_blocking_as_before(taken.fileno()):
        proxy = _Proxy(rules, timeout, records)
        pauses = () if rules.observe else pauses
        proxy.child = Child(command, proxy, env=env, cwd=cwd, pauses=pauses)
        await proxy.child.start()
        proxy.outlet = await outlet(taken, proxy.child)
        # A copy of the descriptor, because the event loop closes what it has read to the end.
        own = os.fdopen(os.dup(given.fileno()), "rb", buffering=0)
        return await proxy.run(own, drain_seconds)


class _Proxy(Listener):
    """One session over stdio on both sides."""

    child: Child
    outlet: Outlet

    def __init__(self, rules: Rules, timeout: float, records: Records | None) -> None:
        records = records or Records()
        self.relay = Relay(
            rules, self._to_client, self._to_upstream, timeout=timeout, records=records
        )
        self.observation: Observation | None = None
        if rules.observe:
            self.observation = Observation(rules, self._to_client, self._to_upstream, records)
        self.session = self.observation or self.relay
        self.timeout = timeout
        self.ended_input = asyncio.Event()
        self.is_interrupted = False
        self.exit_code = 0

    # --- to both sides ---

    def _to_client(self, body: bytes, about: Any, ends: bool) -> None:
        self.outlet.write(body)

    def _to_upstream(self, body: bytes, pending: Any) -> bool:
        return self.child.write(body)

    # --- what the child does ---

    def take(self, line: bytes) -> None:
        self.session.from_upstream(line)

    def too_long(self, head: bytes, tail: bytes) -> None:
        self.relay.too_long(id_of_long_line(head, tail))

    def started(self) -> None:
        self.relay.upstream_started()

    def ended(self, why: str, retry_after: float | None, down: str) -> None:
        if self.observation is None:
            self.relay.upstream_ended(why, retry_after, down)
        else:  # as without the proxy: the session ends with its server
            self.interrupt()

    # --- the session ---

    async def run(self, source: IO[bytes], drain_seconds: float) -> int:
        """Take lines until the source ends; then wait for the answers that are due."""
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
        await self.child.stop()
        await self.outlet.flush()
        return self.exit_code

    async def _answers(self) -> None:
        """Wait until every request has its answer."""
        while self.relay.open.by_key and not self.is_interrupted and self.child.process:
            await self.outlet.written()

    def _signalled(self, number: int) -> None:
        self.exit_code = 128 + number if number == signal.SIGINT else 0
        self.interrupt()

    def interrupt(self) -> None:
        """End without waiting for answers."""
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
    """Writes messages as lines. While the client does not read, the child is not read either: what
    waits is bounded by the pipes.
    """

    def __init__(self, child: Child) -> None:
        self.child = child
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
        """Something has happened for which the end of the session may wait."""
        self._woken.set()

    async def written(self) -> None:
        """Wait until one more message was written."""
        self._woken.clear()
        await self._woken.wait()

    async def flush(self) -> None:
        """Wait until the client has read everything, or has left."""
        if self.transport is not None and not self.is_lost:
            self.transport.close()  # closes after the buffer is empty
            with suppress(TimeoutError):
                async with asyncio.timeout(5.0):
                    await self._drained.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._drained.clear()

    def pause_writing(self) -> None:
        self.child.pause()

    def resume_writing(self) -> None:
        self.child.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._drained.set()
        self.wake()


async def outlet(sink: IO[bytes], child: Child) -> Outlet:
    """The way to the client: a pipe that the event loop watches, or a plain file."""
    made = Outlet(child)
    mode = os.fstat(sink.fileno()).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode):
        # A copy of the descriptor: the transport closes its own at the end.
        own = os.fdopen(os.dup(sink.fileno()), "wb", buffering=0)
        await asyncio.get_running_loop().connect_write_pipe(lambda: made, own)
    else:
        made.file = sink
    return made
