"""Protects a FastMCP server: the boundary checks every tool call.

FastMCP's own tools are not changed, so all later changes to them have their effect. A tool is
guarded when FastMCP lists it or looks it up: in each local provider, where its function is known,
and in the server, for all other tools (proxied, transformed, made from OpenAPI), of which only the
schema is known.

Two of FastMCP's containers are replaced: a local provider's components, so that a mistake is
reported where the tool is registered, and a server's list of providers, so that a server that is
mounted later is protected too. `fastmcp_tool.py` has the guarded tool, and `fastmcp_tasks.py`
handles calls that become tasks.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

from typing_extensions import TypeIs

from toolbooth.extras import require

require("toolbooth.adapters.fastmcp", extra="fastmcp", modules={"fastmcp": "FastMCP"})

from fastmcp import FastMCP
from fastmcp.apps.app import FastMCPApp
from fastmcp.server.context import set_transport
from fastmcp.server.providers import AggregateProvider, FastMCPProvider, LocalProvider, Provider
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool

# FastMCP has no public name for the provider behind `mount(namespace=...)`.
from fastmcp.server.providers.wrapped_provider import (
    _WrappedProvider,  # pyright: ignore[reportPrivateUsage]
)
from fastmcp.server.transforms import Transform, VersionSpec, Visibility
from fastmcp.tools import Tool
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import version_sort_key

from toolbooth.adapters.fastmcp_tasks import guard_tasks
from toolbooth.adapters.fastmcp_tool import (
    GuardedTool,
    NamedTool,
    compile_tool,
    function_of,
    guard_tool,
    named_tool,
)
from toolbooth.adapters.kinds import check_server
from toolbooth.adapters.proof import PROBE, prove, with_probe
from toolbooth.adapters.sdk.exact_stdin import with_exact_stdin
from toolbooth.adapters.sdk.host_errors import check_errors
from toolbooth.adapters.sdk.listing import Listing
from toolbooth.adapters.sdk.original_request import keep_request
from toolbooth.boundary.handle import Errors
from toolbooth.errors import ContractError, ContractWarning
from toolbooth.publish import Profile, ProfileChoice, choose_profile

logger = logging.getLogger("toolbooth.adapters.fastmcp")

Server = TypeVar("Server", bound=FastMCP[Any])


def protect(
    server: Server, *, profile: ProfileChoice = "portable", errors: Errors = "result"
) -> Server:
    """Put every tool of a FastMCP server behind the boundary, also tools that are added or mounted
    later.

    Mounted servers are protected too. `profile` chooses how the input schemas of functions are
    written: it is a name, or your own `Profile`. `errors` chooses how a refusal is answered: as a
    tool result, or as JSON-RPC -32602. Protecting a server twice is harmless: the first choices are
    kept. Functions that FastMCP refuses to register (positional-only parameters, `*args`, types
    without a schema) do not become tools.

    Raises:
        TypeError: if this is not a FastMCP server.
        ValueError: for an unknown profile, or another value of `errors`.
        ContractError: with every mistake in every tool; nothing has been changed then.
        RuntimeError: if the installed version of FastMCP ignores the guards.
    """
    check_server(server, FastMCP, "fastmcp")
    check_errors(errors)
    prove("fastmcp", _server_with_probe)
    _install(server, server.name, _Choices(choose_profile(profile), errors))
    return server


class _Choices(NamedTuple):
    """The arguments of `protect`, kept for servers that are mounted later."""

    profile: Profile
    errors: Errors


def _server_with_probe() -> FastMCP[Any]:
    # Over HTTP a call has no session, so FastMCP does not load its store for session state, which
    # takes 200 ms.
    set_transport("streamable-http")
    return with_probe(protect(FastMCP(PROBE)))


def _install(root: Provider, owner: str, choices: _Choices) -> None:
    reachable = list(_reachable(root))
    mistakes: list[str] = []
    stores = [
        (each, _checked_all(each, mistakes, choices.profile))
        for each in reachable
        if isinstance(each, LocalProvider) and not _is_guarded(each)
    ]
    if mistakes:
        raise ContractError(owner, mistakes)
    for provider, components in stores:
        _install_components(provider, components)
    for each in reachable:
        if _is_server(each):
            _install_server(each, choices)
        elif _has_plain_providers(each):
            each.providers = _GuardedProviders(each.providers, choices)


def _is_server(provider: Provider) -> TypeIs[FastMCP[Any]]:
    return isinstance(provider, FastMCP)


def _has_plain_providers(provider: Provider) -> TypeIs[AggregateProvider]:
    """Return True if a provider has a list of providers that is not guarded yet."""
    if not isinstance(provider, AggregateProvider):
        return False
    return not isinstance(provider.providers, _GuardedProviders)


def _reachable(provider: Provider) -> Iterator[Provider]:
    """Yield a provider and all providers below it, including those of mounted servers."""
    yield provider
    below: Iterable[Provider] = ()
    if isinstance(provider, AggregateProvider):
        below = provider.providers
    elif isinstance(provider, FastMCPProvider):
        below = (provider.server,)
    elif isinstance(provider, _WrappedProvider):
        # There is no public way to the provider behind a namespace.
        below = (provider._inner,)  # pyright: ignore[reportPrivateUsage]
    elif isinstance(provider, FastMCPApp):
        # An app keeps its tools in a provider of its own.
        below = (provider._local,)  # pyright: ignore[reportPrivateUsage]
    for each in below:
        yield from _reachable(each)


# --- tools, guarded where they are found --------------------------------------------------------


class _Guards:
    """Makes guarded tools. Contracts are cached by function and schema, because many providers
    create their tools again for each call.
    """

    def __init__(self, profile: Profile) -> None:
        self._compile = lru_cache(maxsize=1024)(partial(compile_tool, profile))

    def guarded(self, tool: Tool) -> GuardedTool:
        """Return the protected form of a tool. Raises ContractError."""
        parameters = json.dumps(tool.parameters)
        return guard_tool(tool, partial(self._compile, function_of(tool), parameters))

    def guarded_quietly(self, tool: Tool) -> GuardedTool:
        """Do the same as `guarded`, without the warnings that are for the author."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ContractWarning)
            return self.guarded(tool)

    def guarded_if_possible(self, tool: Tool) -> Tool:
        """Return the protected form of a tool. If there is none, return the tool unchanged."""
        if isinstance(tool, GuardedTool | NamedTool):
            return tool
        if _is_guarded_below(tool):
            return named_tool(tool)
        try:
            return self.guarded_quietly(tool)
        except ContractError as error:
            logger.warning("tool %r is not protected: %s", tool.name, error)
            return tool


