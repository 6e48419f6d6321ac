"""Strands."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import shapes
from host import NOT_MADE, NOT_READ, NOT_UTF8, READ, Answer, Json, timed_run
from strands import Agent, ToolContext
from strands import tool as strands_tool
from strands.event_loop import streaming
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent
from strands.models.model import Model
from strands.tools.decorator import DecoratedFunctionTool, FunctionToolMetadata
from strands.tools.tools import PythonAgentTool
from strands.types.events import ToolResultEvent
from strands.types.tools import AgentTool

from toolbooth import protect

_PARSED = (streaming.handle_content_block_stop, "json.loads(raw_input)")
ROWS = {
    NOT_UTF8: (json.JSONDecoder, "def decode"),
    NOT_READ: _PARSED,
    READ: _PARSED,
    NOT_MADE: (
        FunctionToolMetadata._extract_annotated_metadata,
        "raise NotImplementedError",
    ),
}
UNMADE = frozenset(("tagged", "parsed"))
CARRIES_DATA = True
CARRIES_REFUSALS = True

name = "strands"
reads_text = False
read_arguments = json.loads
"""Any JSON value reaches a tool."""


def tool(function: Callable[..., Any], name: str) -> DecoratedFunctionTool[..., Any]:
    return strands_tool(name=name)(function)


def foreign(schema: Json, name: str, answer: Callable[[Any], str]) -> PythonAgentTool:
    async def call(tool_use: Any, **_: Any) -> Any:
        return result_of(tool_use, answer(tool_use["input"]))

    listed: Any = {"name": name, "description": "A tool.", "inputSchema": {"json": schema}}
    return PythonAgentTool(name, listed, call)


def result_of(tool_use: Any, text: str) -> Json:
    content = [{"text": text}]
    return {"toolUseId": tool_use["toolUseId"], "status": "success", "content": content}


def schema(tool: AgentTool) -> Json:
    return tool.tool_spec["inputSchema"]["json"]


def _answer(result: Any) -> Answer:
    (content,) = result["content"]
    return Answer(content["text"], result["status"] == "error", result.get("metadata") or {})


async def step(tool: AgentTool, arguments: Any) -> Answer:
    return _answer(await bare_step(tool, arguments))


async def bare_step(tool: AgentTool, arguments: Any) -> Any:
    """The step itself, to be timed."""
    use: Any = {"toolUseId": "c1", "name": tool.tool_name, "input": arguments}
    events = [each async for each in tool.stream(use, {})]
    assert isinstance(events[-1], ToolResultEvent)
    return events[-1].tool_result


class Scripted(Model):
    """A model that makes the calls of a script, in parts as a provider does."""

    def __init__(self, calls: Sequence[tuple[str, Any]]) -> None:
        self.calls = list(calls)

    def get_config(self) -> Any:
        return {}

    def update_config(self, **_: Any) -> None:
        raise NotImplementedError

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> Any:
        made = sum("toolUse" in block for each in messages for block in each["content"])
        yield {"messageStart": {"role": "assistant"}}
        if made == len(self.calls):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
        else:
            name, arguments = self.calls[made]
            use = {"name": name, "toolUseId": f"c{made}"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            text = arguments.decode() if isinstance(arguments, bytes) else json.dumps(arguments)
            for part in (text[:5], text[5:]):
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": part}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if made == len(self.calls) else "tool_use"}}


def agent_of(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> Agent:
    return Agent(model=Scripted(calls), tools=list(tools), callback_handler=None, **how)


MANY = 20
"""The calls of one run: the framework reads the whole history at each step."""


async def loop(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> list[Answer]:
    found: list[Answer] = []

    def ended(event: AfterToolCallEvent) -> None:
        found.append(_answer(event.result))

    for start in range(0, len(calls), MANY):
        agent = agent_of(tools, calls[start : start + MANY], **how)
        agent.hooks.add_callback(AfterToolCallEvent, ended)
        await agent.invoke_async("go")
    return found


async def stream(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[str]:
    events = [each async for each in agent_of(tools, calls).stream_async("go")]
    assert any("data" in each for each in events)
    blocks = [block for each in events if "message" in each for block in each["message"]["content"]]
    return [_answer(each["toolResult"]).text for each in blocks if "toolResult" in each]


def subclassed(function: Callable[..., Any], name: str) -> AgentTool:
    class Own(DecoratedFunctionTool):
        pass

    plain = tool(function, name)
    return Own(name, plain.tool_spec, function, plain._metadata)


def injecting() -> tuple[AgentTool, Sequence[str], str]:
    def add(number: int, agent: Any, context: ToolContext) -> str:
        """Add."""
        return f"{number} {type(agent).__name__} {type(context).__name__}"

    made = strands_tool(context="context")(add)
    return made, ["agent", "context"], "1 Agent ToolContext"


def approved(
    function: Callable[..., Any], name: str, shown: list[Any]
) -> tuple[Any, Callable[[Sequence[tuple[str, Any]]], list[Answer]]]:
    protected = protect(tool(function, name))

    def approve(event: BeforeToolCallEvent) -> None:
        shown.append(event.tool_use["input"])

    return protected, lambda calls: asyncio.run(loop([protected], calls, hooks=[approve]))


def _create_contact(tool_use: Any, **_: Any) -> Json:
    return result_of(tool_use, shapes.create_contact(**tool_use["input"]))


def picklable(function: Callable[..., Any], name: str) -> AgentTool:
    """A tool of a module. The framework makes a class for a decorated function, so that cannot be
    pickled.
    """
    return PythonAgentTool(name, tool(function, name).tool_spec, _create_contact)


def timed(function: Callable[..., Any], name: str, seconds: float, arguments: Json) -> str:
    """Strands has no time limit for one tool, so this is one for the run."""
    return timed_run(loop([protect(tool(function, name))], [(name, arguments)]), seconds)


def loop_names(tools: Json) -> Json:
    """Names that the loop takes: it refuses a call of a tool with another character."""
    names = {name: re.sub("[^a-zA-Z0-9_-]", "_", name) for name in tools}
    for name, made in tools.items():
        made._tool_name = names[name]
    return names


def carries(arguments: Any) -> bool:
    """Whether the loop carries these arguments to the tool."""
    return True
