"""A FastMCP server goes in; the same server comes out, with every tool behind the boundary.

Three of FastMCP's own containers are replaced by ones that guard each item that is added: a local
provider's components (so a mistake is reported where the tool is registered), a server's list of
providers (so a child that is mounted later is covered), and a server's list of transforms (so that
all other tools, which are proxied, transformed or made from OpenAPI, are guarded when they are
listed or looked up, by their schema alone). `fastmcp_tool.py` has the guarded tool,
`fastmcp_tasks.py` the calls that become tasks.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

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
from fastmcp.server.transforms import GetToolNext, Transform, VersionSpec, Visibility
from fastmcp.tools import Tool
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import version_sort_key

from toolbooth.adapters.fastmcp_tasks import guard_tasks
from toolbooth.adapters.fastmcp_tool import GuardedTool, compile_tool, function_of, guard_tool
from toolbooth.adapters.kinds import check_server
from toolbooth.adapters.proof import PROBE, prove, with_probe
from toolbooth.adapters.sdk.exact_stdin import with_exact_stdin
from toolbooth.adapters.sdk.original_request import keep_request
from toolbooth.errors import ContractError, ContractWarning
from toolbooth.publish import Profile, ProfileChoice, choose_profile

logger = logging.getLogger("toolbooth.adapters.fastmcp")

Server = TypeVar("Server", bound=FastMCP[Any])


def protect(server: Server, *, profile: ProfileChoice = "portable") -> Server:
    """Put every tool of a FastMCP server behind the boundary, also those that are added or mounted
    later.

    Mounted servers are protected themselves. `profile` chooses how the input schemas of functions
    are written: by name, or a `Profile` of your own. Protecting twice is harmless; the first
    profile stays. What FastMCP refuses to register (positional-only parameters, `*args`, types it
    has no schema for) never gets here, and tools that a `ToolInjectionMiddleware` adds pass by
    every transform; both are out of reach.

    Raises:
        TypeError: if this is not a FastMCP server.
        ValueError: for an unknown profile.
        ContractError: with every mistake in every tool; nothing has been changed then.
        RuntimeError: if the installed version of FastMCP ignores the guards.
    """
    check_server(server, FastMCP, "fastmcp")
    prove("fastmcp", _server_with_probe)
    _install(server, server.name, choose_profile(profile))
    return server


def _server_with_probe() -> FastMCP[Any]:
    # Over HTTP a call has no session, so FastMCP does not load its store for session state, which
    # takes 200 ms.
    set_transport("streamable-http")
    return with_probe(protect(FastMCP(PROBE)))


def _install(root: Provider, owner: str, profile: Profile) -> None:
    reachable = list(_reachable(root))
    mistakes: list[str] = []
    stores = [
        (each, _guarded_all(each, mistakes, profile))
        for each in reachable
        if isinstance(each, LocalProvider)
    ]
    if mistakes:
        raise ContractError(owner, mistakes)
    for provider, components in stores:
        # The one place through which every registration goes; FastMCP offers no hook there.
        provider._components = components  # pyright: ignore[reportPrivateUsage]
    for each in reachable:
        if _is_server(each):
            _install_lists(each, profile)
        elif _has_plain_providers(each):
            each.providers = _GuardedProviders(each.providers, profile)


def _is_server(provider: Provider) -> TypeIs[FastMCP[Any]]:
    return isinstance(provider, FastMCP)


def _has_plain_providers(provider: Provider) -> TypeIs[AggregateProvider]:
    """Whether a provider has a list of providers that is not guarded yet."""
    if not isinstance(provider, AggregateProvider):
        return False
    return not isinstance(provider.providers, _GuardedProviders)


def _reachable(provider: Provider) -> Iterator[Provider]:
    """A provider and all providers that it gets its tools from, mounted servers included."""
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


def _guarded_all(
    provider: LocalProvider, mistakes: list[str], profile: Profile
) -> _GuardedComponents:
    # As in `_install`.
    components = provider._components  # pyright: ignore[reportPrivateUsage]
    if isinstance(components, _GuardedComponents):  # protected before, maybe with another profile
        return components
    made = _GuardedComponents(profile)
    for key, component in components.items():
        try:
            made[key] = component
        except ContractError as error:
            mistakes += [f"tool {component.name!r}: {each}" for each in error.mistakes]
    return made


# --- FastMCP's containers, which guard each item that is added ----------------------------------


class _GuardedComponents(dict[str, FastMCPComponent]):
    """The components of a local provider."""

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self.profile = profile

    def __setitem__(self, key: str, component: FastMCPComponent) -> None:
        if isinstance(component, Tool) and not isinstance(component, GuardedTool):
            component = guard_tool(component, self.profile)
        super().__setitem__(key, component)


class _GuardedProviders(list[Provider]):
    """The providers of a server or of an aggregate."""

    def __init__(
        self,
        providers: Iterable[Provider],
        profile: Profile,
        server: FastMCP[Any] | None = None,
    ) -> None:
        super().__init__(providers)
        self.profile = profile
        self.server = server

    def append(self, provider: Provider) -> None:
        _install(provider, repr(provider), self.profile)
        super().append(provider)
        if self.server is not None:
            _set_schema_lookup(self.server)


class _GuardedTransforms(list[Transform]):
    """A server's transforms, with the guard kept last: it sees tools as clients would."""

    def __init__(
        self, transforms: Iterable[Transform], profile: Profile, server: FastMCP[Any]
    ) -> None:
        super().__init__([*transforms, _GuardTransform(profile)])
        self.server = server

    def append(self, transform: Transform) -> None:
        self.insert(len(self) - 1, transform)
        _set_schema_lookup(self.server)


