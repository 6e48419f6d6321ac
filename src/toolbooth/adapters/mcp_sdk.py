"""Protects a server of the official SDK: the boundary checks every tool call.

The SDK's own tools are not changed, so all later changes to them have their effect. A tool is
guarded when the server's tool manager lists it or looks it up. A mistake is reported where the tool
is registered.

A guarded tool runs through the SDK's own code, with its Context, resolvers, structured output and
mask. Only the validation of arguments is ours, and it runs once. So `pre_parse_json` and the silent
dropping of unknown keys are gone, and parameter aliases work.
"""

from __future__ import annotations

import inspect
import logging
import typing
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from toolbooth.extras import require

require("toolbooth.adapters.mcp_sdk", extra="mcp", modules={"mcp": "the official MCP SDK"})

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import InvalidSignature, ToolError, UnexpectedToolError
from mcp.server.mcpserver.resolve import Resolve, find_resolved_parameters
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp_types import CallToolResult
from pydantic import Field, InstanceOf, PydanticUndefinedAnnotation, PydanticUserError

from toolbooth.adapters.kinds import check_server
from toolbooth.adapters.proof import PROBE, prove, with_probe
from toolbooth.adapters.sdk.accept_call import error_result, meta_with_repairs
from toolbooth.adapters.sdk.exact_stdin import with_exact_stdin
from toolbooth.adapters.sdk.hand_set import is_rewritten, with_hand_set, without_warnings
from toolbooth.adapters.sdk.host_context import takes_context, with_context
from toolbooth.adapters.sdk.host_errors import check_errors, validation_error
from toolbooth.adapters.sdk.host_validation import (
    failed_path,
    locals_where_failed,
    unreadable,
)
from toolbooth.adapters.sdk.listing import Listing, accept_listed
from toolbooth.adapters.sdk.original_request import OriginalRequest, RequestScope, keep_request
from toolbooth.boundary.accept import Accepted
from toolbooth.boundary.handle import Errors
from toolbooth.boundary.run import bound_call, is_async
from toolbooth.compile.hints import Hints, Unresolved
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.mistakes import warn_of_missing_examples
from toolbooth.compile.params import is_context
from toolbooth.compile.signature import compile_function
from toolbooth.context import Context as OurContext
from toolbooth.contract import Contract
from toolbooth.errors import ContractError, ContractWarning, ToolInputError
from toolbooth.errors import ToolError as OurToolError
from toolbooth.jsonvalue import Json, Schema
from toolbooth.publish import PORTABLE, Profile, ProfileChoice, choose_profile

logger = logging.getLogger("toolbooth.adapters.mcp_sdk")

Server = TypeVar("Server", bound=MCPServer[Any])
Function = Callable[..., Any]

_REJECTIONS = (
    InvalidSignature,
    PydanticUserError,
    PydanticUndefinedAnnotation,
    NameError,
    AttributeError,
    TypeError,
)
"""The SDK's errors for a function whose arguments it cannot describe."""


def protect(
    server: Server, *, profile: ProfileChoice = "portable", errors: Errors = "result"
) -> Server:
    """Put every tool of a server behind the boundary, also tools that are added later.

    `profile` chooses how the input schemas of functions are written: it is a name, or your own
    `Profile`. `errors` chooses how a refusal is answered: as a tool result, or as JSON-RPC -32602.
    Protecting a server twice is harmless: the first choices are kept. Functions that the SDK itself
    rejects (a parameter `_x`, a type without a schema) can be registered after `protect`.

    Raises:
        TypeError: if this is not an MCPServer.
        ValueError: for an unknown profile, or another value of `errors`.
        ContractError: with every mistake in every tool; nothing has been changed then.
        RuntimeError: if the installed version of the SDK ignores the guards.
    """
    check_server(server, MCPServer, "mcp_sdk")
    check_errors(errors)
    prove("mcp_sdk", lambda: with_probe(protect(MCPServer(PROBE))))
    chosen = choose_profile(profile)
    if not is_protected(server):
        _install(server._tool_manager, server.name, chosen)  # pyright: ignore[reportPrivateUsage]
        # `Listing` needs a part of the SDK's server that MCPServer has no public name for.
        sdk_server = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
        keep = partial(keep_request, errors=errors)
        sdk_server.middleware[:0] = [keep, Listing(sdk_server)]
        patched: Any = server
        patched.run_stdio_async = with_exact_stdin(server.run_stdio_async)
    return server


def is_protected(server: MCPServer[Any]) -> bool:
    """Return True if the server is protected."""
    # As in `_install`.
    manager = server._tool_manager  # pyright: ignore[reportPrivateUsage]
    return isinstance(manager._tools, _CheckedTools)  # pyright: ignore[reportPrivateUsage]


