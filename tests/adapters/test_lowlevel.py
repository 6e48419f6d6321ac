"""A low-level `Server` under `protect`: its calls are held to what it lists in the same request."""

import asyncio
import json
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp
import pytest
import uvicorn
from mcp import StdioServerParameters
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from toolbooth import is_protected, protect
from toolbooth.adapters.connect import Served, served
from toolbooth.server import revisions
from toolbooth.testing import assert_boundary, call_over_wire

MODES = ["legacy", "2026-07-28"]

ORDER = {
    "type": "object",
    "properties": {
        "customer": {"type": "string"},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            "required": ["city"],
        },
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "sku": {"type": "string"},
                    "quantity": {"type": "integer", "minimum": 1},
                },
                "required": ["sku"],
            },
        },
        "notify": {"type": "boolean"},
    },
    "required": ["customer"],
}


def tool(name: str, schema: dict[str, Any] = ORDER) -> Tool:
    return Tool(name=name, input_schema=schema)


def text(value: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(value))])


async def echo(ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    return text([params.name, params.arguments])


def lists(*tools: Tool) -> Callable[..., Any]:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=list(tools))

    return list_tools


def orders(**handlers: Any) -> Server[Any]:
    made: dict[str, Any] = {"on_list_tools": lists(tool("order")), "on_call_tool": echo}
    return Server("orders", **{**made, **handlers})


def call(server: Server[Any], arguments: Any, name: str = "order") -> dict[str, Any]:
    """The result of a call, as bytes of MCP 2026-07-28."""
    return asyncio.run(served(server).call(name, arguments))


def ours(result: dict[str, Any]) -> dict[str, Any]:
    return result["_meta"].get("toolbooth", {})


def codes(result: dict[str, Any]) -> list[tuple[str, str]]:
    """The code and path of each repair or problem."""
    found: Iterable[Any] = ours(result).get("repairs", ours(result).get("problems", []))
    return [(each["code"], each["path"]) for each in found]


def got(result: dict[str, Any]) -> Any:
    """The arguments that the handler got."""
    assert not result["isError"], result
    return json.loads(result["content"][0]["text"])[1]


# --- calls ----------------------------------------------------------------------------------------------------


def test_a_correct_call_reaches_the_handler_unchanged():
    sent = {"customer": "Ann", "lines": [{"sku": "A", "quantity": 2}], "notify": False}
    plain, guarded = call(orders(), sent), call(protect(orders()), sent)
    assert guarded == plain
    assert got(guarded) == sent


def test_the_handler_gets_the_repaired_arguments():
    result = call(
        protect(orders()),
        {
            "customer": "Ann",
            "lines": '[{"sku": "A", "quantity": "2"}]',
            "address": None,
            "notify": "true",
            "toolCallId": "c1",
        },
    )
    assert got(result) == {
        "customer": "Ann",
        "lines": [{"sku": "A", "quantity": 2}],
        "notify": True,
    }
    assert codes(result) == [
        ("json-text", "$.lines"),
        ("scalar-text", "$.lines[0].quantity"),
        ("null-optional", "$.address"),
        ("scalar-text", "$.notify"),
        ("client-key", "$.toolCallId"),
    ]


REFUSED: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "an unknown key": ({"customer": "Ann", "colour": 1}, [("unknown-key", "$.colour")]),
    "a key further down": (
        {"customer": "Ann", "lines": [{"sku": "A", "qty": 1}]},
        [("unknown-key", "$.lines[0].qty")],
    ),
    "a wrapper": ({"data": {"customer": "Ann"}}, [("nested-wrapper", "$.data")]),
    "another type": ({"customer": 5}, [("wrong-type", "$.customer")]),
    "nothing": ({}, [("missing", "$.customer")]),
    "what only the schema knows": (
        {"customer": "Ann", "lines": [{"sku": "A", "quantity": 0}]},
        [("invalid", "$.lines[0].quantity")],
    ),
    "the same key twice": (b'{"customer": "Ann", "customer": "Bob"}', [("duplicate-key", "$")]),
    "an array": ([1], [("not-an-object", "$")]),
    "text that is not JSON": ("customer: Ann", [("not-json", "$")]),
}


