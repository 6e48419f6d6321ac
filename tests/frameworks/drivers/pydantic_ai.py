"""PydanticAI."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from host import NOT_UTF8, Answer, Json
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelRetry,
    RunContext,
    Tool,
    ToolFailed,
    ToolReturn,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage, UsageLimits

from toolbooth import protect

ROWS = {NOT_UTF8: (json.JSONDecoder, "def decode")}
UNMADE = frozenset[str]()
CARRIES_DATA = True
CARRIES_REFUSALS = False
MANY = 100_000
"""The retries of a tool: a test may refuse any number of calls in a row."""

name = "pydantic-ai"
reads_text = True


def tool(function: Callable[..., Any], name: str) -> Tool:
    return Tool(function, name=name, max_retries=MANY)


def foreign(schema: Json, name: str, answer: Callable[[Any], str]) -> Tool:
    def run(**arguments: Any) -> str:
        return answer(arguments)

    return Tool.from_schema(run, name, "A tool.", schema)


def schema(tool: Tool) -> Json:
    return tool.function_schema.json_schema


CONTEXT = RunContext(deps=None, model=TestModel(), usage=RunUsage())


async def step(tool: Tool, arguments: str) -> Answer:
    """The validation, then the call, as `ToolManager` makes them."""
    found = tool.function_schema
    try:
        values = found.validator.validate_json(arguments or "{}")
        result = await found.call(values, CONTEXT)
    except ModelRetry as error:
        return Answer(error.message, True)
    except ToolFailed as error:
        return Answer(error.message, True)
    if isinstance(result, ToolReturn):
        return Answer(str(result.return_value), False, result.metadata or {})
    return Answer(str(result), False)


def _made(messages: Sequence[ModelMessage]) -> int:
    calls = [part for each in messages for part in each.parts if isinstance(part, ToolCallPart)]
    return len(calls)


def _agent(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> Agent:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        made = _made(messages)
        if made == len(calls):
            return ModelResponse(parts=[TextPart("done")])
        name, arguments = calls[made]
        return ModelResponse(parts=[ToolCallPart(name, arguments, f"c{made}")])

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        made = _made(messages)
        if made == len(calls):
            yield "done"
            return
        name, arguments = calls[made]
        yield {0: DeltaToolCall(name, arguments[:5], tool_call_id=f"c{made}")}
        yield {0: DeltaToolCall(json_args=arguments[5:])}

    sets = [each for each in tools if not isinstance(each, Tool)]
    own = [each for each in tools if isinstance(each, Tool)]
    model = FunctionModel(answer, stream_function=stream)
    return Agent(model, tools=own, toolsets=sets, retries=MANY, **how)


def _answers(messages: Sequence[ModelMessage]) -> list[Answer]:
    found: list[Answer] = []
    for part in (part for each in messages for part in each.parts):
        if isinstance(part, RetryPromptPart | ToolReturnPart):
            outcome = getattr(part, "outcome", "retried")
            data = getattr(part, "metadata", None) or {}
            found.append(Answer(str(part.content), outcome != "success", data))
    return found


def _limits(calls: Sequence[Any]) -> UsageLimits:
    return UsageLimits(request_limit=2 * len(calls) + 10)


async def loop(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[Answer]:
    done = await _agent(tools, calls).run("go", usage_limits=_limits(calls))
    return _answers(done.all_messages())


async def stream(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[str]:
    async with _agent(tools, calls).run_stream("go") as running:
        async for _ in running.stream_output():
            pass
        return [each.text for each in _answers(running.all_messages())]


def subclassed(function: Callable[..., Any], name: str) -> Tool:
    class Own(Tool):
        pass

    return Own(function, name=name)


def injecting() -> tuple[Tool, Sequence[str], str]:
    def add(context: RunContext[Any], number: int) -> str:
        return f"{number} {type(context).__name__}"

    return tool(add, "add"), ["context"], "1 RunContext"


def approved(
    function: Callable[..., Any], name: str, shown: list[Any]
) -> tuple[Any, Callable[[Sequence[tuple[str, Any]]], list[Answer]]]:
    protected = protect(Tool(function, name=name, requires_approval=True, max_retries=MANY))

    async def run(calls: Sequence[tuple[str, Any]]) -> list[Answer]:
        agent = _agent([protected], calls, output_type=[str, DeferredToolRequests])
        done = await agent.run("go")
        while isinstance(done.output, DeferredToolRequests):
            asked = done.output.approvals
            shown.extend(each.args_as_dict() for each in asked)
            results = DeferredToolResults(approvals={each.tool_call_id: True for each in asked})
            history = done.all_messages()
            done = await agent.run(message_history=history, deferred_tool_results=results)
        return _answers(done.all_messages())

    return protected, lambda calls: asyncio.run(run(calls))


def picklable(function: Callable[..., Any], name: str) -> Tool:
    return tool(function, name)


def timed(function: Callable[..., Any], name: str, seconds: float, arguments: Json) -> str:
    made = protect(Tool(function, name=name, timeout=seconds))
    return asyncio.run(loop([made], [(name, json.dumps(arguments))]))[0].text


def loop_names(tools: Json) -> Json:
    return {name: name for name in tools}


def carries(arguments: str) -> bool:
    """Whether the loop carries these arguments to the tool."""
    return True
