"""The stdio shell: one JSON-RPC message a line, in and out. Every line is answered: nothing ever hangs in silence."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from typing import IO, Any, cast

import orjson

from toolbooth.server.registry import ToolRegistry
from toolbooth.server.respond import respond

Calls = dict["asyncio.Task[None]", bytes]
"""What is being answered, with the line of each request."""

_LONGEST_LINE = 16 * 1024 * 1024
_TOO_LONG = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: the line is too long"}}'


def serve(registry: ToolRegistry) -> None:
    """Serve until standard input ends. What tools print, and programs they start, cannot break the framing."""
    with os.fdopen(os.dup(0), "rb", buffering=0) as source, os.fdopen(os.dup(1), "wb") as sink:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        sys.stdout = sys.stderr
        asyncio.run(serve_streams(registry, source, sink))


async def serve_streams(registry: ToolRegistry, source: IO[bytes], sink: IO[bytes]) -> None:
    """Serve lines from `source`, answers to `sink`."""
    reader = await _reader(source)
    calls: Calls = {}
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # what is left of the line comes as lines of its own
            _write(sink, _TOO_LONG)
            continue
        if not line:
            break
        if text := line.strip():
            _take(registry, text, sink, calls)
    await asyncio.gather(*calls, return_exceptions=True)


async def _reader(source: IO[bytes]) -> asyncio.StreamReader:
    """Lines from a pipe as they come; a file, which no event loop watches, is read at once."""
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    mode = os.fstat(source.fileno()).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or source.isatty():
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    else:
        reader.feed_data(source.read())
        reader.feed_eof()
    return reader


def _take(registry: ToolRegistry, line: bytes, sink: IO[bytes], calls: Calls) -> None:
    """Answer in the background: a slow tool does not hold up the next line, and can be cancelled by its id."""
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
        return message["params"]["requestId"] if message.get("method") == "notifications/cancelled" else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _id(line: bytes) -> Any:
    try:
        found: Any = orjson.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", found).get("id") if isinstance(found, dict) else None
