"""smolagents. It is only measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from host import Answer
from shapes import Contact
from smolagents import Model, Tool, ToolCallingAgent

name = "smolagents"
reads_text = False


def tool(function: Callable[..., Any], name: str) -> Tool:
    """A tool has no models as parameters: it gets a dict, and makes the model of it."""

    class Made(Tool):
        description = "Create a contact."
        inputs = {  # noqa: RUF012
            "contact": {"type": "object", "description": "A contact.", "nullable": True},
            "note": {"type": "string", "description": "A note.", "nullable": True},
            "limit": {"type": "integer", "description": "A limit.", "nullable": True},
        }
        output_type = "string"

        def forward(self, contact: dict | None = None, note: str = "", limit: int = 10) -> str:
            return function(None if contact is None else Contact(**contact), note, limit)

    Made.name = name
    return Made()


async def step(tool: Tool, arguments: Any) -> Answer:
    agent = ToolCallingAgent([tool], Model(), verbosity_level=-1)
    return Answer(str(agent.execute_tool_call(tool.name, arguments)))
