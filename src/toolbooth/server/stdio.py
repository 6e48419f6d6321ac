"""The stdio shell: one JSON-RPC message a line, in and out. Every line is answered: nothing ever hangs in silence."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, BinaryIO

import orjson

from toolbooth.server.registry import ToolRegistry
from toolbooth.server.respond import respond

_LONGEST_LINE = 64 * 1024 * 1024


def serve(registry: ToolRegistry) -> None:
    """Serve until standard input ends."""
    asyncio.run(serve_streams(registry, sys.stdin.buffer, sys.stdout.buffer))


async def serve_streams(registry: ToolRegistry, source: BinaryIO, sink: BinaryIO) -> None:
    """Serve lines from `source`, answers to `sink`. What `print` writes goes to standard error."""
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    sys.stdout = sys.stderr  # a tool that prints must not break the framing
    calls: dict[Any, asyncio.Task[None]] = {}
    while line := await reader.readline():
        text = line.strip()
        if not text:
            continue
        cancelled = _cancelled(text)
        if cancelled is not None:
            if task := calls.get(cancelled):
                task.cancel()
            continue
        task = asyncio.ensure_future(_answer(registry, text, sink))
        calls[_id(text)] = task
        task.add_done_callback(lambda done, key=_id(text): calls.pop(key, None))
    await asyncio.gather(*calls.values(), return_exceptions=True)


async def _answer(registry: ToolRegistry, line: bytes, sink: BinaryIO) -> None:
    reply = await respond(registry, line, None)
    if reply.events is not None:
        async for event in reply.events:
            _write(sink, event)
    elif reply.body:
        _write(sink, reply.body)


def _write(sink: BinaryIO, message: bytes) -> None:
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
        found = orjson.loads(line)
        return found.get("id") if isinstance(found, dict) else None
    except ValueError:
        return None
