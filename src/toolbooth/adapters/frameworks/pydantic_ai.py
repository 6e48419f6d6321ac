"""Protects the tools of PydanticAI: `Tool`, and toolsets of every class.

The framework validates the arguments with the validator of the tool, before it asks for an approval
and before its hooks run. A protected tool has another validator here: `_Validator` accepts the text
of the model, or refuses the call.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any, cast

from toolbooth.extras import require_framework

require_framework("pydantic-ai")

from pydantic_ai import FunctionToolset, ModelRetry, RunContext, Tool, ToolFailed, ToolReturn
from pydantic_ai._function_schema import FunctionSchema
from pydantic_ai.toolsets import AbstractToolset, ApprovalRequiredToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from toolbooth.adapters.agent_tools.call import ErrorAnswer, Keywords
from toolbooth.adapters.agent_tools.derived import derived_copy
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.registered import Registered
from toolbooth.adapters.agent_tools.toolset import SchemaGuards
from toolbooth.jsonvalue import Json, json_bytes
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool as RegisteredTool


@dataclass(frozen=True)
class _Validator:
    """Replaces Pydantic's validator. For a tool of a toolset, only the JSON Schema is known, so the
    accepted arguments are validated again by `inner`, the tool's own validator.
    """

    guard: Guard
    plain: Any
    inner: Any = None

    def validate_json(self, input: str, **how: Any) -> Any:
        """Accept the text that the model wrote."""
        return self._accept(input, self.plain.validate_json, **how)

    def validate_python(self, input: Any, **how: Any) -> Any:
        """Accept arguments that the framework has parsed."""
        return self._accept(input, self.plain.validate_python, **how)

    def _accept(
        self, arguments: Any, partly: Any, allow_partial: Any = False, context: Any = None
    ) -> Any:
        # While the model writes, a stream shows incomplete arguments. No tool runs with them.
        if allow_partial not in (False, "off"):
            return partly(arguments, allow_partial=allow_partial, context=context)
        try:
            call = self.guard.accept(arguments)
        except ErrorAnswer as answer:
            raise ModelRetry(answer.text) from None
        if self.inner is None:
            return call.keywords
        return Keywords(call, self.inner.validate_python(call.keywords, context=context))


async def _within(args: Json, run: Any) -> Any:
    """Run a tool and return its result. The metadata of the result contains the repairs."""
    # A hook may have replaced the arguments. Then it is not known which call they belong to.
    if not isinstance(args, Keywords):
        return await run
    call = args.call
    try:
        result = await call.awaited(run)
    except ErrorAnswer as answer:
        raise (ModelRetry if answer.data else ToolFailed)(answer.text) from answer
    if not call.data:
        return result
    returned = cast(Any, result if isinstance(result, ToolReturn) else ToolReturn(result))
    return replace(returned, metadata=call.beside(returned.metadata))


class _GuardedSchema(FunctionSchema):
    """The `FunctionSchema` of a protected tool. It records each call."""

    async def call(self, args_dict: Json, ctx: RunContext[Any]) -> Any:
        return await _within(args_dict, super().call(args_dict, ctx))


def is_protected(thing: Tool[Any] | AbstractToolset[Any]) -> bool:
    """Return True if a tool, or every tool of a toolset, is protected."""
    if isinstance(thing, Tool):
        return isinstance(thing.function_schema, _GuardedSchema)
    if isinstance(thing, FunctionToolset):
        return bool(thing.tools) and all(map(is_protected, thing.tools.values()))
    return isinstance(thing, _GuardedToolset)


def protect(thing: Any, options: Options) -> Any:
    """Return a protected copy of a tool or a toolset."""
    if is_protected(thing):
        return thing
    own: Any = thing
    if isinstance(thing, Tool):
        return _tool(own, options)
    if not isinstance(thing, FunctionToolset):
        return _GuardedToolset(own, SchemaGuards(options))
    made = copy.copy(own)
    made.tools = {name: _tool(tool, options) for name, tool in own.tools.items()}
    return made


def _tool(tool: Tool[Any], options: Options) -> Tool[Any]:
    # The approver sees the arguments as the model wrote them.
    options = options.asked(tool.requires_approval)
    schema = tool.function_schema
    if schema.validator.title == "any":  # made from a JSON Schema
        guard = guard_schema(schema.json_schema, options, name=tool.name, keywords=True)
        changed: dict[str, Any] = {}
    else:
        guard, changed = _of_function(tool, options)
    made = copy.copy(tool)
    made.function_schema = derived_copy(
        schema,
        _GuardedSchema,
        partial(_schema_of, tool),
        options,
        validator=_Validator(guard, schema.validator),
        json_schema=guard.published,
        **changed,
    )
    made.strict = guard.strict if tool.strict else tool.strict
    return made


def _schema_of(tool: Tool[Any], _: FunctionSchema, options: Options) -> FunctionSchema:
    return _tool(tool, options).function_schema


def _of_function(tool: Tool[Any], options: Options) -> tuple[Guard, dict[str, Any]]:
    params = signature(tool.function).parameters
    guard = guard_function(
        tool.function,
        options,
        name=tool.name,
        description=tool.description or "",
        injected=list(params)[:1] if tool.takes_ctx else (),
        listed=tool.function_schema.json_schema,
        strict=bool(tool.strict),
    )
    own = [param for param in guard.contract.params if not param.injected]
    return guard, {
        "function": guard.contract.function,
        "single_arg_name": None,
        "positional_fields": [param.name for param in own if param.positional],
        "var_positional_field": None,
    }


@dataclass
class _GuardedToolset(WrapperToolset[Any]):
    """A toolset that protects the tools of another toolset by their JSON Schemas."""

    guards: SchemaGuards
    inner: dict[str, ToolsetTool[Any]] = field(default_factory=dict[str, Any])

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        found = await super().get_tools(ctx)
        return {name: self._guarded(name, tool) for name, tool in found.items()}

    def _guarded(self, name: str, tool: ToolsetTool[Any]) -> ToolsetTool[Any]:
        self.inner[name] = tool
        listed = tool.tool_def
        asked = listed.kind == "unapproved" or isinstance(self.wrapped, ApprovalRequiredToolset)
        schema = listed.parameters_json_schema
        guard = self.guards.guard(name, schema, approval=asked, keywords=True)
        validator: Any = _Validator(guard, tool.args_validator, inner=tool.args_validator)
        return replace(tool, toolset=self, args_validator=validator)

    async def call_tool(
        self, name: str, tool_args: Json, ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        running = super().call_tool(name, tool_args, ctx, self.inner[name])
        return await _within(tool_args, running)


@dataclass(frozen=True)
class _Text:
    """A validator that makes the text of the model the only argument, because a registry parses the
    text itself.
    """

    def validate_json(self, input: str, **_: Any) -> Json:
        return {"text": input}

    def validate_python(self, input: Any, **_: Any) -> Json:
        return {"text": json_bytes(input).decode()}


def registry_tool(registry: ToolRegistry, tool: RegisteredTool) -> Tool[Any]:
    """Return a tool of a registry as a `Tool`."""
    found = Registered(registry, tool)

    async def call(text: str) -> Any:
        answer = await found.call_text(text)
        if answer.is_error:
            raise (ModelRetry if answer.data else ToolFailed)(answer.text)
        return ToolReturn(answer.text, metadata=answer.data or None)

    made: Any = Tool.from_schema(call, found.name, found.description, found.schema)
    made.function_schema.validator = _Text()
    return made
