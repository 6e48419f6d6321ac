"""Replaces `sys.stdin` for a host that reads it as text. A line that the host could not read
without loss is rewritten first.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, BinaryIO

from toolbooth.adapters.sdk.original_request import readable_line

Run = Callable[..., Awaitable[None]]


def with_exact_stdin(run: Run) -> Run:
    """Return `run`, the host's function that serves stdio, wrapped so that it reads the replaced
    stdin.
    """

    @wraps(run)
    async def run_exactly(*args: Any, **how: Any) -> None:
        with exact_stdin():
            await run(*args, **how)

    return run_exactly


@contextmanager
def exact_stdin() -> Generator[None]:
    """A context in which `sys.stdin` can be read by the host without loss. Tools get an empty
    stdin.
    """
    held = sys.stdin
    with _own_descriptor(held.buffer) as source:
        # Tools get an empty file. If the descriptor was replaced, `held` reads as empty.
        empty = io.StringIO() if source is held.buffer else held
        lines = _Lines(source, on_first_read=partial(setattr, sys, "stdin", empty))
        ours = io.TextIOWrapper(io.BufferedReader(lines), encoding="utf-8")
        sys.stdin = ours
        try:
            yield
        finally:
            sys.stdin = held


@contextmanager
def _own_descriptor(buffer: BinaryIO) -> Generator[BinaryIO]:
    """Yield a stdin that only this module can read. As in the SDK, the tools get an empty file in
    place of the process's file descriptor.
    """
    try:
        descriptor = buffer.fileno()
    except OSError:  # a stdin that is no file has no descriptor that others could read
        yield buffer
        return
    wire, nothing = os.dup(descriptor), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    try:
        # Never closed: a thread may be waiting for the next line when the server ends.
        yield os.fdopen(wire, "rb", closefd=False)
    finally:
        os.dup2(wire, descriptor)


class _Lines(io.RawIOBase):
    """A stream of lines that the host can read without loss. `on_first_read` is called before the
    first line is read, and so before any tool runs.
    """

    def __init__(self, source: BinaryIO, *, on_first_read: Callable[[], None]) -> None:
        super().__init__()
        self._source = source
        self._on_first_read: Callable[[], None] | None = on_first_read
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Copy as many bytes into the buffer as fit. If no bytes are left, wait for a line."""
        if not self._left:
            if self._on_first_read is not None:
                self._on_first_read()
                self._on_first_read = None
            self._left = memoryview(readable_line(self._source.readline()))
        given = self._left[: len(buffer)]
        buffer[: len(given)] = given
        self._left = self._left[len(given) :]
        return len(given)
