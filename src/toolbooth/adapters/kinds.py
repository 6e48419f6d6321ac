"""What kind of server an object is, found by its classes' names: no adapter has to import another
one's host.
"""

from __future__ import annotations

from toolbooth.server.registry import ToolRegistry

FASTMCP = "toolbooth.adapters.fastmcp"
MCP_SDK = "toolbooth.adapters.mcp_sdk"


def wrong_server(server: object, adapter: str) -> TypeError:
    """The error for an object that this adapter's `protect` cannot protect. It names the import
    that can.
    """
    if isinstance(server, type):
        return TypeError(
            f"protect() takes a server, not a class: pass an instance of {server.__name__}"
        )
    right = _adapter_of(server)
    if right is not None:
        return TypeError(f"this is {_kind(server)}: from {right} import protect")
    if _has_class(server, "mcp.server.lowlevel", "Server"):
        advice = (
            "low-level servers are not supported yet; use MCPServer, or a toolbooth.ToolRegistry"
        )
    elif isinstance(server, ToolRegistry):
        advice = "a ToolRegistry needs no protect(), its tools are behind the boundary already"
    else:
        advice = f"{adapter}.protect() does not know this kind of server"
    return TypeError(f"this is {_kind(server)}: {advice}")


def _adapter_of(server: object) -> str | None:
    if _has_class(server, "fastmcp", "FastMCP"):
        return FASTMCP
    if _has_class(server, "mcp.server.mcpserver", "MCPServer"):
        return MCP_SDK
    return None


def _has_class(server: object, package: str, name: str) -> bool:
    """Whether an object is an instance of the class with this name, defined anywhere in this
    package.
    """
    own = (each for each in type(server).__mro__ if each.__name__ == name)
    return any(f"{each.__module__}.".startswith(f"{package}.") for each in own)


def _kind(server: object) -> str:
    found = type(server)
    return f"an object of type {found.__module__}.{found.__qualname__}"
