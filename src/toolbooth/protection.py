"""`protect` and `is_protected` for servers of every host and tools of every framework, and
`tools_for`, which makes tools of a framework from a registry.

What is given is recognised by the names of its classes, and its adapter is imported only then:
until something is protected, no host and no framework is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from toolbooth.adapters.kinds import host_of, kind_of, untested
from toolbooth.boundary.handle import Errors
from toolbooth.extras import MissingExtra
from toolbooth.frameworks import kinds
from toolbooth.jsonvalue import is_array
from toolbooth.publish import ProfileChoice

if TYPE_CHECKING:
    from toolbooth.frameworks.guard import Choices
    from toolbooth.server.observe import Observer
    from toolbooth.server.registry import ToolRegistry

Protected = TypeVar("Protected")


def protect(
    thing: Protected,
    /,
    *,
    profile: ProfileChoice = "portable",
    errors: Errors = "result",
    observer: Observer | None = None,
    approval: bool = False,
) -> Protected:
    """Put the tools of a server, or tools of an agent framework, behind the boundary.

    A FastMCP server, an MCPServer or a low-level Server of the official SDK is changed in place and
    returned, with all tools that are added later. A tool, a list of tools or a toolset of a
    framework stays as it is, and a protected one is returned.

    `profile` chooses how the input schemas of functions are written: by name, or a `Profile` of
    your own. Protecting twice is harmless; the first choices stay.
    `errors` is for servers: a refusal is a tool result, or JSON-RPC -32602.
    `observer` and `approval` are for tools of a framework: `observer` gets a record of each call.
    With `approval`, a call that would need a repair is refused: say so if somebody approves calls
    before they run, in a way that the tool does not know of.

    Raises:
        TypeError: for any other object.
        ValueError: for an unknown profile, or another value of `errors`.
        ContractError: with every mistake in every tool; nothing has been changed then.
        RuntimeError: if the installed version of the host cannot be protected.
    """
    if kind_of(thing) is None and _framework(thing) is not None:
        guard = import_module("toolbooth.frameworks.guard")
        choices = guard.Choices(profile=profile, observer=observer, approval=approval)
        return _protected_tools(thing, choices)
    return _adapter(thing).protect(thing, profile=profile, errors=errors)


def is_protected(thing: object) -> bool:
    """Whether a server, a tool, a toolset or every tool of a list is behind the boundary.

    Raises:
        TypeError: for an object that `protect` does not take.
    """
    if is_array(thing) and thing:
        return all(map(is_protected, thing))
    framework = kinds.framework_of(thing)
    if framework is not None:
        return _module(framework).is_guarded(thing)
    return _adapter(thing).is_protected(thing)


def tools_for(framework: str, registry: ToolRegistry) -> list[Any]:
    """Return the tools of a registry as tools of an agent framework: "langchain", "openai_agents",
    "pydantic_ai" or "claude_agent".

    Raises:
        ValueError: for another framework.
        MissingExtra: if the framework is not installed.
    """
    if framework not in kinds.WITH_TOOLS_FOR:
        raise ValueError(_unknown_framework(framework))
    return _module(framework).tools_of(registry)


def _protected_tools(thing: Any, choices: Choices) -> Any:
    if is_array(thing):
        return [_protected_tools(each, choices) for each in thing]
    framework = kinds.framework_of(thing)
    if framework is None:
        # In a list of tools: the server adapters know what to answer.
        return host_of(thing)
    return _module(framework).guarded(thing, choices)


def _framework(thing: object) -> str | None:
    """The framework of a tool, or of the first tool in a list."""
    if is_array(thing):
        return next((found for each in thing if (found := kinds.framework_of(each))), None)
    return kinds.framework_of(thing)


def _module(framework: str) -> Any:
    return import_module(f"toolbooth.frameworks.{framework}")


def _unknown_framework(framework: str) -> str:
    known = ", ".join(map(repr, kinds.WITH_TOOLS_FOR))
    return f"there is no framework {framework!r} for tools_for(); there are {known}"


def _adapter(server: object) -> Any:
    kind = host_of(server)
    try:
        return import_module(f"toolbooth.adapters.{kind}")
    # It is an ImportError too, but its message names the command that installs the host. Any other
    # one means that the host is installed, in a version without a name that the adapter imports.
    except MissingExtra:
        raise
    except ImportError as error:
        raise RuntimeError(untested(kind)) from error
