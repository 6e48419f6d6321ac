"""Every sentence that the gateway says: to agents, to authors, and to people at a terminal."""

from __future__ import annotations

# --- describe, decorators, bulk creates and `mcp_doctor` ----------------------------------------

# What `mcp_doctor` says of bodies that authors must declare.

BODIES_ARE_DECLARED = "every body that is sent is one that its view declares"


def undeclared_body(tool: str, view: str) -> str:
    """A DELETE that seems to read a body, but declares none."""
    return f"{tool}: {view} seems to read a body that it does not declare; it is called without one"


def declare_body(view: str, handler: str, serializer: str) -> str:
    """The line to write for it."""
    line = f"@extend_schema_view({handler}=extend_schema(request={serializer}))"
    return f"write {line} above class {view}; if it reads no body, request=None"


def newly_sent_body(tool: str, view: str) -> str:
    """A DELETE that declares a body which earlier versions did not send."""
    return f"{tool}: {view} declares a body; earlier versions called it without one"


def declare_no_body(view: str, handler: str) -> str:
    """The line to write if it should stay as it was."""
    line = f"@extend_schema_view({handler}=extend_schema(request=None))"
    return f"if it reads no body, write {line} above class {view}"


def unmarked_list(tool: str, view: str) -> str:
    """A create that seems to take lists, but is not marked."""
    return f"{tool}: {view} seems to take lists, but is not marked; rows are sent one by one"


def mark_as_bulk(view: str) -> str:
    """The line to write for it."""
    return (
        f"if it takes a list of rows, write @mcp_bulk above class {view}; "
        "from toolbooth.django.decorators import mcp_bulk"
    )