def _is_guarded_below(tool: Tool) -> TypeIs[FastMCPProviderTool]:
    """Return True if the tool is from a mounted server that is protected itself."""
    if type(tool) is not FastMCPProviderTool:
        return False
    # FastMCP has no public name for the server that a mounted tool belongs to.
    return is_protected(tool._server)  # pyright: ignore[reportPrivateUsage]


class _Kept:
    """A guarded tool, with copies of the original tool and of the published schema."""

    def __init__(self, tool: Tool, made: GuardedTool) -> None:
        self.made = made
        self._fields = dict(vars(tool))
        self._parameters = deepcopy(tool.parameters)
        self._published = deepcopy(made.parameters)
        self._followed = self._published

    def of(self, tool: Tool) -> GuardedTool | None:
        """Return the guarded tool. Return None if the original tool has changed since the guarded
        tool was made. Schemas are compared by value, because code may change them in place.
        """
        if self._fields != vars(tool) or self._parameters != tool.parameters:
            return None
        if self.made.parameters != self._followed:
            self.made.follow(self._published)
            self._followed = deepcopy(self.made.parameters)
        return self.made


class _CheckedComponents(dict[str, FastMCPComponent]):
    """The components of a local provider, unchanged. Adding a tool with a mistake raises
    ContractError.
    """

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self._guards = _Guards(profile)
        self._kept: dict[str, _Kept] = {}

    def __setitem__(self, key: str, component: FastMCPComponent) -> None:
        if isinstance(component, Tool) and not isinstance(component, GuardedTool):
            self._kept[key] = _Kept(component, self._guards.guarded(component))
        super().__setitem__(key, component)

    def guarded(self, component: FastMCPComponent) -> FastMCPComponent:
        """Return the protected form of a tool. Return any other component unchanged."""
        if not isinstance(component, Tool) or isinstance(component, GuardedTool):
            return component
        key = component.key
        kept = self._kept.get(key)
        try:
            found = None if kept is None else kept.of(component)
            if found is None:
                found = self._guards.guarded_quietly(component)
                self._kept[key] = _Kept(component, found)
            return found
        except ContractError as error:
            if kept is None:
                return self._guards.guarded_if_possible(component)
            logger.warning("the changed schema of %r is ignored: %s", component.name, error)
            return kept.made


def _checked_all(
    provider: LocalProvider, mistakes: list[str], profile: Profile
) -> _CheckedComponents:
    # As in `_install_components`.
    components = provider._components  # pyright: ignore[reportPrivateUsage]
    made = _CheckedComponents(profile)
    for key, component in components.items():
        try:
            made[key] = component
        except ContractError as error:
            mistakes += [f"tool {component.name!r}: {each}" for each in error.mistakes]
    return made


def _is_guarded(provider: LocalProvider) -> bool:
    # As in `_install_components`.
    components = provider._components  # pyright: ignore[reportPrivateUsage]
    return isinstance(components, _CheckedComponents)


