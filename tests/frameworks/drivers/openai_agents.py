"""The OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    FunctionToolCustomDataContext,
    Model,
    ModelResponse,
    RunContextWrapper,
    Runner,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from agents._tool_invocation import _fingerprint
from agents.tool_context import ToolContext
from host import NOT_UTF8, Answer, Json
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from toolbooth import protect

set_tracing_disabled(True)

ROWS = {
    NOT_UTF8: (json.JSONDecoder, "def decode"),
    "half of a surrogate pair, in the loop": (_fingerprint, ".encode("),
}
UNMADE = frozenset[str]()
CARRIES_DATA = True
CARRIES_REFUSALS = True

name = "openai-agents"
reads_text = True


def tool(function: Callable[..., Any], name: str) -> FunctionTool:
    return function_tool(function, name_override=name, strict_mode=False)


def foreign(schema: Json, name: str, answer: Callable[[Any], str]) -> FunctionTool:
    async def invoke(_context: Any, text: str) -> str:
        return answer(json.loads(text or "{}"))

    return FunctionTool(name, "A tool.", schema, invoke, strict_json_schema=False)


def schema(tool: FunctionTool) -> Json:
    return tool.params_json_schema


async def step(tool: FunctionTool, arguments: str) -> Answer:
    context = ToolContext(
        context=None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments
    )
    output = await tool.on_invoke_tool(context, arguments)
    found = FunctionToolCustomDataContext(context, tool, output, {})
    extract = tool.custom_data_extractor
    return Answer(str(output), None, await extract(found) if extract else {})


class Scripted(Model):
    """A model that makes the calls of a script."""

    def __init__(self, calls: Sequence[tuple[str, str]]) -> None:
        self.calls = list(calls)
        self.made = 0

    async def get_response(self, *args: Any, **how: Any) -> ModelResponse:
        return ModelResponse(output=[self._next()], usage=Usage(), response_id=None)

    def _next(self) -> Any:
        if self.made == len(self.calls):
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            return ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
        name, arguments = self.calls[self.made]
        self.made += 1
        return ResponseFunctionToolCall(
            id=f"i{self.made}",
            call_id=f"c{self.made}",
            name=name,
            arguments=arguments,
            type="function_call",
        )

    async def stream_response(self, *args: Any, **how: Any) -> Any:
        response = Response(
            id="r",
            created_at=0,
            model="scripted",
            object="response",
            output=[self._next()],
            parallel_tool_calls=False,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(
            response=response, sequence_number=0, type="response.completed"
        )


def _agent(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> Agent:
    return Agent(name="agent", tools=list(tools), model=Scripted(calls))


def _answers(items: Sequence[Any]) -> list[Answer]:
    found = [item for item in items if item.type == "tool_call_output_item"]
    return [Answer(str(item.output), None, item.custom_data or {}) for item in found]


async def loop(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[Answer]:
    done = await Runner.run(_agent(tools, calls), "go", max_turns=len(calls) + 2)
    return _answers(done.new_items)


async def stream(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[str]:
    running = Runner.run_streamed(_agent(tools, calls), "go", max_turns=len(calls) + 2)
    events = [each async for each in running.stream_events()]
    items = [each.item for each in events if each.type == "run_item_stream_event"]
    return [each.text for each in _answers(items)]


def subclassed(function: Callable[..., Any], name: str) -> FunctionTool:
    class Own(FunctionTool):
        pass

    made = tool(function, name)
    made.__class__ = Own
    return made


def injecting() -> tuple[FunctionTool, Sequence[str], str]:
    def add(context: RunContextWrapper[Any], number: int) -> str:
        """Add."""
        return f"{number} {isinstance(context, RunContextWrapper)}"

    return tool(add, "add"), ["context"], "1 True"


def approved(
    function: Callable[..., Any], name: str, shown: list[Any]
) -> tuple[Any, Callable[[Sequence[tuple[str, Any]]], list[Answer]]]:
    async def policy(context: Any, arguments: Json, call_id: str) -> bool:
        shown.append(arguments)
        return True

    made = function_tool(function, name_override=name, strict_mode=False, needs_approval=policy)
    protected = protect(made)

    async def run(calls: Sequence[tuple[str, Any]]) -> list[Answer]:
        agent = _agent([protected], calls)
        done = await Runner.run(agent, "go")
        while done.interruptions:
            state = done.to_state()
            for each in done.interruptions:
                state.approve(each)
            done = await Runner.run(agent, state)
        return _answers(done.new_items)

    return protected, lambda calls: asyncio.run(run(calls))


def picklable(function: Callable[..., Any], name: str) -> None:
    """The SDK's tools have closures."""


def timed(function: Callable[..., Any], name: str, seconds: float, arguments: Json) -> str:
    made = function_tool(function, name_override=name, strict_mode=False, timeout=seconds)
    return asyncio.run(loop([protect(made)], [(name, json.dumps(arguments))]))[0].text


def loop_names(tools: Json) -> Json:
    return {name: name for name in tools}


def carries(arguments: str) -> bool:
    """Whether the loop carries these arguments to the tool. The SDK hashes each call, and ends the
    run if it has half of a surrogate pair.
    """
    return "\\ud800" not in arguments


async def bare_step(tool: FunctionTool, arguments: str) -> Any:
    """The step itself, to be timed."""
    context = ToolContext(
        context=None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments
    )
    return await tool.on_invoke_tool(context, arguments)
