"""The registry: registration, `dispatch`, and one record per call."""

import asyncio
import functools
import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Optional

import pytest
from pydantic import BaseModel, Field, SecretStr
from typing_extensions import TypedDict

from toolbooth import (
    Context,
    ContractError,
    JsonText,
    ToolError,
    ToolInputError,
    ToolRegistry,
    Unpack,
    compile_function,
    compile_json_schema,
    handle_arguments,
)
from toolbooth.content import Audio, Image, Text
from toolbooth.server.observe import CallRecord, log_calls
from toolbooth.server.registry import UnknownTool
from toolbooth.server.respond import respond


def text(words: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": error}


def on_the_wire(registry: ToolRegistry, name: str, arguments: bytes) -> Any:
    """The result of a call that came as bytes."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
    reply = asyncio.run(respond(registry, body % (name.encode(), arguments)))
    return json.loads(reply.body)["result"]


def codes(result: Any) -> list[tuple[str, str]]:
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


# --- registration -------------------------------------------------------------------------------------------------


def test_a_function_stays_what_it_is_with_and_without_parentheses():
    registry = ToolRegistry("shop")

    @registry.tool
    def plain(a: int) -> int:
        """A docstring."""
        return a

    @registry.tool(name="other", title="Title", description="Words.", annotations={"readOnlyHint": True})
    def named(a: int) -> int:
        """A docstring."""
        return a

    @registry.tool()
    def empty_parentheses(a: int) -> int:
        return a

    assert (plain(1), named(2), empty_parentheses(3)) == (1, 2, 3)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert [tool.listing() for tool in registry.tools.values()] == [
        {"name": "plain", "description": "A docstring.", "inputSchema": schema},
        {
            "name": "other",
            "title": "Title",
            "description": "Words.",
            "inputSchema": schema,
            "annotations": {"readOnlyHint": True},
        },
        {"name": "empty_parentheses", "inputSchema": schema},
    ]


def test_a_bound_method_is_registered_under_its_own_name():
    class Provider:
        def __init__(self, prefix: str) -> None:
            self.prefix = prefix

        def greet(self, name: str) -> str:
            return f"{self.prefix} {name}"

    registry = ToolRegistry("shop")
    registry.tool(Provider("Hello").greet)
    assert registry.dispatch("greet", {"name": "Ada"}) == text("Hello Ada")


def test_a_contract_is_registered_with_its_own_function_or_another():
    registry = ToolRegistry("shop")
    contract = compile_function(lambda a: a, name="one")
    tool = registry.add(contract, title="One", timeout=3)
    other = registry.add(compile_function(lambda a: a, name="two"), lambda a: f"got {a}")
    assert (tool.name, tool.title, tool.timeout, tool.is_dispatcher) == ("one", "One", 3, False)
    assert other.timeout is None
    assert registry.dispatch("two", {"a": 1}) == text("got 1")


def test_a_contract_without_a_function_is_a_mistake():
    registry = ToolRegistry("shop")
    with pytest.raises(ContractError, match="there is no function to call; pass one"):
        registry.add(compile_json_schema({"type": "object"}, name="foreign"))


@pytest.mark.parametrize("name", ["two words", "é", "x" * 129, "a/b", "a\n"], ids=ascii)
def test_a_name_that_the_specification_does_not_allow_is_a_mistake(name):
    registry = ToolRegistry("shop")
    with pytest.raises(ContractError) as caught:
        registry.tool(name=name)(lambda: None)
    assert caught.value.mistakes == (f"{name!r} is no tool name (letters, digits, _ - .; 128 at most); pass name=",)


def test_a_name_can_be_registered_once():
    registry = ToolRegistry("shop")
    registry.tool(name="add")(lambda: 1)
    with pytest.raises(ContractError) as caught:
        registry.tool(name="add")(lambda: 2)
    assert caught.value.mistakes == ("a tool named 'add' is registered already; pass another name=",)
    assert registry.dispatch("add") == text("1")


def test_the_registrys_time_limit_holds_unless_the_tool_has_its_own():
    registry = ToolRegistry("shop", timeout=5)
    registry.tool(name="a")(lambda: None)
    registry.tool(name="b", timeout=1)(lambda: None)
    assert [tool.timeout for tool in registry.tools.values()] == [5, 1]


# --- output schemas -----------------------------------------------------------------------------------------------


class Model(BaseModel):
    price: Decimal


@dataclass
class Plain:
    a: int


class Typed(TypedDict):
    a: int


class Tree(TypedDict):
    below: "list[Tree]"


BELOW = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
TREE = {"type": "object", "properties": {"below": BELOW}, "required": ["below"]}
INTEGER_A = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (Plain, INTEGER_A),
        (Typed, INTEGER_A),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Annotated[dict[str, int], "words"], {"type": "object", "additionalProperties": {"type": "integer"}}),
        ("dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Tree, {**TREE, "$defs": {"Tree": TREE}}),
        (dict, None),
        (str, None),
        (None, None),
        (Any, None),
        (int, None),
        (list[int], None),
        (Optional[Plain], None),
        (threading.Thread, None),
        (Callable[[], None], None),
        ("NoSuchName", None),
    ],
    ids=str,
)
def test_an_object_in_the_return_annotation_is_the_output_schema(hint, schema):
    def tool():
        raise AssertionError("not called")

    tool.__annotations__["return"] = hint
    registry = ToolRegistry("shop")
    registry.tool(tool)
    assert registry.tools["tool"].output_schema == schema


def test_what_is_sent_is_what_the_output_schema_promises():
    def price() -> Model:
        return Model(price=Decimal("1.10"))

    registry = ToolRegistry("shop")
    registry.tool(price)
    schema = registry.tools["price"].output_schema
    assert schema is not None
    assert schema["properties"]["price"]["type"] == "string"
    assert registry.dispatch("price") == {**text('{"price":"1.10"}'), "structuredContent": {"price": "1.10"}}


def test_a_function_without_a_signature_has_no_output_schema():
    registry = ToolRegistry("shop")
    registry.add(compile_json_schema({"type": "object", "additionalProperties": True}, name="copy"), dict)
    assert registry.tools["copy"].listing().keys() == {"name", "inputSchema"}
    assert registry.dispatch("copy", {"a": 1}) == {**text('{"a":1}'), "structuredContent": {"a": 1}}


# --- dispatch -----------------------------------------------------------------------------------------------------


class Line(BaseModel):
    item: str
    count: int = 1


def several() -> ToolRegistry:
    registry = ToolRegistry("shop")

    @registry.tool
    def order(line: Annotated[Line, Unpack()], notes: list[str] | None = None) -> dict[str, Any]:
        return {"line": line.model_dump(), "notes": notes}

    @registry.tool
    async def order_later(line: Line) -> Line:
        return line

    @registry.tool(timeout=30)
    def order_in_time(line: Line) -> Line:
        return line

    @registry.tool
    def fail(line: Line) -> str:
        raise ToolError("fail", f"no {line.item}")

    return registry


SENT = [
    ("order", b'{"item": "tea"}'),
    ("order", b'{"item": "tea", "count": "2", "notes": "[\\"a\\"]"}'),
    ("order", b'"{\\"item\\": \\"tea\\"}"'),
    ("order", b'{"line": {"item": "tea"}}'),
    ("order", b"null"),
    ("order", b"[]"),
    ("order_later", b'{"line": {"item": "tea"}}'),
    ("order_later", b'{"item": "tea"}'),
    ("order_in_time", b'{"line": "{\\"item\\": \\"tea\\"}"}'),
    ("fail", b'{"line": {"item": "tea"}}'),
]


@pytest.mark.parametrize(("name", "arguments"), SENT, ids=str)
def test_dispatch_gives_what_the_wire_gives(name, arguments):
    registry = several()
    expected = on_the_wire(registry, name, arguments)
    assert registry.dispatch_bytes(name, arguments) == expected
    parsed = json.loads(arguments)
    assert registry.dispatch(name, parsed) == expected
    assert asyncio.run(registry.dispatch_async(name, parsed)) == expected


def test_dispatch_of_bytes_refuses_one_key_twice():
    refused = several().dispatch_bytes("order", b'{"item": "tea", "item": "milk"}')
    assert (codes(refused), refused["isError"]) == ([("duplicate-key", "$")], True)


def test_dispatch_without_arguments_sends_none():
    registry = ToolRegistry("shop")
    registry.tool(name="seven")(lambda: 7)
    assert registry.dispatch("seven") == text("7")
    assert asyncio.run(registry.dispatch_async("seven")) == text("7")


@pytest.mark.parametrize("value", [float("nan"), "\ud800"], ids=["nan", "surrogate"])
def test_dispatch_refuses_what_no_wire_could_bring(value):
    registry = several()
    records = []
    registry.observe(records.append)
    refused = registry.dispatch("order", {"item": value})
    assert codes(refused) == [("not-json", "$")]
    assert asyncio.run(registry.dispatch_async("order", {"item": value})) == refused
    assert [(record.outcome, record.problems) for record in records] == [("refused", ("not-json",))] * 2


def test_dispatch_of_an_unknown_tool_says_which_may_be_meant():
    registry = several()
    with pytest.raises(UnknownTool, match=r"^there is no tool 'ordr'; did you mean 'order'\?$"):
        registry.dispatch("ordr")
    with pytest.raises(UnknownTool, match=r"^there is no tool 'zzzz'$"):
        asyncio.run(registry.dispatch_async("zzzz"))


@pytest.mark.parametrize("name", ["order", "order_later", "order_in_time"])
def test_dispatch_raises_the_refusal_where_refusals_are_protocol_errors_and_records_it_once(name):
    registry = several()
    registry.errors = "protocol"
    records = []
    registry.observe(records.append)
    with pytest.raises(ToolInputError):
        registry.dispatch(name, {"data": {"item": "tea"}})
    with pytest.raises(ToolInputError):
        asyncio.run(registry.dispatch_async(name, {"data": {"item": "tea"}}))
    assert [record.outcome for record in records] == ["refused", "refused"]


def test_dispatch_runs_a_sync_tool_here_and_now():
    registry = ToolRegistry("shop")
    registry.tool(name="where")(lambda: threading.current_thread().name)
    assert registry.dispatch("where") == text(threading.current_thread().name)


def test_dispatch_gives_the_tool_the_context_it_is_given():
    registry = ToolRegistry("shop")

    @registry.tool
    def who(ctx: Context) -> str:
        return str(ctx.client)

    assert registry.dispatch("who", context=Context(client="me")) == text("me")
    assert asyncio.run(registry.dispatch_async("who", context=Context(client="me"))) == text("me")
    assert registry.dispatch("who") == text("None")


def test_a_wrapper_around_an_async_function_is_awaited():
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **keywords: Any) -> Any:
            return function(*args, **keywords)

        return wrapper

    registry = ToolRegistry("shop")

    @registry.tool
    @logged
    async def add(a: int) -> int:
        return a + 1

    assert registry.dispatch("add", {"a": 1}) == text("2")
    assert asyncio.run(registry.dispatch_async("add", {"a": 1})) == text("2")


# --- observers ----------------------------------------------------------------------------------------------------


def observed(registry: ToolRegistry) -> list[CallRecord]:
    records: list[CallRecord] = []
    assert registry.observe(records.append) == records.append
    return records


def told(record: CallRecord) -> tuple[Any, ...]:
    assert record.seconds >= 0
    return (record.tool, record.outcome, record.problems, record.repairs, record.client)


OUTCOMES = [
    ("order", {"item": "tea"}, ("order", "passed", (), (), "me")),
    ("order", {"item": "tea", "count": "2"}, ("order", "repaired", (), ("scalar-text",), "me")),
    ("order", {"data": {"item": "tea"}}, ("order", "refused", ("nested-wrapper",), (), "me")),
    ("order", [], ("order", "refused", ("not-an-object",), (), "me")),
    ("fail", {"line": {"item": "tea"}}, ("fail", "failed", (), (), "me")),
    ("order_later", {"line": '{"item": "tea"}'}, ("order_later", "repaired", (), ("json-text",), "me")),
]


@pytest.mark.parametrize(("name", "arguments", "record"), OUTCOMES, ids=str)
def test_every_call_yields_one_record(name, arguments, record):
    registry = several()
    records = observed(registry)
    registry.dispatch(name, arguments, context=Context(client="me"))
    asyncio.run(registry.dispatch_async(name, arguments, context=Context(client="me")))
    assert [told(each) for each in records] == [record, record]


def test_an_observer_that_raises_breaks_neither_the_call_nor_the_other_observers(caplog):
    registry = several()

    @registry.observe
    def broken(record: CallRecord) -> None:
        raise RuntimeError("no disk")

    records = observed(registry)
    assert registry.dispatch("order", {"item": "tea"})["isError"] is False
    assert [record.outcome for record in records] == ["passed"]
    assert [record.getMessage() for record in caplog.records] == ["an observer failed"]


LOGGED = [
    ("order", {"item": "tea"}, None, logging.INFO, "order passed in T ms"),
    ("order", {"item": "tea", "count": "2"}, "me", logging.INFO, "order repaired in T ms (scalar-text) for me"),
    ("order", {"item": "tea", "x": 1}, None, logging.WARNING, "order refused in T ms (unknown-key)"),
    ("fail", {"line": {"item": "tea"}}, "me", logging.WARNING, "fail failed in T ms for me"),
]


@pytest.mark.parametrize(("name", "arguments", "client", "level", "line"), LOGGED, ids=lambda value: str(value))
def test_the_logging_observer_writes_one_line_per_call(name, arguments, client, level, line, caplog):
    registry = several()
    registry.observe(log_calls)
    caplog.set_level(logging.INFO, logger="toolbooth.calls")
    registry.dispatch(name, arguments, context=Context(client=client))
    (record,) = caplog.records
    seconds = f"{record.args[2]:.1f}"
    assert (record.name, record.levelno, record.getMessage()) == (
        "toolbooth.calls",
        level,
        line.replace(" T ", f" {seconds} "),
    )


def test_the_result_is_the_boundarys_own():
    registry = several()
    contract = registry.tools["order"].contract
    for arguments in ({"item": "tea"}, {"item": "tea", "count": "2"}, {"line": {"item": "tea"}}, {}):
        assert registry.dispatch("order", arguments) == handle_arguments(contract, arguments)


def test_a_field_with_a_header_is_found_once():
    registry = ToolRegistry("shop")

    @registry.tool
    def find(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        return region

    assert registry.tools["find"].header_params == {("region",): ("Region", "string")}


# --- arguments in records -----------------------------------------------------------------------------------------


class Login(BaseModel):
    user: str
    password: SecretStr
    note: str = ""


def accounts() -> ToolRegistry:
    registry = ToolRegistry("accounts")

    @registry.tool
    def log_in(login: Annotated[Login, Unpack()]) -> str:
        return login.user

    @registry.tool
    def log_in_all(logins: list[Login]) -> int:
        return len(logins)

    @registry.tool
    def pay(amount: Decimal, headers: Annotated[dict[str, str] | None, JsonText(example={"a": "b"})] = None) -> str:
        return str(amount)

    @registry.tool
    def change(table: Annotated[dict[str, Any], Field(description="e.g. {}")]) -> int:
        table.clear()
        return 0

    return registry


RECORDED = {
    "nothing to hide": ("pay", '{"amount": 1.50}', '{"amount":1.5}'),
    "every digit": ("pay", '{"amount":12345678901234567890.50}', '{"amount":12345678901234567890.50}'),
    "a declared secret": (
        "log_in",
        '{"user":"ann","password":"hunter2"}',
        '{"user":"ann","password":"[redacted]"}',
    ),
    "a secret under a misspelt key": (
        "log_in",
        '{"user":"ann","passwort":"hunter2"}',
        '{"user":"ann","passwort":"[redacted]"}',
    ),
    "a secret in a wrapper": ("log_in", '{"data":{"user":"ann","password":"hunter2"}}', '{"data":"[redacted]"}'),
    "a null secret": ("log_in", '{"user":"ann","password":null}', '{"user":"ann","password":null}'),
    "secrets in a list": (
        "log_in_all",
        '{"logins":[{"user":"ann","password":"hunter2"},{"user":"bob","password":7}]}',
        '{"logins":[{"user":"ann","password":"[redacted]"},{"user":"bob","password":"[redacted]"}]}',
    ),
    "secrets in JSON text": (
        "log_in_all",
        r'{"logins":"[{\"user\":\"ann\",\"password\":\"hunter2\"}]"}',
        r'{"logins":"[{\"user\":\"ann\",\"password\":\"[redacted]\"}]"}',
    ),
    "text that cannot be read where a secret may stand": (
        "log_in_all",
        r'{"logins":"[{password: hunter2}]"}',
        '{"logins":"[redacted]"}',
    ),
    "a number where an object with a secret belongs": ("log_in_all", '{"logins":[7]}', '{"logins":["[redacted]"]}'),
    "a secret by its name": (
        "pay",
        r'{"amount":1,"headers":"{\"Authorization\":\"Bearer x\",\"Accept\":\"*/*\"}"}',
        r'{"amount":1,"headers":"{\"Authorization\":\"[redacted]\",\"Accept\":\"*/*\"}"}',
    ),
    "a secret by its name, deep in what nobody declared": (
        "pay",
        '{"amount":1,"x":{"y":[{"api_key":"k","z":1}]}}',
        '{"amount":1,"x":{"y":[{"api_key":"[redacted]","z":1}]}}',
    ),
    "before the tool changes it": ("change", '{"table":{"a":[1,true,null]}}', '{"table":{"a":[1,true,null]}}'),
    "arguments that are JSON text": (
        "log_in",
        r'"{\"user\":\"ann\",\"password\":\"hunter2\"}"',
        r'"{\"user\":\"ann\",\"password\":\"[redacted]\"}"',
    ),
}


@pytest.mark.parametrize(("name", "sent", "redacted"), RECORDED.values(), ids=RECORDED)
def test_observers_are_shown_the_arguments_they_ask_for(name, sent, redacted):
    registry = accounts()
    plain, kept, whole = [], [], []
    registry.observe(plain.append)
    registry.observe(kept.append, arguments="redacted")

    @registry.observe(arguments="whole")
    def see(record: CallRecord) -> None:
        whole.append(record)

    registry.dispatch_bytes(name, sent.encode())
    assert [record.arguments for record in (*plain, *kept)] == [None, redacted]
    assert whole[0].arguments == sent.replace(": 1.50", ":1.5")


def test_arguments_that_cannot_be_read_are_not_recorded():
    registry = accounts()
    records = []
    registry.observe(records.append, arguments="whole")
    registry.dispatch_bytes("log_in", b'{"user": "a", "user": "b"}')
    assert [(record.outcome, record.arguments) for record in records] == [("refused", None)]


def test_a_dispatchers_secrets_are_those_of_the_action_that_is_meant():
    registry = accounts()
    registry.dispatcher("accounts", {"in": "log_in", "pay": "pay"})
    records = []
    registry.observe(records.append, arguments="redacted")
    registry.dispatch("accounts", {"action": "in", "user": "ann", "password": "hunter2"})
    registry.dispatch("accounts", {"action": "out", "user": "ann", "password": "hunter2"})
    registry.dispatch("accounts", {"action": "pay", "params": {"amount": 1}})
    assert [(record.tool, record.dispatcher, record.arguments) for record in records] == [
        ("log_in", "accounts", '{"user":"ann","password":"[redacted]"}'),
        ("accounts", None, '"[redacted]"'),
        ("pay", "accounts", '{"amount":1}'),
    ]


def test_an_observer_must_ask_for_something_that_exists():
    with pytest.raises(ValueError, match="an observer is shown 'none', 'redacted', 'whole'"):
        accounts().observe(print, arguments="all")


@pytest.mark.parametrize("errors", ["result", "protocol"])
def test_who_may_not_call_a_tool_is_not_told_its_fields(errors):
    registry = ToolRegistry("shop", errors=errors)
    contract = compile_json_schema({"type": "object", "properties": {"secret_field": {}}}, dict, name="open_safe")
    registry.add(contract, withheld=lambda: ToolError("open_safe", "you may not"))
    assert registry.dispatch("open_safe", {"data": {}}) == {
        "content": [{"type": "text", "text": "Tool 'open_safe' failed: you may not"}],
        "isError": True,
    }
    assert registry.dispatch("open_safe", {"secret_field": 1})["isError"] is False


def test_who_may_call_a_tool_is_told_why_a_call_is_refused():
    registry = ToolRegistry("shop")
    contract = compile_json_schema({"type": "object", "properties": {"code": {}}}, dict, name="open_safe")
    registry.add(contract, withheld=lambda: None)
    assert 'Declared fields: "code"' in registry.dispatch("open_safe", {"cod": 1})["content"][0]["text"]


def test_a_registry_answers_refusals_in_one_of_two_ways():
    with pytest.raises(ValueError, match="a refusal is answered as 'result', 'protocol'"):
        ToolRegistry("shop", errors="nope")


def test_dispatch_where_a_loop_runs_says_what_to_await():
    registry = several()

    async def inside() -> None:
        with pytest.raises(RuntimeError, match="'order_later' needs an event loop, and one runs here already"):
            registry.dispatch("order_later", {"line": {"item": "tea"}})

    asyncio.run(inside())


@pytest.mark.parametrize(
    "piece", [Text(text="hello"), Image(data=b"png"), Audio(data=b"wav")], ids=lambda each: type(each).__name__
)
def test_a_tool_that_declares_content_gives_content(piece):
    def draw():
        return piece

    draw.__annotations__["return"] = type(piece)
    registry = ToolRegistry("shop")
    registry.tool(draw)
    assert "outputSchema" not in registry.tools["draw"].listing()
    assert registry.dispatch("draw")["isError"] is False
