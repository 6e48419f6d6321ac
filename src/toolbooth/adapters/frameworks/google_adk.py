"""Protects tools of Google's Agent Development Kit, and toolsets such as `McpToolset`.

Before the ADK calls a tool, it shows the arguments to plugins, to callbacks, and to a person who
has to confirm the call. In all these cases, a call that needs a repair is refused.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, cast

from toolbooth.extras import require_framework

require_framework("google-adk")

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.utils._callable_utils import CallableSpec
from google.genai.types import FunctionDeclaration

from toolbooth.adapters.agent_tools.call import ErrorAnswer, Keywords
from toolbooth.adapters.agent_tools.derived import derived_copy
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.registered import Registered
from toolbooth.jsonvalue import Json
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

_FROM_FUNCTION = ("google.adk.tools.function_tool", "google.adk.tools.long_running_tool")


class _GuardedTool(BaseTool):
    """The first base class of a protected tool. The second one is the tool's own class."""

    toolbooth_guard: Guard

    def _get_declaration(self) -> FunctionDeclaration | None:
        declared = super()._get_declaration()
        if declared is not None:
            declared.parameters = None
            declared.parameters_json_schema = self.toolbooth_guard.published
        return declared

    def _preprocess_args_with_validation(self, args: Json) -> Any:
        return args, []

    async def check_require_confirmation(self, args: Json, tool_context: Any) -> bool:
        guard = self.toolbooth_guard
        if guard.options.approval and not isinstance(args, Keywords):
            quiet = replace(guard, options=replace(guard.options, observers=()))
            try:
                args = (await quiet.accept_async(args)).keywords
            except ErrorAnswer:
                # The call will be refused, so there is nothing to confirm.
                return False
        return await super().check_require_confirmation(args, tool_context)

    async def run_async(self, *, args: Json, tool_context: Any) -> Any:
        guard = self.toolbooth_guard
        if _is_watched(tool_context):
            guard = replace(guard, options=guard.options.asked(True))
        # A toolset may have put a prefix before the name.
        if self.name != guard.contract.name:
            guard = replace(guard, contract=replace(guard.contract, name=self.name))
        try:
            call = await guard.accept_async(args)
            running = super().run_async(args=call.keywords, tool_context=tool_context)
            return await call.awaited(running)
        except ErrorAnswer as answer:
            return {"error": answer.text}


def _is_watched(context: Any) -> bool:
    """Return True if a plugin or a callback of the agent gets the arguments before a tool runs."""
    running, plain = context._invocation_context, vars(BasePlugin)["before_tool_callback"]
    kinds: list[Any] = [type(each) for each in running.plugin_manager.plugins]
    own = getattr(running.agent, "before_tool_callback", None)
    return bool(own) or any(each.before_tool_callback is not plain for each in kinds)


class _GuardedToolset(BaseToolset):
    """The first base class of a protected toolset. The second one is the toolset's own class."""

    toolbooth_options: Options

    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        found = await super().get_tools(readonly_context)
        return [protect(each, self.toolbooth_options) for each in found]


def is_protected(thing: BaseTool | BaseToolset) -> bool:
    """Return True if a tool or a toolset is protected."""
    return isinstance(thing, _GuardedTool | _GuardedToolset)


def protect(thing: Any, options: Options) -> Any:
    """Return a protected copy of a tool or a toolset. A tool without a declaration is returned
    unchanged, because the provider of the model runs it.
    """
    if is_protected(thing):
        return thing
    if isinstance(thing, BaseToolset):
        return derived_copy(thing, _GuardedToolset, protect, options, toolbooth_options=options)
    guard = _guard(thing, options)
    if guard is None:
        return thing
    made = derived_copy(thing, _GuardedTool, protect, options, toolbooth_guard=guard)
    function = guard.contract.function
    if function is not None and function is not thing.func:
        made.func, made._spec = function, CallableSpec(function)
    return made


def _guard(tool: Any, options: Options) -> Guard | None:
    # If the tool's class has its own confirmation policy, this policy sees the arguments too.
    kind = cast(Any, type(tool))
    is_own = not kind.check_require_confirmation.__module__.startswith("google.adk.")
    options = options.asked(is_own or bool(getattr(tool, "_require_confirmation", False)))
    name, said = tool.name, tool.description
    if kind._get_declaration.__module__ in _FROM_FUNCTION:
        filled = set(tool._ignore_params) & inspect.signature(tool.func).parameters.keys()
        return guard_function(tool.func, options, name=name, description=said, injected=filled)
    declared = tool._get_declaration()
    if declared is None:
        return None
    schema = declared.parameters_json_schema or {"type": "object"}
    if declared.parameters is not None:
        schema = declared.parameters.json_schema.model_dump(mode="json", exclude_none=True)
    return guard_schema(schema, options, name=name, keywords=True)


class _RegistryTool(BaseTool):
    def __init__(self, registry: ToolRegistry, tool: Tool) -> None:
        found = self.registered = Registered(registry, tool)
        super().__init__(name=found.name, description=found.description)

    def _get_declaration(self) -> FunctionDeclaration:
        how: Json = {"parameters_json_schema": self.registered.schema}
        return FunctionDeclaration(name=self.name, description=self.description, **how)

    async def run_async(self, *, args: Json, tool_context: Any) -> Json:
        answer = await self.registered.call_async(args)
        return {"error" if answer.is_error else "result": answer.text}


registry_tool = _RegistryTool
