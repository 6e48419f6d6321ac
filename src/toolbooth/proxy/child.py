"""Runs an upstream server as a child process. Each message is one line. If the process ends, a new
process is started.

The child gets its own process group, because a launcher such as `npx` starts the server as a
further process. All processes of the group are ended together.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from toolbooth.proxy import messages
from toolbooth.server.message_id import ids_at_ends
from toolbooth.server.pipes import Lines

logger = logging.getLogger("toolbooth.proxy")

PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before each restart, in order."""
_RECOVERED = 60.0
"""A child that runs for this number of seconds counts as healthy."""
_MOST_UNREAD = 16 * 1024 * 1024
"""The maximum number of bytes that may wait for a child that does not read its input."""
_LAST_LINES = 0.5
"""After the child has ended, its output is read for this number of seconds."""


class Listener:
    """Receives the events of a child. A session implements it."""

    def take(self, line: bytes) -> None:
        """Handle a line that the child wrote."""

    def too_long(self, head: bytes, tail: bytes) -> None:
        """Handle a line that is too long. Only its beginning and its end are available."""

    def started(self) -> None:
        """Handle the restart of the child."""

    def ended(self, why: str, retry_after: float | None, down: str) -> None:
        """Handle the end of the child. The child is restarted after `retry_after` seconds. If
        `retry_after` is None, it is never restarted.
        """


class Child:
    """One upstream server. If its process ends, a new process is started."""

    def __init__(
        self,
        command: Sequence[str],
        listener: Listener,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        pauses: Sequence[float] = PAUSES,
        grace: float = 2.0,
    ) -> None:
        self.command = command
        self.listener = listener
        self.env = env
        self.cwd = cwd
        self.pauses = pauses
        self.grace = grace
        self.failures = 0
        self.process: _Process | None = None
        self.is_stopping = False
        self.slow_readers = 0
        """How many clients read too slowly. Several clients may share the child."""
        self._restart: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start a process. Raises OSError."""
        loop = asyncio.get_running_loop()
        process = _Process(self)
        await loop.subprocess_exec(
            lambda: process,
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None,
            env=None if self.env is None else {**os.environ, **self.env},
            cwd=self.cwd,
            start_new_session=True,
        )
        self.process = process
        process.started_at = loop.time()
        if self.slow_readers:
            process.pause()

    def write(self, body: bytes) -> bool:
        """Write a message. Return False if the child is not running or does not read its input."""
        return self.process is not None and self.process.write(body)

    def pause(self) -> None:
        """Stop reading from the child. Each `pause` needs its own `resume` before reading
        continues.
        """
        self.slow_readers += 1
        if self.process is not None:
            self.process.pause()

    def resume(self) -> None:
        self.slow_readers -= 1
        if self.process is not None and self.slow_readers == 0:
            self.process.resume()

    async def stop(self) -> None:
        """End the child: close its input, then send SIGTERM to its group, then SIGKILL."""
        self.is_stopping = True
        if self._restart is not None:
            self._restart.cancel()
        if self.process is not None:
            await self.process.end(self.grace)

    def gone(self, process: _Process, exit_code: int | None) -> None:
        """Handle the end of a process. Start a new process later, unless the child is being
        stopped.
        """
        if process is not self.process:
            return
        self.process = None
        loop = asyncio.get_running_loop()
        if self.is_stopping:
            self.listener.ended(messages.STOPPING, None, messages.STOPPING)
            return
        if loop.time() - process.started_at > _RECOVERED:
            self.failures = 0
        why = messages.ended(exit_code)
        logger.warning("%s", why)
        self._start_later(why)

    def _start_later(self, why: str) -> None:
        if self.failures >= len(self.pauses):
            logger.error(messages.GIVEN_UP)
            self.listener.ended(why, None, messages.GIVEN_UP)
            return
        seconds = self.pauses[self.failures]
        self.failures += 1
        self.listener.ended(why, seconds, messages.starting_again(seconds))
        self._restart = asyncio.ensure_future(self._start_after(seconds))

    async def _start_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        try:
            await self.start()
        except OSError as error:
            self._start_later(str(error))
        else:
            self.listener.started()


class _Process(asyncio.SubprocessProtocol):
    """One process of a child."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.started_at = 0.0
        self.transport: Any = None
        self.lines = Lines(child.listener.take, child.listener.too_long, self._output_ended)
        self.exited = asyncio.Event()
        self.has_output_ended = False
        self.is_over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def write(self, body: bytes) -> bool:
        pipe = self.transport.get_pipe_transport(0)
        if pipe.is_closing() or pipe.get_write_buffer_size() > _MOST_UNREAD:
            return False
        pipe.write(body + b"\n")
        return True

    def pause(self) -> None:
        with suppress(RuntimeError):
            self.transport.get_pipe_transport(1).pause_reading()

    def resume(self) -> None:
        with suppress(RuntimeError):
            self.transport.get_pipe_transport(1).resume_reading()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.lines.data_received(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        # A child may close its input and still answer the messages that it has read.
        if fd == 1:
            self.lines.eof_received()

    def process_exited(self) -> None:
        self.exited.set()
        self._over_soon()

    def _output_ended(self) -> None:
        """Note that no more messages will arrive."""
        self.has_output_ended = True
        self._over_soon()

    def _over_soon(self) -> None:
        """Call `_over` at once if the process has exited and its output has ended. If only one of
        these two has happened, wait a short time for the other one. The last lines may still be in
        the pipe, another process of the group may keep the pipe open, or the process may have
        closed only its output.
        """
        if self.has_output_ended and self.exited.is_set():
            self._over()
        else:
            asyncio.get_running_loop().call_later(_LAST_LINES, self._over)

    def _over(self) -> None:
        if self.is_over:
            return
        self.is_over = True
        # Otherwise, other processes of the group would keep running and keep the pipes open.
        self._signal(signal.SIGKILL)
        exit_code = self.transport.get_returncode()
        self.transport.close()
        self.child.gone(self, exit_code)

    async def end(self, grace: float) -> None:
        """Close the input of the process. If it does not exit in time, send SIGTERM and then
        SIGKILL to its group.
        """
        self.transport.get_pipe_transport(0).close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self.exited.wait()
                break
            self._signal(number)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self.exited.wait()
        self._over()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.transport.get_pid(), number)


def id_of_long_line(head: bytes, tail: bytes) -> int | None:
    """Return the id of a message that was too long to keep. `head` is its beginning and `tail` its
    end. Return None if they do not show the id.
    """
    found = ids_at_ends(head, tail)
    return int(found[0]) if len(found) == 1 and found[0].isdigit() else None
