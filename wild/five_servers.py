"""The tools of the corpus on one server. `python five_servers.py HOST` serves them over HTTP and
prints the port.

Each tool is named after the id of its case, because several reports are about tools of the same
name.
"""

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn
from fastmcp import FastMCP
from malformed import cases, function_of
from mcp.server.mcpserver import MCPServer

from toolbooth import compile_function
from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.server import asgi
from toolbooth.server.registry import ToolRegistry


def registry() -> ToolRegistry:
    made = ToolRegistry("wild")
    for case in cases():
        made.add(compile_function(function_of(case), name=case.id))
    return made


def on_fastmcp(server: FastMCP) -> FastMCP:
    for case in cases():
        server.tool(function_of(case), name=case.id)
    return server


def on_sdk(server: MCPServer) -> MCPServer:
    for case in cases():
        server.add_tool(function_of(case), name=case.id)
    return server


def _plain_sdk() -> MCPServer:
    return MCPServer("wild", log_level="CRITICAL")


APPS: dict[str, Callable[[], Any]] = {
    "registry": lambda: asgi.app(registry()),
    "protected FastMCP": lambda: on_fastmcp(fastmcp.protect(FastMCP("wild"))).http_app(
        json_response=True
    ),
    "protected SDK": lambda: on_sdk(mcp_sdk.protect(_plain_sdk())).streamable_http_app(
        json_response=True
    ),
    "plain FastMCP": lambda: on_fastmcp(FastMCP("wild")).http_app(json_response=True),
    "plain SDK": lambda: on_sdk(_plain_sdk()).streamable_http_app(json_response=True),
}


def serve(host: str) -> None:
    app = APPS[host]()
    with socket.create_server(("127.0.0.1", 0)) as door:
        print(door.getsockname()[1], flush=True)
        config = uvicorn.Config(app, log_level="critical", timeout_keep_alive=600)
        asyncio.run(uvicorn.Server(config).serve(sockets=[door]))


if __name__ == "__main__":
    serve(*sys.argv[1:])
