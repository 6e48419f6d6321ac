"""The features of the Agent Framework alone: middleware, approval, limits, text, models and MCP."""

import asyncio
import copy
import importlib
import json
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from agent_framework import (
    Content,
    FunctionInvocationContext,
    FunctionTool,
    MCPStdioTool,
    MiddlewareTermination,
    function_middleware,
    tool,
)
from drivers import agent_framework as host
from guide import run_guide
from pydantic import BaseModel, field_validator
from shapes import ANN, ONLY_ANN, RECEIVED, create_contact

from toolbooth import ToolError, ToolRegistry, is_protected, protect, tools_for

SERVER = str(Path(__file__).with_name("foreign_server.py"))
TEXT = ("create_contact", {"contact": json.dumps(ANN)})
EXACT = ("create_contact", {"contact": ANN})
CORRECTED = 'Send instead: {"contact":' + json.dumps(ANN).replace(" ", "") + "}"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


@pytest.fixture(autouse=True)
def no_values():
    RECEIVED.clear()


def contact_tool(**how: Any) -> FunctionTool:
    return protect(host.tool(create_contact, "create_contact"), **how)


def run(tools: Any, *calls: Any, **how: Any) -> list[str]:
    return [each.text for each in asyncio.run(host.loop(tools, list(calls), **how))]


# --- middleware ------------------------------------------------------------------------------------------


def watching(seen: list[Any]) -> Any:
    @function_middleware
    async def watch(context: FunctionInvocationContext, call_next: Any) -> None:
        seen.append(copy.deepcopy(dict(context.arguments)))
        await call_next()

    return watch


def test_a_middleware_sees_the_repaired_arguments():
    seen: list[Any] = []
    records: list[Any] = []
    tools = [contact_tool(observers=[records.append])]
    assert run(tools, TEXT, EXACT, middleware=[watching(seen)]) == ["created"] * 2
    assert seen == [EXACT[1]] * 2
    assert RECEIVED == [ONLY_ANN] * 2
    assert [each.repairs for each in records] == [("json-text",), ()]


def test_a_middleware_sees_a_decimal_with_many_digits_as_text():
    @tool
    def pay(amounts: list[Decimal]) -> str:
        """Pay."""
        return repr(amounts)

    seen: list[Any] = []
    call = ("pay", {"amounts": "[0.12345678901234567890, 2]"})
    received = "[Decimal('0.12345678901234567890'), Decimal('2')]"
    assert run([protect(pay)], call, middleware=[watching(seen)]) == [received]
    assert seen == [{"amounts": ["0.12345678901234567890", 2]}]


def test_a_middleware_sees_dates_as_text_and_the_function_gets_dates():
    @tool
    def book(day: date) -> str:
        """Book."""
        return f"{type(day).__name__} {day}"

    seen: list[Any] = []
    call = ("book", {"day": "2026-01-02"})
    assert run([protect(book)], call, middleware=[watching(seen)]) == ["date 2026-01-02"]
    assert seen == [call[1]]


def test_a_middleware_sees_refused_arguments_as_they_were_sent_and_once():
    seen: list[Any] = []
    records: list[Any] = []
    tools = [contact_tool(observers=[records.append])]
    call = ("create_contact", {"nots": 1})
    (text,) = run(tools, call, middleware=[watching(seen)])
    assert text.startswith("Refused")
    assert seen == [call[1]]
    assert [each.outcome for each in records] == ["refused"]


def test_a_middleware_may_put_values_of_python_into_the_arguments():
    @tool
    def book(day: date, note: str = "") -> str:
        """Book."""
        return f"{day} {note}"

    @function_middleware
    async def tomorrow(context: FunctionInvocationContext, call_next: Any) -> None:
        context.arguments["day"] = date(2026, 1, 3)
        await call_next()

    call = ("book", {"day": "2026-01-02", "note": "x"})
    assert run([protect(book)], call, middleware=[tomorrow]) == ["2026-01-03 x"]


@pytest.mark.parametrize("in_place", [True, False])
def test_what_a_middleware_changes_is_accepted_or_refused_again(in_place: bool):
    changes: list[Any] = [{"note": "vip"}, {"nots": "vip"}]

    @function_middleware
    async def change(context: FunctionInvocationContext, call_next: Any) -> None:
        if in_place:
            context.arguments |= changes.pop(0)
        else:
            context.arguments = {**context.arguments, **changes.pop(0)}
        await call_next()

    ran, refused = run([contact_tool()], EXACT, EXACT, middleware=[change])
    assert ran == "created"
    assert 'did you mean "note"?' in refused
    assert [{**ONLY_ANN, "note": "vip"}] == RECEIVED


def test_a_middleware_can_correct_arguments_that_would_be_refused():
    @function_middleware
    async def correct(context: FunctionInvocationContext, call_next: Any) -> None:
        context.arguments = EXACT[1]
        await call_next()

    assert run([contact_tool()], ("create_contact", {"nots": 1}), middleware=[correct]) == [
        "created"
    ]
    assert RECEIVED == [ONLY_ANN]


