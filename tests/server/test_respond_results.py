"""The return value of a tool, as the result of its call."""

import asyncio
import json
import threading

import pytest
from pydantic import BaseModel, Field

from respond_messages import message, result_of, text, tool_call
from toolbooth import ToolError, ToolRegistry
from toolbooth.content import Image, Text
from toolbooth.server.respond import respond


class Order(BaseModel):
    number: int = Field(alias="orderNumber")
    lines: list[str] = []


ORDER_SCHEMA = {
    "type": "object",
    "properties": {
        "orderNumber": {"type": "integer"},
        "lines": {"type": "array", "items": {"type": "string"}, "default": []},
    },
    "required": ["orderNumber"],
}


def test_an_object_is_sent_as_structured_content_and_its_schema_is_published():
    registry = ToolRegistry("shop")

    @registry.tool
    async def get(number: int) -> Order:
        return Order(orderNumber=number, lines=["tea"])

    listed = result_of(registry, message("tools/list"))["tools"][0]
    assert listed["outputSchema"] == ORDER_SCHEMA
    order = '{"orderNumber":7,"lines":["tea"]}'
    expected = {**text(order), "structuredContent": json.loads(order)}
    assert result_of(registry, tool_call("get", {"number": 7})) == expected


def test_a_decimal_number_for_text_is_corrected_digit_by_digit():
    registry = ToolRegistry("shop")

    @registry.tool
    def add(code: str, count: int = 0) -> None: ...

    body = tool_call("add", {"code": "CODE", "count": 2}).replace(b'"CODE"', b"1.50")
    refusal = result_of(registry, body)["_meta"]["toolbooth"]
    assert refusal["corrected"] == {"code": "1.50", "count": 2}


def yields():
    yield 1
    yield 2


async def yields_async():
    yield 1
    yield 2


def gives_a_coroutine():
    return echo_later()


async def echo_later():
    return [1, 2]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: None, "null"),
        (lambda: True, "true"),
        (lambda: [1, 2], "[1,2]"),
        (lambda: 10**30, str(10**30)),
        (lambda: "é", "é"),
        (yields, "[1,2]"),
        (yields_async, "[1,2]"),
        (gives_a_coroutine, "[1,2]"),
        (lambda: yields_async(), "[1,2]"),
    ],
    ids=[
        "null",
        "boolean",
        "array",
        "big",
        "text",
        "generator",
        "async-generator",
        "coroutine",
        "returned-generator",
    ],
)
def test_text_and_iterator_results_are_sent_as_text(make, words):
    registry = ToolRegistry("shop")
    registry.tool(name="get")(make)
    assert result_of(registry, tool_call("get")) == text(words)


def test_mixed_content_is_sent_as_content_items():
    registry = ToolRegistry("shop")
    registry.tool(name="look")(lambda: [Text(text="here"), Image(data=b"\x00")])
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    expected = {"content": [{"type": "text", "text": "here"}, image], "isError": False}
    assert result_of(registry, tool_call("look")) == expected


def test_a_generator_that_raises_is_reported_as_a_failed_tool():
    registry = ToolRegistry("shop")

    @registry.tool
    def rows():
        yield 1
        raise ToolError("rows", "the table is gone")

    assert result_of(registry, tool_call("rows")) == text(
        "Tool 'rows' failed: the table is gone", error=True
    )


def test_a_sync_tool_runs_off_the_event_loop_and_an_async_one_on_it():
    registry = ToolRegistry("shop")
    where = []
    registry.tool(name="sync")(lambda: where.append(threading.current_thread().name))

    @registry.tool(name="async")
    async def on_the_loop() -> None:
        where.append(threading.current_thread().name)

    for name in ("sync", "async"):
        asyncio.run(respond(registry, tool_call(name)))
    assert [name.startswith("toolbooth") for name in where] == [True, False]