@pytest.mark.parametrize(("sent", "problems"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_call_is_refused_and_the_handler_is_not_run(
    sent: Any, problems: list[tuple[str, str]]
):
    ran: list[Any] = []

    async def handler(ctx: Any, params: Any) -> CallToolResult:
        ran.append(params)
        return text(None)

    result = call(protect(orders(on_call_tool=handler)), sent)
    assert (result["isError"], result["resultType"], codes(result)) == (True, "complete", problems)
    assert result["content"][0]["text"].startswith("Refused: 1 problem in the arguments of 'order'")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {
        "name": "orders",
        "version": "",
    }
    assert ran == []


def test_arguments_as_json_text_are_read():
    result = call(protect(orders()), '{"customer": "Ann", "notify": "true"}')
    assert got(result) == {"customer": "Ann", "notify": True}
    assert codes(result) == [("json-text", "$"), ("scalar-text", "$.notify")]


def test_the_corrected_call_is_offered():
    result = call(protect(orders()), {"order": {"customer": "Ann"}})
    assert ours(result)["corrected"] == {"customer": "Ann"}


def test_a_field_beside_the_arguments_is_refused():
    async def run() -> Any:
        async with mcp.Client(protect(orders()), mode="2026-07-28") as client:
            params = {"name": "order", "arguments": {"customer": "Ann"}, "notify": True}
            options: Any = {}
            message = {"method": "tools/call", "params": params}
            client.session._stamp(message, options)
            return await client.session._dispatcher.send_raw_request(
                "tools/call", message["params"], options
            )

    assert codes(asyncio.run(run())) == [("unknown-key", "$")]


@pytest.mark.parametrize("mode", MODES)
def test_both_eras_are_protected(mode: str):
    async def run() -> list[Any]:
        async with mcp.Client(protect(orders()), mode=mode) as client:
            found = [
                await client.call_tool("order", {"customer": "Ann", "notify": "true"}),
                await client.call_tool("order", {"customer": "Ann", "colour": 1}),
            ]
        return [each.model_dump(mode="json", by_alias=True) for each in found]

    passed, refused = asyncio.run(run())
    assert got(passed) == {"customer": "Ann", "notify": True}
    assert codes(passed) == [("scalar-text", "$.notify")]
    assert (refused["isError"], codes(refused)) == (True, [("unknown-key", "$.colour")])


ON_STDIO = """
import asyncio, json
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from toolbooth import protect
from toolbooth.adapters.sdk.exact_stdin import exact_stdin

schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

async def list_tools(ctx, params):
    return ListToolsResult(tools=[Tool(name="count", input_schema=schema)])

async def call_tool(ctx, params):
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(params.arguments))])

server = protect(Server("counts", on_list_tools=list_tools, on_call_tool=call_tool))

async def main():
    with exact_stdin():
        async with stdio_server() as streams:
            await server.run(*streams, server.create_initialization_options())

asyncio.run(main())
"""


def test_a_server_on_stdio_is_protected():
    async def run() -> list[Any]:
        command = StdioServerParameters(
            command=sys.executable, args=["-c", ON_STDIO], env=dict(os.environ)
        )
        async with mcp.Client(command) as client:
            sent = [{"n": 2**60 + 1}, {"n": "5"}, {"m": 5}]
            return [await client.call_tool("count", each) for each in sent]

    exact, repaired, refused = asyncio.run(run())
    assert json.loads(exact.content[0].text) == {"n": 2**60 + 1}
    assert json.loads(repaired.content[0].text) == {"n": 5}
    assert refused.is_error


@asynccontextmanager
async def listening(server: Server[Any]) -> AsyncIterator[str]:
    """The address of a server on the loopback."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        config = uvicorn.Config(server.streamable_http_app(json_response=True), log_level="error")
        running = uvicorn.Server(config)
        task = asyncio.create_task(running.serve(sockets=[door]))
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}/mcp"
        finally:
            running.should_exit = True
            await task


@pytest.mark.parametrize("mode", MODES)
def test_a_server_on_http_is_protected(mode: str):
    async def run() -> list[Any]:
        async with (
            listening(protect(orders())) as address,
            mcp.Client(address, mode=mode) as client,
        ):
            sent = [
                {"customer": "Ann", "lines": '[{"sku": "A"}]'},
                {"data": {"customer": "Ann"}},
            ]
            found = [await client.call_tool("order", each) for each in sent]
        return [each.model_dump(mode="json", by_alias=True) for each in found]

    repaired, refused = asyncio.run(run())
    assert got(repaired) == {"customer": "Ann", "lines": [{"sku": "A"}]}
    assert codes(refused) == [("nested-wrapper", "$.data")]


def test_the_bytes_of_a_request_count():
    meta = json.dumps(revisions.request_meta("test"))
    body = f"""{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "order",
        "_meta": {meta}, "arguments": {{"customer": "Ann", "customer": "Bob"}}}}}}"""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "order",
    }

    async def run() -> Any:
        async with listening(protect(orders())) as address, httpx2.AsyncClient() as client:
            return (await client.post(address, content=body, headers=headers)).json()

    assert codes(asyncio.run(run())["result"]) == [("duplicate-key", "$")]


# --- what stays as it is --------------------------------------------------------------------------------------


def test_the_listing_is_not_changed():
    schema = {**ORDER, "$defs": {"x": {"type": "null"}}, "title": "Order"}
    plain, guarded = orders(on_list_tools=lists(tool("order", schema))), None
    guarded = protect(orders(on_list_tools=lists(tool("order", schema))), profile="exact")
    assert asyncio.run(served(guarded).tools()) == asyncio.run(served(plain).tools())


def test_requests_for_input_and_their_answers_pass_untouched():
    seen: list[Any] = []
    question = ElicitRequest(
        params=ElicitRequestFormParams(
            message="Sure?", requested_schema={"type": "object", "properties": {}}
        )
    )

    async def handler(ctx: Any, params: CallToolRequestParams) -> Any:
        seen.append((params.arguments, params.input_responses, params.request_state))
        if params.request_state is None:
            return InputRequiredResult(input_requests={"sure": question}, request_state="s1")
        return text("done")

    async def ask(server: Server[Any], more: dict[str, Any]) -> Any:
        # As bytes: a client would answer by itself.
        arguments = {"customer": "Ann", "notify": "true"}
        there = served(server)
        return await there._exchange("tools/call", {"name": "order", **more}, arguments)

    async def run(server: Server[Any]) -> list[Any]:
        answer = {"sure": {"action": "accept", "content": {}}}
        more = {"inputResponses": answer, "requestState": "s1"}
        return [await ask(server, {}), await ask(server, more)]

    plain = asyncio.run(run(orders(on_call_tool=handler)))
    raw = seen[:]
    seen.clear()
    guarded = asyncio.run(run(protect(orders(on_call_tool=handler))))
    assert guarded[0] == plain[0]
    assert guarded[0]["result"]["resultType"] == "input_required"
    assert codes(guarded[1]["result"]) == [("scalar-text", "$.notify")]
    assert [each[1:] for each in seen] == [each[1:] for each in raw]
    assert [each[0] for each in seen] == [{"customer": "Ann", "notify": True}] * 2


def test_a_protocol_error_of_the_handler_passes():
    async def handler(ctx: Any, params: Any) -> CallToolResult:
        raise MCPError(code=-32602, message="Unknown tool: order")

    result = call(protect(orders(on_call_tool=handler)), {"customer": "Ann", "notify": "true"})
    assert result == {"error": {"code": -32602, "message": "Unknown tool: order"}}


@pytest.mark.parametrize("params", [{}, {"name": 5}], ids=["no name", "a number"])
def test_a_call_without_a_name_is_the_hosts_to_refuse(params: dict[str, Any]):
    def answer(server: Server[Any]) -> Any:
        return asyncio.run(served(server)._exchange("tools/call", params, {"x": 1}))

    assert answer(protect(orders())) == answer(orders())
    assert "error" in answer(orders())


def test_a_server_without_handlers_answers_as_before():
    assert call(protect(Server("empty")), {}) == call(Server("empty"), {})
    assert asyncio.run(served(protect(Server("x", on_list_tools=lists()))).tools()) == []


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
    """What analytics do: one more field in the listing, taken off before the tool is called."""
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


def test_protecting_twice_guards_once():
    server = protect(protect(orders()))
    assert len(server.middleware) == 2
    assert is_protected(server)


# --- which listing counts -------------------------------------------------------------------------------------


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


def test_an_unlisted_tool_is_called_as_before_and_noted_once(caplog: pytest.LogCaptureFixture):
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
    assert record.getMessage().startswith("tool 'order' is served as it is, unprotected: ")


def failing(error: Exception) -> Callable[..., Any]:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        raise error

    return list_tools


@pytest.mark.parametrize(
    "error",
    [KeyError("database"), MCPError(code=-32603, message="not now")],
    ids=["a crash", "a protocol error"],
)
def test_if_the_tools_cannot_be_listed_a_call_is_refused_and_the_next_one_served(
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


def test_a_listing_without_an_end_is_given_up(caplog: pytest.LogCaptureFixture):
    async def circle(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[tool("other")], next_cursor="again")

    assert call(protect(orders(on_list_tools=circle)), {})["isError"]
    assert "tools/list has more than 1000 pages" in caplog.text


# --- the rest of the library ----------------------------------------------------------------------------------


def test_the_test_kit_knows_a_low_level_server():
    server = orders()
    assert not Served(server).protected
    assert asyncio.run(served(server).contracts()) == {}
    protect(server)
    assert Served(server).protected
    assert list(asyncio.run(served(server).contracts())) == ["order"]
    assert (
        call_over_wire(server, "order", {"customer": "Ann"}).text
        == '["order", {"customer": "Ann"}]'
    )


def test_a_protected_low_level_server_passes_the_boundary_check():
    assert_boundary(protect(orders()), examples={"order": {"customer": "Ann"}})
