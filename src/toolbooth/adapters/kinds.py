"""Finds the kind of a server by the names of its classes. So an adapter need not import any host
except its own.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from inspect import isfunction
from typing import Any, Literal

Kind = Literal["toolbooth", "fastmcp", "mcp_sdk", "lowlevel"]
"""The kinds of servers. For each host, `toolbooth.adapters` has a module of the same name."""

KINDS: dict[str, Kind] = {
    "toolbooth.server.registry.ToolRegistry": "toolbooth",
    "fastmcp.server.server.FastMCP": "fastmcp",
    "mcp.server.mcpserver.server.MCPServer": "mcp_sdk",
    "mcp.server.lowlevel.server.Server": "lowlevel",
}
"""The kind for each server class, by the full name of the class. So finding the kind of a server
imports no host.
"""

Framework = Literal[
    "langchain",
    "openai-agents",
    "pydantic-ai",
    "claude-agent-sdk",
    "google-adk",
    "llama-index",
    "strands",
    "agent-framework",
]
"""The extra of each agent framework. `toolbooth.adapters.frameworks` has a module of the same name,
with underscores.
"""

FRAMEWORKS: dict[str, Framework] = {
    "langchain_core.tools.base.BaseTool": "langchain",
    "agents.tool.FunctionTool": "openai-agents",
    "agents.mcp.server.MCPServer": "openai-agents",
    "claude_agent_sdk.SdkMcpTool": "claude-agent-sdk",
    "llama_index.core.tools.types.AsyncBaseTool": "llama-index",
    "pydantic_ai.tools.Tool": "pydantic-ai",
    "pydantic_ai.toolsets.abstract.AbstractToolset": "pydantic-ai",
    "google.adk.tools.base_tool.BaseTool": "google-adk",
    "google.adk.tools.base_toolset.BaseToolset": "google-adk",
    "strands.types.tools.AgentTool": "strands",
    "strands.tools.tool_provider.ToolProvider": "strands",
    "agent_framework._tools.FunctionTool": "agent-framework",
    "agent_framework._mcp.MCPTool": "agent-framework",
}
"""The agent framework for each class of tools or toolsets, by the full name of the class."""

TESTED = {"fastmcp": "4.1.2", "mcp": "2.3.0"}
"""The packages of the hosts, with the versions that the tests use."""

_NO_PROTECTION = "a ToolRegistry needs no protect(), its tools are behind the boundary already"
_TAKEN = (
    "protect() takes a FastMCP server, an MCPServer or a low-level Server of the official SDK, "
    "or tools of an agent framework: one, a list or a toolset"
)
_FUNCTION = (
    "a function is not a tool yet; make a tool of it as your framework does, such as "
    "Tool(function) or @tool, and protect that"
)


def kind_of(server: Any) -> Kind | None:
    """Return the kind of a server. Return None if the kind is unknown."""
    return next((KINDS[name] for name in _class_names(server) if name in KINDS), None)


def framework_of(thing: object) -> Framework | None:
    """Return the agent framework of a tool or toolset. Return None for any other object."""
    return next((FRAMEWORKS[name] for name in _class_names(thing) if name in FRAMEWORKS), None)


def host_of(server: object) -> Kind:
    """Return the kind of a server that can be protected.

    Raises:
        TypeError: the object is not such a server.
    """
    kind = kind_of(server)
    if kind is None or kind == "toolbooth":
        unknown = _FUNCTION if isfunction(server) else _TAKEN
        raise _wrong_server(server, unknown if kind is None else _NO_PROTECTION)
    return kind


def check_server(server: object, host_class: type, kind: Kind) -> None:
    """Raise TypeError if the `protect` of an adapter cannot protect this object. If another adapter
    can, the message has the import of that adapter.
    """
    if isinstance(server, host_class):
        return
    actual = kind_of(server)
    if actual == "toolbooth":
        raise _wrong_server(server, _NO_PROTECTION)
    if actual is not None and actual != kind:
        raise _wrong_server(server, "from toolbooth import protect")
    unknown = f"toolbooth.adapters.{kind}.protect() does not know this kind of server"
    raise _wrong_server(server, unknown)


def untested(kind: Kind) -> str:
    """Return the message if the installed version of a host cannot be protected."""
    # FastMCP is built on the official SDK, so the version of either may be the reason.
    packages = ["fastmcp", "mcp"] if kind == "fastmcp" else ["mcp"]
    installed = " and ".join(f"{name} {_installed_version(name)}" for name in packages)
    tested = " and ".join(f"{name} {TESTED[name]}" for name in packages)
    pinned = " ".join(f"{name}=={TESTED[name]}" for name in packages)
    return (
        f"protect() does not work with {installed}; this version of Toolbooth is tested with "
        f"{tested}: pip install {pinned}, or upgrade Toolbooth"
    )


def _installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(unknown version)"


def _wrong_server(server: object, advice: str) -> TypeError:
    if isinstance(server, type):
        return TypeError(
            f"protect() takes a server, not a class: pass an instance of {server.__name__}"
        )
    return TypeError(f"this is an object of type {_class_names(server)[0]}: {advice}")


def _class_names(server: object) -> list[str]:
    """Return the full names of an object's class and of its base classes, in this order."""
    return [f"{each.__module__}.{each.__qualname__}" for each in type(server).__mro__]
