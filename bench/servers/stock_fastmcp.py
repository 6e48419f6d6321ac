"""FastMCP without changes."""

from collections.abc import Iterable
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool
from servers.tools import Function


def server(tools: Iterable[Function]) -> FastMCP[Any]:
    made = FastMCP[Any]("bench")
    for tool in tools:
        made.add_tool(Tool.from_function(tool))
    return made


def application(tools: Iterable[Function]) -> Any:
    return server(tools).http_app(json_response=True, stateless_http=True)


def serve_stdio(tools: Iterable[Function]) -> None:
    server(tools).run("stdio", show_banner=False, log_level="ERROR")
