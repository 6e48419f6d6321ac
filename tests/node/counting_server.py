"""A tool that reports progress, on each host: `python counting_server.py
(toolbooth|fastmcp|mcp_sdk) (stdio|PORT)`.

The TypeScript client drops a notification that it reads together with the result. So `count`
continues only when the client, which calls `go_on` for each, has received the previous one.
"""

import asyncio
import sys
from typing import Any

import fastmcp
import uvicorn
from mcp.server import mcpserver

import toolbooth
from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import mcp_sdk as sdk_adapter
from toolbooth.server import asgi, stdio

seen = asyncio.Semaphore(0)


async def go_on() -> str:
    """Let `count` go on."""
    seen.release()
    return "going on"


def counting(context: type, report: str) -> Any:
    """Return `count` for a host, whose Context has its own method for progress."""

    async def count(to: int, ctx: context) -> str:
        """Count, and say so."""
        for done in range(1, to + 1):
            await getattr(ctx, report)(done, to, f"step {done}")
            await seen.acquire()
        return "done"

    return count


def on_toolbooth(transport: str) -> None:
    registry = toolbooth.ToolRegistry("counting")
    registry.tool(go_on)
    registry.tool(counting(toolbooth.Context, "progress"))
    if transport == "stdio":
        stdio.serve(registry)
    else:
        serve(asgi.app(registry), transport)


def on_fastmcp(transport: str) -> None:
    server = fastmcp_adapter.protect(fastmcp.FastMCP("counting"))
    server.tool(go_on)
    server.tool(counting(fastmcp.Context, "report_progress"))
    if transport == "stdio":
        server.run("stdio", show_banner=False)
    else:
        serve(server.http_app(), transport)


def on_mcp_sdk(transport: str) -> None:
    server = sdk_adapter.protect(mcpserver.MCPServer("counting"))
    server.add_tool(go_on)
    server.add_tool(counting(mcpserver.Context, "report_progress"))
    if transport == "stdio":
        server.run("stdio")
    else:
        serve(server.streamable_http_app(), transport)


def serve(app: Any, port: str) -> None:
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")


if __name__ == "__main__":
    host, transport = sys.argv[1:]
    {"toolbooth": on_toolbooth, "fastmcp": on_fastmcp, "mcp_sdk": on_mcp_sdk}[host](transport)
