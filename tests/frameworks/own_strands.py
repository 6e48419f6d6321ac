"""The features of Strands alone: hooks, interventions, middleware, interrupts, methods, specs and MCP."""

import asyncio
import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from drivers import strands as host
from guide import run_guide
from mcp import StdioServerParameters, stdio_client
from shapes import ANN, ONLY_ANN, RECEIVED, create_contact
from strands import Agent, ToolContext, tool
from strands.hooks import AfterToolCallEvent, BeforeToolsEvent
from strands.middleware import ExecuteToolStage
from strands.tools.mcp import MCPClient
from strands.tools.tool_provider import ToolProvider
from strands.types.tools import AgentTool
from strands.vended_interventions.hitl import HumanInTheLoop

from toolbooth import ToolError, is_protected, protect
from toolbooth.adapters.agent_tools.call import ErrorAnswer

SERVER = str(Path(__file__).with_name("foreign_server.py"))
TEXT = ("create_contact", {"contact": json.dumps(ANN)})
EXACT = ("create_contact", {"contact": ANN})
CORRECTED = 'Send instead: {"contact":' + json.dumps(ANN).replace(" ", "") + "}"


@pytest.fixture(autouse=True)
def no_values():
    RECEIVED.clear()


def contact_tool(**how: Any) -> Any:
    return protect(host.tool(create_contact, "create_contact"), **how)


def run(tools: Any, *calls: Any, **how: Any) -> list[str]:
    return [each.text for each in asyncio.run(host.loop(tools, list(calls), **how))]


# --- what sees the arguments first --------------------------------------------------------------------


def test_a_person_who_is_asked_before_each_call_sees_what_runs():
    asked: list[str] = []

    def ask(prompt: str, **_: Any) -> str:
        asked.append(prompt)
        return "y"

    refused, ran = run([contact_tool()], TEXT, EXACT, interventions=[HumanInTheLoop(ask=ask)])
    assert refused.endswith(CORRECTED)
    assert ran == "created"
    assert '"first_name": "Ann"' in asked[-1]
    assert RECEIVED == [ONLY_ANN]


def test_a_hook_that_gets_all_calls_of_a_turn_sees_what_runs():
    seen: list[Any] = []

    def watch(event: BeforeToolsEvent) -> None:
        seen.extend(each["toolUse"]["input"] for each in event.message["content"])

    refused, ran = run([contact_tool()], TEXT, EXACT, hooks=[watch])
    assert refused.endswith(CORRECTED)
    assert ran == "created"
    assert seen[-1] == EXACT[1]


def with_middleware(stage: Any, handler: Any) -> list[str]:
    agent = host.agent_of([contact_tool()], [TEXT])
    agent.add_middleware(stage, handler)
    found: list[str] = []
    agent.hooks.add_callback(
        AfterToolCallEvent, lambda event: found.append(event.result["content"][0]["text"])
    )
    agent("go")
    return found


def test_a_middleware_that_gets_the_arguments_sees_what_runs():
    async def passing(context: Any, following: Any) -> Any:
        async for event in following(context):
            yield event

    for stage, handler in [
        (ExecuteToolStage, passing),
        (ExecuteToolStage.Input, lambda context: context),
    ]:
        (text,) = with_middleware(stage, handler)
        assert text.endswith(CORRECTED)
    assert with_middleware(ExecuteToolStage.Output, lambda result: result) == ["created"]


def test_arguments_that_a_middleware_has_changed_are_what_the_function_gets():
    def changed(context: Any) -> Any:
        return context.replace(tool_use={**context.tool_use, "input": EXACT[1]})

    assert with_middleware(ExecuteToolStage.Input, changed) == ["created"]
    assert RECEIVED == [ONLY_ANN]


def test_hooks_after_a_call_get_the_refusal_as_an_exception():
    errors: list[Any] = []

    def after(event: AfterToolCallEvent) -> None:
        errors.append(event.exception)

    run([contact_tool()], ("create_contact", {"nots": 1}), TEXT, hooks=[after])
    refusal, nothing = errors
    assert isinstance(refusal, ErrorAnswer)
    assert [each["code"] for each in refusal.data["toolbooth"]["problems"]] == ["unknown-key"]
    assert nothing is None


