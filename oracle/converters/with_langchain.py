"""langchain: MCP tools by its adapters, converted for OpenAI, plain and strict; and called, to see
the arguments that arrive.
"""

import asyncio
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
from loop import Tool, run
from mcp.types import CallToolResult
from mcp.types import Tool as McpTool


class Session:
    """The session that the adapter calls: it keeps the arguments that arrive."""

    def __init__(self) -> None:
        self.arrived: list[Any] = []

    async def call_tool(self, name: str, arguments: Any, **_: Any) -> CallToolResult:
        self.arrived.append(arguments)
        return CallToolResult(content=[])


def adapted(tool: Tool, session: Any) -> BaseTool:
    listed = McpTool(
        name=tool["name"], description=tool["description"], inputSchema=tool["inputSchema"]
    )
    return convert_mcp_tool_to_langchain_tool(session, listed)


def written_out(tool: Tool, strict: bool | None) -> Any:
    return convert_to_openai_tool(adapted(tool, Session()), strict=strict)["function"]["parameters"]


def called(tool: Tool) -> Any:
    session = Session()
    made = adapted(tool, session)
    for call in tool["calls"]:
        asyncio.run(made.ainvoke(call))
    return session.arrived


if __name__ == "__main__":
    run(
        {
            "langchain": lambda tool: written_out(tool, None),
            "langchain strict": lambda tool: written_out(tool, True),
            "langchain call": called,
        }
    )
