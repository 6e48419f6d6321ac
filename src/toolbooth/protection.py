"""`protect`, `is_protected` and `tools_for`, for the servers of every host and the tools of every
agent framework.

The host is recognised by the names of the object's classes. Its adapter is imported only when
something is protected, so no host is loaded before that.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.kinds import Framework, framework_of, host_of, untested
from toolbooth.boundary.handle import Errors
from toolbooth.errors import ContractError
from toolbooth.extras import MissingExtra
from toolbooth.jsonvalue import is_array, is_object
from toolbooth.publish import ProfileChoice, choose_profile
from toolbooth.server.observe import Observer

if TYPE_CHECKING:
    from toolbooth.server.registry import ToolRegistry

Thing = TypeVar("Thing")

_ONLY_TOOLS = "observers and approval are for the tools of agent frameworks, not for servers"
_NO_SERVERS = "a list has tools of an agent framework; protect each server by itself"
_ONLY_SERVERS = 'errors="protocol" is for servers; a tool of an agent framework returns a result'


def protect(
    thing: Thing,
    *,
    profile: ProfileChoice = "portable",
    errors: Errors = "result",
    observers: Iterable[Observer] = (),
    approval: bool = False,
) -> Thing:
    """Protect every tool of a server, or tools of an agent framework.

    A FastMCP server, an MCPServer or a low-level Server of the official SDK is changed and
    returned. Tools that are added later are protected too. For a tool, a list of tools or a toolset
    of an agent framework, the function returns a protected copy and does not change the original.
    Protecting twice is harmless; the options of the first call stay.

    `profile` chooses how the input schemas of functions are written: the name of a profile, or a
    `Profile` of your own. `errors` chooses how a server answers a refused call: as a tool result,
    or as JSON-RPC error -32602. The other two options are for tools of an agent framework.
    `observers` get a record of each call. Set `approval` if a person approves the arguments as the
    model sent them. A call that would need a repair is then refused.

    Raises:
        TypeError: for any other object.
        ValueError: for an unknown profile, or another value of `errors`.
        ContractError: with every mistake in every tool; nothing has been changed then.
        RuntimeError: if the installed version of the host cannot be protected.
    """
    found = tuple(observers)
    if is_object(thing) and "instance" in thing:
        # The Claude Agent SDK describes a server by a dict.
        how: Any = {"profile": profile, "errors": errors, "observers": found, "approval": approval}
        protect(thing["instance"], **how)
        return thing
    if is_array(thing) or framework_of(thing) is not None:
        if errors != "result":
            raise ValueError(_ONLY_SERVERS)
        options = Options(profile=choose_profile(profile), observers=found, approval=approval)
        return _protected(thing, options)
    if found or approval:
        raise TypeError(_ONLY_TOOLS)
    return _host_adapter(thing).protect(thing, profile=profile, errors=errors)


def is_protected(thing: object) -> bool:
    """Return True if the tools of a server are protected, or if a tool or toolset is. For a list,
    return True if all tools in it are protected.

    Raises:
        TypeError: for an object that `protect` does not accept.
    """
    if is_array(thing):
        return all(map(is_protected, thing))
    if is_object(thing) and "instance" in thing:
        return is_protected(thing["instance"])
    framework = framework_of(thing)
    adapter = _host_adapter(thing) if framework is None else _framework_adapter(framework)
    return adapter.is_protected(thing)


def tools_for(framework: Framework, registry: ToolRegistry) -> list[Any]:
    """Return the tools of a registry as tools of an agent framework: `"langchain"`, or the name of
    another extra.

    Raises:
        ValueError: for an unknown framework.
        MissingExtra: if the framework is not installed.
    """
    names = get_args(Framework)
    if framework not in names:
        raise ValueError(f"there is no framework {framework!r}; there are {', '.join(names)}")
    adapter = _framework_adapter(framework)
    return [adapter.registry_tool(registry, tool) for tool in registry.tools.values()]


def _protected(thing: Any, options: Options) -> Any:
    if not is_array(thing):
        framework = framework_of(thing)
        if framework is None:
            host_of(thing)  # raises for everything but a server
            raise TypeError(_NO_SERVERS)
        return _framework_adapter(framework).protect(thing, options)
    made: list[Any] = []
    mistakes: list[str] = []
    for each in thing:
        try:
            made.append(_protected(each, options))
        except ContractError as error:
            mistakes += [f"tool {error.owner!r}: {mistake}" for mistake in error.mistakes]
    if mistakes:
        raise ContractError("tools", mistakes)
    return made


def _framework_adapter(framework: Framework) -> Any:
    return import_module(f"toolbooth.adapters.frameworks.{framework.replace('-', '_')}")


def _host_adapter(server: object) -> Any:
    kind = host_of(server)
    try:
        return import_module(f"toolbooth.adapters.{kind}")
    # MissingExtra is an ImportError too, and its message has the command that installs the host.
    # Any other ImportError means that the installed version of the host lacks a name that the
    # adapter imports.
    except MissingExtra:
        raise
    except ImportError as error:
        raise RuntimeError(untested(kind)) from error
