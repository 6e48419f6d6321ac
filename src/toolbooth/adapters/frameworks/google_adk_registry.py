"""The tools of a registry as tools of Google's Agent Development Kit."""

from __future__ import annotations

from typing import Any

from google.adk.tools.base_tool import BaseTool
from google.genai.types import FunctionDeclaration

from toolbooth.jsonvalue import Json
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool


class RegistryTool(BaseTool):
    """One tool of a registry."""

    def __init__(self, registry: ToolRegistry, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.listing().get("description", ""))
        self.registry, self.schema = registry, tool.listing()["inputSchema"]

    def _get_declaration(self) -> FunctionDeclaration:
        how: Json = {"parameters_json_schema": self.schema}
        return FunctionDeclaration(name=self.name, description=self.description, **how)

    async def run_async(self, *, args: Json, tool_context: Any) -> Json:
        result = await self.registry.call_async(self.name, args)
        text = "\n".join(each.get("text", "") for each in result["content"])
        return {"error" if result["isError"] else "result": text}
