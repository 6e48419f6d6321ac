"""Runs the server core of the official SDK without a transport: it takes bytes, and returns the
reply. FastMCP uses the same core.

A message is handled like the body of an HTTP request of 2026-07-28, from parsing to the reply.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_error_data, modern_on_request
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from starlette.requests import Request

from toolbooth.adapters.connect import Post
from toolbooth.jsonvalue import Json

_SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/mcp",
    "query_string": b"",
    "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
}


@asynccontextmanager
async def connection(server: Server[Any]) -> AsyncGenerator[Post, None]:
    """Start a server, with its lifespan if it has one. Yield a function that posts messages to the
    server.
    """
    async with server.lifespan(server) as state:
        handle = modern_on_request(server, state)

        async def post(body: bytes) -> Json:
            try:
                decoded = json.loads(body)
            # JSON that is nested too deeply raises RecursionError.
            except (ValueError, RecursionError):
                fault = ErrorData(code=PARSE_ERROR, message="Parse error")
                return _reply(JSONRPCError(jsonrpc="2.0", id=None, error=fault))
            asked = JSONRPCRequest.model_validate(decoded)
            try:
                result = await handle(
                    _Alone(asked.id, await _request(body)), asked.method, asked.params
                )
            except Exception as error:
                return _reply(
                    JSONRPCError(jsonrpc="2.0", id=asked.id, error=modern_error_data(error))
                )
            return _reply(JSONRPCResponse(jsonrpc="2.0", id=asked.id, result=result))

        yield post


async def _request(body: bytes) -> Request:
    """Return an HTTP request with this body, because middleware may look at the request. The body
    counts as already read.
    """

    async def receive() -> Json:
        return {"type": "http.request", "body": body, "more_body": False}

    request = Request(_SCOPE, receive)
    await request.body()
    return request


def _reply(message: JSONRPCResponse | JSONRPCError) -> Json:
    """Return a reply as the client gets it."""
    # Written and read again: a client would not see Python values, such as a tuple.
    return json.loads(json.dumps(message.model_dump(mode="json", by_alias=True, exclude_none=True)))


@dataclass
class _Alone:
    """A connection for a single request. The sender of the request gets only the reply, and no
    notifications.
    """

    request_id: RequestId | None
    request: Request
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    @property
    def transport(self) -> TransportContext:
        return TransportContext(
            kind="streamable-http", can_send_request=False, headers=self.request.headers
        )

    @property
    def message_metadata(self) -> ServerMessageMetadata:
        return ServerMessageMetadata(request_context=self.request)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> Json:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None: ...

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...
