"""A FastMCP server goes in; the same server comes out, with every tool behind the boundary.

Three of FastMCP's own containers are replaced by ones that guard what is put into them: a local
provider's components (so a mistake is reported where the tool is registered), a server's list of
providers (so a child that is mounted later is covered), and a server's list of transforms (so
whatever no other way leads to is guarded on its way out, by its schema alone: proxied, transformed
and OpenAPI tools). A guarded tool runs through FastMCP's own machinery, with its Context,
dependencies, time-out and conversion of results; only the validation of arguments is ours, and runs
once.
"""

from __future__ import annotations

import inspect
import json
import logging
import warnings
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, TypeVar, cast

from toolbooth.extras import require

require("toolbooth.adapters.fastmcp", extra="fastmcp", modules={"fastmcp": "FastMCP"})

from fastmcp import Context as HostContext
from fastmcp import FastMCP
from fastmcp.apps.app import FastMCPApp
from fastmcp.server.dependencies import (
    extract_version_spec,
    transform_context_annotations,
    without_injected_parameters,
)
from fastmcp.server.extensions import ServerExtension
from fastmcp.server.providers import AggregateProvider, FastMCPProvider, LocalProvider, Provider
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool

# FastMCP has no public name for the provider behind `mount(namespace=...)`.
from fastmcp.server.providers.wrapped_provider import _WrappedProvider  # pyright: ignore[reportPrivateUsage]
from fastmcp.server.transforms import GetToolNext, Transform, VersionSpec, Visibility
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.tools.base import InputRequiredToolResult

# FastMCP tells the body's own validation errors from a caller's by this wrapper, and has no public
# name for it.
from fastmcp.tools.function_tool import _wrap_body_errors  # pyright: ignore[reportPrivateUsage]
from fastmcp.utilities.async_utils import is_coroutine_function
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.tasks import TASKS_EXTENSION_ID
from fastmcp.utilities.versions import version_sort_key
from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult
from pydantic import Field, InstanceOf

from toolbooth.adapters.kinds import FASTMCP, wrong_server
from toolbooth.adapters.sdk.accept_call import admit, admit_queued, queue, reporting, told
from toolbooth.adapters.sdk.exact_stdin import reading_exactly
from toolbooth.adapters.sdk.host_context import takes_context, with_context
from toolbooth.adapters.sdk.original_request import Sent, keep_sent
from toolbooth.boundary.accept import Accepted
from toolbooth.boundary.repairs import Repair
from toolbooth.boundary.run import bound_call
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.signature import compile_function
from toolbooth.context import Context
from toolbooth.contract import Contract
from toolbooth.errors import ContractError, ContractWarning, ToolError, ToolInputError
from toolbooth.publish import PORTABLE, Profile, ProfileChoice, choose_profile

logger = logging.getLogger("toolbooth.adapters.fastmcp")

Server = TypeVar("Server", bound=FastMCP[Any])
Run = Callable[[Any], Awaitable[ToolResult]]


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
    """
    if not isinstance(cast("object", server), FastMCP):
        raise wrong_server(server, FASTMCP)
    _install(server, server.name, choose_profile(profile))
    return server


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
        if isinstance(each, FastMCP):
            _install_lists(cast("FastMCP[Any]", each), profile)
        elif isinstance(each, AggregateProvider) and not isinstance(each.providers, _Providers):
            each.providers = _Providers(each.providers, profile)


def _reachable(provider: Provider) -> Iterator[Provider]:
    """A provider and all that it draws from, mounted servers included."""
    yield provider
    below: Iterable[Provider] = ()
    if isinstance(provider, AggregateProvider):
        below = provider.providers
    elif isinstance(provider, FastMCPProvider):
        below = (provider.server,)
    elif isinstance(provider, _WrappedProvider):
        # What a namespace wraps is nowhere to be had but here.
        below = (provider._inner,)  # pyright: ignore[reportPrivateUsage]
    elif isinstance(provider, FastMCPApp):
        # An app keeps its tools in a provider of its own.
        below = (provider._local,)  # pyright: ignore[reportPrivateUsage]
    for each in below:
        yield from _reachable(each)


def _guarded_all(provider: LocalProvider, mistakes: list[str], profile: Profile) -> _Components:
    # As in `_install`.
    held = provider._components  # pyright: ignore[reportPrivateUsage]
    if isinstance(held, _Components):  # protected before, maybe with another profile
        return held
    made = _Components(profile)
    for key, component in held.items():
        try:
            made[key] = component
        except ContractError as error:
            mistakes += [f"tool {component.name!r}: {each}" for each in error.mistakes]
    return made


# --- FastMCP's containers, guarding what is put into them -------------------------------------------------------


class _Components(dict[str, FastMCPComponent]):
    """What a local provider holds."""

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self.profile = profile

    def __setitem__(self, key: str, component: FastMCPComponent) -> None:
        if isinstance(component, Tool) and not isinstance(component, GuardedTool):
            component = guarded(component, self.profile)
        super().__setitem__(key, component)


class _Providers(list[Provider]):
    """What a server or an aggregate draws from."""

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


class _Transforms(list[Transform]):
    """A server's transforms, with the guard kept last: it sees what clients would."""

    def __init__(
        self, transforms: Iterable[Transform], profile: Profile, server: FastMCP[Any]
    ) -> None:
        super().__init__([*transforms, _Guard(profile)])
        self.server = server

    def append(self, transform: Transform) -> None:
        self.insert(len(self) - 1, transform)
        _set_schema_lookup(self.server)


