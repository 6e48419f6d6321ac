"""Protects the tools of PydanticAI: `Tool`, and toolsets, also of other makers.

The framework validates the arguments before it asks for approval and before its hooks, with the
`args_validator` of a tool. That is replaced: it accepts the text of the model, or refuses it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import Any, cast

from toolbooth.extras import require

require(
    "toolbooth.adapters.frameworks.pydantic_ai",
    extra="pydantic-ai",
    modules={"pydantic_ai": "PydanticAI"},
)

from pydantic_ai import FunctionToolset, ModelRetry, RunContext, Tool, ToolFailed, ToolReturn
from pydantic_ai._function_schema import FunctionSchema
from pydantic_ai.toolsets import AbstractToolset, ApprovalRequiredToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.jsonvalue import Json, is_object, json_bytes
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool as RegisteredTool


class _Values(dict[str, Any]):
    """The keywords of the function, and the call that they are from."""

    call: Call


@dataclass(frozen=True)
class _Validator:
    """Takes the place of Pydantic's validator. `inner` validates what was accepted, if the tool has
    only a JSON Schema here.
    """

    guard: Guard
    plain: Any
    inner: Any = None

    def validate_json(self, input: str, **how: Any) -> Any:
        """Accept the text that the model wrote."""
        return self._accept(input, self.plain.validate_json, **how)

    def validate_python(self, input: Any, **how: Any) -> Any:
        """Accept arguments that the framework has read."""
        return self._accept(input, self.plain.validate_python, **how)

    def _accept(
        self, arguments: Any, partly: Any, allow_partial: Any = False, context: Any = None
    ) -> Any:
        # A stream shows arguments before they are complete. No tool runs with these.
        if allow_partial not in (False, "off"):
            return partly(arguments, allow_partial=allow_partial, context=context)
        try:
            call = self.guard.accept(arguments)
        except ErrorAnswer as answer:
            raise ModelRetry(answer.text) from None
        bind = self.guard.contract.bind
        values = call.values if bind is None else bind(call.values)
        if self.inner is not None:
            values = self.inner.validate_python(values, context=context)
        made = _Values(values)
        made.call = call
        return made


async def _within(args: Json, run: Any) -> Any:
    """The result of a tool; its repairs are in the metadata."""
    call: Call | None = getattr(args, "call", None)
    # A hook has replaced the arguments, so the call is not known.
    if call is None:
        return await run
    try:
        result = await call.awaited(run)
    except ErrorAnswer as answer:
        raise (ModelRetry if answer.data else ToolFailed)(answer.text) from answer
    if not call.data:
        return result
    returned = _whole(result)
    if returned.metadata is None or is_object(returned.metadata):
        return replace(returned, metadata={**(returned.metadata or {}), **call.data})
    return returned


def _whole(result: Any) -> Any:
    made: Any = ToolReturn(result)
    is_whole = isinstance(result, ToolReturn)
    return cast(Any, result) if is_whole else made


@dataclass(kw_only=True)
class _GuardedSchema(FunctionSchema):
    """The schema of a function behind the boundary."""

    guard: Guard
    origin: tuple[Tool[Any], Options]

    def __reduce__(self) -> Any:
        # What is compiled cannot be pickled; it is compiled again.
        return _schema_of, self.origin

    async def call(self, args_dict: Json, ctx: RunContext[Any]) -> Any:
        return await _within(args_dict, super().call(args_dict, ctx))


def is_protected(thing: Tool[Any] | AbstractToolset[Any]) -> bool:
    """Whether a tool or a toolset was protected."""
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
        return _GuardedToolset(own, options)
    made = copy.copy(own)
    made.tools = {name: _tool(tool, options) for name, tool in own.tools.items()}
    return made


def _tool(tool: Tool[Any], options: Options) -> Tool[Any]:
    # An approver is shown the arguments as the model wrote them.
    options = replace(options, approval=options.approval or tool.requires_approval)
    schema = tool.function_schema
    if schema.validator.title == "any":  # made from a JSON Schema
        guard = guard_schema(schema.json_schema, options, name=tool.name, keywords=True)
        changed: dict[str, Any] = {}
    else:
        guard, changed = _of_function(tool, options)
    same = {each.name: getattr(schema, each.name) for each in fields(schema)}
    changed |= {
        "validator": _Validator(guard, schema.validator),
        "json_schema": guard.published,
        "guard": guard,
        "origin": (tool, options),
    }
    made = copy.copy(tool)
    made.function_schema = _GuardedSchema(**{**same, **changed})
    made.strict = guard.strict if tool.strict else tool.strict
    return made


def _schema_of(tool: Tool[Any], options: Options) -> FunctionSchema:
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
    """A toolset whose tools are behind the boundary, by their JSON Schemas."""

    options: Options
    guards: dict[str, tuple[ToolsetTool[Any], Guard]] = field(default_factory=dict[str, Any])

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        found = await super().get_tools(ctx)
        return {name: self._guarded(name, tool) for name, tool in found.items()}

    def _guarded(self, name: str, tool: ToolsetTool[Any]) -> ToolsetTool[Any]:
        listed = tool.tool_def
        asked = listed.kind == "unapproved" or isinstance(self.wrapped, ApprovalRequiredToolset)
        options = replace(self.options, approval=self.options.approval or asked)
        kept = self.guards.get(name)
        schema = listed.parameters_json_schema
        if kept is None or kept[0].tool_def.parameters_json_schema != schema:
            kept = tool, guard_schema(schema, options, name=name, keywords=True)
        self.guards[name] = tool, kept[1]
        validator: Any = _Validator(kept[1], tool.args_validator, inner=tool.args_validator)
        return replace(tool, toolset=self, args_validator=validator)

    async def call_tool(
        self, name: str, tool_args: Json, ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        inner, _ = self.guards[name]
        return await _within(tool_args, super().call_tool(name, tool_args, ctx, inner))


@dataclass(frozen=True)
class _Text:
    """Takes the text of the model as one argument, for the registry."""

    def validate_json(self, input: str, **_: Any) -> Json:
        return {"arguments": input.encode()}

    def validate_python(self, input: Any, **_: Any) -> Json:
        return {"arguments": json_bytes(input)}


def registry_tool(registry: ToolRegistry, tool: RegisteredTool) -> Tool[Any]:
    """Return a tool of a registry as a `Tool`."""

    async def call(arguments: bytes) -> Any:
        result = await registry.call_bytes_async(tool.name, arguments)
        text = "\n".join(each.get("text", "") for each in result["content"])
        if result["isError"]:
            raise (ModelRetry if "_meta" in result else ToolFailed)(text)
        return ToolReturn(text, metadata=result.get("_meta"))

    listing = tool.listing()
    schema = listing["inputSchema"]
    made: Any = Tool.from_schema(call, tool.name, listing.get("description"), schema)
    made.function_schema.validator = _Text()
    return made