def _install(manager: ToolManager, owner: str, profile: Profile) -> None:
    """Guard the tools when a manager lists them or looks them up. The manager is not replaced,
    because other code may have patched its methods.
    """
    tools = _CheckedTools(profile)
    mistakes: list[str] = []
    for tool in manager.list_tools():
        try:
            tools[tool.name] = tool
        except ContractError as error:
            mistakes += [f"tool {tool.name!r}: {each}" for each in error.mistakes]
    if mistakes:
        raise ContractError(owner, mistakes)
    # The one place through which every registration goes; the SDK offers no hook there, nor where
    # tools are looked up.
    manager._tools = tools  # pyright: ignore[reportPrivateUsage]
    patched: Any = manager
    get_tool, list_tools, add_tool = manager.get_tool, manager.list_tools, manager.add_tool

    def guarded_get(name: str) -> Tool | None:
        tool = get_tool(name)
        return None if tool is None else tools.guarded(tool)

    def guarded_list() -> list[Tool]:
        return [tools.guarded(tool) for tool in list_tools()]

    def lenient_add(fn: Function, *args: Any, **how: Any) -> Tool:
        try:
            return add_tool(fn, *args, **how)
        except ContractError:
            raise
        except _REJECTIONS:
            # Mistakes in resolvers are mistakes in any case.
            find_resolved_parameters(fn)
            return add_tool(_stand_in(fn), *args, **how)

    patched.get_tool = guarded_get
    patched.list_tools = guarded_list
    patched.add_tool = lenient_add


class _CheckedTools(dict[str, Tool]):
    """The tools of a server, stored unchanged. Adding a tool with a mistake raises
    ContractError.
    """

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self._profile = profile
        self._guarded: dict[str, tuple[Any, GuardedTool]] = {}

    def __setitem__(self, name: str, tool: Tool) -> None:
        self._guard(name, tool)
        super().__setitem__(name, tool)

    def guarded(self, tool: Tool) -> GuardedTool:
        """Return the protected form of a tool in its current state."""
        if isinstance(tool, GuardedTool):
            return tool
        kept = self._guarded.get(tool.name)
        # Also a schema that was changed in place.
        if kept is not None and kept[0] == _state(tool):
            return kept[1]
        try:
            with warnings.catch_warnings():
                # The author, who could act on a warning, is not here.
                warnings.simplefilter("ignore", ContractWarning)
                return self._guard(tool.name, tool)
        except (ContractError, InvalidSignature) as error:
            if kept is None:
                raise
            logger.warning("the changed schema of %r is ignored: %s", tool.name, error)
            return kept[1]

    def _guard(self, name: str, tool: Tool) -> GuardedTool:
        made = tool if isinstance(tool, GuardedTool) else guard_tool(tool, self._profile)
        fields, parameters, metadata = _state(tool)
        self._guarded[name] = (dict(fields), deepcopy(parameters), dict(metadata)), made
        return made


def _state(tool: Tool) -> tuple[dict[str, Any], Json, dict[str, Any]]:
    """Return everything from which a guarded tool is made. Comparing it later shows whether the
    tool has changed.
    """
    return vars(tool), tool.parameters, vars(tool.fn_metadata)