def _install_lists(server: FastMCP[Any], profile: Profile) -> None:
    if is_protected(server):
        return
    server.providers = _Providers(server.providers, profile, server)
    # `add_transform` appends; nothing else keeps a transform last.
    host_transforms = server._transforms  # pyright: ignore[reportPrivateUsage]
    transforms = _Transforms(host_transforms, profile, server)
    server._transforms = transforms  # pyright: ignore[reportPrivateUsage]
    _set_schema_lookup(server)
    # FastMCP has no public way to the SDK's server that it stands on, which alone is given the
    # request of a call.
    server._mcp_server.middleware.append(keep_sent)  # pyright: ignore[reportPrivateUsage]
    cast("Any", server).run_stdio_async = reading_exactly(server.run_stdio_async)
    _install_tasks(server)


def is_protected(server: FastMCP[Any]) -> bool:
    """Whether `protect` has been here."""
    # As in `_install_lists`.
    return isinstance(server._transforms, _Transforms)  # pyright: ignore[reportPrivateUsage]


def _set_schema_lookup(server: FastMCP[Any]) -> None:
    """Spare a complete `tools/list` per HTTP `tools/call` (docs/project/evidence/speed.md), where
    all tools are local.

    The lookup may not await, so it cannot ask other providers; with any of them, FastMCP goes its
    own way.
    """
    local = server.local_provider
    mine = all(each is local for each in server.providers) and not local.transforms
    mine = mine and all(isinstance(each, Visibility | _Guard) for each in server.transforms)

    def lookup(name: str) -> Mapping[str, Any] | None:
        # As in `_install`.
        held = local._components  # pyright: ignore[reportPrivateUsage]
        plain = held.get(f"{Tool.make_key(name)}@")
        every = held.values() if plain is None else (plain,)
        found = [each for each in every if isinstance(each, Tool) and each.name == name]
        return max(found, key=version_sort_key).parameters if found else None

    # FastMCP leaves this setting of the SDK's server empty (4.1.2), and has no public way to it.
    server._mcp_server.get_tool_input_schema = lookup if mine else None  # pyright: ignore[reportPrivateUsage]


class _Guard(Transform):
    """Guards every tool that comes by unguarded."""

    def __init__(self, profile: Profile) -> None:
        # Providers make their tools anew for each call: what is compiled is kept by what it is
        # compiled from.
        self._compiled = lru_cache(maxsize=1024)(partial(_compiled, profile))

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        return [self._guarded(tool) for tool in tools]

    async def get_tool(
        self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None
    ) -> Tool | None:
        tool = await call_next(name, version=version)
        return None if tool is None else self._guarded(tool)

    def _guarded(self, tool: Tool) -> Tool:
        if isinstance(tool, GuardedTool) or _is_guarded_below(tool):
            return tool
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", ContractWarning
                )  # whoever could act on it is not here
                return GuardedTool.around(
                    tool, *self._compiled(_function_of(tool), json.dumps(tool.parameters))
                )
        except ContractError as error:
            logger.warning("tool %r is served as it is, unprotected: %s", tool.name, error)
            return tool


def _is_guarded_below(tool: Tool) -> bool:
    """Whether a mounted server guards its tool itself: it knows the function, the parent only the
    schema.
    """
    # FastMCP has no public name for the server that a mounted tool belongs to.
    return isinstance(tool, FastMCPProviderTool) and is_protected(tool._server)  # pyright: ignore[reportPrivateUsage]


# --- tasks ------------------------------------------------------------------------------------------------------