def test_a_middleware_can_end_the_run_before_the_tool():
    @function_middleware
    async def end(context: FunctionInvocationContext, call_next: Any) -> None:
        raise MiddlewareTermination(
            "enough", result=Content.from_function_result("c0", result="no")
        )

    assert run([contact_tool()], EXACT, middleware=[end]) == ["no"]
    assert RECEIVED == []


def test_an_approved_call_that_a_middleware_sees_runs_as_it_was_approved():
    @tool(approval_mode="always_require")
    def book(day: date, note: str = "") -> str:
        """Book."""
        return f"{day} {note}"

    calls = [("book", {"day": "2026-01-02"}), ("book", {"day": "2026-01-02", "note": '"x"'})]
    seen: list[Any] = []

    async def approve_all() -> list[str]:
        agent = host.agent_of([protect(book)], calls, middleware=[watching(seen)])
        session = agent.create_session()
        done = await agent.run("go", session=session)
        found: list[str] = []
        while requests := done.user_input_requests:
            said = [each.to_function_approval_response(True) for each in requests]
            done = await agent.run(host.Message(role="user", contents=said), session=session)
            found += [each.text for each in host.answers(done.messages)]
        return found

    assert asyncio.run(approve_all()) == ["2026-01-02 ", '2026-01-02 "x"']
    assert seen == [each for _, each in calls]


@pytest.mark.filterwarnings("ignore::agent_framework._feature_stage.ExperimentalWarning")
def test_a_security_middleware_shows_the_reason_of_a_refusal_but_no_hidden_content():
    # The import warns that this part of the framework may change.
    security = importlib.import_module("agent_framework.security")

    @tool
    def send(to: str, note: str = "") -> str:
        """Send."""
        raise ToolError("send", f"no such person: {to}")

    records: list[Any] = []
    tools = [protect(send, observers=[records.append])]
    calls = [("send", {"too": "Ann"}), ("send", {"data": {"to": "Ann"}}), ("send", {"to": "Ann"})]
    texts = run(tools, *calls, middleware=[security.LabelTrackingFunctionMiddleware()])
    assert texts[0].startswith("Refused")
    assert texts[1].endswith('Send instead: {"to":"Ann"}')
    assert texts[2] == "Error: Function failed."
    assert [each.outcome for each in records] == ["refused", "refused", "failed"]


def test_a_refusal_does_not_show_content_that_a_security_middleware_has_hidden():
    @function_middleware
    async def expand(context: FunctionInvocationContext, call_next: Any) -> None:
        context.metadata["original_arguments_for_messages"] = dict(context.arguments)
        context.arguments = {"contact": "the hidden content"}
        await call_next()

    assert run([contact_tool()], EXACT, middleware=[expand]) == ["Error: Argument parsing failed."]
    assert RECEIVED == []


# --- limits ----------------------------------------------------------------------------------------------


def test_refusals_count_as_errors_and_three_in_a_row_end_the_calls():
    limits = {"max_consecutive_errors_per_request": 3}
    wrong = ("create_contact", {"nots": 1})
    assert len(run([contact_tool()], wrong, wrong, EXACT, wrong, wrong, limits=limits)) == 5
    assert len(run([contact_tool()], *[wrong] * 5, limits=limits)) == 3


def test_the_limit_of_calls_of_a_tool_still_counts_only_calls_that_ran():
    made = protect(tool(name="create_contact", max_invocations=1)(create_contact))
    refused, ran, ended = run([made], ("create_contact", {"nots": 1}), EXACT, EXACT)
    assert [refused.split(":")[0], ran, ended] == ["Refused", "created", "Error: Function failed."]
    assert made.invocation_count == 1


# --- the text of the model -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps(json.dumps(EXACT[1])), "created"),
        ("null", "created"),
        ("", "created"),
        ('{"contact": {"first_name": "An', "not valid JSON"),
        ("[1]", "must be one JSON object"),
        ('{"raw": {"contact": 1}}', "$.raw"),
    ],
    ids=["text", "null", "nothing", "cut off", "array", "an object under raw"],
)
def test_text_that_is_not_an_object_is_answered_as_by_a_registry(text: str, words: str):
    registry = ToolRegistry("contacts")
    registry.tool(create_contact)
    expected = registry.call_bytes("create_contact", text.encode() or b"{}")["content"][0]["text"]
    (answer,) = run([contact_tool()], ("create_contact", text))
    assert answer == expected
    assert words in answer
    (through,) = run(tools_for("agent-framework", registry), ("create_contact", text))
    assert through == expected


def test_a_field_of_the_name_raw_is_a_field():
    @tool
    def save(raw: str) -> str:
        """Save."""
        return raw

    assert run([protect(save)], ("save", {"raw": "[1]"}), ("save", '"x"')) == ["[1]", "x"]


