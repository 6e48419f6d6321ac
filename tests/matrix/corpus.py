"""Servers with the tools of the shape corpus: `python corpus.py HOST (stdio|http)` serves one. Over
HTTP it prints its port.
"""

import asyncio
import importlib
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from fastmcp import FastMCP
from fastmcp.tools import Tool as FastMCPTool
from fastmcp.tools import ToolResult
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool as SdkTool

from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.server import asgi, stdio

sys.path.insert(
    0, str(Path(__file__).resolve().parent.parent)
)  # the corpus itself is in modules there
wire_depths, wire_outcomes, wire_tools = (
    importlib.import_module(f"wire_{each}") for each in ("depths", "outcomes", "tools")
)
Call, PARSE_ERROR, calls, outcome, registry = (
    getattr(wire_tools, each) for each in ("Call", "PARSE_ERROR", "calls", "outcome", "registry")
)

HOSTS = ("registry", "fastmcp", "mcp_sdk")


# --- servers ---------------------------------------------------------------------------------------------------


class FastMCPForeign(FastMCPTool):
    """A tool that FastMCP knows by its schema alone, like a proxied one."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(wire_tools.answer(arguments))


class SdkForeign(SdkTool):
    """The same for the SDK."""

    async def run(
        self, arguments: dict[str, Any], context: Any, convert_result: bool = False
    ) -> Any:
        return (
            self.fn_metadata.convert_result(wire_tools.answer(arguments))
            if convert_result
            else wire_tools.answer(arguments)
        )


def on_fastmcp() -> FastMCP:
    made = fastmcp.protect(FastMCP("corpus", mask_error_details=True))
    for name, function in wire_tools.functions().items():
        made.tool(function, name=name)
    for name, model in wire_tools.models().items():
        made.tool(wire_tools.taking(model), name=name)
    for name, schema in wire_tools.schemas().items():
        made.add_tool(FastMCPForeign(name=name, parameters=schema))
    return made


def on_mcp_sdk() -> MCPServer:
    stub = SdkTool.from_function(lambda: "", name="stub")
    same = {name: getattr(stub, name) for name in SdkTool.model_fields}
    foreign = [
        SdkForeign(**{**same, "name": name, "parameters": each})
        for name, each in wire_tools.schemas().items()
    ]
    made = mcp_sdk.protect(MCPServer("corpus", tools=foreign, log_level="CRITICAL"))
    for name, function in wire_tools.functions().items():
        made.add_tool(function, name=name)
    for name, model in wire_tools.models().items():
        made.add_tool(wire_tools.taking(model), name=name)
    return made


MAKERS: dict[str, Callable[[], Any]] = {
    "registry": registry,
    "fastmcp": on_fastmcp,
    "mcp_sdk": on_mcp_sdk,
}


def app_of(host: str) -> Any:
    server = MAKERS[host]()
    if host == "registry":
        return asgi.app(server)
    return (
        server.http_app(json_response=True)
        if host == "fastmcp"
        else server.streamable_http_app(json_response=True)
    )


def serve(host: str, transport: str) -> None:
    if transport == "http":
        with socket.create_server(("127.0.0.1", 0)) as door:
            # An answer is written in two pieces; the second must not wait until the first is
            # acknowledged.
            door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            app = app_of(host)
            print(door.getsockname()[1], flush=True)
            # A busy machine may keep a client from its next call for longer than the usual five
            # seconds.
            config = uvicorn.Config(app, log_level="critical", timeout_keep_alive=600, ws="none")
            asyncio.run(uvicorn.Server(config).serve(sockets=[door]))
    elif host == "registry":
        stdio.serve(registry())
    else:
        MAKERS[host]().run("stdio")


if __name__ == "__main__":
    serve(*sys.argv[1:])
