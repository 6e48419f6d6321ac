"""LangChain's tools, run by LangGraph's `ToolNode` and by `create_agent`."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from host import NOT_AN_OBJECT, NOT_READ, NOT_UTF8, READ, Answer, Json
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.output_parsers.openai_tools import parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import InjectedState, ToolRuntime
from langgraph.types import Command
from shapes import Contact

from toolbooth import protect

name = "langchain"
reads_text = False

ROWS = {
    READ: (parse_tool_call, "json.loads("),
    NOT_READ: (parse_tool_call, "json.loads("),
    NOT_AN_OBJECT: (ToolCall, "args: dict"),
    NOT_UTF8: (json.JSONDecoder, "def decode"),
}
UNMADE = frozenset[str]()
CARRIES_DATA = True
CARRIES_REFUSALS = True


def tool(function: Callable[..., Any], name: str) -> BaseTool:
    how = {"coroutine": function} if inspect.iscoroutinefunction(function) else {"func": function}
    return StructuredTool.from_function(**how, name=name, description="A tool.")


def foreign(schema: Json, name: str, answer: Callable[[Any], str]) -> BaseTool:
    def run(**arguments: Any) -> str:
        return answer(arguments)

    return StructuredTool(name=name, description="A tool.", args_schema=schema, func=run)


def schema(tool: BaseTool) -> Json:
    shown = tool.tool_call_schema
    return shown if isinstance(shown, dict) else shown.model_json_schema()


async def step(tool: BaseTool, arguments: Json) -> Answer:
    """`ToolNode` calls `ainvoke` with the call of the message."""
    call = {"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"}
    return _answer(await tool.ainvoke(call))


def _answer(message: ToolMessage) -> Answer:
    return Answer(message.text, message.status == "error", message.artifact or {})


class Scripted(BaseChatModel):
    """A model that makes the calls of a script."""

    calls: list[tuple[str, Any]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **how: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **how: Any) -> ChatResult:
        made = sum(isinstance(each, AIMessage) for each in messages)
        message = AIMessage("done")
        if made < len(self.calls):
            name, arguments = self.calls[made]
            call = {"name": name, "args": arguments, "id": f"c{made}", "type": "tool_call"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def _agent(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> Any:
    return create_agent(Scripted(calls=list(calls)), list(tools), **how)


def _start(calls: Sequence[Any]) -> tuple[Json, Json]:
    return {"messages": [HumanMessage("go")]}, {"recursion_limit": 3 * len(calls) + 10}


def _answers(messages: Sequence[Any]) -> list[Answer]:
    return [_answer(each) for each in messages if isinstance(each, ToolMessage)]


async def loop(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[Answer]:
    done = await _agent(tools, calls).ainvoke(*_start(calls))
    return _answers(done["messages"])


async def stream(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[str]:
    found: list[str] = []
    async for update in _agent(tools, calls).astream(*_start(calls), stream_mode="updates"):
        for changed in update.values():
            found += [each.text for each in _answers(changed["messages"])]
    return found


def subclassed(function: Callable[..., Any], name: str) -> BaseTool:
    """A tool in LangChain's older form: a class with a `_run`."""

    class Own(BaseTool):
        description: str = "A tool."

        def _run(self, contact: Contact | None = None, note: str = "", limit: int = 10) -> str:
            return function(contact, note, limit)

    return Own(name=name)


def injecting() -> tuple[BaseTool, Sequence[str], str]:
    def add(
        number: int,
        config: RunnableConfig,
        state: Annotated[dict[str, Any], InjectedState],
        runtime: ToolRuntime,
        call: Annotated[str, InjectedToolCallId],
    ) -> str:
        """Add."""
        return f"{number} {len(config) > 0} {sorted(state)} {type(runtime).__name__} {call}"

    names = ["config", "state", "runtime", "call"]
    return tool(add, "add"), names, "1 True ['messages'] ToolRuntime c4"


def approved(
    function: Callable[..., Any], name: str, shown: list[Any]
) -> tuple[Any, Callable[[Sequence[tuple[str, Any]]], list[Answer]]]:
    """`HumanInTheLoopMiddleware` shows the message, so the calls must be exact: `approval=True`."""
    protected = protect(tool(function, name), approval=True)

    def run(calls: Sequence[tuple[str, Any]]) -> list[Answer]:
        asked = HumanInTheLoopMiddleware(interrupt_on={name: True})
        agent = _agent([protected], calls, middleware=[asked], checkpointer=InMemorySaver())
        start, config = _start(calls)
        config["configurable"] = {"thread_id": "1"}
        done = agent.invoke(start, config)
        while "__interrupt__" in done:
            requests = done["__interrupt__"][0].value["action_requests"]
            shown.extend(each["args"] for each in requests)
            decisions = [{"type": "approve"} for _ in requests]
            done = agent.invoke(Command(resume={"decisions": decisions}), config)
        return _answers(done["messages"])

    return protected, run


def picklable(function: Callable[..., Any], name: str) -> BaseTool:
    made = tool(function, name)
    return StructuredTool(name=name, description="A tool.", args_schema=schema(made), func=function)


def timed(function: Callable[..., Any], name: str, seconds: float, arguments: Json) -> str:
    async def run() -> str:
        agent = _agent([protect(tool(function, name))], [(name, arguments)])
        agent.step_timeout = seconds
        try:
            await agent.ainvoke(*_start([1]))
        except TimeoutError as error:
            return repr(error)
        return "it ended"

    return asyncio.run(run())


def loop_names(tools: Json) -> Json:
    return {name: name for name in tools}


def carries(arguments: Any) -> bool:
    """Whether the loop carries these arguments to the tool."""
    return True