def _install_components(provider: LocalProvider, components: _CheckedComponents) -> None:
    # The one place through which every registration goes; FastMCP offers no hook there, nor where
    # tools are looked up.
    provider._components = components  # pyright: ignore[reportPrivateUsage]
    patched: Any = provider
    list_tools, get_tool = patched._list_tools, patched._get_tool
    apply_task_transforms = patched._apply_task_transforms

    async def guarded_list() -> Sequence[Any]:
        return [components.guarded(each) for each in await list_tools()]

    async def guarded_get(name: str, version: VersionSpec | None = None) -> Any:
        tool = await get_tool(name, version)
        return None if tool is None else components.guarded(tool)

    async def guarded_tasks(found: Sequence[FastMCPComponent]) -> Any:
        return await apply_task_transforms([components.guarded(each) for each in found])

    patched._list_tools = guarded_list
    patched._get_tool = guarded_get
    patched._apply_task_transforms = guarded_tasks


# --- servers ------------------------------------------------------------------------------------


class _GuardedProviders(list[Provider]):
    """The providers of a server or of an aggregate. Each provider that is added is protected."""

    def __init__(
        self,
        providers: Iterable[Provider],
        choices: _Choices,
        server: FastMCP[Any] | None = None,
    ) -> None:
        super().__init__(providers)
        self.choices = choices
        self.server = server

    def append(self, provider: Provider) -> None:
        _install(provider, repr(provider), self.choices)
        super().append(provider)
        if self.server is not None:
            _set_schema_lookup(self.server)


class _WatchedTransforms(list[Transform]):
    """The transforms of a server. Adding a transform updates the schema lookup of the server."""

    def __init__(self, transforms: Iterable[Transform], server: FastMCP[Any]) -> None:
        super().__init__(transforms)
        self.server = server

    def append(self, transform: Transform) -> None:
        super().append(transform)
        _set_schema_lookup(self.server)


def _install_server(server: FastMCP[Any], choices: _Choices) -> None:
    if is_protected(server):
        return
    server.providers = _GuardedProviders(server.providers, choices, server)
    plain = server._transforms  # pyright: ignore[reportPrivateUsage]
    watched = _WatchedTransforms(plain, server)
    server._transforms = watched  # pyright: ignore[reportPrivateUsage]
    _set_schema_lookup(server)
    _guard_lookups(server, _Guards(choices.profile))
    # Only the SDK's server below FastMCP gets the request of a call, and FastMCP has no public way
    # to it.
    sdk_server = server._mcp_server  # pyright: ignore[reportPrivateUsage]
    keep = partial(keep_request, errors=choices.errors)
    sdk_server.middleware[:0] = [keep, Listing(sdk_server)]
    patched: Any = server
    patched.run_stdio_async = with_exact_stdin(server.run_stdio_async)
    guard_tasks(server)


def _guard_lookups(server: FastMCP[Any], guards: _Guards) -> None:
    """Protect the tools that are not from a local provider. This happens after all transforms, so
    the guard sees the same tools as clients.
    """
    list_tools, get_tool = server.list_tools, server.get_tool

    async def guarded_list(*, run_middleware: bool = True) -> Sequence[Tool]:
        tools = await list_tools(run_middleware=run_middleware)
        if run_middleware:
            # The middleware has called this function again, and the tools are guarded already.
            return tools
        return [guards.guarded_if_possible(each) for each in tools]

    async def guarded_get(name: str, version: VersionSpec | None = None) -> Tool | None:
        tool = await get_tool(name, version)
        return None if tool is None else guards.guarded_if_possible(tool)

    patched: Any = server
    patched.list_tools = guarded_list
    patched.get_tool = guarded_get


def is_protected(server: FastMCP[Any]) -> bool:
    """Return True if the server is protected."""
    return isinstance(server.providers, _GuardedProviders)


def _set_schema_lookup(server: FastMCP[Any]) -> None:
    """Avoid a complete `tools/list` for each HTTP `tools/call` (docs/project/evidence/speed.md).

    The lookup must not await, so it is only used if all providers are local.
    """
    local = server.local_provider
    only_local = all(each is local for each in server.providers) and not local.transforms
    unchanged = all(isinstance(each, Visibility) for each in server.transforms)

    def lookup(name: str) -> Mapping[str, Any] | None:
        # As in `_install_components`.
        held: Any = local._components  # pyright: ignore[reportPrivateUsage]
        plain = held.get(f"{Tool.make_key(name)}@")
        every = held.values() if plain is None else (plain,)
        found = [each for each in every if isinstance(each, Tool) and each.name == name]
        return held.guarded(max(found, key=version_sort_key)).parameters if found else None

    # FastMCP leaves this setting of the SDK's server empty (4.1.2), and has no public way to it.
    sdk_server = server._mcp_server  # pyright: ignore[reportPrivateUsage]
    sdk_server.get_tool_input_schema = lookup if only_local and unchanged else None
