"""A tool has run and its result cannot be sent: on every transport, the reply reports that the tool
ran.
"""

import asyncio
import json
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any

import pytest
from pydantic import BaseModel, field_serializer
from typing_extensions import TypedDict

from respond_messages import result_of, text, tool_call
from toolbooth import Context, ToolRegistry, compile_function, handle_bytes, handle_bytes_async
from toolbooth.server.asgi import app
from toolbooth.server.respond import respond
from toolbooth.server.stdio import serve_streams


class Total(TypedDict):
    total: int


class Anything(TypedDict):
    total: dict[str, Any]


class Leaving(BaseModel):
    total: int

    @field_serializer("total")
    def leave(self, total: int) -> int:
        raise SystemExit(total)


def nested(levels: int) -> Any:
    made: Any = 0
    for _ in range(levels):
        made = {"a": made}
    return made


def endless() -> Any:
    made: dict[str, Any] = {}
    made["total"] = made
    return made


UNSENDABLE: dict[str, tuple[Any, Any]] = {
    "digits": ({"total": 10**5_000}, Total),
    "half-surrogate": ({"total": {"a": "\ud800"}}, Anything),
    "half-surrogate-in-a-key": ({"total": {"\ud800": 1}}, Anything),
    "half-surrogate-text": ("grün \ud800", str),
    "too-deep": ({"total": nested(3_000)}, Anything),
    "endless": (endless(), dict),
    "serializer-that-leaves": (Leaving(total=3), Leaving),
    "object": (object(), Any),
}
RAN = "The tool ran, but its result {}. Before you call it again, check what it did."


def shop_of(value: Any, annotation: Any, *, is_async: bool) -> tuple[ToolRegistry, list[str]]:
    """A shop with one tool that returns a value, also behind a dispatcher, and a record of its
    calls.
    """
    registry, done = ToolRegistry("shop"), list[str]()

    def buy(ctx: Context) -> Any:
        done.append("bought")
        return value

    async def buy_async(ctx: Context) -> Any:
        return buy(ctx)

    tool = buy_async if is_async else buy
    tool.__annotations__["return"] = annotation
    registry.tool(name="buy")(tool)
    registry.dispatcher("orders", {"buy": "buy"}, hide=False)
    return registry, done


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("value", "annotation"), UNSENDABLE.values(), ids=UNSENDABLE)
def test_unsendable_result_reports_that_the_tool_ran(value, annotation, is_async):
    registry, done = shop_of(value, annotation, is_async=is_async)
    records: list[Any] = []
    registry.observe(records.append)
    expected = text(RAN.format("cannot be sent"), error=True)
    assert result_of(registry, tool_call("buy")) == expected
    assert result_of(registry, tool_call("orders", {"action": "buy"})) == expected
    assert done == ["bought"] * 4
    assert [record.outcome for record in records] == ["failed"] * 4


@pytest.mark.parametrize(
    "value", [object(), "\ud800", {1: 1, "1": 2}], ids=["object", "half-a-pair", "same-keys"]
)
def test_unsendable_result_without_a_server_reports_that_the_tool_ran(value, caplog):
    contract = compile_function(lambda: value, name="buy")
    result = handle_bytes(contract, b"{}")
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("The tool ran, but its result")
    assert asyncio.run(handle_bytes_async(contract, b"{}")) == result
    messages = {record.getMessage() for record in caplog.records}
    assert messages == {"the result of tool 'buy' cannot be sent"}


def over_http(registry: ToolRegistry, body: bytes) -> Any:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(event: Any) -> None:
        sent.append(event)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    asyncio.run(app(registry)(scope, receive, send))
    assert sent[0]["status"] == 200
    return json.loads(sent[1]["body"])


def over_stdio(registry: ToolRegistry, body: bytes) -> Any:
    with TemporaryFile() as source, TemporaryFile() as sink:
        source.write(body + b"\n")
        source.seek(0)
        asyncio.run(serve_streams(registry, source, sink))
        sink.seek(0)
        return json.loads(sink.read())


def with_progress(registry: ToolRegistry, body: bytes) -> Any:
    async def ask() -> bytes:
        reply = await respond(
            registry, body.replace(b'"name"', b'"_meta": {"progressToken": 1}, "name"')
        )
        assert reply.events is not None
        return [event async for event in reply.events][-1]

    return json.loads(asyncio.run(ask()))


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("ask", [over_http, over_stdio, with_progress])
def test_unsendable_result_is_reported_on_every_transport(ask: Callable[..., Any], is_async):
    registry, done = shop_of(*UNSENDABLE["digits"], is_async=is_async)
    found = ask(registry, tool_call("buy"))
    assert found["result"] == text(RAN.format("cannot be sent"), error=True)
    assert done == ["bought"]


def test_result_with_the_longest_integer_is_validated_and_sent():
    registry, _ = shop_of({"total": 10**4_299}, Total, is_async=False)
    assert result_of(registry, tool_call("buy"))["structuredContent"] == {"total": 10**4_299}


def test_result_deeper_than_the_reader_allows_is_validated_and_sent():
    registry, _ = shop_of({"total": nested(240)}, Anything, is_async=False)
    assert result_of(registry, tool_call("buy"))["structuredContent"] == {"total": nested(240)}


def test_failing_output_schema_reports_that_the_tool_ran():
    class Odd(BaseModel):
        @classmethod
        def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
            raise RuntimeError("no schema")

    registry, done = shop_of(Odd(), Odd, is_async=False)
    assert result_of(registry, tool_call("buy")) == text(RAN.format("cannot be sent"), error=True)
    assert done == ["bought", "bought"]


# --- observers ----------------------------------------------------------------------------------------------------


class Own(BaseException):
    """Not an Exception."""


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    "error", [RuntimeError, RecursionError, SystemExit, GeneratorExit, asyncio.CancelledError, Own]
)
def test_a_failing_observer_does_not_hide_that_a_tool_ran(error, is_async, caplog):
    registry, done = shop_of("bought", str, is_async=is_async)

    @registry.observe
    def broken(record: Any) -> None:
        raise error

    assert result_of(registry, tool_call("buy")) == text("bought")
    assert done == ["bought", "bought"]
    assert {record.getMessage() for record in caplog.records} == {"an observer failed"}


def test_ctrl_c_in_an_observer_still_stops_the_server():
    registry, _ = shop_of("bought", str, is_async=False)

    @registry.observe
    def stopped(record: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        registry.dispatch("buy", {})
