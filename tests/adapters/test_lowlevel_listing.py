"""The listing that a low-level `Server` under `protect` is checked against, and that order does not
matter.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import mcp
import pytest
from lowlevel_orders import call, codes, echo, got, lists, orders, ours, text, tool
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from toolbooth import is_protected, protect

# --- order ----------------------------------------------------------------------------------------------------


def test_handlers_may_be_registered_after_and_replaced():
    server = protect(Server("late"))
    server.add_request_handler("tools/call", CallToolRequestParams, echo)
    server.add_request_handler("tools/list", PaginatedRequestParams, lists(tool("order")))
    assert codes(call(server, {"customer": "Ann", "colour": 1})) == [("unknown-key", "$.colour")]

    other = {"type": "object", "properties": {"colour": {"type": "integer"}}}
    server.add_request_handler("tools/list", PaginatedRequestParams, lists(tool("order", other)))
    assert got(call(server, {"colour": "1"})) == {"colour": 1}


def with_context(server: Server[Any]) -> None:
    """Add one more field to the listing and take it off before the tool is called, as analytics do."""
    list_entry = server.get_request_handler("tools/list")
    call_entry = server.get_request_handler("tools/call")
    assert list_entry is not None
    assert call_entry is not None

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        listed: Any = await list_entry.handler(ctx, params)
        tools = [tool(each.name, with_field(each.input_schema)) for each in listed.tools]
        return ListToolsResult(tools=tools)

    async def call_tool(ctx: Any, params: CallToolRequestParams) -> Any:
        arguments = dict(params.arguments or {})
        reason = arguments.pop("context")
        return await call_entry.handler(
            ctx, params.model_copy(update={"arguments": {**arguments, "reason": reason}})
        )

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)


def with_field(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {**schema["properties"], "context": {"type": "string"}}
    return {**schema, "properties": properties, "required": [*schema["required"], "context"]}


@pytest.mark.parametrize("first", [protect, with_context], ids=["protect", "analytics"])
def test_a_field_that_another_handler_adds_is_checked_and_handed_to_it(first: Any):
    server = orders()
    for step in (first, with_context if first is protect else protect):
        step(server)
    sent = {"customer": "Ann", "context": "to test"}
    assert got(call(server, sent)) == {"customer": "Ann", "reason": "to test"}
    assert codes(call(server, {"customer": "Ann"})) == [("missing", "$.context")]
    assert codes(call(server, {**sent, "colour": 1})) == [("unknown-key", "$.colour")]


async def adding_context(ctx: Any, call_next: Any) -> Any:
    """The same as middleware."""
    if ctx.method == "tools/list":
        listed = await call_next(ctx)
        tools = [
            {**each, "inputSchema": with_field(each["inputSchema"])} for each in listed["tools"]
        ]
        return {**listed, "tools": tools}
    if ctx.method == "tools/call":
        ctx.params["arguments"].pop("context", None)
    return await call_next(ctx)


@pytest.mark.parametrize("place", ["before", "after", "in front"])
def test_a_field_that_middleware_adds_is_checked_and_handed_to_it(place: str):
    server = orders()
    if place == "before":
        server.middleware.append(adding_context)
    protect(server)
    if place == "after":
        server.middleware.append(adding_context)
    if place == "in front":
        server.middleware.insert(0, adding_context)
    assert got(call(server, {"customer": "Ann", "context": "x"})) == {"customer": "Ann"}
    assert codes(call(server, {"customer": "Ann"})) == [("missing", "$.context")]


@pytest.mark.parametrize("place", ["before", "after"])
def test_middleware_sees_refused_calls_and_their_results(place: str):
    seen: list[Any] = []

    async def audit(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/call":
            seen.append((ctx.params["arguments"], result["isError"]))
        return result

    server = orders()
    if place == "before":
        server.middleware.append(audit)
    protect(server)
    if place == "after":
        server.middleware.append(audit)
    call(server, {"customer": "Ann", "colour": 1})
    call(server, {"customer": "Ann"})
    assert seen == [({"customer": "Ann", "colour": 1}, True), ({"customer": "Ann"}, False)]


def test_middleware_may_answer_in_models():
    async def answering(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/list":
            return ListToolsResult(tools=[tool("order")])
        return text(["order", ctx.params["arguments"]])

    server = protect(Server("models"))
    server.middleware.append(answering)
    result = call(server, {"customer": "Ann", "notify": "true"})
    assert (got(result), codes(result)) == (
        {"customer": "Ann", "notify": True},
        [("scalar-text", "$.notify")],
    )


def test_a_result_of_an_extension_is_not_changed():
    async def answering(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/list":
            return await call_next(ctx)
        return {"resultType": "task", "taskId": "t1"}

    server = protect(orders())
    server.middleware.append(answering)
    result = call(server, {"customer": "Ann", "notify": "true"})
    assert result == {"resultType": "task", "taskId": "t1"}


def test_the_middleware_list_still_belongs_to_the_user():
    server = orders()
    plain = list(server.middleware)
    protect(protect(server))
    assert server.middleware == plain
    # The SDK's own advice for a server without telemetry.
    server.middleware.pop(0)
    server.middleware.clear()
    assert is_protected(server)
    assert codes(call(server, {"customer": "Ann", "colour": 1})) == [("unknown-key", "$.colour")]


# --- the listing that counts
# --------------------------------------------------------------------------------------


def test_the_tool_is_found_on_any_page():
    asked: list[Any] = []

    async def pages(ctx: Any, params: PaginatedRequestParams) -> ListToolsResult:
        asked.append(params.cursor)
        number = int(params.cursor or 0)
        following = str(number + 1) if number < 2 else None
        return ListToolsResult(tools=[tool(f"order_{number}")], next_cursor=following)

    server = protect(orders(on_list_tools=pages))
    result = call(server, {"customer": "Ann", "colour": 1}, "order_2")
    assert codes(result) == [("unknown-key", "$.colour")]
    assert asked == [None, "1", "2"]


def test_the_listing_of_the_same_request_counts():
    seen: list[Any] = []

    async def per_caller(ctx: Any, params: Any) -> ListToolsResult:
        assert isinstance(ctx.session, ServerSession)
        tenant = (ctx.meta or {}).get("tenant")
        seen.append(tenant)
        field = {"type": "integer"} if tenant == "a" else {"type": "string"}
        schema = {"type": "object", "properties": {"code": field}}
        return ListToolsResult(tools=[tool("order", schema)])

    server = protect(orders(on_list_tools=per_caller))

    async def run() -> list[Any]:
        async with mcp.Client(server) as client:
            meta: Any
            found = []
            for meta in ({"tenant": "a"}, {"tenant": "b"}, {"tenant": "a"}):
                result = await client.call_tool("order", {"code": "7"}, meta=meta)
                found.append(json.loads(result.content[0].text)[1])
            return found

    assert asyncio.run(run()) == [{"code": 7}, {"code": "7"}, {"code": 7}]
    assert [tenant for tenant in seen if tenant] == ["a", "b", "a"]


def test_an_unlisted_tool_is_called_as_before_and_logged_once(caplog: pytest.LogCaptureFixture):
    server = protect(orders())
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert got(call(server, {"any": {"thing": 1}}, "hidden")) == {"any": {"thing": 1}}
    assert [each.getMessage() for each in caplog.records] == [
        "tool 'hidden' is called without a check: the server does not list it"
    ]


def test_without_a_list_handler_every_tool_is_unlisted(caplog: pytest.LogCaptureFixture):
    server = protect(Server("calls only", on_call_tool=echo))
    assert got(call(server, {"any": 1}, "order")) == {"any": 1}
    assert "'order' is called without a check" in caplog.text


def test_a_tool_whose_schema_cannot_be_compiled_is_called_as_before(
    caplog: pytest.LogCaptureFixture,
):
    schema = {"type": "object", "properties": {"any": {"$ref": "https://example.org/any.json"}}}
    server = protect(orders(on_list_tools=lists(tool("order", schema))))
    for _ in range(2):
        assert got(call(server, {"any": 1})) == {"any": 1}
    [record] = caplog.records
    assert record.getMessage().startswith("tool 'order' is not protected: ")


def failing(error: Exception) -> Callable[..., Any]:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        raise error

    return list_tools


@pytest.mark.parametrize(
    "error",
    [KeyError("database"), MCPError(code=-32603, message="not now")],
    ids=["a crash", "a protocol error"],
)
def test_call_is_refused_while_the_tools_cannot_be_listed(
    error: Exception, caplog: pytest.LogCaptureFixture
):
    ran: list[Any] = []

    async def handler(ctx: Any, params: Any) -> CallToolResult:
        ran.append(params.arguments)
        return text(["order", params.arguments])

    server = protect(orders(on_list_tools=failing(error), on_call_tool=handler))
    refused = call(server, {"customer": "Ann"})
    assert refused["isError"]
    assert refused["content"][0]["text"] == (
        "Tool 'order' was not called: the server could not list its tools, so the arguments cannot "
        "be checked. Try again later."
    )
    assert (ran, ours(refused)) == ([], {})
    assert "tools/list failed, so a call of 'order' is refused" in caplog.text

    server.add_request_handler("tools/list", PaginatedRequestParams, lists(tool("order")))
    assert got(call(server, {"customer": "Ann"})) == {"customer": "Ann"}


@pytest.mark.parametrize(
    ("following", "reason"),
    [
        (lambda cursor: "again", "tools/list returned the cursor 'again' twice"),
        (lambda cursor: f"{cursor}x", "tools/list has more than 1000 pages"),
    ],
    ids=["in circles", "for ever"],
)
def test_an_endless_listing_is_abandoned(
    following: Any, reason: str, caplog: pytest.LogCaptureFixture
):
    async def pages(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[], next_cursor=following(params.cursor))

    assert call(protect(orders(on_list_tools=pages)), {})["isError"]
    assert reason in caplog.text


def test_arguments_as_text_for_an_unlisted_tool_are_refused_by_the_host():
    sent = '{"any": 1, "any": 2}'
    assert call(protect(orders()), sent, "hidden") == call(orders(), sent, "hidden")
