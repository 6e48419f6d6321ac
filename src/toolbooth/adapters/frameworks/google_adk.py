"""Protects tools of Google's Agent Development Kit, and toolsets such as `McpToolset`.

The ADK shows the arguments to plugins, callbacks and the confirmation of a tool before it calls the
tool. If there is one of these, nothing is repaired.
"""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from functools import cache
from typing import Any, cast

from toolbooth.extras import require

require(
    "toolbooth.adapters.frameworks.google_adk",
    extra="google-adk",
    modules={"google.adk": "Google's Agent Development Kit"},
)

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.utils._callable_utils import CallableSpec
from google.genai.types import FunctionDeclaration

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.frameworks.google_adk_registry import RegistryTool as registry_tool
from toolbooth.jsonvalue import Json

__all__ = ["is_protected", "protect", "registry_tool"]

_FROM_FUNCTION = ("google.adk.tools.function_tool", "google.adk.tools.long_running_tool")


class _Values(dict[str, Any]):
    """The accepted values of a call, by parameter."""


class _GuardedTool(BaseTool):
    """Comes before the class of a tool, which is then behind the boundary."""

    toolbooth_guard: Guard
    toolbooth_plain: BaseTool

    def __reduce__(self) -> Any:
        # What is compiled cannot be copied or pickled; it is compiled again.
        return protect, (self.toolbooth_plain, self.toolbooth_guard.options)

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
        if guard.options.approval and not isinstance(args, _Values):
            quiet = replace(guard, options=replace(guard.options, observers=()))
            try:
                args = _values(await quiet.accept_async(args))
            except ErrorAnswer:
                # The call will be refused, so there is nothing to confirm.
                return False
        return await super().check_require_confirmation(args, tool_context)

    async def run_async(self, *, args: Json, tool_context: Any) -> Any:
        guard = self.toolbooth_guard
        if _is_watched(tool_context):
            guard = replace(guard, options=replace(guard.options, approval=True))
        # A toolset may have put a prefix before the name.
        if self.name != guard.contract.name:
            guard = replace(guard, contract=replace(guard.contract, name=self.name))
        try:
            call = await guard.accept_async(args)
            running = super().run_async(args=_values(call), tool_context=tool_context)
            return await call.awaited(running)
        except ErrorAnswer as answer:
            return {"error": answer.text}


def _values(call: Call) -> _Values:
    bind = call.contract.bind
    return _Values(call.values if bind is None else bind(call.values))


def _is_watched(context: Any) -> bool:
    """Whether a plugin or a callback of the agent gets the arguments of every tool before it."""
    running, plain = context._invocation_context, vars(BasePlugin)["before_tool_callback"]
    kinds: list[Any] = [type(each) for each in running.plugin_manager.plugins]
    own = getattr(running.agent, "before_tool_callback", None)
    return bool(own) or any(each.before_tool_callback is not plain for each in kinds)


class _GuardedToolset(BaseToolset):
    """Comes before the class of a toolset, whose tools are then behind the boundary."""

    toolbooth_options: Options

    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        found = await super().get_tools(readonly_context)
        return [protect(each, self.toolbooth_options) for each in found]


def is_protected(thing: BaseTool | BaseToolset) -> bool:
    """Whether a tool or a toolset was protected."""
    return isinstance(thing, _GuardedTool | _GuardedToolset)


def protect(thing: Any, options: Options) -> Any:
    """Return a protected copy of a tool or a toolset. A tool that declares nothing is run by the
    model's provider, so it stays as it is.
    """
    if is_protected(thing):
        return thing
    made, kind = copy.copy(thing), cast(type[Any], type(thing))
    if isinstance(thing, BaseToolset):
        made.__class__ = _class(_GuardedToolset, kind)
        made.toolbooth_options = options
        return made
    guard = _guard(thing, options)
    if guard is None:
        return thing
    made.__class__ = _class(_GuardedTool, kind)
    made.toolbooth_guard, made.toolbooth_plain = guard, thing
    function = guard.contract.function
    if function is not None and function is not thing.func:
        made.func, made._spec = function, CallableSpec(function)
    return made


@cache
def _class(guarded: type[Any], plain: type[Any]) -> type[Any]:
    return type(plain.__name__, (guarded, plain), {})


def _guard(tool: Any, options: Options) -> Guard | None:
    # A policy of the tool's own class is shown the arguments too.
    kind = cast(Any, type(tool))
    is_own = not kind.check_require_confirmation.__module__.startswith("google.adk.")
    if is_own or getattr(tool, "_require_confirmation", False):
        options = replace(options, approval=True)
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
