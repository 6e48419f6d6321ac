"""What a tool can see of its call, and the progress that it reports while it runs."""

import asyncio
import json
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from respond_messages import (
    META,
    SERVED,
    error_of,
    message,
    result_of,
    routed,
    shop,
    text,
    tool_call,
)
from toolbooth import Context, ToolError, ToolRegistry, Unpack, compile_function
from toolbooth.contract import Limits
from toolbooth.server.respond import respond, respond_sync
from toolbooth.server.revisions import CLIENT_KEY


def reporting() -> ToolRegistry:
    registry = ToolRegistry("shop")

    @registry.tool
    async def count(to: int, ctx: Context) -> str:
        for done in range(1, to + 1):
            await ctx.progress(done, to, f"step {done}")
        return "done"

    @registry.tool(name="count_sync")
    def counted(to: int, ctx: Context) -> str:
        for done in range(1, to + 1):
            ctx.progress(done)
        return "done"

    registry.dispatcher("do", {"count": "count"}, hide=False)
    return registry


async def streamed(registry: ToolRegistry, body: bytes) -> list[Any]:
    async with asyncio.timeout(10):
        reply = await respond(registry, body)
        assert (reply.body, reply.status) == (b"", 200)
        assert reply.events is not None
        return [json.loads(event) async for event in reply.events]


def progress(token: Any, **params: Any) -> dict[str, Any]:
    params = {"progressToken": token, **params}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


@pytest.mark.parametrize("token", ["t", 7, 0], ids=repr)
def test_progress_comes_in_order_before_the_response(token):
    body = tool_call("count", {"to": 2}, _meta={"progressToken": token})
    assert asyncio.run(streamed(reporting(), body)) == [
        progress(token, progress=1, total=2, message="step 1"),
        progress(token, progress=2, total=2, message="step 2"),
        {"jsonrpc": "2.0", "id": 1, "result": text("done")},
    ]


def test_progress_of_a_sync_tool_comes_in_order_too():
    body = tool_call("count_sync", {"to": 50}, _meta={"progressToken": "t"})
    events = asyncio.run(streamed(reporting(), body))
    assert events[:-1] == [progress("t", progress=done) for done in range(1, 51)]
    assert events[-1] == {"jsonrpc": "2.0", "id": 1, "result": text("done")}


def test_progress_reaches_the_caller_through_a_dispatcher():
    body = tool_call("do", {"action": "count", "to": 1}, _meta={**META, "progressToken": "t"})
    assert asyncio.run(streamed(reporting(), body)) == [
        progress("t", progress=1, total=1, message="step 1"),
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {**text("done"), "resultType": "complete", "_meta": SERVED},
        },
    ]


@pytest.mark.parametrize("errors", ["result", "protocol"])
def test_a_refused_call_ends_its_stream_with_the_refusal(errors):
    registry = reporting()
    registry.errors = errors
    (event,) = asyncio.run(
        streamed(registry, tool_call("count", {"x": 1}, _meta={"progressToken": "t"}))
    )
    assert event["id"] == 1
    told = event["result"]["_meta"] if errors == "result" else event["error"]["data"]
    assert [each["code"] for each in told["toolbooth"]["problems"]] == ["unknown-key", "missing"]


def test_reply_is_not_streamed_without_progress_token_or_reporting_tool():
    assert result_of(shop(), tool_call("add", {"a": 1}, _meta={"progressToken": "t"})) == text("1")
    assert result_of(reporting(), tool_call("count", {"to": 2})) == text("done")


def test_without_an_event_loop_progress_is_not_sent():
    reply = respond_sync(reporting(), tool_call("count", {"to": 2}, _meta={"progressToken": "t"}))
    assert json.loads(reply.body) == {"jsonrpc": "2.0", "id": 1, "result": text("done")}


@pytest.mark.parametrize("token", [1.5, 1e300, 2**64, [], {}, True], ids=repr)
def test_a_progress_token_of_another_kind_is_refused(token):
    body = tool_call("count", {"to": 1}, _meta={"progressToken": token})
    reply = asyncio.run(respond(reporting(), body))
    error = {"code": -32602, "message": "a progressToken must be a string or a 64-bit integer"}
    assert json.loads(reply.body) == {"jsonrpc": "2.0", "id": 1, "error": error}


def test_closing_the_stream_cancels_the_call_and_it_is_recorded():
    registry = ToolRegistry("shop")
    records, ended = [], []
    registry.observe(records.append)

    @registry.tool
    async def wait(ctx: Context) -> None:
        ctx.progress(1)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(asyncio.current_task())

    async def leave_early() -> None:
        async with asyncio.timeout(10):
            reply = await respond(registry, tool_call("wait", _meta={"progressToken": "t"}))
            assert reply.events is not None
            assert json.loads(await anext(reply.events)) == progress("t", progress=1)
            await reply.events.aclose()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(leave_early())
    assert [task.cancelled() for task in ended] == [True]
    assert [(each.tool, each.outcome) for each in records] == [("wait", "failed")]


