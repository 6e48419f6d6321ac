"""Plain hosts, without our adapters, with one decorated tool, and calls to it."""

import asyncio

import fastmcp
import mcp
import pytest
from fastmcp import FastMCP
from fastmcp.tools import FunctionTool
from mcp.server.mcpserver import MCPServer


def plain_fastmcp(tool, **settings):
    server = FastMCP("plain", **settings)
    server.add_tool(FunctionTool.from_function(tool, name="tool"))
    return fastmcp.Client(server)


def plain_sdk(tool):
    server = MCPServer("plain")
    server.add_tool(tool, name="tool")
    return mcp.Client(server)


HOSTS = pytest.mark.parametrize("host", [plain_fastmcp, plain_sdk], ids=["fastmcp", "mcp"])


async def called(client, arguments, name="tool"):
    """The result of every call, in one form for the clients of all hosts."""
    quiet = {"raise_on_error": False} if isinstance(client, fastmcp.Client) else {}
    async with client:
        return [await client.call_tool(name, each, **quiet) for each in arguments]


async def published(client):
    async with client:
        found = await client.list_tools()
        [tool] = getattr(found, "tools", found)
        return tool.input_schema


def said(result):
    """Return the text that the agent reads, without the SDK's own prefix."""
    return result.content[0].text.removeprefix("Error executing tool tool: "), result.is_error


def call(client, *arguments):
    return [said(each) for each in asyncio.run(called(client, arguments))]