class GuardedTool(Tool):
    """A tool whose arguments the boundary checks."""

    # Fields, because each use of a private attribute of a Pydantic model costs a failed lookup.
    contract: InstanceOf[Contract] = Field(exclude=True, repr=False)
    inner: InstanceOf[Tool] = Field(exclude=True, repr=False)

    @classmethod
    def around(cls, tool: Tool, contract: Contract, published: Schema) -> GuardedTool:
        """Return a protected copy of the tool. Only its parameters and their validation are
        changed.
        """
        same: dict[str, Any] = {name: getattr(tool, name) for name in Tool.model_fields}
        same["parameters"] = published
        function = contract.function
        if function is not None:
            same["fn"] = function
            same["is_async"] = is_async(function)
            same["fn_metadata"] = _ValidatedMetadata.of(tool.fn_metadata, contract, function)
        return cls(**same, contract=contract, inner=tool)

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Check the arguments, and run the tool with their values."""
        with RequestScope() as original:
            values, repairs = await self._accept(arguments, original)
            run = self.inner.run if self.contract.function is None else super().run
            try:
                result = await run(values, context, convert_result)
            except UnexpectedToolError as error:
                cause = _refused_by_host(error.__cause__) or error.__cause__
                shown = error_result(cause, self.contract, self.name)
                if shown is None:
                    raise
                raise ToolError(original.keep_error(shown)) from cause
        if repairs and isinstance(result, CallToolResult):
            return result.model_copy(update={"meta": meta_with_repairs(result.meta, repairs)})
        return result

    async def _accept(self, arguments: dict[str, Any], original: OriginalRequest) -> Accepted:
        """Return the values of the arguments. Raises the same exceptions as `Tool.run`.

        Raises:
            ToolError: the call is refused, or a validator raised an error for the agent.
            UnexpectedToolError: anything else.
        """
        try:
            return await accept_listed(self.contract, arguments, original)
        except MCPError:
            raise
        except ToolError as error:
            raise ToolError(f"Error executing tool {self.name}: {error}") from error
        except Exception as error:
            shown = error_result(error, self.contract, self.name)
            if shown is None:
                raise UnexpectedToolError(f"Error executing tool {self.name}") from error
            cause: Exception = error
            if isinstance(error, ToolInputError):
                cause = validation_error(error, self.contract, self.name)
            raise ToolError(original.keep_error(shown)) from cause


def _refused_by_host(error: BaseException | None) -> ToolInputError | None:
    """Return a refusal if the exception was raised in the SDK's own validation. Return None for any
    other exception.
    """
    if not isinstance(error, Exception) or isinstance(error, OurToolError | ToolInputError):
        return None
    found = locals_where_failed(error, FuncMetadata.validate_arguments.__code__)
    if found is None:
        return None
    core = found["self"].arg_model.__pydantic_core_schema__
    return unreadable(failed_path(error, core, found["arguments_to_validate"]))


def guard_tool(tool: Tool, profile: Profile = PORTABLE) -> GuardedTool:
    """Put one tool behind the boundary.

    Raises:
        ContractError: with every mistake in the tool, each with its remedy.
        InvalidSignature: the SDK's own, for a header that it would not accept.
    """
    if type(tool).run is not Tool.run or type(tool.fn_metadata) is not FuncMetadata:
        # It validates its arguments itself, so only its schema is known.
        contract = compile_json_schema(tool.parameters, name=tool.name)
        return GuardedTool.around(tool, contract, tool.parameters)
    hosts = {tool.context_kwarg, *tool.resolved_params}
    with without_warnings():
        contract = compile_function(
            tool.fn,
            name=tool.name,
            injected=lambda param, _: param.name in hosts,
            passing=(MCPError, ToolError),
        )
    schema = tool.fn_metadata.arg_model.model_json_schema(by_alias=True)
    by_hand = is_rewritten(contract, schema, tool.parameters)
    contract = with_hand_set(contract, schema, tool.parameters)
    warn_of_missing_examples(contract.name, contract.schema)
    # The SDK has checked only the functions that it could describe, not those behind a stand-in.
    if (reason := find_invalid_x_mcp_header(dict(contract.schema))) is not None:
        # The SDK's own message.
        raise InvalidSignature(
            f"Tool {tool.name!r} has an invalid x-mcp-header annotation: {reason}"
        )
    # A schema that an author wrote is published as it is.
    published = tool.parameters if by_hand else profile.input_schema(contract)
    return GuardedTool.around(tool, contract, published)


class _ValidatedMetadata(FuncMetadata):
    """Replaces the SDK's metadata of a function. It gets values that are already validated."""

    bind: Callable[[Any], dict[str, Any]] | None
    bound: InstanceOf[Contract]
    wants_context: bool

    @classmethod
    def of(
        cls, metadata: FuncMetadata, contract: Contract, function: Function
    ) -> _ValidatedMetadata:
        same: dict[str, Any] = {name: getattr(metadata, name) for name in FuncMetadata.model_fields}
        return cls(
            **same,
            bind=contract.bind,
            bound=replace(contract, bind=None),
            wants_context=takes_context(function),
        )

    def validate_arguments(self, arguments_to_validate: Any) -> dict[str, Any]:
        return arguments_to_validate if self.bind is None else self.bind(arguments_to_validate)

    async def call_fn(
        self,
        fn: Function,
        fn_is_async: bool,
        arguments: dict[str, Any],
        arguments_to_pass_directly: dict[str, Any] | None = None,
    ) -> Any:
        async def within(context: OurContext | None) -> Any:
            call = bound_call(self.bound, fn, arguments, context, arguments_to_pass_directly)
            return await call() if fn_is_async else await anyio.to_thread.run_sync(call)

        return await (with_context(within) if self.wants_context else within(None))


# --- functions that the SDK rejects -------------------------------------------------------------


def _stand_in(function: Function) -> Function:
    """Return a function that the SDK accepts in place of a function that it rejects. The new
    function has the same return type, and only the parameters that the SDK fills.
    `compile_function` compiles the original function.
    """
    hints = Hints(function)
    signature = inspect.signature(function)
    params: list[inspect.Parameter] = []
    for param in signature.parameters.values():
        hint = hints.of(param)
        if is_context(hint) or param.name.startswith("_"):
            continue
        annotation = hint if _is_hosts(hint) else Any
        params.append(param.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY))

    def stand_in() -> None: ...

    found: Any = stand_in
    found.__name__ = getattr(function, "__name__", type(function).__name__)
    found.__doc__ = function.__doc__
    found.__toolbooth__ = function
    found.__signature__ = inspect.Signature(
        params, return_annotation=hints.returns(signature.return_annotation)
    )
    found.__annotations__ = {param.name: param.annotation for param in params}
    if signature.return_annotation is not inspect.Signature.empty:
        found.__annotations__["return"] = found.__signature__.return_annotation
    return found


def _is_hosts(hint: Any) -> bool:
    """Return True if the SDK fills parameters with this annotation."""
    if isinstance(hint, Unresolved):
        return False
    parts = [hint, *typing.get_args(hint)]
    return any(
        isinstance(each, Resolve) or (isinstance(each, type) and issubclass(each, Context))
        for each in parts
    )