def test_a_tool_sees_its_client_and_the_meta_of_its_call():
    registry = ToolRegistry("shop")

    @registry.tool
    async def whoami(ctx: Context) -> dict[str, Any]:
        return {"client": ctx.client, "meta": dict(ctx.meta)}

    def seen(body: bytes, context: Context | None = None) -> Any:
        replies = [
            asyncio.run(respond(registry, body, context=context)),
            respond_sync(registry, body, context=context),
        ]
        one, other = (json.loads(reply.body)["result"]["structuredContent"] for reply in replies)
        assert one == other
        return one

    assert seen(tool_call("whoami")) == {"client": None, "meta": {}}
    assert seen(tool_call("whoami", _meta=META)) == {"client": "tests", "meta": META}
    assert seen(tool_call("whoami"), Context(client="me")) == {"client": "me", "meta": {}}
    assert seen(tool_call("whoami", _meta={"a": 1}), Context(client="me")) == {
        "client": "me",
        "meta": {"a": 1},
    }
    assert seen(tool_call("whoami", _meta=META), Context(client="me")) == {
        "client": "tests",
        "meta": META,
    }
    for odd in ({"name": 5}, "tests", {}):
        assert seen(tool_call("whoami", _meta={**META, CLIENT_KEY: odd}))["client"] is None


def test_a_contract_compiled_elsewhere_is_served_like_any_other():
    class Query(BaseModel):
        words: str

    def search(query: Annotated[Query, Unpack()]) -> str:
        return query.words

    registry = ToolRegistry("shop")
    registry.add(compile_function(search))
    assert result_of(registry, tool_call("search", {"words": "tea"})) == text("tea")


def test_limits_of_a_single_tool_apply_on_the_wire():
    registry = ToolRegistry("shop")

    def note(text: str, price: Decimal = Decimal(0)) -> str:
        return f"{text} {price}"

    registry.add(compile_function(note, limits=Limits(max_bytes=60)))
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note", "arguments": %s}}'
    short = result_of(registry, body % b'{"text": "tea", "price": 12345678901234567890.50}')
    assert short["content"][0]["text"] == "tea 12345678901234567890.50"
    long = result_of(registry, body % b'{"text": "%s"}' % (b"x" * 60))
    assert [each["code"] for each in long["_meta"]["toolbooth"]["problems"]] == ["too-large"]


@pytest.mark.parametrize(
    "arguments", ['"{\\"region\\": \\"eu\\"}"', '{"where": "{\\"zone\\": \\"a\\"}"}']
)
def test_arguments_sent_as_text_are_checked_against_the_param_headers(arguments):
    class Where(BaseModel):
        zone: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Zone"})] = ""

    registry = ToolRegistry("shop")

    @registry.tool
    def find(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "",
        where: Where | None = None,
    ) -> str:
        return region

    meta = json.dumps(META).encode()
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find", "_meta": %s, "arguments": %s}}'
    status, _, error = error_of(
        registry, body % (meta, arguments.encode()), routed("tools/call", "find")
    )
    assert (status, error["code"]) == (400, -32020)


class Saved(BaseModel):
    number: int


@pytest.mark.parametrize(
    "value", [None, "saved", [1], {"number": "one"}, {}, Saved.model_construct(number="one")]
)
def test_result_outside_the_declared_output_reports_that_the_tool_ran(value, caplog):
    registry = ToolRegistry("shop")

    @registry.tool
    def save() -> Saved:
        return value

    words = "The tool ran, but its result does not match its output schema. Before you call it again, check what it did."
    assert result_of(registry, tool_call("save")) == text(words, error=True)
    assert {record.levelname for record in caplog.records} == {"ERROR"}


@pytest.mark.parametrize(
    ("params", "strangers"),
    [
        ({"input": {"a": 1}}, ["input"]),
        ({"a": 1, "b": 2}, ["a", "b"]),
        ({"arguments": {"a": 1}, "Arguments": {"b": 2}}, ["Arguments"]),
    ],
)
def test_keys_beside_the_arguments_of_a_call_are_refused(params, strangers):
    result = result_of(shop(), message("tools/call", {"name": "add", **params}))
    words = 'the call has "{}" outside "arguments"; put the fields of the tool inside "arguments"'
    assert [
        (each["code"], each["path"], each["message"])
        for each in result["_meta"]["toolbooth"]["problems"]
    ] == [("unknown-key", "$", words.format(each)) for each in strangers]


def test_arguments_beside_the_params_are_refused():
    result = result_of(shop(), message("tools/call", {"name": "add"}, arguments={"a": 1}))
    assert result["isError"] is True


def test_a_tool_error_may_be_a_single_sentence():
    registry = ToolRegistry("shop")

    @registry.tool
    def buy() -> str:
        raise ToolError("out of tea")

    assert result_of(registry, tool_call("buy")) == text("out of tea", error=True)
