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
from typing import Any, TypeVar, cast

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

from toolbooth.adapters.kinds import MCP_SDK, wrong_server
from toolbooth.adapters.sdk.accept_call import admit, reporting, told
from toolbooth.adapters.sdk.exact_stdin import reading_exactly
from toolbooth.adapters.sdk.host_context import takes_context, with_context
from toolbooth.adapters.sdk.original_request import Sent, UnderWay, keep_sent
from toolbooth.boundary.accept import Accepted
from toolbooth.boundary.run import bound_call, is_async
from toolbooth.compile.hints import Hints, Unresolved
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.signature import compile_function, is_context
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
"""What the SDK says of a function whose arguments it cannot describe."""


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
    """
    if not isinstance(cast("object", server), MCPServer):
        raise wrong_server(server, MCP_SDK)
    chosen = choose_profile(profile)
    if not is_protected(server):
        # The one place through which every registration and every call goes; the SDK offers no hook
        # there.
        host_tools = server._tool_manager  # pyright: ignore[reportPrivateUsage]
        tools = _Tools(server.name, host_tools, chosen)
        server._tool_manager = tools  # pyright: ignore[reportPrivateUsage]
        server.middleware.append(keep_sent)
        cast("Any", server).run_stdio_async = reading_exactly(server.run_stdio_async)
    return server


def is_protected(server: MCPServer[Any]) -> bool:
    """Whether `protect` has been here."""
    # As in `protect`.
    return isinstance(server._tool_manager, _Tools)  # pyright: ignore[reportPrivateUsage]


class _Tools(ToolManager):
    """The SDK's tool manager, holding guarded tools only."""

    def __init__(self, owner: str, tools: ToolManager, profile: Profile) -> None:
        super().__init__(tools.warn_on_duplicate_tools)
        self._tools: dict[str, Tool] = _Table(profile)
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


class _Table(dict[str, Tool]):
    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self.profile = profile

    def __setitem__(self, name: str, tool: Tool) -> None:
        guard = tool if isinstance(tool, GuardedTool) else guarded(tool, self.profile)
        super().__setitem__(name, guard)


class GuardedTool(Tool):
    """A tool behind the boundary."""

    # Fields, not private attributes, each use of which costs a failed lookup first.
    contract: InstanceOf[Contract] = Field(exclude=True, repr=False)
    inner: InstanceOf[Tool] = Field(exclude=True, repr=False)

    @classmethod
    def around(cls, tool: Tool, contract: Contract, profile: Profile) -> GuardedTool:
        """The same tool to the SDK, but for its parameters and the way they are validated."""
        same: dict[str, Any] = {name: getattr(tool, name) for name in Tool.model_fields}
        if (
            contract.function is not None
        ):  # a schema that somebody wrote is published in their words
            same["parameters"] = profile.input_schema(contract)
            same["fn"] = contract.function
            same["is_async"] = is_async(contract.function)
            same["fn_metadata"] = _Valid.of(tool.fn_metadata, contract)
        return cls(**same, contract=contract, inner=tool)

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Hold the arguments to the contract, and run the tool with what they mean."""
        try:
            with Sent() as sent:
                values, repairs = self._admitted(arguments, sent)
                run = self.inner.run if self.contract.function is None else super().run
                result = await run(values, context, convert_result)
        except UnexpectedToolError as error:
            rendered = told(error.__cause__, self.contract, self.name)
            if rendered is None:
                raise
            return CallToolResult.model_validate(rendered)
        if repairs and isinstance(result, CallToolResult):
            return result.model_copy(update={"meta": reporting(result.meta, repairs)})
        return result

    def _admitted(self, arguments: dict[str, Any], sent: UnderWay) -> Accepted:
        """As `Tool.run` has it: an exception is masked, and kept as the cause; `told` finds what
        may be read.
        """
        try:
            return admit(self.contract, arguments, sent)
        except MCPError:
            raise
        except Exception as error:
            raise UnexpectedToolError(f"Error executing tool {self.name}") from error


def guarded(tool: Tool, profile: Profile = PORTABLE) -> GuardedTool:
    """Put one tool behind the boundary.

    Raises:
        ContractError: with every mistake in the tool, each with its remedy.
    """
    if type(tool).run is not Tool.run or type(tool.fn_metadata) is not FuncMetadata:
        # It has its own way with arguments, and only its schema tells what it takes.
        contract = compile_json_schema(tool.parameters, name=tool.name)
        return GuardedTool.around(tool, contract, profile)
    hosts = {tool.context_kwarg, *tool.resolved_params}
    contract = compile_function(
        tool.fn, name=tool.name, injected=lambda param, _: param.name in hosts
    )
    made = GuardedTool.around(tool, contract, profile)
    # The SDK has looked at what it could describe itself, which a stand-in hides from it.
    if (reason := find_invalid_x_mcp_header(made.parameters)) is not None:
        raise ContractError(tool.name, [f"invalid x-mcp-header: {reason}"])
    return made


class _Valid(FuncMetadata):
    """The SDK's account of a function, for values that are valid already."""

    bind: Callable[[Any], dict[str, Any]] | None
    bound: InstanceOf[Contract]
    asks: bool

    @classmethod
    def of(cls, metadata: FuncMetadata, contract: Contract) -> _Valid:
        same: dict[str, Any] = {name: getattr(metadata, name) for name in FuncMetadata.model_fields}
        asks = takes_context(cast("Function", contract.function))
        return cls(**same, bind=contract.bind, bound=replace(contract, bind=None), asks=asks)

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

        return await (with_context(within) if self.asks else within(None))


# --- functions that the SDK rejects -----------------------------------------------------------------------------


def _stand_in(function: Function) -> Function:
    """A function that the SDK accepts, with what the SDK fills and returns; `compile_function` sees
    the real one.
    """
    hints = Hints(function)
    signature = inspect.signature(function)
    params = [
        param.replace(
            annotation=hint if _is_hosts(hint) else Any, kind=inspect.Parameter.KEYWORD_ONLY
        )
        for param in signature.parameters.values()
        if not is_context(hint := hints.of(param)) and not param.name.startswith("_")
    ]

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