# --- calls without the loop ----------------------------------------------------------------------------------


def invoke(tool: FunctionTool, **how: Any) -> str:
    (content,) = asyncio.run(tool.invoke(**how))
    return content.text


def test_arguments_may_be_keywords_or_in_the_context():
    made = contact_tool()
    context = FunctionInvocationContext(function=made, arguments=dict(EXACT[1]))
    assert invoke(made, contact=ANN) == "created"
    assert invoke(made, context=context) == "created"
    assert invoke(made, contact=ANN, nots="vip").startswith("Refused")
    assert "one JSON object" in invoke(made, arguments=[ANN])
    with pytest.raises(TypeError, match="nots"):
        invoke(made, arguments=EXACT[1], nots="vip")


def test_a_tool_of_a_registry_takes_the_same():
    registry = ToolRegistry("contacts")
    registry.tool(create_contact)
    (made,) = tools_for("agent-framework", registry)
    context = FunctionInvocationContext(function=made, arguments=dict(EXACT[1]))
    assert invoke(made, contact=ANN) == "created"
    assert invoke(made, context=context) == "created"
    assert invoke(made, arguments={"nots": 1}).startswith("Refused")


def test_a_tool_is_still_a_function_and_is_written_as_before():
    plain = host.tool(create_contact, "create_contact")
    made = protect(plain)
    assert made(note="vip") == "created"
    assert made.to_dict().keys() == plain.to_dict().keys()
    assert made.to_json_schema_spec()["function"]["parameters"] == host.schema(made)


# --- other kinds of tools --------------------------------------------------------------------------------


class Trip(BaseModel):
    """A trip."""

    city: Annotated[str, "Where."]
    nights: int = 1

    @field_validator("city")
    @classmethod
    def known(cls, value: str) -> str:
        if value == "Atlantis":
            raise ValueError("there is no such city")
        return value


def test_a_tool_with_a_model_of_its_own_passes_the_fields_that_were_sent():
    def book(city: str, nights: int = 2, ctx: Any = None) -> str:
        """Book."""
        return f"{city} {nights}"

    made = protect(tool(book, schema=Trip))
    assert list(host.schema(made)["properties"]) == ["city", "nights"]
    calls = [{"city": "Rome"}, {"city": "Rome", "nights": "3"}, {"city": "Atlantis"}, {"town": 1}]
    ran, repaired, invalid, refused = run([made], *(("book", each) for each in calls))
    assert [ran, repaired] == ["Rome 2", "Rome 3"]
    assert "there is no such city" in invalid
    assert '"town"' in refused


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
    misspelt, ran = run([order], ("order", {"sku": "a", "amuont": 2}), ("order", {"sku": "a"}))
    assert 'did you mean "amount"?' in misspelt
    assert ran == "books a 1"


def test_a_tool_that_the_host_runs_stays_as_it_is():
    plain = FunctionTool(name="ask", description="Ask.", input_model=SCHEMA)
    assert protect(plain) is plain


def test_a_result_of_several_parts_has_the_repairs_beside_the_first():
    shared = Content.from_text("a")

    @tool
    def parts(number: int) -> Any:
        """Parts."""
        return [shared, Content.from_text("b")] if number else []

    made = protect(parts)
    first, second = asyncio.run(made.invoke(arguments={"number": "1"}))
    assert "repairs" in first.additional_properties["toolbooth"]
    assert [shared.additional_properties, second.additional_properties] == [{}, {}]
    (empty,) = asyncio.run(made.invoke(arguments={"number": "0"}))
    assert empty.text == "[]"


# --- MCP -------------------------------------------------------------------------------------------------


def test_the_tools_of_an_mcp_server_are_protected():
    plain = MCPStdioTool("files", sys.executable, args=[SERVER])
    server = protect(plain)
    assert [is_protected(plain), is_protected(server)] == [False, True]
    assert isinstance(server, MCPStdioTool)
    assert protect(server) is server

    async def listed() -> bool:
        async with MCPStdioTool("files", sys.executable, args=[SERVER]) as connected:
            found = protect(connected)
            refused = await found.functions[0].invoke(arguments={"data": {"path": "a"}})
            return refused[0].text.endswith('Send instead: {"path":"a"}')

    assert asyncio.run(listed())

    async def answers() -> list[str]:
        calls = [("read", {"data": {"path": "a"}}), ("read", {"path": "a", "head": "5"})]
        async with server, host.agent_of([server], calls) as agent:
            assert server.functions[0] is server.functions[0]
            done = await agent.run("go")
        return [each.text for each in host.answers(done.messages)]

    refused, ran = asyncio.run(answers())
    assert refused.endswith('Send instead: {"path":"a"}')
    assert json.loads(ran) == {"path": "a", "head": 5}


def test_the_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]):
    run_guide("agent-framework.md", capsys)