def _install_tasks(server: FastMCP[Any]) -> None:
    """Hold calls that become tasks to the contract before there is a task, and carry what was sent
    to the worker.
    """
    collect, install = server.get_tasks, server._install_extension  # pyright: ignore[reportPrivateUsage]

    async def get_tasks() -> Sequence[FastMCPComponent]:
        return [_queued(each) for each in await collect()]

    def install_extension(extension: ServerExtension, **how: Any) -> None:
        install(extension, **how)
        _hold(extension)

    cast("Any", server).get_tasks = get_tasks
    # Every extension comes in here, also those that providers bring along; FastMCP offers no hook.
    cast("Any", server)._install_extension = install_extension
    for extension in server._extensions.values():  # pyright: ignore[reportPrivateUsage]
        _hold(extension)


def _queued(component: FastMCPComponent) -> FastMCPComponent:
    if not isinstance(component, GuardedTool) or isinstance(component, QueuedTool):
        return component
    return QueuedTool(**{name: getattr(component, name) for name in GuardedTool.model_fields})


def _hold(extension: ServerExtension) -> None:
    """Give the tasks extension arguments for its queue; a call that is no task goes on with its
    own.
    """
    if extension.identifier != TASKS_EXTENSION_ID or "intercept_tool_call" in vars(extension):
        return
    intercept = extension.intercept_tool_call

    async def held(params: CallToolRequestParams, context: HostContext, call_next: Any) -> Any:
        tool = await _task(params, context)
        if tool is None:
            return await intercept(params, context, call_next)
        with Sent() as sent:
            try:
                arguments = queue(tool.contract, params.arguments or {}, sent)
            except ToolInputError as error:
                return _told(error, tool.contract, sent.name(params.name))
        return await intercept(
            params.model_copy(update={"arguments": arguments}), context, call_next
        )

    cast("Any", extension).intercept_tool_call = held


async def _task(params: CallToolRequestParams, context: HostContext) -> QueuedTool | None:
    """What a worker would run; None where the caller takes no tasks, or the tool cannot be one."""
    if context.client_extension_settings(TASKS_EXTENSION_ID) is None:
        return None
    version = extract_version_spec(params.meta)
    found = await context.fastmcp.get_tool(
        params.name, VersionSpec(eq=version) if version else None
    )
    if found is None or not found.task_config.supports_tasks():
        return None
    every = [each for each in await context.fastmcp.get_tasks() if each.key == found.key]
    return next((each for each in every if isinstance(each, QueuedTool)), None)


# --- one tool ---------------------------------------------------------------------------------------------------


class GuardedTool(Tool):
    """A tool behind the boundary.

    No FunctionTool, whose `run` the tasks extension would pass by: it sends a FunctionTool's
    function to its workers.
    """

    # Fields, not private attributes, each use of which costs a failed lookup first.
    contract: InstanceOf[Contract] = Field(exclude=True, repr=False)
    inner: InstanceOf[Tool] = Field(exclude=True, repr=False)
    call: Run = Field(exclude=True, repr=False)

    @classmethod
    def around(cls, tool: Tool, contract: Contract, published: dict[str, Any]) -> GuardedTool:
        """The same tool to FastMCP, but for its parameters and the way they are validated."""
        same: dict[str, Any] = {name: getattr(tool, name) for name in Tool.model_fields}
        same["parameters"] = published
        # What `Tool.run` is to its callers, `_run` is to the server: mounted tools pass their
        # child's middleware there.
        call = tool._run if contract.function is None else _running(tool, contract)
        return cls(**same, contract=contract, inner=tool, call=call)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Hold the arguments to the contract, and run the tool with what they mean."""
        with Sent() as sent:
            return await self._run_admitted(
                partial(admit, self.contract, arguments, sent), sent.name(self.name)
            )

    async def _run_admitted(self, admitted: Callable[[], Accepted], called: str) -> ToolResult:
        try:
            values, repairs = admitted()
            result = await self.call(values)
        except Exception as error:
            result = _told(error, self.contract, called)
            if result is None:
                raise
            return result
        return _reporting(result, repairs) if repairs else result

    def get_span_attributes(self) -> dict[str, Any]:
        """As of the tool within, under the name it has here."""
        return {**self.inner.get_span_attributes(), **super().get_span_attributes()}


class QueuedTool(GuardedTool):
    """A tool behind the boundary as the worker of a task has it: the arguments come out of a queue."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Hold what was queued to the contract, and run the tool with what it means."""
        return await self._run_admitted(partial(admit_queued, self.contract, arguments), self.name)


