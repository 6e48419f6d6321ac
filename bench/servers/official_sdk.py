"""The official SDK's `MCPServer`."""

import asyncio
from collections.abc import Iterable
from typing import Any

from mcp.server.mcpserver import MCPServer
from servers.tools import Function


def server(tools: Iterable[Function]) -> MCPServer[Any]:
    made = MCPServer("bench", log_level="ERROR")
    for tool in tools:
        made.add_tool(tool)
    return made


def application(tools: Iterable[Function]) -> Any:
    return server(tools).streamable_http_app(json_response=True, stateless_http=True)


def serve_stdio(tools: Iterable[Function]) -> None:
    server(tools).run("stdio")


def list_all(made: MCPServer[Any]) -> int:
    """Make the whole list. Returns the number of tools."""
    return len(asyncio.run(made.list_tools()))
