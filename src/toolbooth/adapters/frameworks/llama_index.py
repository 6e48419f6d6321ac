"""Protects the tools of LlamaIndex: `FunctionTool`, also those of `McpToolSpec`, and other tools.

The framework calls a tool with the arguments as keywords, and overwrites the one that has the name
of the `Context` parameter. So a protected tool has another name for it, which no model knows.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any
from uuid import uuid4

from toolbooth.extras import require

require(
    "toolbooth.adapters.frameworks.llama_index",
    extra="llama-index",
    modules={"llama_index": "LlamaIndex"},
)

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.tools import (
    AsyncBaseTool,
    FunctionTool,
    ToolMetadata,
    ToolOutput,
    function_tool,
    utils,
)

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.jsonvalue import Json
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

_CONTEXT = uuid4().hex
_BY_NAME = "a protected tool takes its arguments by name"


@dataclass
class _Metadata(ToolMetadata):
    """Has the published schema instead of a model's."""

    published: Json = field(default_factory=dict[str, Any])

    def get_parameters_dict(self) -> Json:
        # Some callers write into it.
        return copy.deepcopy(self.published)


class _Guarded(AsyncBaseTool):
    """Comes before the class of a tool, which is then behind the boundary."""

    toolbooth_guard: Guard
    toolbooth_metadata: _Metadata
    toolbooth_origin: tuple[Any, Options]
    toolbooth_run: Callable[[Call, Any], ToolOutput]
    toolbooth_run_async: Callable[[Call, Any], Awaitable[ToolOutput]]

    def __reduce__(self) -> Any:
        # What is compiled cannot be pickled; it is compiled again.
        return _protected, self.toolbooth_origin

    @property
    def metadata(self) -> ToolMetadata:
        return self.toolbooth_metadata

    def __call__(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        return self.call(*args, **arguments)

    def call(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        context = _context(args, arguments)
        try:
            call = self.toolbooth_guard.accept(arguments)
            made = self.toolbooth_run(call, context)
        except ErrorAnswer as answer:
            made, call = self._failed(answer), answer
        return _with_data(made, arguments, call.data)

    async def acall(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        context = _context(args, arguments)
        try:
            call = await self.toolbooth_guard.accept_async(arguments)
            made = await self.toolbooth_run_async(call, context)
        except ErrorAnswer as answer:
            made, call = self._failed(answer), answer
        return _with_data(made, arguments, call.data)

    def _failed(self, answer: ErrorAnswer) -> ToolOutput:
        how: Any = {"raw_output": answer.text, "is_error": True, "exception": answer}
        return ToolOutput(self.metadata.get_name(), answer.text, raw_input={}, **how)


def _context(args: Any, arguments: Json) -> Any:
    # The framework tries a lone argument without its name; then it tries again.
    if args:
        raise TypeError(_BY_NAME)
    return arguments.pop(_CONTEXT, None)


def _with_data(made: ToolOutput, arguments: Json, data: Json) -> ToolOutput:
    made.raw_input = {"args": (), "kwargs": arguments, **data}
    return made


@cache
def _guarded_class(plain: type[AsyncBaseTool]) -> type[Any]:
    return type(plain.__name__, (_Guarded, plain), {})


def is_protected(tool: AsyncBaseTool) -> bool:
    """Whether a tool was protected."""
    return isinstance(tool, _Guarded)


def protect(tool: AsyncBaseTool, options: Options) -> Any:
    """Return a protected copy of a tool."""
    return tool if is_protected(tool) else _protected(tool, options)


def _protected(tool: Any, options: Options) -> Any:
    made: Any = copy.copy(tool)
    plain: type[AsyncBaseTool] = tool.__class__
    made.__class__ = _guarded_class(plain)
    listed: Any = tool.metadata
    model: Any = listed.fn_schema
    schema: Json = listed.get_parameters_dict() if model is None else model.model_json_schema()
    # A schema that is not made from the function is from elsewhere, such as an MCP server.
    params = inspect.signature(getattr(tool, "real_fn", tool.call)).parameters.values()
    is_own = model is not None and model.__module__ == utils.__name__
    is_own |= not any(each.kind is each.VAR_KEYWORD for each in params)
    (_of_function if is_own and isinstance(tool, FunctionTool) else _of_schema)(
        made, tool, options, schema
    )
    shown = _with_schema(model or BaseModel, made.toolbooth_guard.published)
    same = (listed.description, listed.name, shown, listed.return_direct)
    made.toolbooth_metadata = _Metadata(*same, published=made.toolbooth_guard.published)
    made.toolbooth_origin = (tool, options)
    if getattr(tool, "requires_context", False):
        made.ctx_param_name = _CONTEXT
    made._real_fn = _any_arguments
    return made


def _with_schema(model: type[BaseModel], schema: Json) -> type[BaseModel]:
    class Model(model):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> Json:
            return copy.deepcopy(schema)

    Model.__name__ = model.__name__
    return Model


def _any_arguments(**arguments: Any) -> None:
    """Its signature is how the framework sees that an argument can be passed with its name."""


def _of_schema(made: Any, tool: Any, options: Options, schema: Json) -> None:
    name, context = tool.metadata.get_name(), getattr(tool, "ctx_param_name", None)
    made.toolbooth_guard = guard_schema(schema, options, name=name, keywords=True)

    def call(accepted: Call, given: Any) -> Any:
        return accepted.run(tool.call, {context: given} if context else None)

    async def acall(accepted: Call, given: Any) -> Any:
        return await accepted.run_async(tool.acall, {context: given} if context else None)

    made.toolbooth_run, made.toolbooth_run_async = call, acall


def _of_function(made: Any, tool: Any, options: Options, schema: Json) -> None:
    context = tool.ctx_param_name
    guard = guard_function(
        tool.real_fn,
        options,
        name=tool.metadata.get_name(),
        description=tool.metadata.description,
        injected=[*tool.partial_params, *([context] if context else [])],
        listed=schema,
    )
    plain = guard.contract.function is tool.real_fn

    def injected(given: Any) -> Json:
        return {**tool.partial_params, **({context: given} if context else {})}

    def call(accepted: Call, given: Any) -> Any:
        return accepted.run(tool.fn if plain else None, injected(given))

    async def acall(accepted: Call, given: Any) -> Any:
        return await accepted.run_async(tool.async_fn if plain else None, injected(given))

    # The rest of the framework's call is kept: it makes content of the result, and asks callbacks.
    inner: Any = copy.copy(tool)
    maker: Any = function_tool
    is_sync = plain or not inspect.iscoroutinefunction(guard.contract.function)
    inner._fn, inner._async_fn = call if is_sync else maker.async_to_sync(acall), acall
    inner._field_defaults, inner.partial_params, inner.requires_context = {}, {}, False
    made.toolbooth_guard = guard
    kind: Any = inner.__class__
    # The protected tool has the span of the call, so the inner one needs none.
    made.toolbooth_run = partial(getattr(kind.call, "__wrapped__", kind.call), inner)
    made.toolbooth_run_async = partial(getattr(kind.acall, "__wrapped__", kind.acall), inner)


def registry_tool(registry: ToolRegistry, tool: Tool) -> FunctionTool:
    """Return a tool of a registry as a `FunctionTool`."""

    async def call(**arguments: Any) -> Json:
        return await registry.call_async(tool.name, arguments)

    async def output(result: Any) -> ToolOutput:
        text = "\n".join(each.get("text", "") for each in result["content"])
        data = result.get("_meta", {})
        return ToolOutput(tool.name, text, raw_input=data, is_error=result["isError"])

    listing = tool.listing()
    said, schema = listing.get("description", ""), listing["inputSchema"]
    shown = _Metadata(said, tool.name, published=schema)
    return FunctionTool(async_fn=call, metadata=shown, async_callback=output)
