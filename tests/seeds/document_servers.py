"""The same tools on our registry and on protected servers of both hosts, for the tests of this
folder.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer

from toolbooth import ToolRegistry, protect
from toolbooth.adapters.connect import served
from toolbooth.testing import WireResult

HOSTS = ("registry", "fastmcp", "mcp_sdk")
EVERY_HOST = pytest.mark.parametrize("host", HOSTS)


def serve(host: str, *tools: Callable[..., Any]) -> Any:
    """A server of this kind with these tools. Both hosts are protected."""
    if host == "registry":
        registry = ToolRegistry("documents")
        for tool in tools:
            registry.tool(tool)
        return registry
    if host == "fastmcp":
        server = protect(FastMCP("documents", mask_error_details=True))
        for tool in tools:
            server.tool(tool)
        return server
    sdk = protect(MCPServer("documents", log_level="CRITICAL"))
    for tool in tools:
        sdk.add_tool(tool)
    return sdk


def listed(server: Any) -> dict[str, Any]:
    """The tools as `tools/list` shows them, by name."""

    async def read() -> Iterable[Any]:
        return await served(server).tools()

    return {each["name"]: each for each in asyncio.run(read())}


def passed(result: WireResult) -> tuple[Any, list[tuple[str, str]]]:
    """The object that a call returned, and the repairs. Text and structured content agree."""
    assert not result.is_error, result
    [content] = result.raw["content"]
    assert json.loads(content["text"]) == result.structured
    assert result.raw["_meta"].get("toolbooth", {}).keys() <= {"repairs"}
    return result.structured, [(each.code, each.where) for each in result.repairs]


def refused(result: WireResult) -> tuple[list[tuple[str, str]], Any]:
    """The problems of a refused call, and the corrected call."""
    assert result.is_error, result
    [content] = result.raw["content"]
    assert content["type"] == "text"
    assert content["text"].startswith("Refused: ")
    assert "structuredContent" not in result.raw
    assert result.raw["_meta"]["toolbooth"]["code"] == -32602
    return [(each.code, each.where) for each in result.problems], result.corrected


def facts_in_order(text: str, *facts: str) -> list[str]:
    """Return the facts that a text does not contain after the fact before them."""
    missing: list[str] = []
    position = 0
    for fact in facts:
        found = text.find(fact, position)
        if found < 0:
            missing.append(fact)
        else:
            position = found + len(fact)
    return missing