def _install_lists(server: FastMCP[Any], profile: Profile) -> None:
    if is_protected(server):
        return
    server.providers = _GuardedProviders(server.providers, profile, server)
    # `add_transform` appends; nothing else keeps a transform last.
    plain = server._transforms  # pyright: ignore[reportPrivateUsage]
    guarded = _GuardedTransforms(plain, profile, server)
    server._transforms = guarded  # pyright: ignore[reportPrivateUsage]
    _set_schema_lookup(server)
    # Only the SDK's server below FastMCP gets the request of a call, and FastMCP has no public way
    # to it.
    server._mcp_server.middleware.append(keep_request)  # pyright: ignore[reportPrivateUsage]
    patched: Any = server
    patched.run_stdio_async = with_exact_stdin(server.run_stdio_async)
    guard_tasks(server)


def is_protected(server: FastMCP[Any]) -> bool:
    """Whether `protect` has been here."""
    # As in `_install_lists`.
    return isinstance(server._transforms, _GuardedTransforms)  # pyright: ignore[reportPrivateUsage]


def _set_schema_lookup(server: FastMCP[Any]) -> None:
    """Spare a complete `tools/list` per HTTP `tools/call` (docs/project/evidence/speed.md), if all
    tools are local.

    The lookup may not await, so it cannot ask other providers. With any of them, FastMCP does its
    own lookup.
    """
    local = server.local_provider
    only_local = all(each is local for each in server.providers) and not local.transforms
    known = Visibility | _GuardTransform
    unchanged = all(isinstance(each, known) for each in server.transforms)

    def lookup(name: str) -> Mapping[str, Any] | None:
        # As in `_install`.
        held = local._components  # pyright: ignore[reportPrivateUsage]
        plain = held.get(f"{Tool.make_key(name)}@")
        every = held.values() if plain is None else (plain,)
        found = [each for each in every if isinstance(each, Tool) and each.name == name]
        return max(found, key=version_sort_key).parameters if found else None

    # FastMCP leaves this setting of the SDK's server empty (4.1.2), and has no public way to it.
    sdk_server = server._mcp_server  # pyright: ignore[reportPrivateUsage]
    sdk_server.get_tool_input_schema = lookup if only_local and unchanged else None


class _GuardTransform(Transform):
    """Guards every tool that is not guarded yet."""

    def __init__(self, profile: Profile) -> None:
        # Providers create their tools again for each call, so contracts are cached by function and
        # schema.
        self._compile_tool = lru_cache(maxsize=1024)(partial(compile_tool, profile))

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        return [self._guard(tool) for tool in tools]

    async def get_tool(
        self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None
    ) -> Tool | None:
        tool = await call_next(name, version=version)
        return None if tool is None else self._guard(tool)

    def _guard(self, tool: Tool) -> Tool:
        if isinstance(tool, GuardedTool) or _is_guarded_below(tool):
            return tool
        try:
            with warnings.catch_warnings():
                # The author, who could act on a warning, is not here.
                warnings.simplefilter("ignore", ContractWarning)
                compiled = self._compile_tool(function_of(tool), json.dumps(tool.parameters))
            return GuardedTool.around(tool, *compiled)
        except ContractError as error:
            logger.warning("tool %r is served as it is, unprotected: %s", tool.name, error)
            return tool


def _is_guarded_below(tool: Tool) -> bool:
    """Whether a mounted server guards its tool itself: it knows the function, the parent only the
    schema.
    """
    if not isinstance(tool, FastMCPProviderTool):
        return False
    # FastMCP has no public name for the server that a mounted tool belongs to.
    return is_protected(tool._server)  # pyright: ignore[reportPrivateUsage]
