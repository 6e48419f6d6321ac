"""LlamaIndex."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from host import NOT_AN_OBJECT, NOT_READ, NOT_UTF8, READ, Answer, Json
from llama_index.core.agent.workflow import FunctionAgent, ToolCall, ToolCallResult
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.workflow import Context
from workflows.errors import WorkflowTimeoutError

from toolbooth import protect

UNMADE = frozenset[str]()
CARRIES_DATA = True
CARRIES_REFUSALS = True

name = "llama-index"
reads_text = False


def tool(function: Callable[..., Any], name: str) -> FunctionTool:
    return FunctionTool.from_defaults(function, name=name)


def foreign(schema: Json, name: str, answer: Callable[[Any], str]) -> FunctionTool:
    async def call(**arguments: Any) -> str:
        return answer(arguments)

    class Arguments(BaseModel):
        @classmethod
        def model_json_schema(cls, *args: Any, **how: Any) -> Json:
            return schema

    listed = ToolMetadata("A tool.", name, fn_schema=Arguments)
    return FunctionTool.from_defaults(async_fn=call, tool_metadata=listed)


def schema(tool: FunctionTool) -> Json:
    return tool.metadata.get_parameters_dict()


class Scripted(MockFunctionCallingLLM):
    """A model that makes the calls of a script."""

    script: tuple[Any, ...] = ()

    def _get_response_generator(self) -> Any:
        return self.answer

    def answer(self, messages: Sequence[ChatMessage], **_: Any) -> Any:
        blocks = [block for each in messages for block in each.blocks]
        made = sum(isinstance(block, ToolCallBlock) for block in blocks)
        if made == len(self.script):
            return ChatMessage("done", role="assistant")
        name, arguments = self.script[made]
        call = ToolCallBlock(tool_call_id=f"c{made}", tool_name=name, tool_kwargs=arguments)
        return ChatMessage(role="assistant", blocks=[call])


@contextmanager
def quietly() -> Iterator[None]:
    """The framework reads each attribute of an agent, also those that Pydantic has deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def agent_of(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> FunctionAgent:
    with quietly():
        return FunctionAgent(tools=list(tools), llm=Scripted(script=tuple(calls)), **how)


AGENT = agent_of([], [])

ROWS = {
    NOT_UTF8: (json.JSONDecoder, "def decode"),
    NOT_READ: (MockFunctionCallingLLM.get_tool_calls_from_response, "except (ValueError"),
    NOT_AN_OBJECT: (FunctionAgent._call_tool, "acall(**tool_input)"),
    READ: (json.JSONDecoder, "def decode"),
}


def _answer(output: Any) -> Answer:
    data = {key: each for key, each in output.raw_input.items() if key == "toolbooth"}
    return Answer(output.content, output.is_error, data)


async def step(tool: FunctionTool, arguments: Json) -> Answer:
    return _answer(await AGENT._call_tool(None, tool, arguments))


async def events(
    tools: Sequence[Any], calls: Sequence[tuple[str, Any]], kind: type[Any], **how: Any
) -> list[Any]:
    """The events of this kind in a run."""
    agent = agent_of(tools, calls, **how)
    with quietly():
        running = agent.run("go", max_iterations=len(calls) + 5)
        found = [each async for each in running.stream_events() if isinstance(each, kind)]
        await running
    return found


async def loop(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[Answer]:
    found = await events(tools, calls, ToolCallResult, streaming=False)
    return [_answer(each.tool_output) for each in found]


async def stream(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[str]:
    found = await events(tools, calls, ToolCallResult, streaming=True)
    return [each.tool_output.content for each in found]


def subclassed(function: Callable[..., Any], name: str) -> FunctionTool:
    class Own(FunctionTool):
        pass

    return Own.from_defaults(function, name=name)


def injecting() -> tuple[FunctionTool, Sequence[str], str]:
    def add(ctx: Context, number: int, tenant: str) -> str:
        """Add."""
        return f"{number} {type(ctx).__name__} {tenant}"

    # The framework does not find the context in an annotation that is text, as it is here.
    add.__annotations__ |= {"ctx": Context, "number": int, "tenant": str}
    made = FunctionTool.from_defaults(add, partial_params={"tenant": "acme"})
    return made, ["ctx", "tenant"], "1 Context acme"


def approved(
    function: Callable[..., Any], name: str, shown: list[Any]
) -> tuple[Any, Callable[[Sequence[tuple[str, Any]]], list[Answer]]]:
    """A `ToolCall` event shows the arguments before the tool runs, so the calls must be exact."""
    protected = protect(tool(function, name), approval=True)

    async def run(calls: Sequence[tuple[str, Any]]) -> list[Answer]:
        found = await events([protected], calls, (ToolCall, ToolCallResult))
        shown.extend(each.tool_kwargs for each in found if type(each) is ToolCall)
        return [_answer(each.tool_output) for each in found if type(each) is ToolCallResult]

    return protected, lambda calls: asyncio.run(run(calls))


def picklable(function: Callable[..., Any], name: str) -> None:
    """The framework's tools have closures."""


def timed(function: Callable[..., Any], name: str, seconds: float, arguments: Json) -> str:
    try:
        made = [protect(tool(function, name))]
        asyncio.run(events(made, [(name, arguments)], ToolCallResult, timeout=seconds))
    except WorkflowTimeoutError as error:
        return str(error)
    return "it ended"


def loop_names(tools: Json) -> Json:
    return {name: name for name in tools}


def carries(arguments: Any) -> bool:
    """Whether the loop carries these arguments to the tool."""
    return True


async def bare_step(tool: FunctionTool, arguments: Json) -> Any:
    """The step itself, to be timed."""
    return await AGENT._call_tool(None, tool, arguments)
