"""Puts one FastMCP tool behind the boundary.

A guarded tool runs through FastMCP's own machinery, with its Context, dependencies, time-out and
conversion of results. Only the validation of arguments is ours, and runs once.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Awaitable, Callable
from copy import deepcopy
from functools import cache, lru_cache, partial
from traceback import walk_tb
from typing import Any

from fastmcp.exceptions import FastMCPError, McpError, ValidationError
from fastmcp.exceptions import ToolError as HostToolError
from fastmcp.server.dependencies import (
    _resolve_fastmcp_dependencies,  # pyright: ignore[reportPrivateUsage]
    transform_context_annotations,
    without_injected_parameters,
)
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.tools.base import InputRequiredToolResult
from fastmcp.tools.function_parsing import ParsedFunction

# FastMCP distinguishes the body's own validation errors from a caller's by this wrapper, and reads
# the setting of the running server. It has no public names for either.
from fastmcp.tools.function_tool import (
    _strict_input_validation,  # pyright: ignore[reportPrivateUsage]
    _wrap_body_errors,  # pyright: ignore[reportPrivateUsage]
)
from fastmcp.utilities.async_utils import is_coroutine_function
from mcp_types import INTERNAL_ERROR, InputRequiredResult
from pydantic import Field, InstanceOf

from toolbooth.adapters.fastmcp_validation import refused_by_host
from toolbooth.adapters.sdk.accept_call import accept_queued, error_result, meta_with_repairs
from toolbooth.adapters.sdk.hand_set import is_rewritten, with_hand_set, without_warnings
from toolbooth.adapters.sdk.host_context import takes_context, with_context
from toolbooth.adapters.sdk.host_errors import validation_error
from toolbooth.adapters.sdk.listing import accept_listed
from toolbooth.adapters.sdk.original_request import (
    NO_REQUEST,
    OriginalRequest,
    RequestScope,
    called_as,
)
from toolbooth.boundary.accept import Accepted
from toolbooth.boundary.repairs import Remark
from toolbooth.boundary.run import bound_call
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.mistakes import warn_of_missing_examples
from toolbooth.compile.signature import compile_function
from toolbooth.context import Context
from toolbooth.contract import Contract
from toolbooth.errors import ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.publish import Profile
from toolbooth.shape import walk

Function = Callable[..., Any]
Run = Callable[[Any], Awaitable[ToolResult]]
Compile = Callable[..., tuple[Contract, Json]]
"""A function that compiles one tool. Its only parameter is `strict`. Its results are cached."""


class GuardedTool(Tool):
    """A tool whose arguments the boundary checks. The server lists and calls it in place of the
    author's tool, which is not changed.
    """

    # Fields, because each use of a private attribute of a Pydantic model costs a failed lookup.
    contract: InstanceOf[Contract] = Field(exclude=True, repr=False)
    compile: Compile = Field(exclude=True, repr=False)
    inner: InstanceOf[Tool] = Field(exclude=True, repr=False)
    call: Run = Field(exclude=True, repr=False)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Check the arguments, and run the tool with their values.

        Raises:
            ValidationError: FastMCP's own, if the arguments are refused.
        """
        with RequestScope() as original:
            accept = partial(accept_listed, self.contract_here(), arguments, original)
            return await self._run_accepted(accept, original)

    async def _run(self, arguments: dict[str, Any]) -> ToolResult:
        # The server calls this method. Some tools of the host override it.
        return await self.run(arguments)

    def contract_here(self) -> Contract:
        """Return the contract for the running server. If the server is strict, text is not accepted
        for numbers or booleans.
        """
        return self.compile(strict=True)[0] if _strict_input_validation() else self.contract

    def follow(self, published: Json) -> None:
        """Apply the changes that the author has made to the schema of this tool. `published` is the
        schema before these changes.
        """
        plain = self.compile
        listed = deepcopy(self.parameters)

        @lru_cache(maxsize=2)
        def compile(*, strict: bool) -> tuple[Contract, Json]:
            return with_hand_set(plain(strict=strict)[0], published, listed), listed

        self.contract = compile(strict=False)[0]
        self.compile = compile

    async def _run_accepted(
        self, accept: Callable[[], Awaitable[Accepted]], original: OriginalRequest
    ) -> ToolResult:
        try:
            values, repairs = await accept()
            result = await self.call(values)
        except Exception as error:
            shown = self.host_error(error, original)
            if shown is None:
                raise
            raise shown from shown.__cause__
        return _with_repairs(result, repairs) if repairs else result

    def host_error(self, error: Exception, original: OriginalRequest) -> Exception | None:
        """Return the FastMCP exception for an exception of ours. Return None if FastMCP handles the
        exception itself.
        """
        if self.contract.function is None:
            error = refused_by_host(error, self.inner) or error
        return host_error(error, self.contract, original.name(self.name), original)

    def get_span_attributes(self) -> dict[str, Any]:
        """Return the tracing attributes of the inner tool, with the name of this tool."""
        return {**self.inner.get_span_attributes(), **super().get_span_attributes()}


