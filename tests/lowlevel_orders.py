"""A low-level `Server` with one tool, and calls of it."""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

from toolbooth.adapters.connect import served

ORDER = {
    "type": "object",
    "properties": {
        "customer": {"type": "string"},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            "required": ["city"],
        },
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "sku": {"type": "string"},
                    "quantity": {"type": "integer", "minimum": 1},
                },
                "required": ["sku"],
            },
        },
        "notify": {"type": "boolean"},
    },
    "required": ["customer"],
}


def tool(name: str, schema: dict[str, Any] = ORDER) -> Tool:
    return Tool(name=name, input_schema=schema)


def text(value: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(value))])


async def echo(ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    return text([params.name, params.arguments])


def lists(*tools: Tool) -> Callable[..., Any]:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=list(tools))

    return list_tools


def orders(**handlers: Any) -> Server[Any]:
    made: dict[str, Any] = {"on_list_tools": lists(tool("order")), "on_call_tool": echo}
    return Server("orders", **{**made, **handlers})


def call(server: Server[Any], arguments: Any, name: str = "order") -> dict[str, Any]:
    """Return the result of a call, as bytes of MCP 2026-07-28."""
    return asyncio.run(served(server).call(name, arguments))


def ours(result: dict[str, Any]) -> dict[str, Any]:
    return result["_meta"].get("toolbooth", {})


def codes(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the code and path of each repair or problem."""
    found: Iterable[Any] = ours(result).get("repairs", ours(result).get("problems", []))
    return [(each["code"], each["path"]) for each in found]


def got(result: dict[str, Any]) -> Any:
    """Return the arguments that the handler received."""
    assert not result["isError"], result
    return json.loads(result["content"][0]["text"])[1]
