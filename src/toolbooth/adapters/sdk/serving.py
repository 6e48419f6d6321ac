"""Serves a FastMCP server, an MCPServer or a low-level Server with the transports of its host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from toolbooth.adapters.kinds import kind_of
from toolbooth.adapters.sdk.exact_stdin import exact_stdin

Application = Callable[
    [Mapping[str, Any], Callable[[], Awaitable[Any]], Callable[[dict[str, Any]], Awaitable[None]]],
    Awaitable[None],
]
"""An ASGI application."""


def serve_stdio(server: Any) -> None:
    """Serve over stdio until standard input ends."""
    kind = kind_of(server)
    if kind == "fastmcp":
        server.run(transport="stdio", show_banner=False)
    elif kind == "mcp_sdk":
        server.run("stdio")
    else:
        anyio.run(_serve_lowlevel, server)


async def _serve_lowlevel(server: Server[Any]) -> None:
    # The SDK's transport reads standard input as text, by itself: our own stdin has to be there
    # first.
    with exact_stdin():
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def http_application(server: Any, path: str) -> Application:
    """Return the host's ASGI application for MCP at this path. It does not check the `Host` header,
    so you must check this header before you call it.
    """
    if kind_of(server) == "fastmcp":
        return server.http_app(path=path, host_origin_protection=False)
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return server.streamable_http_app(streamable_http_path=path, transport_security=unchecked)
