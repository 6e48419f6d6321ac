"""The HTTP shell, served by uvicorn on loopback and called by real clients."""

import asyncio
import http.client
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

from asgi_requests import PING, events_of, shop, tool_call
from toolbooth import Context, ToolRegistry
from toolbooth.server.asgi import app


class Quiet(uvicorn.Server):
    """A server in a thread that signals when it listens."""

    def __init__(self, application: Any) -> None:
        config = uvicorn.Config(application, port=0, log_level="warning", lifespan="on", ws="none")
        super().__init__(config)
        self.listening = threading.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, *args: Any, **keywords: Any) -> None:
        await super().startup(*args, **keywords)
        self.listening.set()


@contextmanager
def on_loopback(registry: ToolRegistry, **served: Any) -> Iterator[int]:
    server = Quiet(app(registry, **served))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.listening.wait(10)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


@asynccontextmanager
async def raw_connection(
    port: int,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        await writer.wait_closed()


def test_a_real_server_answers_real_requests():
    with on_loopback(shop()) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

        def exchange(method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, {"Content-Type": "application/json", **named})
            response = connection.getresponse()
            return response.status, response.read()

        pong = b'{"jsonrpc":"2.0","id":1,"result":{}}'
        assert exchange("POST", "/mcp", PING) == (200, pong)
        assert exchange("POST", "/mcp", iter([PING[:9], PING[9:]])) == (200, pong)  # chunked
        assert exchange("POST", "/mcp", PING, Origin="http://localhost:1234") == (200, pong)
        assert exchange("POST", "/mcp", PING, Origin="http://evil.example")[0] == 403
        assert exchange("POST", "/mcp", PING, Host="evil.example")[0] == 421
        assert exchange("POST", "/other", PING)[0] == 404
        assert exchange("GET", "/mcp")[0] == 405
        assert exchange("POST", "/mcp", b"{")[0] == 400
        status, body = exchange("POST", "/mcp", tool_call("count", {"to": 3}, {"progressToken": 1}))
        assert (status, len(events_of(body))) == (200, 4)
        connection.close()


def test_real_server_refuses_a_too_large_body_and_keeps_serving():
    with on_loopback(shop(), max_body=1000) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/mcp", b"x" * 2000, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert (response.status, response.read()) == (
            413,
            b"a request may have at most 1,000 bytes",
        )
        connection.close()
        connection.request("POST", "/mcp", PING, {"Content-Type": "application/json"})
        assert connection.getresponse().status == 200
        connection.close()


def test_a_real_client_that_closes_its_connection_cancels_the_call():
    registry = ToolRegistry("shop")
    ended = threading.Event()

    @registry.tool
    async def wait(ctx: Context) -> None:
        ctx.progress(1)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def leave_early(port: int) -> None:
        body = tool_call("wait", None, {"progressToken": "t"})
        head = (
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}"
        )
        async with asyncio.timeout(10), raw_connection(port) as (reader, writer):
            writer.write(head.encode() + b"\r\n\r\n" + body)
            await reader.readuntil(b"notifications/progress")

    with on_loopback(registry) as port:
        asyncio.run(leave_early(port))
        assert ended.wait(10)
