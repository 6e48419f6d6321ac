"""Protects the tools of Microsoft's Agent Framework: `FunctionTool`, and its `MCPTool` classes.

The framework prepares the arguments of the model and shows them to middleware. If a middleware has
changed the arguments, the framework prepares them again. In a protected tool, this preparation
repairs the arguments.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolbooth.extras import require_framework

require_framework("agent-framework")

from agent_framework import FunctionTool
from agent_framework._mcp import MCPTool

from toolbooth.adapters.agent_tools.call import ErrorAnswer
from toolbooth.adapters.agent_tools.derived import derived_copy
from toolbooth.adapters.agent_tools.guard import Guard
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.frameworks.agent_framework_result import (
    InvalidArguments,
    check_hidden,
    refused,
    registry_tool,
    with_data,
)
from toolbooth.adapters.frameworks.agent_framework_source import Ready, Repaired, as_sent, guard_of
from toolbooth.jsonvalue import Json

__all__ = ["is_protected", "protect", "registry_tool"]


class _GuardedTool(FunctionTool):
    """The first base class of a protected tool. The second one is the tool's own class."""

    DEFAULT_EXCLUDE = FunctionTool.DEFAULT_EXCLUDE | {"toolbooth_guard", "toolbooth_origin"}
    toolbooth_guard: Guard

    def _prepare_arguments(self, arguments: Any) -> Json:
        if isinstance(arguments, Ready):
            return arguments.call.keywords
        sent = self._as_sent(arguments)
        made = self.toolbooth_guard.repaired(sent)
        if made is None:
            # A middleware may correct the arguments. If none does, `invoke` refuses the call.
            raise InvalidArguments("the arguments will be refused")
        return Repaired(made, sent)

    def _prepare_context_arguments(self, context: Any, arguments: Any) -> Json:
        if isinstance(arguments, Ready):
            context.arguments = self._prepare_arguments(arguments)
            return context.arguments
        try:
            return super()._prepare_context_arguments(context, arguments)
        except InvalidArguments:
            # Only a security middleware calls this with wrong arguments. The call then ends here.
            try:
                self.toolbooth_guard.accept(self._as_sent(arguments))
            except ErrorAnswer as answer:
                check_hidden(context, arguments, answer)
                refused(answer.text, answer.data, context.metadata.get("call_id"))
            raise

    def _as_sent(self, arguments: Any) -> Any:
        if isinstance(arguments, Repaired) and arguments.is_unchanged():
            return arguments.sent
        made = self._mapping(arguments)
        if made is None:
            return arguments
        return as_sent(made, self.toolbooth_guard.contract.shape.objects[0].fields)

    def _mapping(self, arguments: Any) -> Any:
        # Most arguments are a plain dict. The framework's own function takes longer for a dict.
        is_plain = arguments.__class__ is dict
        return arguments if is_plain else self._arguments_as_mapping(arguments)

    async def _ready(self, given: Any) -> Ready:
        guard = self.toolbooth_guard
        if self.approval_mode == "always_require":
            guard = replace(guard, options=guard.options.asked(True))
        ready = Ready(self._mapping(given) or {})
        ready.call = await guard.accept_async(self._as_sent(given))
        return ready

    async def invoke(
        self,
        *,
        arguments: Any = None,
        context: Any = None,
        tool_call_id: str | None = None,
        **how: Any,
    ) -> Any:
        kept = {"skip_parsing": how.pop("skip_parsing", False)}
        given = arguments if arguments is not None or context is None else context.arguments
        if given is None:
            given, how = how, {}
        try:
            ready = await self._ready(given)
            kept |= {"arguments": ready, "context": context, "tool_call_id": tool_call_id}
            running = super().invoke(**kept, **how)
            return with_data(await ready.call.awaited(running), ready.call.data)
        except ErrorAnswer as answer:
            check_hidden(context, given, answer)
            return refused(answer.text, answer.data, tool_call_id)


class _GuardedServer(MCPTool):
    """The first base class of a protected `MCPTool`. The second one is its original class."""

    toolbooth_kept: dict[str, tuple[FunctionTool, FunctionTool]]
    toolbooth_options: Options

    @property
    def functions(self) -> list[FunctionTool]:
        return [self._guarded(each) for each in super().functions]

    def _guarded(self, plain: FunctionTool) -> FunctionTool:
        # The framework refuses two different tools with the same name, so keep the protected tool.
        kept = self.toolbooth_kept.get(plain.name)
        if kept is None or kept[0] is not plain:
            kept = self.toolbooth_kept[plain.name] = plain, protect(plain, self.toolbooth_options)
        return kept[1]


def is_protected(thing: FunctionTool | MCPTool) -> bool:
    """Return True if this tool, or this `MCPTool` with all its tools, is protected."""
    return isinstance(thing, _GuardedTool | _GuardedServer)


def protect(thing: Any, options: Options) -> Any:
    """Return a protected copy of a tool, or of an `MCPTool` with all its tools. A tool without a
    function is returned unchanged, because the framework does not run it.
    """
    if is_protected(thing):
        return thing
    if isinstance(thing, MCPTool):
        made = derived_copy(thing, _GuardedServer, protect, options, toolbooth_options=options)
        made.toolbooth_kept = {}
        return made
    if thing.declaration_only:
        return thing
    guard, function = guard_of(thing, options)
    made = derived_copy(thing, _GuardedTool, protect, options, toolbooth_guard=guard)
    made.func = function
    made._cached_parameters = made._input_schema_cached = guard.published
    return made
