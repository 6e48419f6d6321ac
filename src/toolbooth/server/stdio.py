"""The stdio shell: one JSON-RPC message a line, in and out. Every line is answered: nothing ever
hangs in silence.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Callable
from typing import IO, Any

import orjson

from toolbooth.jsonvalue import is_object
from toolbooth.server import messages
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.respond import respond
from toolbooth.server.revisions import PARSE_ERROR

Calls = dict["asyncio.Task[None]", bytes]
"""The calls in progress, with the line of each request."""

_LONGEST_LINE = 16 * 1024 * 1024
_TOO_LONG = orjson.dumps(
    {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": PARSE_ERROR, "message": messages.LINE_TOO_LONG},
    }
)


def serve(registry: ToolRegistry) -> None:
    """Serve until standard input ends. What tools print, and programs they start, cannot break the
    framing.
    """
    with os.fdopen(os.dup(0), "rb", buffering=0) as source, os.fdopen(os.dup(1), "wb") as sink:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        sys.stdout = sys.stderr
        asyncio.run(serve_streams(registry, source, sink))


async def serve_streams(registry: ToolRegistry, source: IO[bytes], sink: IO[bytes]) -> None:
    """Serve lines from `source`, answers to `sink`."""
    calls: Calls = {}
    loop = asyncio.get_running_loop()
    lines = _Lines(
        lambda line: _take(registry, line, sink, calls), lambda: _write(sink, _TOO_LONG), loop
    )
    mode = os.fstat(source.fileno()).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or source.isatty():
        await loop.connect_read_pipe(lambda: lines, source)
    else:  # a file, which no event loop watches, is read at once
        lines.data_received(source.read())
        lines.eof_received()
    await lines.ended
    await asyncio.gather(*calls, return_exceptions=True)


class _Lines(asyncio.Protocol):
    """Takes each line as soon as it is there: no task waits for the next one."""

    def __init__(
        self,
        take: Callable[[bytes], None],
        too_long: Callable[[], None],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.take = take
        self.too_long = too_long
        self.parts: list[bytes] = []
        self.size = 0
        self.ended: asyncio.Future[None] = loop.create_future()

    def data_received(self, data: bytes) -> None:
        """Lines, and the beginning of one."""
        first, *others = data.split(b"\n")
        self._add(first)
        for each in others:
            self._end()
            self._add(each)

    def _add(self, part: bytes) -> None:
        self.size += len(part)
        if self.size <= _LONGEST_LINE:
            self.parts.append(part)

    def _end(self) -> None:
        line = b"".join(self.parts).strip()
        if self.size > _LONGEST_LINE:
            self.too_long()
        elif line:
            self.take(line)
        self.parts.clear()
        self.size = 0

    def eof_received(self) -> None:
        """The last line may lack its end."""
        self._end()
        if not self.ended.done():
            self.ended.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """A pipe that breaks has ended."""
        if not self.ended.done():
            self.ended.set_result(None)


def _take(registry: ToolRegistry, line: bytes, sink: IO[bytes], calls: Calls) -> None:
    """Answer in the background: a slow tool does not hold up the next line, and can be cancelled by
    its id.
    """
    cancelled = _cancelled(line)
    if cancelled is not None:
        for task, asked in calls.items():
            request_id = _id(asked)
            if type(request_id) is type(cancelled) and request_id == cancelled:
                task.cancel()
        return
    task = asyncio.ensure_future(_answer(registry, line, sink))
    calls[task] = line
    task.add_done_callback(calls.pop)


async def _answer(registry: ToolRegistry, line: bytes, sink: IO[bytes]) -> None:
    reply = await respond(registry, line, None)
    if reply.events is not None:
        async for event in reply.events:
            _write(sink, event)
    elif reply.body:
        _write(sink, reply.body)


def _write(sink: IO[bytes], message: bytes) -> None:
    sink.write(message + b"\n")
    sink.flush()


def _cancelled(line: bytes) -> Any:
    """The id of the request that a line cancels."""
    if b"notifications/cancelled" not in line:
        return None
    try:
        message = orjson.loads(line)
        if message.get("method") == "notifications/cancelled":
            return message["params"]["requestId"]
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _id(line: bytes) -> Any:
    try:
        found = orjson.loads(line)
    except ValueError:
        return None
    return found.get("id") if is_object(found) else None
