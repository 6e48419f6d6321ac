"""anthropic: MCP tools for its tool runner, and the schemas of its strict mode."""

from typing import Any

import anthropic
from anthropic.lib.tools.mcp import async_mcp_tool
from loop import Tool, run
from mcp.types import Tool as McpTool


def plain(tool: Tool) -> Any:
    listed = McpTool(
        name=tool["name"], description=tool["description"], inputSchema=tool["inputSchema"]
    )
    never_called: Any = None
    return async_mcp_tool(listed, never_called).to_dict()["input_schema"]


def strict(tool: Tool) -> Any:
    return anthropic.transform_schema(tool["inputSchema"])


if __name__ == "__main__":
    run({"anthropic": plain, "anthropic strict": strict})
