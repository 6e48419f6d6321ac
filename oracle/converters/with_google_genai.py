"""google-genai: MCP tools as function declarations, in Gemini's own schema language and as JSON
Schema.
"""

from typing import Any

from gemini import as_json_schema
from google.genai import _mcp_utils, types
from loop import Tool, run
from mcp.types import Tool as McpTool


def declared(tool: Tool, *, agent_platform: bool) -> types.FunctionDeclaration:
    listed = McpTool(
        name=tool["name"], description=tool["description"], inputSchema=tool["inputSchema"]
    )
    [made] = _mcp_utils.mcp_to_gemini_tools([listed], is_agent_platform=agent_platform)
    return made.function_declarations[0]


def own_language(tool: Tool) -> Any:
    parameters = declared(tool, agent_platform=False).parameters
    # No warnings: the SDK declares `enum` as a list of strings, but keeps numbers in it.
    return parameters.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False)


def json_schema(tool: Tool) -> Any:
    return declared(tool, agent_platform=True).parameters_json_schema


if __name__ == "__main__":
    run(
        {"google-genai": own_language, "google-genai JSON Schema": json_schema}, read=as_json_schema
    )
