"""The features of LangChain and LangGraph alone: middleware, `ToolNode`, models of arguments, artifacts."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from drivers import langchain as host
from guide import run_guide
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForToolRun
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, Tool, tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from pydantic import BaseModel, field_validator

from toolbooth import protect
from toolbooth.adapters.frameworks.langchain_middleware import ProtectTools

SERVER = str(Path(__file__).with_name("foreign_server.py"))


def node(tools: list[Any], *calls: tuple[str, Any], **how: Any) -> list[ToolMessage]:
    """The messages of a `ToolNode` alone, for calls that are made together."""
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    made = [
        {"name": name, "args": arguments, "id": f"c{number}", "type": "tool_call"}
        for number, (name, arguments) in enumerate(calls)
    ]
    done = graph.compile(**how).invoke({"messages": [AIMessage("", tool_calls=made)]})
    return done["messages"][1:]


@tool
def add(number: int, state: Annotated[dict, InjectedState], runtime: ToolRuntime) -> str:
    """Add."""
    return f"{number} {len(state['messages'])} {type(runtime).__name__}"


def test_a_tool_node_alone_runs_and_refuses_with_messages_of_errors():
    good, wrong, forged = node(
        protect([add]),
        ("add", {"number": "5"}),
        ("add", {"nmber": 5}),
        ("add", {"number": 5, "state": {}}),
    )
    assert [good.status, good.content] == ["success", "5 1 ToolRuntime"]
    assert good.artifact == {
        "toolbooth": {"repairs": [{"code": "scalar-text", "path": "$.number"}]}
    }
    assert [wrong.status, forged.status] == ["error", "error"]
    assert 'did you mean "number"?' in wrong.content
    assert wrong.artifact["toolbooth"]["corrected"] == {"number": 5}
    assert '- $.state: "state" is not a declared field' in forged.content


def test_the_middleware_protects_the_tools_of_an_agent():
    shown: list[Any] = []

    class Model(host.Scripted):
        def bind_tools(self, tools: Any, **how: Any) -> Any:
            shown.append([each.tool_call_schema for each in tools])
            return self

    calls = [("add", {"number": "5"}), ("add", {"number": 1, "state": {}}), ("add", {"nmber": 1})]
    agent = create_agent(Model(calls=calls), [add], middleware=[ProtectTools()])
    start = {"messages": [HumanMessage("go")]}
    for done in (agent.invoke(start), asyncio.run(agent.ainvoke(start))):
        found = [each for each in done["messages"] if isinstance(each, ToolMessage)]
        assert [each.status for each in found] == ["success", "error", "error"]
        assert found[0].content == "5 2 ToolRuntime"
        assert "$.state" in found[1].content
    assert shown[0][0]["properties"] == {"number": {"type": "integer"}}


def test_the_store_and_arguments_that_a_program_injects():
    @tool
    def keep(
        key: str,
        store: Annotated[BaseStore, InjectedStore()],
        user: Annotated[str, InjectedToolArg] = "nobody",
    ) -> str:
        """Keep."""
        store.put(("keys",), key, {"user": user})
        return user

    store = InMemoryStore()
    kept, forged = node(
        [protect(keep)], ("keep", {"key": "a"}), ("keep", {"key": "b", "user": "x"}), store=store
    )
    assert [kept.content, forged.status] == ["nobody", "error"]
    assert store.get(("keys",), "a").value == {"user": "nobody"}
    assert store.get(("keys",), "b") is None
    # Outside a graph, the program itself adds them to the arguments.
    call = {"name": "keep", "id": "1", "type": "tool_call"}
    arguments = {"key": "c", "store": store, "user": "ann"}
    assert protect(keep).invoke({**call, "args": arguments}).content == "ann"
    with pytest.raises(TypeError, match="nothing was injected for 'store'"):
        protect(keep).invoke({**call, "args": {"key": "d"}})


class Range(BaseModel):
    """The author's own model of the arguments."""

    first: int
    last: int = 9

    @field_validator("last")
    @classmethod
    def is_positive(cls, value: int) -> int:
        if value < 0:
            raise ValueError("must not be negative")
        return value


class WithState(BaseModel):
    first: int
    state: Annotated[dict, InjectedState]

    @field_validator("first")
    @classmethod
    def is_small(cls, value: int) -> int:
        if value > 100:
            raise ValueError("must be small")
        return value


def test_a_model_of_the_arguments_validates_them():
    def count(first: int, last: int) -> str:
        return f"{first!r} {last!r}"

    plain = StructuredTool.from_function(count, args_schema=Range, description="Count.")
    good, wrong, negative = node(
        [protect(plain)],
        ("count", {"first": "1"}),
        ("count", {"frist": 1}),
        ("count", {"first": 1, "last": -1}),
    )
    assert good.content == "1 9"
    assert wrong.content.endswith('Send instead: {"first":1}')
    assert "must not be negative" in negative.content