# --- arguments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [(json.dumps(EXACT[1]), "created"), ([ANN], "Refused"), (5, "Refused"), (None, "created")],
    ids=["text", "array", "number", "null"],
)
def test_arguments_that_are_not_an_object_are_repaired_or_refused(arguments: Any, outcome: str):
    (text,) = run([contact_tool()], ("create_contact", arguments))
    assert text.split(":")[0] == outcome


def test_text_that_is_not_json_is_a_call_without_arguments_so_a_required_field_refuses_it():
    @tool
    def rename(name: str, note: str = "") -> str:
        """Rename."""
        return f"{name} {note}"

    cut_off = b'{"name": "Ann", "note": "v'
    (refused,) = run([protect(rename)], ("rename", cut_off))
    assert "- $.name: is required, but was not sent" in refused


def test_a_direct_call_passes_values_of_python_to_the_function():
    agent = Agent(model=host.Scripted([]), tools=[contact_tool()])
    call = agent.tool.create_contact
    assert call(contact=ANN)["content"] == [{"text": "created"}]
    assert call(contact=ANN, nots="vip")["content"][0]["text"].startswith("Refused")
    assert RECEIVED == [ONLY_ANN]


# --- other kinds of tools --------------------------------------------------------------------------------


def events(tool: Any, arguments: Any) -> list[Any]:
    async def found() -> list[Any]:
        use = {"toolUseId": "c1", "name": tool.tool_name, "input": arguments}
        return [each async for each in tool.stream(use, {})]

    return asyncio.run(found())


@tool
async def count(upto: int) -> Any:
    """Count."""
    for number in range(upto):
        yield number


def test_a_tool_that_streams_sends_the_same_events():
    records: list[Any] = []
    tool = protect(count, observers=[records.append])
    expected = events(count, {"upto": 3})
    assert len(expected) == 4
    assert events(tool, {"upto": 3}) == expected
    assert events(tool, {"upto": "3"})[:-1] == expected[:-1]
    assert [each.outcome for each in records] == ["passed", "repaired"]


class Raw(AgentTool):
    """A tool whose last event is its result."""

    tool_name, tool_type = "read", "raw"

    @property
    def tool_spec(self) -> Any:
        return {"name": "read", "description": "Read.", "inputSchema": {"json": SCHEMA}}

    async def stream(self, tool_use: Any, invocation_state: Any, **_: Any) -> Any:
        if tool_use["input"]["path"] == "none":
            raise ToolError("read", "there is no such file")
        yield host.result_of(tool_use, json.dumps(tool_use["input"]))


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def test_a_tool_of_your_own_class_is_protected():
    records: list[Any] = []
    plain = Raw()
    tool = protect(plain, observers=[records.append])
    assert isinstance(tool, Raw)
    assert [is_protected(plain), is_protected(tool)] == [False, True]
    calls = [("read", {"data": {"path": "a"}}), ("read", {"path": "none"}), ("read", {"path": "a"})]
    refused, failed, ran = run([tool], *calls)
    assert refused.endswith('Send instead: {"path":"a"}')
    assert failed == "Tool 'read' failed: there is no such file"
    assert json.loads(ran) == {"path": "a"}
    assert [each.outcome for each in records] == ["refused", "failed", "passed"]


def test_a_tool_can_interrupt_the_run_and_is_called_again_with_what_was_accepted():
    @tool(context=True)
    def delete(path: str, tool_context: ToolContext) -> str:
        """Delete."""
        return f"{path} {tool_context.interrupt('sure', reason=path)}"

    agent = host.agent_of([protect(delete)], [("delete", {"path": "a"})])
    (asked,) = agent("go").interrupts
    assert asked.reason == "a"
    agent([{"interruptResponse": {"interruptId": asked.id, "response": "yes"}}])
    assert agent.messages[-2]["content"][0]["toolResult"]["content"] == [{"text": "a yes"}]


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    @protect
    @tool
    def order(self, sku: str, amount: int = 1) -> str:
        """Order."""
        return f"{self.name} {sku} {amount}"