class QueuedTool(GuardedTool):
    """A protected tool in the worker of a task. Its arguments come from a queue.

    This class is not a FunctionTool, because the tasks extension sends only the function of a
    FunctionTool to the workers, and does not call its `run`.
    """

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Check the queued arguments, and run the tool with their values."""

        async def accept() -> Accepted:
            return accept_queued(self.contract_here(), arguments)

        return await self._run_accepted(accept, NO_REQUEST)

    def host_error(self, error: Exception, original: OriginalRequest) -> Exception | None:
        """Return the same as for any tool, with one exception: if a dependency fails, return a
        protocol error, so that the task fails.
        """
        if _is_of_dependency(error):
            failed = McpError(code=INTERNAL_ERROR, message=str(error))
            failed.__cause__ = error
            return failed
        return super().host_error(error, original)


def _is_of_dependency(error: Exception) -> bool:
    """Return True if FastMCP raised the exception because a dependency failed before the tool was
    called.
    """
    frames = list(walk_tb(error.__traceback__))
    resolve: Any = _resolve_fastmcp_dependencies
    return isinstance(error, RuntimeError) and frames[-1][0].f_code is resolve.__wrapped__.__code__


@cache
def _guarded_class(plain: type[Tool]) -> type[Any]:
    """Return a subclass of GuardedTool and of the class of the tool. Hosts and authors check the
    class of a tool with `isinstance`.
    """
    return type(plain.__name__, (GuardedTool, plain), {"model_config": {"defer_build": True}})


def guard_tool(tool: Tool, compile: Compile) -> GuardedTool:
    """Return a protected copy of the tool. Only its parameters and their validation are changed.

    Raises:
        ContractError: with every mistake in the tool, each with its remedy.
    """
    contract, published = compile(strict=False)
    if isinstance(tool, FunctionTool) and contract.function is not None:
        call = _host_run(tool, contract.function, contract)
    else:
        # The server calls `_run`, not `run`: there, mounted tools run their child's middleware.
        call = tool._run  # pyright: ignore[reportPrivateUsage]
    made: Any = tool.model_copy(update={"parameters": published})
    object.__setattr__(made, "__class__", _guarded_class(type(tool)))
    made.__dict__.update(contract=contract, compile=compile, inner=tool, call=call)
    # A `run` that the author set on this object is removed from the copy. `call` still calls it.
    made.__dict__.pop("run", None)
    return made


class NamedTool(FastMCPProviderTool):
    """A tool of a mounted server. The mounted server is protected itself, and its refusals contain
    the name that the tool has on the parent server.
    """

    async def _run(self, arguments: dict[str, Any]) -> ToolResult:
        with called_as(self.name):
            return await super()._run(arguments)


def named_tool(tool: FastMCPProviderTool) -> Tool:
    """Return a copy of the tool whose refusals contain the name that the tool has on this
    server.
    """
    made = tool.model_copy()
    object.__setattr__(made, "__class__", NamedTool)
    return made


def function_of(tool: Tool) -> Function | None:
    """Return the function of a tool. Return None if the tool must be compiled from its schema
    alone.
    """
    if not isinstance(tool, FunctionTool) or type(tool).run is not FunctionTool.run:
        return None
    # An author may have set another `run` on this one object.
    return None if "run" in vars(tool) else tool.fn


def compile_tool(
    profile: Profile, function: Function | None, parameters: str, *, strict: bool
) -> tuple[Contract, Json]:
    """Return the contract of a tool, and the schema to publish. A strict contract does not accept
    text for numbers and booleans. A schema that the author wrote is published unchanged; `toolbooth
    lint` reports clients that cannot read it.

    Raises:
        ContractError: with every mistake in the tool, each with its remedy.
    """
    schema: Json = json.loads(parameters)
    if function is None:
        contract, published = compile_json_schema(schema), schema
    else:
        contract, published = _compile(profile, function, schema)
    if strict:
        for shape in walk(contract.shape):
            shape.strict = True
    return contract, published


def _compile(profile: Profile, function: Function, schema: Json) -> tuple[Contract, Json]:
    own = inspect.signature(function).parameters.keys()
    hosts = own - inspect.signature(without_injected_parameters(function)).parameters.keys()
    with without_warnings():
        contract = compile_function(
            function,
            injected=lambda param, _: param.name in hosts,
            passing=(McpError, FastMCPError),
        )
    made = ParsedFunction.from_function(function).input_schema
    by_hand = is_rewritten(contract, made, schema)
    contract = with_hand_set(contract, made, schema)
    warn_of_missing_examples(contract.name, contract.schema)
    return contract, schema if by_hand else profile.input_schema(contract)


def _host_run(tool: FunctionTool, function: Function, contract: Contract) -> Run:
    """Return a function that runs the tool in FastMCP's own way, with values that are already
    validated.
    """
    # Dependencies are resolved and errors are wrapped exactly as in `FunctionTool.run`.
    body = _wrap_body_errors(transform_context_annotations(function), materialize_generators=True)
    provided = without_injected_parameters(body, run_in_thread=tool.run_in_thread)
    is_async = is_coroutine_function(provided)
    adapter: Any = _CallAdapter(contract, _wrap_body_errors(provided))
    wants_context = takes_context(function)

    async def run(values: Any) -> ToolResult:
        def within(context: Context | None) -> Awaitable[Any]:
            given: Any = (values, context)
            # The time-out and the worker thread are in here, and nowhere public.
            run_body = tool._run_body  # pyright: ignore[reportPrivateUsage]
            return run_body(adapter, is_async, given, strict=None)

        result = await (with_context(within) if wants_context else within(None))
        if isinstance(result, InputRequiredResult):
            return InputRequiredToolResult(result)
        return tool.convert_result(result)

    return run


class _CallAdapter:
    """Replaces FastMCP's TypeAdapter. It only calls the function, because the arguments are already
    validated.
    """

    def __init__(self, contract: Contract, function: Callable[..., Any]) -> None:
        self.contract = contract
        self.function = function

    def validate_python(self, given: tuple[Any, Context | None], *, strict: bool | None) -> Any:
        values, context = given
        # Our own Context goes to every injected parameter. FastMCP drops it from those that it
        # fills itself.
        return bound_call(self.contract, self.function, values, context, None)()


# --- results ------------------------------------------------------------------------------------


def host_error(
    error: Exception, contract: Contract, name: str, original: OriginalRequest
) -> Exception | None:
    """Return the FastMCP exception for an exception of ours. Return None for any other
    exception.
    """
    cause = error.__cause__
    # FastMCP wraps the error of a dependency.
    if isinstance(error, RuntimeError) and isinstance(cause, ToolError):
        error = cause
    result = error_result(error, contract, name)
    if result is None:
        return None
    text = original.keep_error(result)
    if isinstance(error, ToolInputError):
        made: Exception = ValidationError(text, log_level=logging.WARNING)
        made.__cause__ = validation_error(error, contract, name)
    else:
        made = HostToolError(text)
        made.__cause__ = error
    return made


def _with_repairs(result: ToolResult, repairs: list[Remark]) -> ToolResult:
    """Return the result with the repairs in its `_meta`. If the result is a request for input, it
    is unchanged.
    """
    if isinstance(result, InputRequiredToolResult):
        return result
    meta = meta_with_repairs(result.meta, repairs)
    # A tool's own protocol result is sent to the client as it is, so its own `_meta` must be set.
    raw = result._raw_mcp_result  # pyright: ignore[reportPrivateUsage]
    if raw is not None:
        return ToolResult.from_mcp_result(raw.model_copy(update={"meta": meta}))
    return result.model_copy(update={"meta": meta})
