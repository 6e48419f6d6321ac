"""The registry: registration, output schemas and `dispatch`."""

import asyncio
import functools
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Optional

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from registry_calls import codes, on_the_wire, several, text
from toolbooth import (
    Context,
    ContractError,
    ToolInputError,
    ToolRegistry,
    compile_function,
    compile_json_schema,
)
from toolbooth.server.listed_tools import UnknownTool

# --- registration -------------------------------------------------------------------------------------------------


def test_registered_function_stays_callable_with_and_without_parentheses():
    registry = ToolRegistry("shop")

    @registry.tool
    def plain(a: int) -> int:
        """A docstring."""
        return a

    @registry.tool(
        name="other", title="Title", description="Words.", annotations={"readOnlyHint": True}
    )
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
    assert caught.value.mistakes == (
        f"{name!r} is not a valid tool name (letters, digits, _ - .; at most 128); pass name=",
    )


def test_registering_a_name_twice_is_a_mistake():
    registry = ToolRegistry("shop")
    registry.tool(name="add")(lambda: 1)
    with pytest.raises(ContractError) as caught:
        registry.tool(name="add")(lambda: 2)
    assert caught.value.mistakes == (
        "a tool named 'add' is registered already; pass another name=",
    )
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
        (
            Annotated[dict[str, int], "words"],
            {"type": "object", "additionalProperties": {"type": "integer"}},
        ),
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


def test_result_matches_the_output_schema():
    def price() -> Model:
        return Model(price=Decimal("1.10"))

    registry = ToolRegistry("shop")
    registry.tool(price)
    schema = registry.tools["price"].output_schema
    assert schema is not None
    assert schema["properties"]["price"]["type"] == "string"
    assert registry.dispatch("price") == {
        **text('{"price":"1.10"}'),
        "structuredContent": {"price": "1.10"},
    }


def test_a_function_without_a_signature_has_no_output_schema():
    registry = ToolRegistry("shop")
    registry.add(
        compile_json_schema({"type": "object", "additionalProperties": True}, name="copy"), dict
    )
    assert registry.tools["copy"].listing().keys() == {"name", "inputSchema"}
    assert registry.dispatch("copy", {"a": 1}) == {**text('{"a":1}'), "structuredContent": {"a": 1}}


# --- dispatch -----------------------------------------------------------------------------------------------------


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
def test_dispatch_returns_the_result_that_is_sent_over_the_wire(name, arguments):
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
def test_dispatch_refuses_values_that_are_not_json(value):
    registry = several()
    records = []
    registry.observe(records.append)
    refused = registry.dispatch("order", {"item": value})
    assert codes(refused) == [("not-json", "$")]
    assert asyncio.run(registry.dispatch_async("order", {"item": value})) == refused
    assert [(record.outcome, record.problems) for record in records] == [
        ("refused", ("not-json",))
    ] * 2


def test_dispatch_of_an_unknown_tool_raises_with_a_suggestion():
    registry = several()
    with pytest.raises(UnknownTool, match=r"^there is no tool 'ordr'; did you mean 'order'\?$"):
        registry.dispatch("ordr")
    with pytest.raises(UnknownTool, match=r"^there is no tool 'zzzz'$"):
        asyncio.run(registry.dispatch_async("zzzz"))


@pytest.mark.parametrize("name", ["order", "order_later", "order_in_time"])
def test_dispatch_raises_and_records_a_refusal_with_errors_protocol(name):
    registry = several()
    registry.errors = "protocol"
    records = []
    registry.observe(records.append)
    with pytest.raises(ToolInputError):
        registry.dispatch(name, {"data": {"item": "tea"}})
    with pytest.raises(ToolInputError):
        asyncio.run(registry.dispatch_async(name, {"data": {"item": "tea"}}))
    assert [record.outcome for record in records] == ["refused", "refused"]


def test_dispatch_runs_a_sync_tool_in_the_calling_thread():
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


@pytest.mark.parametrize("name", ["dispatch", "dispatch_bytes", "dispatch_async"])
def test_the_former_names_of_the_call_methods_still_work(name):
    current = name.replace("dispatch", "call")
    assert getattr(ToolRegistry, name) is getattr(ToolRegistry, current)