def test_a_model_that_declares_injected_arguments_validates_them_itself():
    def count(first: int, state: dict) -> str:
        return f"{first!r} {len(state['messages'])}"

    plain = StructuredTool.from_function(count, args_schema=WithState, description="Count.")
    good, wrong, large, forged = node(
        [protect(plain)],
        ("count", {"first": "1"}),
        ("count", {"frist": 1}),
        ("count", {"first": 101}),
        ("count", {"first": 1, "state": {}}),
    )
    assert good.content == "1 1"
    assert wrong.content.endswith('Send instead: {"first":1}')
    assert "must be small" in large.content
    assert [each.status for each in (wrong, large, forged)] == ["error"] * 3


def test_a_tool_with_both_functions_uses_the_one_of_the_run():
    def sync(number: int) -> str:
        """Sync."""
        return f"sync {number}"

    async def asynchronous(number: int) -> str:
        return f"async {number}"

    made = protect(StructuredTool.from_function(sync, asynchronous))
    assert made.invoke({"number": "1"}) == "sync 1"
    assert asyncio.run(made.ainvoke({"number": "1"})) == "async 1"
    only = protect(StructuredTool.from_function(coroutine=asynchronous, description="x"))
    with pytest.raises(NotImplementedError):
        only.invoke({"number": 1})


def test_a_class_with_a_run_of_its_own_gets_its_manager():
    class Search(BaseTool):
        name: str = "search"
        description: str = "Search."

        def _run(self, query: str, run_manager: CallbackManagerForToolRun | None = None) -> str:
            return f"{query} {type(run_manager).__name__}"

    (found,) = node([protect(Search())], ("search", {"query": "a"}))
    assert found.content == "a CallbackManagerForToolRun"


def test_a_tool_of_a_single_text():
    made = protect(Tool("echo", lambda text: f"<{text}>", "Echo."))
    found, wrong = node([made], ("echo", {"__arg1": "a"}), ("echo", {"text": "a"}))
    assert found.content == "<a>"
    assert wrong.status == "error"
    assert made.invoke("b") == "<b>"


def test_artifacts_and_commands_of_the_author_stay():
    @tool(response_format="content_and_artifact")
    def pair(number: int, kind: str = "dict"):
        """Pair."""
        return "text", {"rows": number} if kind == "dict" else [number]

    @tool
    def command(number: int) -> Command:
        """Command."""
        message = ToolMessage("moved", tool_call_id="c0")
        return Command(update={"messages": [message]})

    repairs = {"toolbooth": {"repairs": [{"code": "scalar-text", "path": "$.number"}]}}
    one, other = node(
        [protect(pair)], ("pair", {"number": "1"}), ("pair", {"number": "1", "kind": "list"})
    )
    assert one.artifact == {"rows": 1, **repairs}
    assert other.artifact == [1]
    assert node([protect(command)], ("command", {"number": 1}))[0].content == "moved"


def test_traces_have_the_arguments_of_the_model_and_the_refusal():
    seen: list[Any] = []

    class Trace(BaseCallbackHandler):
        def on_tool_start(self, serialized: Any, text: str, *, inputs: Any, **how: Any) -> None:
            seen.append(inputs)

        def on_tool_error(self, error: BaseException, **how: Any) -> None:
            seen.append(str(error).split(":")[0])

    made = protect(add)
    made.callbacks = [Trace()]
    node([made], ("add", {"nmber": 1}))
    assert seen == [{"nmber": 1}, "Refused"]


def test_tools_of_a_foreign_mcp_server_are_protected():
    async def run() -> list[Any]:
        server = {"command": sys.executable, "args": [SERVER], "transport": "stdio"}
        tools = await MultiServerMCPClient({"foreign": server}).get_tools()
        calls = [
            ("read", {"path": "a", "head": "5", "config": "c"}),
            ("read", {"path": "a", "haed": 5}),
            ("read", {"data": {"path": "a"}}),
        ]
        return await host.loop(protect(tools), calls)

    repaired, misspelt, wrapped = asyncio.run(run())
    # LangChain would replace an argument of the name `config` with its own.
    assert json.loads(repaired.text) == {"path": "a", "head": 5, "config": "c"}
    assert 'did you mean "head"?' in misspelt.text
    assert wrapped.text.endswith('Send instead: {"path":"a"}')


def test_the_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]):
    run_guide("langchain.md", capsys)
