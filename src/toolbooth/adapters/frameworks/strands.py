"""Protects the tools of Strands: functions with `@tool`, modules, the tools of `MCPClient`, and
tools of your own classes.

The hooks and the middleware of an agent see the arguments before the tool gets them. If an agent
has any, a call that needs a repair is refused.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

from toolbooth.extras import require_framework

require_framework("strands")

from strands.tools.decorator import DecoratedFunctionTool, FunctionToolMetadata
from strands.tools.tool_provider import ToolProvider
from strands.types.tools import AgentTool, ToolGenerator

from toolbooth.adapters.agent_tools.call import ErrorAnswer
from toolbooth.adapters.agent_tools.derived import derived_copy
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.frameworks.strands_step import accepted, recorded, refusal, registry_tool
from toolbooth.jsonvalue import Json

__all__ = ["is_protected", "protect", "registry_tool"]


class _GuardedTool(AgentTool):
    """The first base class of a protected tool. The second one is the original class of the
    tool.
    """

    toolbooth_guard: Guard
    toolbooth_inner: AgentTool
    toolbooth_origin: Any
    toolbooth_spec: Any

    def __get__(self, instance: Any, kind: type[Any] | None = None) -> Any:
        # For a decorated method, the framework makes a new tool that is bound to the instance.
        plain, options = self.toolbooth_origin[1]
        if instance is None or not hasattr(plain, "__get__"):
            return self
        return protect(plain.__get__(instance, kind), options)

    @property
    def tool_spec(self) -> Any:
        return self.toolbooth_spec

    @tool_spec.setter
    def tool_spec(self, value: Any) -> None:
        plain, options = self.toolbooth_origin[1]
        changed = copy.copy(plain)
        changed.tool_spec = value
        again: Any = protect(changed, options)
        vars(self).update(again.__dict__)

    async def stream(self, tool_use: Any, invocation_state: Json, **kwargs: Any) -> ToolGenerator:
        try:
            call = await accepted(self.toolbooth_guard, tool_use, invocation_state)
            given: Any = {**tool_use, "input": call.keywords}
            running = self.toolbooth_inner.stream(given, invocation_state, **kwargs)
            async for event in recorded(call, running):
                yield event
        except ErrorAnswer as answer:
            yield refusal(tool_use, answer)


class _GuardedProvider(ToolProvider):
    """A provider of protected tools. It uses the connection of the original provider."""

    def __init__(self, plain: ToolProvider, options: Options) -> None:
        self.plain, self.options = plain, options

    async def load_tools(self, **kwargs: Any) -> list[AgentTool]:
        return [protect(each, self.options) for each in await self.plain.load_tools(**kwargs)]

    def add_consumer(self, consumer_id: Any, **kwargs: Any) -> None:
        self.plain.add_consumer(consumer_id, **kwargs)

    def remove_consumer(self, consumer_id: Any, **kwargs: Any) -> None:
        self.plain.remove_consumer(consumer_id, **kwargs)


def is_protected(thing: AgentTool | ToolProvider) -> bool:
    """Return True if a tool or a provider is protected."""
    return isinstance(thing, _GuardedTool | _GuardedProvider)


def protect(thing: Any, options: Options) -> Any:
    """Return a protected copy of a tool, or a provider whose tools are protected."""
    if is_protected(thing):
        return thing
    if isinstance(thing, ToolProvider):
        return _GuardedProvider(thing, options)
    spec = thing.tool_spec
    schema = spec["inputSchema"].get("json", spec["inputSchema"])
    is_function = isinstance(thing, DecoratedFunctionTool)
    guard, inner = (_of_function if is_function else _of_schema)(thing, schema, options)
    made = derived_copy(thing, _GuardedTool, protect, options, toolbooth_guard=guard)
    made.toolbooth_inner = inner
    made.toolbooth_spec = {**spec, "inputSchema": {"json": guard.published}}
    return made


def _of_schema(tool: AgentTool, schema: Json, options: Options) -> tuple[Guard, AgentTool]:
    return guard_schema(schema, options, name=tool.tool_name, keywords=True), tool


class _Accepted(FunctionToolMetadata):
    """The metadata of a function. It does not validate arguments, because they are accepted
    already.
    """

    def validate_input(self, input_data: Json) -> Json:
        return input_data


def _of_function(tool: Any, schema: Json, options: Options) -> tuple[Guard, Any]:
    plain, names = tool._metadata, inspect.signature(tool._tool_func).parameters
    made = plain.extract_metadata()
    guard = guard_function(
        tool._tool_func,
        options,
        name=tool.tool_name,
        description=tool.tool_spec["description"],
        injected=[name for name in names if plain._is_special_parameter(name)],
        made=made["inputSchema"]["json"],
        listed=_described(schema),
    )
    inner = copy.copy(tool)
    inner._metadata, inner._tool_func = copy.copy(plain), guard.contract.function
    inner._metadata.__class__ = _Accepted
    return guard, inner


def _described(schema: Json) -> Json:
    """Return the schema without the descriptions that the framework has made from the names of the
    parameters.
    """
    nodes = {name: dict(node) for name, node in schema.get("properties", {}).items()}
    for name, node in nodes.items():
        if node.get("description") == f"Parameter {name}":
            del node["description"]
    return {**schema, "properties": nodes}
