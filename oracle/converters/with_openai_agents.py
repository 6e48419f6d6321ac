"""openai-agents: MCP tools as function tools, plain and strict. If strict fails, the SDK itself
falls back to plain.
"""

from typing import Any

from agents.mcp import MCPServerStdio, MCPUtil
from loop import Tool, run
from mcp.types import Tool as McpTool

SERVER = MCPServerStdio(params={"command": "never-started"})


def converted(tool: Tool, *, strict: bool) -> Any:
    listed = McpTool(
        name=tool["name"], description=tool["description"], inputSchema=tool["inputSchema"]
    )
    return MCPUtil.to_function_tool(listed, SERVER, strict).params_json_schema


if __name__ == "__main__":
    run(
        {
            "openai-agents": lambda tool: converted(tool, strict=False),
            "openai-agents strict": lambda tool: converted(tool, strict=True),
        }
    )