def test_a_decorated_method_is_protected_and_bound():
    order = Shop("books").order
    assert is_protected(order)
    assert list(host.schema(order)["properties"]) == ["sku", "amount"]
    assert order("a", 2) == "books a 2"
    misspelt, ran = run([order], ("order", {"sku": "a", "amuont": 2}), ("order", {"sku": "a"}))
    assert 'did you mean "amount"?' in misspelt
    assert ran == "books a 1"


def test_an_agent_that_is_a_tool_is_protected():
    inner = Agent(model=host.Scripted([]), callback_handler=None, name="writer")
    (refused, ran) = run(
        [protect(inner.as_tool())], ("writer", {"inptu": "a"}), ("writer", {"input": "a"})
    )
    assert refused.endswith('Send instead: {"input":"a"}')
    assert ran == "done\n"


# --- specs ---------------------------------------------------------------------------------------------


def test_descriptions_of_the_docstring_are_published_and_no_others():
    @tool
    def greet(name: str, times: int = 1) -> str:
        """Greet.

        Args:
            name: Who it is.
        """
        return name * times

    assert host.schema(protect(greet))["properties"] == {
        "name": {"type": "string", "description": "Who it is."},
        "times": {"type": "integer", "default": 1},
    }


def test_a_schema_that_the_author_wrote_is_published_and_enforced():
    sizes = {"type": "string", "enum": ["s", "m"]}
    schema = {"type": "object", "properties": {"size": sizes}, "required": ["size"]}

    @tool(inputSchema={"json": schema})
    def order(size: str) -> str:
        """Order."""
        return size

    made = protect(order)
    assert host.schema(made)["properties"] == {"size": sizes}
    refused, ran = run([made], ("order", {"size": "xl"}), ("order", {"size": "m"}))
    assert refused.startswith("Refused")
    assert ran == "m"


def test_a_spec_that_is_changed_later_holds():
    made: Any = protect(host.foreign(SCHEMA, "read", json.dumps))
    changed = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
    made.tool_spec = {**made.tool_spec, "inputSchema": {"json": changed}}
    assert host.schema(made) == changed
    refused, ran = run([made], ("read", {"data": {"url": "a"}}), ("read", {"url": "a"}))
    assert refused.endswith('Send instead: {"url":"a"}')
    assert json.loads(ran) == {"url": "a"}
    with pytest.raises(ValueError, match="inputSchema"):
        made.tool_spec = {"name": "read", "description": "Read."}


def test_the_observers_of_a_deep_copy_are_the_same():
    class Seen:
        def __init__(self) -> None:
            self.records: list[Any] = []

        def see(self, record: Any) -> None:
            self.records.append(record)

    seen = Seen()
    run([copy.deepcopy(contact_tool(observers=[seen.see]))], EXACT)
    assert len(seen.records) == 1


# --- providers -------------------------------------------------------------------------------------------


def client() -> MCPClient:
    return MCPClient(
        lambda: stdio_client(StdioServerParameters(command=sys.executable, args=[SERVER]))
    )


def test_the_tools_of_a_client_are_protected_and_their_connection_ends_with_the_agent():
    plain = client()
    provider: Any = protect(plain)
    assert [is_protected(plain), is_protected(provider)] == [False, True]
    assert protect(provider) is provider
    assert isinstance(provider, ToolProvider)
    calls = [("read", {"data": {"path": "a"}}), ("read", {"path": "a", "head": "5"})]
    agent = host.agent_of([provider], calls)
    agent("go")
    results = [
        block["toolResult"]
        for each in agent.messages
        for block in each["content"]
        if "toolResult" in block
    ]
    refused, ran = [each["content"][0]["text"] for each in results]
    assert refused.endswith('Send instead: {"path":"a"}')
    assert json.loads(ran) == {"path": "a", "head": 5}
    assert "repairs" in results[1]["metadata"]["toolbooth"]
    agent.cleanup()
    assert plain._background_thread is None


def test_the_tools_that_a_client_has_listed_are_protected():
    with client() as connected:
        tools = protect(connected.list_tools_sync())
        (refused,) = run(tools, ("read", {"data": {"path": "a"}}))
    assert refused.endswith('Send instead: {"path":"a"}')


def test_the_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]):
    run_guide("strands.md", capsys)
