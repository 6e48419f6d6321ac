"""A server of the official SDK goes in; the same server comes out, with every tool behind the
boundary.

The server's tool manager is replaced by one that guards each tool where it is registered, so a
mistake is reported there. A guarded tool runs through the SDK's own machinery, with its Context,
resolvers, structured output and mask; only the validation of arguments is ours, and runs once:
`pre_parse_json` and the silent dropping of unknown keys are gone, and parameter aliases work.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from toolbooth.extras import require

require("toolbooth.adapters.mcp_sdk", extra="mcp", modules={"mcp": "the official MCP SDK"})

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import InvalidSignature, UnexpectedToolError
from mcp.server.mcpserver.resolve import Resolve
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp_types import CallToolResult
from pydantic import Field, InstanceOf, PydanticUndefinedAnnotation, PydanticUserError

from toolbooth.adapters.kinds import check_server
from toolbooth.adapters.proof import PROBE, prove, with_probe
from toolbooth.adapters.sdk.accept_call import accept_call, error_result, meta_with_repairs
from toolbooth.adapters.sdk.exact_stdin import with_exact_stdin
from toolbooth.adapters.sdk.host_context import takes_context, with_context
from toolbooth.adapters.sdk.original_request import OriginalRequest, RequestScope, keep_request
from toolbooth.boundary.accept import Accepted
from toolbooth.boundary.run import bound_call, is_async
from toolbooth.compile.hints import Hints, Unresolved
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.params import is_context
from toolbooth.compile.signature import compile_function
from toolbooth.context import Context as OurContext
from toolbooth.contract import Contract
from toolbooth.errors import ContractError
from toolbooth.publish import PORTABLE, Profile, ProfileChoice, choose_profile

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


def protect(server: Server, *, profile: ProfileChoice = "portable") -> Server:
    """Put every tool of a server behind the boundary, also those that are added later.

    `profile` chooses how the input schemas of functions are written: by name, or a `Profile` of
    your own. Protecting twice is harmless; the first profile stays. Functions that the SDK itself
    rejects (a parameter `_x`, a type without a schema) can be registered once the server is
    protected.

    Raises:
        TypeError: if this is not an MCPServer.
        ValueError: for an unknown profile.
        ContractError: with every mistake in every tool; nothing has been changed then.
        RuntimeError: if the installed version of the SDK ignores the guards.
    """
    check_server(server, MCPServer, "mcp_sdk")
    prove("mcp_sdk", lambda: with_probe(protect(MCPServer(PROBE))))
    chosen = choose_profile(profile)
    if not is_protected(server):
        # The one place through which every registration and every call goes; the SDK offers no hook
        # there.
        tools = server._tool_manager  # pyright: ignore[reportPrivateUsage]
        guarded = _GuardedToolManager(server.name, tools, chosen)
        server._tool_manager = guarded  # pyright: ignore[reportPrivateUsage]
        server.middleware.append(keep_request)
        patched: Any = server
        patched.run_stdio_async = with_exact_stdin(server.run_stdio_async)
    return server


def is_protected(server: MCPServer[Any]) -> bool:
    """Whether `protect` has been here."""
    # As in `protect`.
    tools = server._tool_manager  # pyright: ignore[reportPrivateUsage]
    return isinstance(tools, _GuardedToolManager)


class _GuardedToolManager(ToolManager):
    """The SDK's tool manager, holding guarded tools only."""

    def __init__(self, owner: str, tools: ToolManager, profile: Profile) -> None:
        super().__init__(tools.warn_on_duplicate_tools)
        self._tools: dict[str, Tool] = _GuardedTools(profile)
        mistakes: list[str] = []
        for tool in tools.list_tools():
            try:
                self._tools[tool.name] = tool
            except ContractError as error:
                mistakes += [f"tool {tool.name!r}: {each}" for each in error.mistakes]
        if mistakes:
            raise ContractError(owner, mistakes)

    def add_tool(self, fn: Function, *args: Any, **how: Any) -> Tool:
        """Register a function, also one whose arguments the SDK cannot describe.

        Raises:
            ContractError: with every mistake in the signature, each with its remedy.
        """
        try:
            return self._tools[super().add_tool(fn, *args, **how).name]
        except ContractError:
            raise
        except _REJECTIONS:
            return self._tools[super().add_tool(_stand_in(fn), *args, **how).name]


