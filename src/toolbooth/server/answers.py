"""Writes the answers of the stdio transport.

Each answer is written completely, and each call gets exactly one answer. Normally the event loop
writes the answers. If the event loop hangs when the process ends, another thread writes them.
"""

from __future__ import annotations

import os
import selectors
import threading
from collections.abc import Callable
from typing import IO, Any

import orjson
from pydantic_core import to_json

from toolbooth.server.envelope import id_in
from toolbooth.server.revisions import INTERNAL_ERROR


def error_reply(request_id: Any, code: int, words: str) -> bytes:
    """Return a JSON-RPC error as bytes."""
    reply = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": words}}
    try:
        return orjson.dumps(reply)
    except TypeError:  # an id beyond 64 bits
        return to_json(reply)


class Answers:
    """Writes messages to a client. Knows which calls have no answer yet."""

    def __init__(self, sink: IO[bytes], lost: Callable[[], None]) -> None:
        # From here on, messages are written without Python's buffer: `deadline.py` ends the process
        # with `os._exit`, which would lose buffered bytes.
        sink.flush()
        self.sink = sink.fileno()
        self.lost = lost
        self.lock = threading.Lock()
        self.open: dict[Any, bytes] = {}
        """For each call without an answer: the line in which it was sent."""
        self.is_closed = False

    def write(self, message: bytes) -> None:
        """Write a message that is not the answer to a call."""
        with self.lock:
            self._write(message)

    def end(self, call: Any, message: bytes = b"") -> None:
        """Write the answer to a call, unless it has one already."""
        with self.lock:
            is_open = self.open.pop(call, None) is not None
            if is_open and message:
                self._write(message)

    def close(self, words: str) -> None:
        """Answer all open calls with an error. After that, write nothing more."""
        with self.lock:
            # The bytes of an open call are kept, because its id is read from them. A call without a
            # usable id cannot be answered.
            for line in list(self.open.values()):
                request_id = id_in(line)
                if request_id is not None:
                    self._write(error_reply(request_id, INTERNAL_ERROR, words))
            self.is_closed = True

    def _write(self, message: bytes) -> None:
        rest = memoryview(message + b"\n")
        try:
            # The system accepts as much as fits in the pipe, which may be less than the message.
            while rest and not self.is_closed:
                rest = rest[self._write_some(rest) :]
        except OSError:  # the client has disconnected
            self.is_closed = True
            self.lost()

    def _write_some(self, rest: memoryview) -> int:
        try:
            return os.write(self.sink, rest)
        except BlockingIOError:
            # Standard input is the same socket or terminal, which the event loop has made
            # non-blocking.
            with selectors.DefaultSelector() as selector:
                selector.register(self.sink, selectors.EVENT_WRITE)
                selector.select()
            return 0
