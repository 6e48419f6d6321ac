"""Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from google.adk.agents import Agent, RunConfig
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.run_config import StreamingMode
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import BaseTool, FunctionTool, ToolContext
from google.genai import types
from host import NOT_AN_OBJECT, NOT_READ, NOT_UTF8, READ, Answer, Json, timed_run

from toolbooth import protect

# A model of Google sends its arguments as an object, never as text.
_CALL = (types.FunctionCall, "args: Optional[dict[str, Any]]")
ROWS = {
    NOT_UTF8: (json.JSONDecoder, "def decode"),
    NOT_READ: (json.JSONDecoder, "def decode"),
    NOT_AN_OBJECT: _CALL,
    READ: _CALL,
}
UNMADE = frozenset[str]()
CARRIES_DATA = False
CARRIES_REFUSALS = False

MANY = 20
"""The calls of one run: the ADK copies the whole history at each step."""

name = "google-adk"
reads_text = False


def tool(function: Callable[..., Any], name: str) -> FunctionTool:
    made = FunctionTool(function)
    made.name = name
    return made


class Foreign(BaseTool):
    """A tool of another maker, which declares a JSON Schema."""

    def __init__(self, schema: Json, name: str, answer: Callable[[Any], str]) -> None:
        super().__init__(name=name, description="A tool.")
        self.declared, self.answer = schema, answer

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.declared
        )

    async def run_async(self, *, args: Json, tool_context: Any) -> str:
        return self.answer(args)


foreign = Foreign


def schema(tool: BaseTool) -> Json:
    declared = tool._get_declaration()
    assert declared is not None
    return declared.parameters_json_schema


def _context() -> ToolContext:
    running = InvocationContext(
        session_service=InMemorySessionService(),
        invocation_id="i",
        agent=Agent(name="agent"),
        session=Session(id="s", app_name="app", user_id="u"),
    )
    return ToolContext(running, function_call_id="c1")


CONTEXT = _context()


def _answer(made: Any) -> Answer:
    if not isinstance(made, dict):
        return Answer(str(made), False)
    return Answer(str(made["error"] if "error" in made else made["result"]), "error" in made)


async def step(tool: BaseTool, arguments: Json) -> Answer:
    return _answer(await tool.run_async(args=arguments, tool_context=CONTEXT))


class Scripted(BaseLlm):
    """A model that makes the calls of a script."""

    model: str = "scripted"
    calls: list[tuple[str, Any]]
    made: int = 0

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> Any:
        part = types.Part(text="done")
        if self.made < len(self.calls):
            name, arguments = self.calls[self.made]
            part = types.Part(function_call=types.FunctionCall(name=name, args=arguments))
        self.made += 1
        if stream:
            text = types.Content(role="model", parts=[types.Part(text="…")])
            yield LlmResponse(content=text, partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def runner(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> InMemoryRunner:
    model = Scripted(calls=list(calls))
    plugins = how.pop("plugins", [])
    agent = Agent(name="agent", model=model, tools=list(tools), **how)
    return InMemoryRunner(app=App(name="tests", root_agent=agent, plugins=plugins))


async def events_of(
    runner: InMemoryRunner, content: types.Content | None = None, **how: Any
) -> list[Any]:
    """The events of one turn of the user."""
    runner.auto_create_session = True
    said = content or types.Content(role="user", parts=[types.Part(text="go")])
    running = runner.run_async(
        user_id="u",
        session_id="s",
        new_message=said,
        run_config=RunConfig(max_llm_calls=100_000, **how),
    )
    return [each async for each in running]


def _answers(events: Sequence[Any]) -> list[Answer]:
    found = [made for each in events for made in each.get_function_responses()]
    return [_answer(each.response) for each in found if each.name != CONFIRM]


async def loop(tools: Sequence[Any], calls: Sequence[tuple[str, Any]], **how: Any) -> list[Answer]:
    found: list[Answer] = []
    for start in range(0, len(calls), MANY):
        part = calls[start : start + MANY]
        used = {name for name, _ in part}
        needed = [each for each in tools if not isinstance(each, BaseTool) or each.name in used]
        found += _answers(await events_of(runner(needed, part, **how)))
    return found


async def stream(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[str]:
    found = await events_of(runner(tools, calls), streaming_mode=StreamingMode.SSE)
    assert any(each.partial for each in found)
    return [each.text for each in _answers(found)]


def subclassed(function: Callable[..., Any], name: str) -> FunctionTool:
    class Own(FunctionTool):
        pass

    made = Own(function)
    made.name = name
    return made


def injecting() -> tuple[FunctionTool, Sequence[str], str]:
    def add(context: ToolContext, number: int) -> str:
        """Add."""
        return f"{number} {isinstance(context, ToolContext)}"

    return tool(add, "add"), ["context"], "1 True"


CONFIRM = "adk_request_confirmation"


def approved(
    function: Callable[..., Any], name: str, shown: list[Any]
) -> tuple[Any, Callable[[Sequence[tuple[str, Any]]], list[Answer]]]:
    plain = FunctionTool(function, require_confirmation=True)
    protected = protect(plain)

    async def run(calls: Sequence[tuple[str, Any]]) -> list[Answer]:
        running = runner([protected], calls)
        events = await events_of(running)
        found = list(events)
        while asked := [
            each for event in events for each in event.get_function_calls() if each.name == CONFIRM
        ]:
            shown.extend(each.args["originalFunctionCall"]["args"] for each in asked)
            confirmed = [
                types.FunctionResponse(id=each.id, name=CONFIRM, response={"confirmed": True})
                for each in asked
            ]
            parts = [types.Part(function_response=each) for each in confirmed]
            events = await events_of(running, types.Content(role="user", parts=parts))
            found.extend(events)
        return [each for each in _answers(found) if "requires confirmation" not in each.text]

    return protected, lambda calls: asyncio.run(run(calls))


def picklable(function: Callable[..., Any], name: str) -> FunctionTool:
    return tool(function, name)


def timed(function: Callable[..., Any], name: str, seconds: float, arguments: Json) -> str:
    """The ADK has no time limit for one tool, so this is one for the run."""
    return timed_run(loop([protect(tool(function, name))], [(name, arguments)]), seconds)


def loop_names(tools: Json) -> Json:
    return {name: name for name in tools}


def carries(arguments: Any) -> bool:
    """Whether the loop carries these arguments to the tool."""
    return True