def guarded(tool: Tool, profile: Profile = PORTABLE) -> GuardedTool:
    """Put one tool behind the boundary.

    Raises:
        ContractError: with every mistake in the tool, each with its remedy.
    """
    compiled = _compiled(profile, _function_of(tool), json.dumps(tool.parameters))
    return GuardedTool.around(tool, *compiled)


def _function_of(tool: Tool) -> Callable[..., Any] | None:
    """The function to compile; None where only the schema tells what the tool takes."""
    if isinstance(tool, FunctionTool) and type(tool).run is FunctionTool.run:
        return tool.fn
    return None


def _compiled(
    profile: Profile, function: Callable[..., Any] | None, parameters: str
) -> tuple[Contract, dict[str, Any]]:
    """The contract of a tool, and the schema to publish."""
    schema = json.loads(parameters)
    if function is None:
        contract = compile_json_schema(schema)
    else:
        own = inspect.signature(function).parameters.keys()
        hosts = own - inspect.signature(without_injected_parameters(function)).parameters.keys()
        contract = compile_function(function, injected=lambda param, _: param.name in hosts)
        contract = replace(contract, describe=partial(_described, contract.schema, schema))
    # A schema that somebody wrote is published in their words; `toolbooth lint` knows which clients
    # choke on them.
    return contract, schema if function is None else profile.input_schema(contract)


def _described(schema: Mapping[str, Any], hosts: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, with the descriptions that FastMCP has read out of the docstring."""
    said = hosts.get("properties", {})
    properties = {
        name: {"description": said[name]["description"], **node}
        if "description" in said.get(name, {})
        else node
        for name, node in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _running(tool: Tool, contract: Contract) -> Run:
    """FastMCP's own way to run a function, from values that are valid already."""
    inner = cast("FunctionTool", tool)
    # The body, its dependencies and its own errors, exactly as `FunctionTool.run` has them.
    body = _wrap_body_errors(
        transform_context_annotations(cast("Any", contract.function)), materialize_generators=True
    )
    provided = without_injected_parameters(body, run_in_thread=inner.run_in_thread)
    is_async = is_coroutine_function(provided)
    adapter: Any = _Valid(contract, _wrap_body_errors(provided))

    asks = takes_context(cast("Any", contract.function))

    async def run(values: Any) -> ToolResult:
        def within(context: Context | None) -> Awaitable[Any]:
            # The time-out and the worker thread are in here, and nowhere public.
            body = inner._run_body  # pyright: ignore[reportPrivateUsage]
            return body(adapter, is_async, cast("Any", (values, context)), strict=None)

        result = await (with_context(within) if asks else within(None))
        if isinstance(result, InputRequiredResult):
            return InputRequiredToolResult(result)
        return inner.convert_result(result)

    return run


class _Valid:
    """Stands where FastMCP has the adapter that validates arguments and calls: these are valid."""

    def __init__(self, contract: Contract, function: Callable[..., Any]) -> None:
        self.contract = contract
        self.function = function

    def validate_python(self, given: tuple[Any, Context | None], *, strict: bool | None) -> Any:
        values, context = given
        # Our own Context goes to every injected parameter; FastMCP drops it from those that are its
        # to fill.
        return bound_call(self.contract, self.function, values, context, None)()


# --- results ----------------------------------------------------------------------------------------------------


def _told(error: Exception, contract: Contract, called: str) -> ToolResult | None:
    """What an agent is told of an exception; None where that is for FastMCP to decide."""
    cause = error.__cause__
    wrapped = isinstance(error, RuntimeError) and isinstance(
        cause, ToolError
    )  # a dependency's, by FastMCP
    rendered = told(cause if wrapped else error, contract, called)
    if rendered is None:
        return None
    result = CallToolResult.model_validate(rendered)
    return ToolResult(result.content, result.structured_content, result.meta, result.is_error)


def _reporting(result: ToolResult, repairs: list[Repair]) -> ToolResult:
    """The result, with the repairs in its `_meta`. A request for input has none."""
    if isinstance(result, InputRequiredToolResult):
        return result
    meta = reporting(result.meta, repairs)
    # A tool's own protocol result goes to the client as it is, so there the `_meta` must be in it.
    raw = result._raw_mcp_result  # pyright: ignore[reportPrivateUsage]
    if raw is not None:
        return ToolResult.from_mcp_result(raw.model_copy(update={"meta": meta}))
    return result.model_copy(update={"meta": meta})
