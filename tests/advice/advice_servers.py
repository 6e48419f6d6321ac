"""The servers that the agent calls: ours, both protected hosts, and both hosts without protection."""

import asyncio
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import advice_tools
import fastmcp
import mcp
from advice_corpus import Call
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer

from toolbooth import handle_bytes
from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import mcp_sdk

Caller = Callable[[Call, dict[str, Any]], dict[str, Any]]


@cache
def _contracts() -> dict[tuple[str, str], Any]:
    return advice_tools.contracts()


def registry(call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
    return handle_bytes(_contracts()[call.source, call.depth], json.dumps(arguments).encode())


def _host(client: Any) -> Caller:
    """Calls the functions of a host; there are none from a JSON Schema."""
    quiet = {"raise_on_error": False} if isinstance(client, fastmcp.Client) else {}
    runner = asyncio.Runner()
    runner.run(client.__aenter__())

    def send(call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
        name = "add" if call.source == "parameters" else advice_tools.FUNCTIONS[call.depth].__name__
        result = runner.run(client.call_tool(name, arguments, **quiet))
        return {
            "isError": result.is_error,
            "content": [{"text": result.content[0].text if result.content else ""}],
            "structuredContent": result.structured_content,
            "_meta": result.meta or {},
        }

    return send


def _functions() -> list[Callable[..., Any]]:
    return [*advice_tools.FUNCTIONS.values(), advice_tools.add_parameters]


def plain_fastmcp() -> Caller:
    server = FastMCP("plain")
    for function in _functions():
        server.tool(advice_tools.written_out(function))
    return _host(fastmcp.Client(server))


def plain_sdk() -> Caller:
    server = MCPServer("plain")
    for function in _functions():
        server.add_tool(advice_tools.written_out(function))
    return _host(mcp.Client(server))


def protected_fastmcp() -> Caller:
    server = FastMCP("protected")
    for function in _functions():
        server.tool(function)
    return _host(fastmcp.Client(fastmcp_adapter.protect(server)))


def protected_sdk() -> Caller:
    server = MCPServer("protected")
    for function in _functions():
        server.add_tool(function)
    return _host(mcp.Client(mcp_sdk.protect(server)))


SERVERS: dict[str, Callable[[], Caller]] = {
    "Toolbooth": lambda: registry,
    "FastMCP, protected": protected_fastmcp,
    "SDK, protected": protected_sdk,
    "FastMCP": plain_fastmcp,
    "SDK": plain_sdk,
}
