"""The stdio shell: one JSON-RPC message a line, in and out. Every line is answered: nothing ever hangs in silence."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, BinaryIO, cast

import orjson

from toolbooth.server.registry import ToolRegistry
from toolbooth.server.respond import respond

Calls = dict[Any, "asyncio.Task[None]"]

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
    calls: Calls = {}
    while line := await reader.readline():
        text = line.strip()
        if not text:
            continue
        cancelled = _cancelled(text)
        if cancelled is not None:
            if task := calls.get(cancelled):
                task.cancel()
            continue
        _start(calls, _id(text), _answer(registry, text, sink))
    await asyncio.gather(*calls.values(), return_exceptions=True)


def _start(calls: Calls, key: Any, answer: Coroutine[Any, Any, None]) -> None:
    """Answer in the background: a slow tool does not hold up the next line, and can be cancelled by its id."""
    task = asyncio.ensure_future(answer)
    calls[key] = task
    task.add_done_callback(lambda _: calls.pop(key, None))


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
        found: Any = orjson.loads(line)
    except ValueError:
        return object()
    return cast("dict[str, Any]", found).get("id", object()) if isinstance(found, dict) else object()
