"""Calls a protected tool or a registry tool in Strands, from the arguments of the model to the
result.
"""

from __future__ import annotations

from asyncio import CancelledError
from dataclasses import replace
from typing import Any

from strands.hooks.events import BeforeToolCallEvent, BeforeToolsEvent
from strands.middleware import ExecuteToolStage
from strands.tools.tools import PythonAgentTool
from strands.types.events import ToolResultEvent
from strands.types.tools import AgentTool, ToolGenerator

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.guard import Guard
from toolbooth.adapters.agent_tools.registered import Registered
from toolbooth.jsonvalue import Json, is_object, json_bytes
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

_BEFORE = (BeforeToolsEvent, BeforeToolCallEvent)
_DELEGATION = "strands.agent._agent_delegation"


async def accepted(guard: Guard, tool_use: Any, state: Json) -> Call:
    """Accept a call. If a hook or a middleware was shown the arguments, a call that needs a repair
    is refused.

    Raises:
        ErrorAnswer: the call is refused.
    """
    if _is_watched(state.get("agent")):
        guard = replace(guard, options=guard.options.asked(True))
    sent: Any = tool_use.get("input", {})
    # A model may write any JSON value. A string here is a JSON string, not the JSON text of all
    # arguments.
    return await guard.accept_async(sent if is_object(sent) else json_bytes(sent).decode())


def _is_watched(agent: Any) -> bool:
    """Return True if a hook or a middleware of the agent gets the arguments before the tool."""
    if agent is None:
        return False
    hooks, handlers = agent.hooks._registered_callbacks, agent._middleware_registry._handlers
    found = [each.callback for kind in _BEFORE for each in hooks.get(kind, ())]
    stage = handlers.get(ExecuteToolStage, ())
    found += [each.handler for each in stage if each.phase != "output"]
    # The framework adds a hook of its own to every agent. This hook does not count.
    return any(getattr(each, "__module__", None) != _DELEGATION for each in found)


async def recorded(call: Call, events: ToolGenerator) -> ToolGenerator:
    """Yield the events of a tool up to its result, and record the call. The metadata of the result
    contains the repairs.
    """
    event: Any = None
    try:
        async for event in events:
            if isinstance(event, ToolResultEvent):
                break
            yield event
        else:
            call.ended()
            return
    except (Exception, CancelledError) as error:
        call.failed(error)
        raise
    if event.exception is not None:
        call.failed(event.exception)
    else:
        call.ended()
        if call.data:
            result: Any = event.tool_result
            made: Any = {**result, "metadata": call.beside(result.get("metadata"))}
            event = ToolResultEvent(made, backgrounded=event.backgrounded)
    yield event


def refusal(tool_use: Json, answer: ErrorAnswer) -> ToolResultEvent:
    """Return the result of a call that was refused, or whose tool raised an error for the model."""
    result = _result(tool_use, answer.text, answer.data, is_error=True)
    return ToolResultEvent(result, exception=answer)


def _result(tool_use: Json, text: str, data: Json, *, is_error: bool) -> Any:
    """Return the result of a tool. `data` is for programs, not for the model."""
    status = "error" if is_error else "success"
    made = {"toolUseId": tool_use["toolUseId"], "status": status, "content": [{"text": text}]}
    return {**made, "metadata": data} if data else made


def registry_tool(registry: ToolRegistry, tool: Tool) -> AgentTool:
    """Return a tool of a registry as a tool of Strands."""
    found = Registered(registry, tool)

    async def call(tool_use: Any, **_: Any) -> Any:
        answer = await found.call_async(tool_use["input"])
        return _result(tool_use, answer.text, answer.data, is_error=answer.is_error)

    said = found.description or found.name
    listed: Any = {"name": found.name, "description": said, "inputSchema": {"json": found.schema}}
    return PythonAgentTool(found.name, listed, call)
