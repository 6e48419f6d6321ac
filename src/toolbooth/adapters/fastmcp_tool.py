"""One FastMCP tool behind the boundary.

A guarded tool runs through FastMCP's own machinery, with its Context, dependencies, time-out and
conversion of results. Only the validation of arguments is ours, and runs once.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from fastmcp.server.dependencies import (
    transform_context_annotations,
    without_injected_parameters,
)
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.tools.base import InputRequiredToolResult

# FastMCP tells the body's own validation errors from a caller's by this wrapper, and has no public
# name for it.
from fastmcp.tools.function_tool import (
    _wrap_body_errors,  # pyright: ignore[reportPrivateUsage]
)
from fastmcp.utilities.async_utils import is_coroutine_function
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import Field, InstanceOf

from toolbooth.adapters.sdk.accept_call import (
    accept_call,
    accept_queued,
    error_result,
    meta_with_repairs,
)
from toolbooth.adapters.sdk.host_context import takes_context, with_context
from toolbooth.adapters.sdk.original_request import RequestScope
from toolbooth.boundary.accept import Accepted
from toolbooth.boundary.repairs import Remark
from toolbooth.boundary.run import bound_call
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.signature import compile_function
from toolbooth.context import Context
from toolbooth.contract import Contract
from toolbooth.errors import ToolError
from toolbooth.jsonvalue import Json, Schema
from toolbooth.publish import PORTABLE, Profile

Function = Callable[..., Any]
Run = Callable[[Any], Awaitable[ToolResult]]


class GuardedTool(Tool):
    """A tool behind the boundary.

    Not a FunctionTool: the tasks extension sends the function of one to its workers, and does not
    call its `run`.
    """

    # Fields, not private attributes, each use of which costs a failed lookup first.
    contract: InstanceOf[Contract] = Field(exclude=True, repr=False)
    inner: InstanceOf[Tool] = Field(exclude=True, repr=False)
    call: Run = Field(exclude=True, repr=False)

    @classmethod
    def around(cls, tool: Tool, contract: Contract, published: Json) -> GuardedTool:
        """The same tool, except for its parameters and their validation."""
        same: dict[str, Any] = {name: getattr(tool, name) for name in Tool.model_fields}
        same["parameters"] = published
        if isinstance(tool, FunctionTool) and contract.function is not None:
            call = _host_run(tool, contract.function, contract)
        else:
            # The server calls `_run`, not `run`: there, mounted tools run their child's middleware.
            call = tool._run
        return cls(**same, contract=contract, inner=tool, call=call)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Accept or refuse the arguments, and run the tool with their values."""
        with RequestScope() as original:
            accept = partial(accept_call, self.contract, arguments, original)
            return await self._run_accepted(accept, original.name(self.name))

    async def _run_accepted(self, accept: Callable[[], Accepted], name: str) -> ToolResult:
        try:
            values, repairs = accept()
            result = await self.call(values)
        except Exception as error:
            shown = result_of_error(error, self.contract, name)
            if shown is None:
                raise
            return shown
        return _with_repairs(result, repairs) if repairs else result

    def get_span_attributes(self) -> dict[str, Any]:
        """The attributes of the inner tool, under the name that it has here."""
        return {**self.inner.get_span_attributes(), **super().get_span_attributes()}


class QueuedTool(GuardedTool):
    """A tool behind the boundary in the worker of a task: its arguments come out of a queue."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Accept or refuse the queued arguments, and run the tool with their values."""
        return await self._run_accepted(partial(accept_queued, self.contract, arguments), self.name)


def guard_tool(tool: Tool, profile: Profile = PORTABLE) -> GuardedTool:
    """Put one tool behind the boundary.

    Raises:
        ContractError: with every mistake in the tool, each with its remedy.
    """
    parameters = json.dumps(tool.parameters)
    return GuardedTool.around(tool, *compile_tool(profile, function_of(tool), parameters))


def function_of(tool: Tool) -> Function | None:
    """The function to compile; None if a tool has only a schema."""
    if isinstance(tool, FunctionTool) and type(tool).run is FunctionTool.run:
        return tool.fn
    return None


def compile_tool(
    profile: Profile, function: Function | None, parameters: str
) -> tuple[Contract, Json]:
    """The contract of a tool, and the schema to publish."""
    schema: Json = json.loads(parameters)
    if function is None:
        # A schema that somebody wrote is published as it is; `toolbooth lint` knows which clients
        # cannot read it.
        return compile_json_schema(schema), schema
    own = inspect.signature(function).parameters.keys()
    hosts = own - inspect.signature(without_injected_parameters(function)).parameters.keys()
    contract = compile_function(function, injected=lambda param, _: param.name in hosts)
    contract = replace(contract, describe=partial(_with_descriptions, contract.schema, schema))
    return contract, profile.input_schema(contract)


def _with_descriptions(schema: Schema, hosts: Schema) -> Json:
    """The schema, with the descriptions that FastMCP has read from the docstring."""
    described: Schema = hosts.get("properties", {})
    properties: Json = {}
    for name, own in schema["properties"].items():
        theirs: Schema = described.get(name, {})
        if "description" in theirs:
            properties[name] = {"description": theirs["description"], **own}
        else:
            properties[name] = own
    return {**schema, "properties": properties}


def _host_run(tool: FunctionTool, function: Function, contract: Contract) -> Run:
    """FastMCP's own way to run a function, from values that are validated already."""
    # The body, its dependencies and its own errors, exactly as in `FunctionTool.run`.
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
    """Replaces FastMCP's TypeAdapter: arguments are already validated, so it only calls."""

    def __init__(self, contract: Contract, function: Callable[..., Any]) -> None:
        self.contract = contract
        self.function = function

    def validate_python(self, given: tuple[Any, Context | None], *, strict: bool | None) -> Any:
        values, context = given
        # Our own Context goes to every injected parameter. FastMCP drops it from those that it
        # fills itself.
        return bound_call(self.contract, self.function, values, context, None)()


# --- results ------------------------------------------------------------------------------------


def result_of_error(error: Exception, contract: Contract, name: str) -> ToolResult | None:
    """The result for an exception that agents may read; None for one that FastMCP handles."""
    cause = error.__cause__
    # FastMCP wraps the error of a dependency.
    wrapped = isinstance(error, RuntimeError) and isinstance(cause, ToolError)
    rendered = error_result(cause if wrapped else error, contract, name)
    if rendered is None:
        return None
    result = CallToolResult.model_validate(rendered)
    return ToolResult(result.content, result.structured_content, result.meta, result.is_error)


def _with_repairs(result: ToolResult, repairs: list[Remark]) -> ToolResult:
    """The result, with the repairs in its `_meta`. A request for input has none."""
    if isinstance(result, InputRequiredToolResult):
        return result
    meta = meta_with_repairs(result.meta, repairs)
    # A tool's own protocol result is sent to the client as it is, so its own `_meta` must be set.
    raw = result._raw_mcp_result  # pyright: ignore[reportPrivateUsage]
    if raw is not None:
        return ToolResult.from_mcp_result(raw.model_copy(update={"meta": meta}))
    return result.model_copy(update={"meta": meta})
