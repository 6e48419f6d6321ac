"""A server over HTTP with long streams, for both eras. It prints its port.

It offers the stream of a handshake session, `subscriptions/listen`, and tools with much to say:
`announce` sends a notification on every open stream, `huge` answers with n bytes, `stream` answers
with them in one event, and `flood` sends n notifications. Run: python streaming_server.py
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
NAMES = ["announce", "huge", "stream", "flood"]
JSON, EVENTS = b"application/json", b"text/event-stream"
CHUNK = b"x" * 65_536


class Server:
    """The streams that are open, by name: a queue, and the params of its notifications."""

    def __init__(self) -> None:
        self.sessions = 0
        self.streams: dict[str, tuple[asyncio.Queue[bytes], Any]] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        if scope["method"] == "GET":
            await self.stream(f"of {headers['mcp-session-id']}", {}, receive, send)
            return
        body = b""
        while (event := await receive()).get("more_body"):
            body += event["body"]
        message = json.loads(body + event.get("body", b"") or b"null")
        if message is None or "id" not in message:
            await whole(send, 202, b"")
            return
        if message["method"] == "subscriptions/listen":
            meta = {"_meta": {SUBSCRIPTION: message["id"]}}
            await self.stream(f"listening {message['params']['name']}", meta, receive, send)
        elif message["method"] == "tools/call":
            await self.called(message, send)
        else:
            await self.answered(message, send)

    async def answered(self, message: Any, send: Any) -> None:
        result: Any = {}
        extra = []
        if message["method"] == "initialize":
            self.sessions += 1
            extra = [(b"mcp-session-id", b"session-%d" % self.sessions)]
            result = {"protocolVersion": "2025-11-25", "capabilities": {}}
        elif message["method"] == "tools/list":
            result = {"tools": [{"name": name, "inputSchema": SCHEMA} for name in NAMES]}
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        await whole(send, 200, json.dumps(reply).encode(), extra)

    async def stream(self, name: str, params: Any, receive: Any, send: Any) -> None:
        """Send what is announced, until the client leaves."""
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self.streams[name] = queue, params
        queue.put_nowait(notification({**params, "open": name}))
        await start(send, EVENTS)
        leaving = asyncio.ensure_future(left(receive))
        while not leaving.done():
            coming = asyncio.ensure_future(queue.get())
            await asyncio.wait((coming, leaving), return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                await event(send, coming.result())
            coming.cancel()
        del self.streams[name]

    def announce(self) -> int:
        for name, (queue, params) in self.streams.items():
            queue.put_nowait(notification({**params, "to": name}))
        return len(self.streams)

    async def called(self, message: Any, send: Any) -> None:
        name = message["params"]["name"]
        count = message["params"]["arguments"].get("n", 0)
        text = str(self.announce()) if name == "announce" else ""
        before, after = answer(message, text)
        await start(send, JSON if name == "huge" else EVENTS)
        if name == "flood":
            async for each in notifications(count):
                await event(send, each)
        await part(send, before if name == "huge" else b"data: " + before)
        if name in ("huge", "stream"):
            for _ in range(count // len(CHUNK)):
                await part(send, CHUNK)
        await part(send, after if name == "huge" else after + b"\n\n")
        await send({"type": "http.response.body", "body": b""})


def answer(message: Any, text: str) -> tuple[bytes, bytes]:
    """The answer to a call, before and after the end of its text."""
    result = {"content": [{"type": "text", "text": f"{text}|"}]}
    reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    before, _, after = json.dumps(reply).encode().partition(b"|")
    return before, after


async def notifications(count: int) -> AsyncIterator[bytes]:
    for number in range(count):
        yield notification({"number": number, "padding": "x" * 1000})


def notification(params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
    return json.dumps(message).encode()


async def left(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def start(send: Any, kind: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})


async def part(send: Any, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def event(send: Any, data: bytes) -> None:
    await part(send, b"data: " + data + b"\n\n")


async def whole(send: Any, status: int, body: bytes, extra: Any = ()) -> None:
    headers = [(b"content-type", JSON), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as door:
        print(door.getsockname()[1], flush=True)
        config = uvicorn.Config(Server(), log_level="critical", timeout_keep_alive=600)
        asyncio.run(uvicorn.Server(config).serve(sockets=[door]))
