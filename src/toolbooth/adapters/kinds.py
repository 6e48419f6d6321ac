"""Which kind of server an object is, found by the names of its classes: no adapter has to import
another one's host.
"""

from __future__ import annotations

from typing import Any, Literal

Kind = Literal["toolbooth", "fastmcp", "mcp_sdk"]
"""`toolbooth.adapters` has a module of the same name for each host."""

KINDS: dict[str, Kind] = {
    "toolbooth.server.registry.ToolRegistry": "toolbooth",
    "fastmcp.server.server.FastMCP": "fastmcp",
    "mcp.server.mcpserver.server.MCPServer": "mcp_sdk",
}
"""By the full name of the class, so that no host is loaded to find out that a server is not one of
its own.
"""

_LOW_LEVEL = "mcp.server.lowlevel.server.Server"


def kind_of(server: Any) -> Kind | None:
    """The kind of a server; None if it is unknown."""
    return next((KINDS[name] for name in _class_names(server) if name in KINDS), None)


def check_server(server: object, host_class: type, kind: Kind) -> None:
    """Check that an adapter's `protect` can protect this object.

    Raises:
        TypeError: if it cannot. The message has the import that can, if there is one.
    """
    if isinstance(server, host_class):
        return
    if isinstance(server, type):
        raise TypeError(
            f"protect() takes a server, not a class: pass an instance of {server.__name__}"
        )
    found = f"an object of type {_class_names(server)[0]}"
    raise TypeError(f"this is {found}: {_advice(server, kind)}")


def _advice(server: object, kind: Kind) -> str:
    actual = kind_of(server)
    if actual == "toolbooth":
        return "a ToolRegistry needs no protect(), its tools are behind the boundary already"
    if actual is not None:
        return f"from toolbooth.adapters.{actual} import protect"
    if _LOW_LEVEL in _class_names(server):
        return "low-level servers are not supported yet; use MCPServer, or a toolbooth.ToolRegistry"
    return f"toolbooth.adapters.{kind}.protect() does not know this kind of server"


def _class_names(server: object) -> list[str]:
    """The full names of an object's classes, its own class first."""
    return [f"{each.__module__}.{each.__qualname__}" for each in type(server).__mro__]
