"""A proxy over HTTP in this process, and servers behind it: real sockets, bytes as they are."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx2
import uvicorn

from toolbooth.proxy.http_link import HttpLink
from toolbooth.proxy.http_server import HttpProxy
from toolbooth.proxy.rules import Rules
from toolbooth.proxy.session import Server

STATELESS = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
TOOL = {
    "name": "book",
    "inputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "x-mcp-header": "City"},
            "nights": {"type": "integer", "x-mcp-header": "Nights"},
        },
    },
}

Answer = Callable[[Any, "Upstream", Callable[[bytes], Awaitable[None]]], Awaitable[Any]]


class Upstream:
    """A server over HTTP that keeps every request, and answers as the test wants.

    `answer` gets the message and a function that sends an event; it returns the result, or a
    status as a number, or None if it has sent everything itself.
    """

    def __init__(self, answer: Answer | None = None) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answer = answer
        self.sessions = 0
        self.left = asyncio.Event()
        self.streams: dict[str, asyncio.Queue[bytes]] = {}

    @property
    def messages(self) -> list[Any]:
        return [json.loads(body) for _, _, body in self.requests if body]

    def headers_of(self, method: str) -> dict[str, str]:
        """The headers of the last request with this JSON-RPC method."""
        found = [
            headers
            for _, headers, body in self.requests
            if body and json.loads(body).get("method") == method
        ]
        return found[-1]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        self.requests.append((scope["method"], headers, body))
        if scope["method"] == "GET":
            await self._stream(headers, send)
        elif scope["method"] == "DELETE":
            await _send(send, 204, b"")
        else:
            await self._post(json.loads(body), receive, send)

    async def _stream(self, headers: dict[str, str], send: Any) -> None:
        queue = self.streams.setdefault(headers["mcp-session-id"], asyncio.Queue())
        await _start(send)
        while True:
            await _event(send, await queue.get())

    async def _post(self, message: Any, receive: Any, send: Any) -> None:
        if "id" not in message or "method" not in message:
            await _send(send, 202, b"")
            return
        extra = []
        result: Any = {"line": message.get("params")}
        if message["method"] == "initialize":
            self.sessions += 1
            extra = [(b"mcp-session-id", b"upstream-%d" % self.sessions)]
            result = {"protocolVersion": "2025-11-25", "capabilities": {}}
        elif message["method"] == "tools/list":
            result = {"tools": [TOOL]}
        elif self.answer is not None:
            started = False

            async def event(data: bytes) -> None:
                nonlocal started
                if not started:
                    await _start(send)
                    started = True
                await _event(send, data)

            watching = asyncio.ensure_future(self._watch(receive))
            try:
                result = await self.answer(message, self, event)
            finally:
                watching.cancel()
            if started:
                if result is not None:
                    reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                    await _event(send, json.dumps(reply).encode())
                await send({"type": "http.response.body", "body": b""})
                return
        if isinstance(result, int):
            await _send(send, result, b"")
            return
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        await _send(send, 200, json.dumps(reply).encode(), extra)

    async def _watch(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.left.set()


async def _start(send: Any) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b": open\n\n", "more_body": True})


async def _event(send: Any, data: bytes) -> None:
    body = b"data: " + data + b"\n\n"
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _send(send: Any, status: int, body: bytes, extra: Any = ()) -> None:
    headers = [(b"content-type", b"application/json"), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextlib.asynccontextmanager
async def served(application: Any) -> AsyncIterator[str]:
    """An application at a URL of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        application, log_level="warning", timeout_graceful_shutdown=1, ws="none"
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    with contextlib.suppress(Exception):
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
    task = asyncio.ensure_future(server.serve([listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await task
        listening.close()


class Client:
    """A client of the proxy that sends what the test writes."""

    def __init__(self, http: httpx2.AsyncClient, url: str, proxy: HttpProxy) -> None:
        self.http = http
        self.url = url
        self.proxy = proxy
        self.ids = 0

    def message(self, method: str, params: Any) -> bytes:
        self.ids += 1
        message = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}
        return json.dumps(message).encode()

    async def post(self, body: bytes, **headers: str) -> httpx2.Response:
        names = {key.replace("_", "-"): value for key, value in headers.items()}
        accept = {"accept": "application/json, text/event-stream"}
        kind = {"content-type": "application/json"}
        return await self.http.post(self.url, content=body, headers={**accept, **kind, **names})

    async def initialize(self, **headers: str) -> str:
        """A new session; returns its id."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        found = await self.post(self.message("initialize", params), **headers)
        session = found.headers["mcp-session-id"]
        done = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        assert (await self.post(done, mcp_session_id=session)).status_code == 202
        return session

    async def call(self, arguments: str, **headers: str) -> httpx2.Response:
        """A stateless call of `book`."""
        self.ids += 1
        body = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":%s,"name":"book","arguments":%s}}'
        sent = (body % (self.ids, json.dumps(META), arguments)).encode()
        routing = {
            "mcp_protocol_version": STATELESS,
            "mcp_method": "tools/call",
            "mcp_name": "book",
        }
        return await self.post(sent, **routing, **headers)


@contextlib.asynccontextmanager
async def proxied(
    upstream: Upstream | None = None, *, connect: Any = None, headers: Any = None, **options: Any
) -> AsyncIterator[Client]:
    """A proxy in front of an upstream, and a client of it."""
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(30))
        if connect is None:
            url = await stack.enter_async_context(served(upstream or Upstream()))

            def connect() -> HttpLink:
                return HttpLink(url, headers)

        rules, timeout = options.pop("rules", Rules()), options.pop("timeout", 300.0)
        server = Server(connect=connect, rules=rules, timeout=timeout)
        proxy = HttpProxy([server], **options)
        try:
            proxy_url = await stack.enter_async_context(served(proxy))
            http = await stack.enter_async_context(httpx2.AsyncClient(timeout=20))
            yield Client(http, proxy_url, proxy)
        finally:
            await proxy.sessions.close()
