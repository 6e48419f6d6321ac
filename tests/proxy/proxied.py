"""A proxy over stdio in this process, around a real child: lines in, messages out."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolbooth.proxy.link import ChildLink
from toolbooth.proxy.records import Records
from toolbooth.proxy.rules import Rules
from toolbooth.proxy.session import Server
from toolbooth.proxy.stdio import serve

FAULTY = Path(__file__).with_name("faulty_server.py")


class Client:
    """The client's ends of both pipes."""

    def __init__(self, reader: asyncio.StreamReader, descriptor: int) -> None:
        self.reader = reader
        self.descriptor = descriptor
        self.ids = 0

    def send(self, message: Any) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        os.write(self.descriptor, line + b"\n")

    async def next(self) -> Any:
        line = await self.reader.readline()
        assert line.endswith(b"\n"), "the proxy ended"
        return json.loads(line)

    async def ask(self, method: str, params: Any = None) -> Any:
        """The answer to a request; other messages before it are skipped."""
        self.ids += 1
        request = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params or {}}
        self.send(request)
        while True:
            message = await self.next()
            if message.get("id") == self.ids and "method" not in message:
                return message

    async def call(self, tool: str, arguments: Any = None) -> Any:
        """The result of a tool call."""
        found = await self.ask("tools/call", {"name": tool, "arguments": arguments or {}})
        return found["result"]

    async def handshake(self) -> Any:
        """The result of `initialize`."""
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        found = await self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found["result"]

    async def until(self, method: str) -> Any:
        """The next notification of this method."""
        while True:
            message = await self.next()
            if message.get("method") == method:
                return message


@asynccontextmanager
async def proxied(
    *,
    rules: Rules | None = None,
    env: dict[str, str] | None = None,
    command: list[str] | None = None,
    cwd: str | None = None,
    pauses: Sequence[float] = (0.01,) * 3,
    records: Records | None = None,
    timeout: float = 30.0,
    servers: Sequence[Server] | None = None,
    **options: Any,
) -> AsyncIterator[Client]:
    """A running proxy. Its input ends when the block does, and that must end it."""

    def connect() -> ChildLink:
        words = command or [sys.executable, str(FAULTY)]
        return ChildLink(words, env=env, cwd=cwd, pauses=pauses)

    ours_out, theirs_in = os.pipe()
    theirs_out, ours_in = os.pipe()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**26)
    with (
        os.fdopen(ours_out, "rb", buffering=0) as source,
        os.fdopen(ours_in, "wb", buffering=0) as sink,
        os.fdopen(theirs_out, "rb", buffering=0) as answers,
    ):
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await loop.connect_read_pipe(lambda: protocol, answers)
        serving = asyncio.ensure_future(
            serve(
                servers or [Server(connect=connect, rules=rules or Rules(), timeout=timeout)],
                source=source,
                sink=sink,
                records=records,
                **options,
            )
        )
        try:
            async with asyncio.timeout(60):
                yield Client(reader, theirs_in)
        finally:
            os.close(theirs_in)
            async with asyncio.timeout(30):
                assert await serving == 0
            transport.close()


def text_of(result: Any) -> str:
    """All texts of a result."""
    return "\n".join(each["text"] for each in result["content"])
