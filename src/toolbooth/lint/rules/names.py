"""Rules about names: of tools, and of their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from toolbooth.jsonvalue import quoted
from toolbooth.lint.listing import Listing, Tool
from toolbooth.lint.rule import Fault, fault, server_rule, tool_rule

_PYTHON_ONLY = ("self", "cls", "args", "kwargs")


@tool_rule()
def tool_name(tool: Tool) -> Iterator[Fault]:
    """The name of a tool is too long for a client, or has characters that a client does not accept.

    Use letters, digits and `_`. Begin with a letter, and use at most 40 characters, because some
    clients add a prefix.
    """
    # Every name is yielded here. The claims in clients.toml have the greatest length and the
    # characters of each client, and `Claim.concerns` drops the names that a client accepts.
    yield Fault(
        message=f"the name {quoted(tool.name)}, {len(tool.name)} characters", value=tool.name
    )


@tool_rule()
def parameter_name(tool: Tool) -> Iterator[Fault]:
    """The name of a parameter is too long for a client, or has characters that a client does not
    accept.

    Use letters, digits and `_`. Do not begin with a digit, and use at most 64 characters. Clients
    check only the names at the top level.
    """
    # As for tools, the claims decide which of these names a client refuses.
    for node in tool.parameters:
        yield fault(node, f"the name {quoted(node.name)}, {len(node.name)} characters", node.name)


@tool_rule()
def reserved_parameter(tool: Tool) -> Iterator[Fault]:
    """A parameter has a name that a client reserves.

    Rename it.
    """
    # The reserved names are those of each client, as `values` of its claims.
    for node in tool.parameters:
        yield fault(node, f"the name {quoted(node.name)}", node.name)


@tool_rule()
def leaked_parameter(tool: Tool) -> Iterator[Fault]:
    """A parameter looks like Python's own: `self`, `cls`, `args`, `kwargs`.

    Register the bound method, not the function in the class; declare the keys of `**kwargs` as
    parameters.
    """
    for node in tool.parameters:
        if node.name in _PYTHON_ONLY:
            yield fault(node, f'"{node.name}" is a name of Python, not of your tool')


@server_rule
def duplicate_tool(listing: Listing) -> Iterator[Fault]:
    """Two tools have the same name.

    Rename one of them. An agent can call at most one of the two, and some clients refuse all tools
    of the server.
    """
    for name, count in Counter(tool.name for tool in listing.tools).items():
        if count > 1:
            yield Fault(message=f"listed {count} times", tool=name)
