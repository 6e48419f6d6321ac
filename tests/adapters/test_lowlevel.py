"""A low-level `Server` under `protect`: calls are checked against the schemas it lists in the same
request.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp
import pytest
import uvicorn
from lowlevel_orders import ORDER, call, codes, got, lists, orders, ours, text, tool
from mcp import StdioServerParameters
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
)

from toolbooth import protect
from toolbooth.adapters.connect import Served, served
from toolbooth.server import revisions
from toolbooth.testing import assert_boundary, call_over_wire

MODES = ["legacy", "2026-07-28"]
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


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


def test_a_call_without_arguments_reaches_the_handler_without_any():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    server = protect(orders(on_list_tools=lists(tool("order", schema))))
    reply = asyncio.run(served(server)._exchange("tools/call", {"name": "order"}))
    assert got(reply["result"]) is None


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


def frame(number: int, method: str, params: str) -> str:
    return f'{{"jsonrpc": "2.0", "id": {number}, "method": "{method}", "params": {params}}}\n'


def test_lines_that_the_host_would_change_are_read_exactly():
    lines = [
        frame(0, "initialize", json.dumps(INITIALIZE)),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}\n',
        frame(1, "tools/call", '{"name": "count", "arguments": {"n": 1, "n": 2}}'),
        frame(2, "tools/call", '{"name": "hidden", "arguments": {"n": 1, "n": 2}}'),
    ]
    server = subprocess.Popen(
        [sys.executable, "-c", ON_STDIO],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(lines))
        server.stdin.flush()
        replies = [json.loads(server.stdout.readline()) for _ in range(3)]
        server.stdin.close()
    found = {each["id"]: each["result"] for each in replies}
    assert codes(found[1]) == [("duplicate-key", "$")]
    # It is not listed, so it is called with the host's own reading of the arguments.
    assert json.loads(found[2]["content"][0]["text"]) == {"n": 2}


@asynccontextmanager
async def listening(server: Server[Any]) -> AsyncIterator[str]:
    """Yield the URL of a server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        config = uvicorn.Config(
            server.streamable_http_app(json_response=True), log_level="error", ws="none"
        )
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


def test_a_duplicate_key_in_the_bytes_of_a_request_is_refused():
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


# --- behaviour that does not change
# -------------------------------------------------------------------------------


def test_the_listing_is_not_changed():
    schema = {**ORDER, "$defs": {"x": {"type": "null"}}, "title": "Order"}
    plain = orders(on_list_tools=lists(tool("order", schema)))
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
def test_a_call_without_a_name_is_refused_by_the_host(params: dict[str, Any]):
    def answer(server: Server[Any]) -> Any:
        return asyncio.run(served(server)._exchange("tools/call", params, {"x": 1}))

    assert answer(protect(orders())) == answer(orders())
    assert "error" in answer(orders())


def test_a_server_without_handlers_answers_as_before():
    assert call(protect(Server("empty")), {}) == call(Server("empty"), {})
    assert asyncio.run(served(protect(Server("x", on_list_tools=lists()))).tools()) == []


# --- the rest of the library ----------------------------------------------------------------------------------


def test_the_test_kit_accepts_a_low_level_server():
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
