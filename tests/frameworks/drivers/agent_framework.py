"""Microsoft's Agent Framework."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import shapes
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
)
from agent_framework import tool as framework_tool
from host import NOT_READ, NOT_UTF8, READ, Answer, Json, timed_run

from toolbooth import protect

_PARSED = (Content.parse_arguments, "json.loads(self.arguments)")
ROWS = {NOT_UTF8: (json.JSONDecoder, "def decode"), NOT_READ: _PARSED, READ: _PARSED}
UNMADE = frozenset[str]()
CARRIES_DATA = True
CARRIES_REFUSALS = True

MANY = 20
"""The calls of one run: the framework reads the whole history at each step."""

name = "agent-framework"
reads_text = False


def read_arguments(text: str) -> Any:
    """The framework makes an object of all text; some text ends the run."""
    call = Content.from_function_call(call_id="c1", name="tool", arguments=text)
    return call.parse_arguments() or {}


def tool(function: Callable[..., Any], name: str) -> FunctionTool:
    return framework_tool(name=name)(function)


def foreign(schema: Json, name: str, answer: Callable[[Any], str]) -> FunctionTool:
    async def call(**arguments: Any) -> str:
        return answer(arguments)

    return FunctionTool(name=name, description="A tool.", func=call, input_model=schema)


def schema(tool: FunctionTool) -> Json:
    return tool.parameters()


def _answer(parts: Any, is_error: bool | None = None) -> Answer:
    (content,) = parts
    return Answer(content.text, is_error, dict(content.additional_properties))


async def step(tool: FunctionTool, arguments: Json) -> Answer:
    return _answer(await tool.invoke(arguments=arguments))


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """A model that makes the calls of a script."""

    def __init__(self, calls: Sequence[tuple[str, Any]], **how: Any) -> None:
        super().__init__(**how)
        self.calls = list(calls)

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        made = sum(part.type == "function_call" for each in messages for part in each.contents)
        parts: list[Any] = [Content.from_text("done")]
        if made < len(self.calls):
            name, arguments = self.calls[made]
            parts = [Content.from_function_call(call_id=f"c{made}", name=name, arguments=arguments)]
        return self._build_response_stream(_updates(parts)) if stream else _response(parts)


async def _response(parts: Any) -> ChatResponse:
    return ChatResponse(messages=[Message(role="assistant", contents=parts)])


async def _updates(parts: Any) -> Any:
    yield ChatResponseUpdate(role="assistant", contents=[Content.from_text("…")])
    yield ChatResponseUpdate(role="assistant", contents=parts)


def agent_of(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> Agent:
    limits = {"max_iterations": len(calls) + 5, "max_consecutive_errors_per_request": 1_000}
    client = Scripted(calls, function_invocation_configuration=limits | how.pop("limits", {}))
    return Agent(client, tools=list(tools), **how)


def answers(messages: Sequence[Message]) -> list[Answer]:
    found = [part for each in messages for part in each.contents if part.type == "function_result"]
    return [_answer(each.items, each.exception is not None) for each in found]


async def loop(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> list[Answer]:
    found: list[Answer] = []
    for start in range(0, len(calls), MANY):
        done = await agent_of(tools, calls[start : start + MANY], **how).run("go")
        found += answers(done.messages)
    return found


async def stream(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[str]:
    running = agent_of(tools, calls).run("go", stream=True)
    updates = [each async for each in running]
    assert any(each.text == "…" for each in updates)
    done = await running.get_final_response()
    return [each.text for each in answers(done.messages)]


def subclassed(function: Callable[..., Any], name: str) -> FunctionTool:
    class Own(FunctionTool):
        pass

    return Own(name=name, func=function)


def injecting() -> tuple[FunctionTool, Sequence[str], str]:
    def add(number: int, context: FunctionInvocationContext) -> str:
        """Add."""
        return f"{number} {type(context).__name__}"

    return tool(add, "add"), ["context"], "1 FunctionInvocationContext"


def approved(
    function: Callable[..., Any], name: str, shown: list[Any]
) -> tuple[Any, Callable[[Sequence[tuple[str, Any]]], list[Answer]]]:
    protected = protect(framework_tool(name=name, approval_mode="always_require")(function))

    async def run(calls: Sequence[tuple[str, Any]]) -> list[Answer]:
        agent = agent_of([protected], calls)
        session = agent.create_session()
        done = await agent.run("go", session=session)
        found = answers(done.messages)
        while requests := done.user_input_requests:
            shown.extend(each.function_call.parse_arguments() for each in requests)
            said = [each.to_function_approval_response(True) for each in requests]
            done = await agent.run(Message(role="user", contents=said), session=session)
            found += answers(done.messages)
        return found

    return protected, lambda calls: asyncio.run(run(calls))


def picklable(function: Callable[..., Any], name: str) -> FunctionTool:
    """A tool with a schema. The framework makes a class for the others, so these cannot be pickled."""
    listed = tool(shapes.create_contact, name).parameters()
    return FunctionTool(name=name, func=shapes.create_contact, input_model=listed)


def timed(function: Callable[..., Any], name: str, seconds: float, arguments: Json) -> str:
    """The framework has no time limit for one tool, so this is one for the run."""
    return timed_run(loop([protect(tool(function, name))], [(name, arguments)]), seconds)


def loop_names(tools: Json) -> Json:
    return {name: name for name in tools}


def carries(arguments: Any) -> bool:
    """Whether the loop carries these arguments to the tool."""
    return True


async def bare_step(tool: FunctionTool, arguments: Json) -> Any:
    """The step itself, to be timed."""
    return await tool.invoke(arguments=arguments)
