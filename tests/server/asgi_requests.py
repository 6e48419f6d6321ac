"""HTTP requests to a small shop, in the form in which an ASGI server passes them on: for the tests
of `asgi`.
"""

import asyncio
import json
from typing import Any

from toolbooth import Context, ToolRegistry
from toolbooth.server.asgi import app
from toolbooth.server.revisions import CAPABILITIES_KEY, STATELESS, VERSION_KEY

META = {VERSION_KEY: STATELESS[0], CAPABILITIES_KEY: {}}
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}
JSON = {"host": "localhost:8000", "content-type": "application/json"}


def tool_call(name: str, arguments: Any = None, meta: Any = None) -> bytes:
    params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()


def shop() -> ToolRegistry:
    registry = ToolRegistry("shop")

    @registry.tool
    async def add(a: int, b: int = 0) -> int:
        return a + b

    @registry.tool
    async def count(to: int, ctx: Context) -> str:
        for done in range(1, to + 1):
            ctx.progress(done, to)
        return "done"

    return registry


class Connection:
    """One HTTP request as an ASGI server makes it; the messages that the application sends are
    kept.
    """

    def __init__(
        self, *parts: bytes, method: str = "POST", path: str = "/mcp", **scope: Any
    ) -> None:
        headers = scope.pop("headers", JSON)
        pairs = headers.items() if isinstance(headers, dict) else headers
        self.scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs],
            **scope,
        }
        last = len(parts) - 1
        self.incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        for index, part in enumerate(parts):
            self.incoming.put_nowait(
                {"type": "http.request", "body": part, "more_body": index < last}
            )
        self.sent: list[dict[str, Any]] = []
        self.arrived = asyncio.Condition()

    async def send(self, event: dict[str, Any]) -> None:
        async with self.arrived:
            self.sent.append(event)
            self.arrived.notify_all()

    async def run(self, application: Any) -> None:
        async with asyncio.timeout(10):
            await application(self.scope, self.incoming.get, self.send)

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(event["body"] for event in self.sent[1:])


def reply(*parts: bytes, served: dict[str, Any] | None = None, **request: Any) -> Connection:
    """Make one request and return the whole reply."""

    async def exchange() -> Connection:
        connection = Connection(*parts, **request)
        await connection.run(app(shop(), **(served or {})))
        return connection

    return asyncio.run(exchange())


def events_of(body: bytes) -> list[Any]:
    """Return the messages of a stream, each in a frame of its own."""
    frames = body.split(b"\r\n\r\n")
    assert frames.pop() == b""
    assert all(frame.startswith(b"event: message\r\ndata: ") for frame in frames)
    return [json.loads(frame.partition(b"data: ")[2]) for frame in frames]
