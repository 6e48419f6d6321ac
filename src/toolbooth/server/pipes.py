"""Reads lines from the pipe of a stdio connection. Each line is passed on when it arrives."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO

LONGEST_LINE = 16 * 1024 * 1024
"""A message may have at most this many bytes. Of a longer one, only the beginning and the end are
kept.
"""
_KEPT = 64 * 1024
"""If a line is too long, this many bytes at each of its ends are searched for the id."""


class Lines(asyncio.Protocol):
    """Passes on each line when it arrives. No task is needed that waits for lines."""

    def __init__(
        self,
        take: Callable[[bytes], None],
        too_long: Callable[[bytes, bytes], None],
        ended: Callable[[], None],
    ) -> None:
        self.take = take
        self.too_long = too_long
        self.ended = ended
        self.parts: list[bytes] = []
        self.size = 0
        self.head = b""
        """The beginning of a line that is too long. `parts` then has the end of this line."""

    def data_received(self, data: bytes) -> None:
        """Pass on all complete lines, and keep the beginning of an incomplete one."""
        first, *others = data.split(b"\n")
        self._add(first)
        for each in others:
            self._end()
            self._add(each)

    def _add(self, part: bytes) -> None:
        self.size += len(part)
        self.parts.append(part)
        if self.size > LONGEST_LINE:
            start = b"".join(self.parts)
            # Of a line that is too long, only the beginning and the last bytes are kept. The whole
            # line may have gigabytes.
            self.head = self.head or start[:_KEPT]
            self.parts = [start[-_KEPT:]]

    def _end(self) -> None:
        line, head = b"".join(self.parts).strip(), self.head
        is_too_long = self.size > LONGEST_LINE
        # If `take` fails, the next line must not be added to this one.
        self.parts.clear()
        self.size = 0
        self.head = b""
        if is_too_long:
            self.too_long(head, line)
        elif line:
            self.take(line)

    def eof_received(self) -> None:
        """Pass on the last line. It may have no line end."""
        self._end()
        self.ended()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle a broken pipe like the end of the input."""
        self.ended()


async def read_lines(source: IO[bytes], lines: Lines) -> asyncio.BaseTransport | None:
    """Let the event loop read the lines of a pipe. Return the transport of the pipe. If the source
    is a file, its lines are passed on at once, and None is returned.
    """
    mode = os.fstat(source.fileno()).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or source.isatty():
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: lines, source)
        return transport
    # This is a file, which an event loop cannot watch.
    lines.data_received(source.read())
    lines.eof_received()
    return None


@contextmanager
def as_blocking_as_before(descriptor: int) -> Generator[None]:
    """Restore the blocking mode of standard input at the end, because the event loop changes it.
    The change would affect all users of the same file, such as the shell in a terminal, or the
    other direction of a socket.
    """
    before = os.get_blocking(descriptor)
    try:
        yield
    finally:
        os.set_blocking(descriptor, before)
