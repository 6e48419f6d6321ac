"""Finds the framework of a tool by the names of its classes, so that no framework is imported to
find it. Classes that users derive are found by their bases.
"""

from __future__ import annotations

from typing import Literal

Framework = Literal[
    "langchain",
    "openai_agents",
    "pydantic_ai",
    "claude_agent",
    "google_adk",
    "agent_framework",
    "llama_index",
    "strands",
]
"""`toolbooth.frameworks` has a module of the same name for each."""

THINGS: dict[str, Framework] = {
    "langchain_core.tools.base.BaseTool": "langchain",
    "langgraph.prebuilt.tool_node.ToolNode": "langchain",
    "agents.tool.FunctionTool": "openai_agents",
    "pydantic_ai.tools.Tool": "pydantic_ai",
    "pydantic_ai.toolsets.abstract.AbstractToolset": "pydantic_ai",
    "claude_agent_sdk.SdkMcpTool": "claude_agent",
    "google.adk.tools.base_tool.BaseTool": "google_adk",
    "google.adk.tools.base_toolset.BaseToolset": "google_adk",
    "agent_framework._tools.FunctionTool": "agent_framework",
    "llama_index.core.tools.types.BaseTool": "llama_index",
    "strands.types.tools.AgentTool": "strands",
}
"""What can be protected, by the full name of the class."""

PACKAGES: dict[Framework, str] = {
    "langchain": "langchain",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai-slim",
    "claude_agent": "claude-agent-sdk",
    "google_adk": "google-adk",
    "agent_framework": "agent-framework-core",
    "llama_index": "llama-index-core",
    "strands": "strands-agents",
}
"""The package that each framework is installed with."""

WITH_TOOLS_FOR: tuple[Framework, ...] = (
    "langchain",
    "openai_agents",
    "pydantic_ai",
    "claude_agent",
)
"""The frameworks for which `tools_for` makes tools of a registry."""


def framework_of(thing: object) -> Framework | None:
    """Return the framework of a tool or toolset; None if it is of none that is known."""
    names = (f"{each.__module__}.{each.__qualname__}" for each in type(thing).__mro__)
    return next((THINGS[name] for name in names if name in THINGS), None)
