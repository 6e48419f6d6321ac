"""Small projects that the pytest plugin is run on, and helpers to read its output."""

import asyncio
from collections.abc import Callable

import pytest
from mcp.server.mcpserver import MCPServer

import toolbooth.pytest_plugin.pytest_items  # noqa: F401  each run forgets what it loads, and should not load all of it
from toolbooth import ToolRegistry
from toolbooth.adapters import mcp_sdk
from toolbooth.testing.check.boundary import check_boundary

Run = Callable[..., pytest.RunResult]

REGISTRY = """
from toolbooth import ToolRegistry

server = ToolRegistry("shop")
"""

UNPROTECTED = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop", log_level="CRITICAL")
server_tool, server.tool = server.tool, lambda function: server_tool()(function)
"""

FIND_ORDERS = '''
@server.tool
def find_orders(query: str = "", limit: int = 20) -> str:
    """Find orders."""
    return f"{limit} of {query!r}"
'''

RESIZE = '''
from typing import Annotated
from pydantic import AfterValidator

def exists(size: int) -> int:
    if size != int("1999966"):  # as text: Hypothesis tries the numbers that a file holds
        raise ValueError("no such size")
    return size

@server.tool
def resize(size: Annotated[int, AfterValidator(exists)]) -> str:
    """Change the size."""
    return "done"
'''


def find_orders(query: str = "", limit: int = 20) -> str:
    return ""


def calls_on_toolbooth() -> int:
    """Return in how many shapes that tool is called."""
    registry = ToolRegistry("shop")
    registry.tool(find_orders)
    return len(asyncio.run(check_boundary(registry)).cases)


def calls_on_mcp_sdk() -> int:
    """The same, but without the shapes that the host's parser decides."""
    server = mcp_sdk.protect(MCPServer("shop", log_level="CRITICAL"))
    server.add_tool(find_orders)
    return len(asyncio.run(check_boundary(server)).cases)


CALLS = calls_on_toolbooth()
SDK_CALLS = calls_on_mcp_sdk()


def outcomes(result: pytest.RunResult) -> dict[str, int]:
    return result.parseoutcomes()


def failure(result: pytest.RunResult, title: str) -> str:
    """Return the text below the title of a failure or an error."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if line.strip("_ ") == title)
    ends = (
        index
        for index, line in enumerate(lines)
        if index > start and line[:5] in ("=" * 5, "_" * 5, "-" * 5)
    )
    return "\n".join(lines[start + 1 : next(ends)]).strip("\n")


def ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]