class _GuardedTools(dict[str, Tool]):
    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self.profile = profile

    def __setitem__(self, name: str, tool: Tool) -> None:
        guarded = tool if isinstance(tool, GuardedTool) else guard_tool(tool, self.profile)
        super().__setitem__(name, guarded)


class GuardedTool(Tool):
    """A tool behind the boundary."""

    # Fields, not private attributes, each use of which costs a failed lookup first.
    contract: InstanceOf[Contract] = Field(exclude=True, repr=False)
    inner: InstanceOf[Tool] = Field(exclude=True, repr=False)

    @classmethod
    def around(cls, tool: Tool, contract: Contract, profile: Profile) -> GuardedTool:
        """The same tool, except for its parameters and their validation."""
        same: dict[str, Any] = {name: getattr(tool, name) for name in Tool.model_fields}
        function = contract.function
        # Without a function, there is a schema that somebody wrote: it is published as it is.
        if function is not None:
            same["parameters"] = profile.input_schema(contract)
            same["fn"] = function
            same["is_async"] = is_async(function)
            same["fn_metadata"] = _ValidatedMetadata.of(tool.fn_metadata, contract, function)
        return cls(**same, contract=contract, inner=tool)

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Accept or refuse the arguments, and run the tool with their values."""
        try:
            with RequestScope() as original:
                values, repairs = self._accept(arguments, original)
                run = self.inner.run if self.contract.function is None else super().run
                result = await run(values, context, convert_result)
        except UnexpectedToolError as error:
            rendered = error_result(error.__cause__, self.contract, self.name)
            if rendered is None:
                raise
            return CallToolResult.model_validate(rendered)
        if repairs and isinstance(result, CallToolResult):
            return result.model_copy(update={"meta": meta_with_repairs(result.meta, repairs)})
        return result

    def _accept(self, arguments: dict[str, Any], original: OriginalRequest) -> Accepted:
        """Accept the arguments. As in `Tool.run`, an exception is masked and kept as the cause,
        where `run` finds it.
        """
        try:
            return accept_call(self.contract, arguments, original)
        except MCPError:
            raise
        except Exception as error:
            raise UnexpectedToolError(f"Error executing tool {self.name}") from error


def guard_tool(tool: Tool, profile: Profile = PORTABLE) -> GuardedTool:
    """Put one tool behind the boundary.

    Raises:
        ContractError: with every mistake in the tool, each with its remedy.
    """
    if type(tool).run is not Tool.run or type(tool.fn_metadata) is not FuncMetadata:
        # It validates its arguments itself, so only its schema is known.
        contract = compile_json_schema(tool.parameters, name=tool.name)
        return GuardedTool.around(tool, contract, profile)
    hosts = {tool.context_kwarg, *tool.resolved_params}
    contract = compile_function(
        tool.fn, name=tool.name, injected=lambda param, _: param.name in hosts
    )
    made = GuardedTool.around(tool, contract, profile)
    # The SDK has checked only the functions that it could describe, not those behind a stand-in.
    if (reason := find_invalid_x_mcp_header(made.parameters)) is not None:
        raise ContractError(tool.name, [f"invalid x-mcp-header: {reason}"])
    return made


class _ValidatedMetadata(FuncMetadata):
    """The SDK's metadata of a function, for values that are validated already."""

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
    """A function that the SDK accepts, with the parameters that the SDK fills and the same return
    type; `compile_function` compiles the real one.
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
    return found


def _is_hosts(hint: Any) -> bool:
    """Whether the SDK fills a parameter."""
    if isinstance(hint, Unresolved):
        return False
    parts = [hint, *typing.get_args(hint)]
    return any(
        isinstance(each, Resolve) or (isinstance(each, type) and issubclass(each, Context))
        for each in parts
    )
