"""Protects the tools of LlamaIndex: `FunctionTool`, the tools of `McpToolSpec`, and tools of other
classes.

The framework passes the arguments as keywords. It overwrites the argument that has the name of the
`Context` parameter. So a protected tool has a random name for this parameter, which no model can
send by chance.
"""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

from toolbooth.extras import require_framework

require_framework("llama-index")

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.tools import AsyncBaseTool, FunctionTool, ToolMetadata, ToolOutput, utils

from toolbooth.adapters.agent_tools.call import ErrorAnswer
from toolbooth.adapters.agent_tools.derived import derived_copy
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.registered import Answer, Registered
from toolbooth.jsonvalue import Json
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

_CONTEXT = uuid4().hex
_BY_NAME = "a protected tool takes its arguments by name"


@dataclass
class _Metadata(ToolMetadata):
    """The metadata of a tool. Its schema is the published one, not one that is made from a
    model.
    """

    published: Json = field(default_factory=dict[str, Any])

    def get_parameters_dict(self) -> Json:
        # Some callers change the returned dict.
        return copy.deepcopy(self.published)


class _Guarded(AsyncBaseTool):
    """The first base class of a protected tool. The second one is the original class of the
    tool.
    """

    toolbooth_guard: Guard
    toolbooth_inner: Any
    toolbooth_metadata: _Metadata

    @property
    def metadata(self) -> ToolMetadata:
        return self.toolbooth_metadata

    def __call__(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        return self.call(*args, **arguments)

    def call(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        injected = self._injected(args, arguments)
        try:
            call = self.toolbooth_guard.accept(arguments)
            made = call.run(_method(self.toolbooth_inner, "call"), injected)
        except ErrorAnswer as answer:
            made, call = self._failed(answer), answer
        made.raw_input = {"args": (), "kwargs": arguments, **call.data}
        return made

    async def acall(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        injected = self._injected(args, arguments)
        try:
            call = await self.toolbooth_guard.accept_async(arguments)
            made = await call.run_async(_method(self.toolbooth_inner, "acall"), injected)
        except ErrorAnswer as answer:
            made, call = self._failed(answer), answer
        made.raw_input = {"args": (), "kwargs": arguments, **call.data}
        return made

    def _injected(self, args: Any, arguments: Json) -> Json:
        # The framework first passes a single argument without its name. After this error, it tries
        # again with the name.
        if args:
            raise TypeError(_BY_NAME)
        return _injected(self.toolbooth_inner, arguments.pop(_CONTEXT, None))

    def _failed(self, answer: ErrorAnswer) -> ToolOutput:
        how: Any = {"raw_output": answer.text, "is_error": True, "exception": answer}
        return ToolOutput(self.metadata.get_name(), answer.text, raw_input={}, **how)


def _injected(tool: Any, context: Any = None) -> Json:
    """Return the arguments that a tool gets in addition to the arguments of the model."""
    name = getattr(tool, "ctx_param_name", None)
    return {**getattr(tool, "partial_params", {}), **({name: context} if name else {})}


def _method(tool: Any, name: str) -> Any:
    # The protected tool has recorded the span of the call, so the original tool needs no span.
    method: Any = getattr(tool.__class__, name)
    return partial(getattr(method, "__wrapped__", method), tool)


def is_protected(tool: AsyncBaseTool) -> bool:
    """Return True if a tool is protected."""
    return isinstance(tool, _Guarded)


def protect(tool: Any, options: Options) -> Any:
    """Return a protected copy of a tool."""
    if is_protected(tool):
        return tool
    guard, listed = _guard(tool, options), tool.metadata
    inner = copy.copy(tool)
    function = guard.contract.function
    if function is not None:
        # The accepted values have the defaults of the fields.
        inner._field_defaults = {}
        if function is not tool.real_fn:
            flat = FunctionTool(function, metadata=listed)
            inner._fn, inner._async_fn = flat.fn, flat.async_fn
    shown = _with_schema(listed.fn_schema or BaseModel, guard.published)
    same = (listed.description, listed.name, shown, listed.return_direct)
    metadata = _Metadata(*same, published=guard.published)
    made = derived_copy(
        tool,
        _Guarded,
        protect,
        options,
        toolbooth_guard=guard,
        toolbooth_inner=inner,
        toolbooth_metadata=metadata,
        _real_fn=_any_arguments,
    )
    if getattr(tool, "requires_context", False):
        made.ctx_param_name = _CONTEXT
    return made


def _guard(tool: Any, options: Options) -> Guard:
    name, said, model = tool.metadata.get_name(), tool.metadata.description, tool.metadata.fn_schema
    schema = tool.metadata.get_parameters_dict() if model is None else model.model_json_schema()
    filled = _injected(tool)
    # Check if the schema was made from the function. Otherwise it comes from elsewhere, such as an
    # MCP server.
    params = inspect.signature(getattr(tool, "real_fn", tool.call)).parameters.values()
    is_own = model is not None and model.__module__ == utils.__name__
    is_own |= not any(each.kind is each.VAR_KEYWORD for each in params)
    if not (is_own and isinstance(tool, FunctionTool)):
        return guard_schema(schema, options, name=name, keywords=True, injected=filled)
    function = tool.real_fn
    return guard_function(
        function, options, name=name, description=said, injected=filled, listed=schema
    )


def _with_schema(model: type[BaseModel], schema: Json) -> type[BaseModel]:
    class Model(model):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> Json:
            return copy.deepcopy(schema)

    Model.__name__ = model.__name__
    return Model


def _any_arguments(**arguments: Any) -> None:
    """Do nothing. The framework only reads the signature, which says that any argument can be
    passed by its name.
    """


def registry_tool(registry: ToolRegistry, tool: Tool) -> FunctionTool:
    """Return a tool of a registry as a `FunctionTool`."""
    found = Registered(registry, tool)

    async def call(**arguments: Any) -> Answer:
        return await found.call_async(arguments)

    async def output(answer: Any) -> ToolOutput:
        return ToolOutput(found.name, answer.text, raw_input=answer.data, is_error=answer.is_error)

    shown = _Metadata(found.description, found.name, published=found.schema)
    return FunctionTool(async_fn=call, metadata=shown, async_callback=output)
