"""`help: true` on any tool of a registry that offers it."""

import asyncio
import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from toolbooth import JsonText, ToolRegistry, Unpack
from toolbooth.server.respond import respond

calls: list[Any] = []


class Line(BaseModel):
    sku: str
    count: Annotated[int, Field(ge=1)] = 1


class Receipt(BaseModel):
    number: int


def shop() -> ToolRegistry:
    calls.clear()
    registry = ToolRegistry("shop", help="help")

    @registry.tool
    def order(line: Annotated[Line, Unpack()], note: str = "") -> str:
        """Order something."""
        calls.append((line, note))
        return f"ordered {line.sku}"

    @registry.tool
    async def pay(number: int) -> Receipt:
        calls.append(number)
        return Receipt(number=number)

    @registry.tool
    def ask(help: str) -> str:
        calls.append(help)
        return help

    @registry.tool
    def keep(things: Annotated[dict[str, Any], JsonText(example={"a": 1})]) -> str:
        calls.append(things)
        return "kept"

    return registry


def called(name: str, arguments: Any) -> Any:
    """Return the result of a call over the wire; the registry's own `call` must have the same
    result.
    """
    registry = shop()
    params = {"name": name, "arguments": arguments}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()
    result = json.loads(asyncio.run(respond(registry, body)).body)["result"]
    made = list(calls)
    assert shop().dispatch(name, arguments) == result
    assert calls == made
    return result


TOLD = {
    "tool": "order",
    "description": "Order something.",
    "fields": {
        "sku": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "default": 1},
        "note": {"type": "string", "default": ""},
        "help": {"type": "boolean"},
    },
    "required": ["sku"],
    "example": {"sku": "text"},
    "protocol": {"help": "true returns what the tool takes, and does nothing else."},
}


@pytest.mark.parametrize("sent", [{"help": True}, {"help": "true"}, '{"help": true}'], ids=str)
def test_help_describes_a_tool_and_does_not_call_it(sent):
    result = called("order", sent)
    assert (result["isError"], result["structuredContent"], calls) == (False, TOLD, [])


def test_arguments_beside_help_are_not_used_and_the_result_notes_it():
    result = called("order", {"help": True, "sku": "tea"})
    assert (result["structuredContent"], calls) == (
        {**TOLD, "called": "nothing: help was requested"},
        [],
    )


@pytest.mark.parametrize("data", [{"count": 5}, '{"count": 5}'], ids=["object", "json-text"])
def test_help_notes_an_ignored_wrapper_and_names_its_fields(data):
    result = called("order", {"help": True, "sku": "tea", "data": data})
    as_text, style = (" as JSON text", "") if isinstance(data, str) else ("", "REST-style ")
    advice = (
        f'"data" is not a declared field and its value is a nested object{as_text}. Likely cause: '
        f'a {style}wrapper. Send "count" at the top level, not inside "data"'
    )
    said = {
        "called": 'nothing: help was requested, so "data" was ignored',
        "ignored": {"$.data": advice},
    }
    assert (result["structuredContent"], calls) == ({**TOLD, **said}, [])


def test_help_names_every_wrapper_beside_it():
    result = called("order", {"help": True, "data": {"count": 5}, "body": {"sku": "tea"}})
    told = result["structuredContent"]
    assert told["called"] == 'nothing: help was requested, so "data", "body" were ignored'
    assert list(told["ignored"]) == ["$.data", "$.body"]


@pytest.mark.parametrize(
    "sent", [{"sku": "tea"}, {"sku": "tea", "help": False}, {"sku": "tea", "help": None}], ids=str
)
def test_without_help_a_tool_is_called(sent):
    assert called("order", sent)["content"][0]["text"] == "ordered tea"
    assert calls == [(Line(sku="tea"), "")]


@pytest.mark.parametrize("beside", [{}, {"help": False}], ids=str)
def test_a_tool_is_guarded_whether_help_is_declined_or_not(beside):
    result = called("order", {**beside, "data": {"sku": "tea"}})
    assert (result["isError"], calls) == (True, [])
    corrected = result["_meta"]["toolbooth"]["corrected"]
    assert corrected == {**beside, "sku": "tea"}


def test_help_that_is_neither_true_nor_false_is_refused():
    result = called("order", {"sku": "tea", "help": "me"})
    assert [each["path"] for each in result["_meta"]["toolbooth"]["problems"]] == ["$.help"]
    assert calls == []


def test_help_of_a_tool_with_an_output_schema_is_sent_as_an_error():
    result = called("pay", {"help": True})
    assert (result["isError"], json.loads(result["content"][0]["text"])["required"]) == (
        True,
        ["number"],
    )
    assert called("pay", {"number": 7, "help": False})["structuredContent"] == {"number": 7}


def test_a_help_parameter_of_the_tool_itself_reaches_the_tool():
    assert called("ask", {"help": "me"})["content"][0]["text"] == "me"
    assert shop().tools["ask"].listing()["inputSchema"]["properties"] == {
        "help": {"type": "string"}
    }


def test_help_is_listed_on_the_tools_that_accept_it():
    listed = {
        name: list(tool.listing()["inputSchema"]["properties"])
        for name, tool in shop().tools.items()
    }
    assert listed == {
        "order": ["sku", "count", "note", "help"],
        "pay": ["number", "help"],
        "ask": ["help"],
        "keep": ["things", "help"],
    }


def test_help_and_a_field_named_help_work_through_a_dispatcher():
    registry = shop()
    registry.dispatcher("shop", {"order": "order", "ask": "ask"})
    told = registry.dispatch("shop", {"action": "order", "params": {"help": True}})[
        "structuredContent"
    ]
    example = {"action": "order", "sku": "text"}
    assert told == {**TOLD, "tool": "shop", "action": "order", "example": example}
    assert (
        registry.dispatch("shop", {"action": "ask", "params": {"help": "me"}})["content"][0]["text"]
        == "me"
    )
    told = registry.dispatch("shop", {"action": "ask", "help": True})["structuredContent"]
    assert told["note"] == 'Send the field "help" inside "params".'


def test_a_registry_offers_help_only_if_configured():
    registry = ToolRegistry("plain")
    registry.tool(name="seven")(lambda: 7)
    assert registry.dispatch("seven", {"help": True})["isError"] is True


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("value", [True, False])
def test_help_sent_as_text_is_repaired_like_any_argument(depth: int, value: bool):
    sent: Any = value
    for _ in range(depth):
        sent = json.dumps(sent)
    answer = called("order", {"sku": "a", "help": sent})
    assert bool(calls) is not value
    assert answer["isError"] is False


@pytest.mark.parametrize("sent", ["yes", " true", "True", 1, 1.0, "1", [True]])
def test_a_call_with_an_invalid_help_value_runs_nothing(sent: Any):
    assert called("order", {"sku": "a", "help": sent})["isError"] is True
    assert calls == []
