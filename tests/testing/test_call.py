"""`call_over_wire`: the agent's view of a call, the same as over real HTTP."""

import asyncio
import http.client
import importlib.util
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Context as FastMCPContext
from fastmcp import FastMCP
from mcp.server.mcpserver import Context as SdkContext
from mcp.server.mcpserver import MCPServer

from toolbooth import Context, ToolRegistry
from toolbooth.adapters.connect import served
from toolbooth.boundary.repairs import Repair
from toolbooth.content import Image
from toolbooth.testing import NotJson, call_over_wire, call_over_wire_async, wire


def beside(name: str) -> Any:
    """Import the module in a file next to this one."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


delivered = beside("delivered_server")
random_calls = beside("random_calls").random_calls

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "toolbooth", "version": "1"},
}
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
}

Call = tuple[str, bytes]


def over_http(host: str, calls: list[Call]) -> list[Any]:
    """Return the answers of a server in a process of its own, over one connection."""
    command = [sys.executable, delivered.__file__, host]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        connection = http.client.HTTPConnection("127.0.0.1", int(process.stdout.readline()))
        try:
            return [_posted(connection, *call) for call in calls]
        finally:
            connection.close()
            process.terminate()


def _posted(connection: http.client.HTTPConnection, tool: str, arguments: bytes) -> Any:
    params = json.dumps({"_meta": META, "name": tool}, separators=(",", ":")).encode()[:-1]
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s,"arguments":%s}}' % (
        params,
        arguments,
    )
    connection.request(
        "POST", "/mcp", body, {**HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": tool}
    )
    reply = json.loads(connection.getresponse().read())
    return reply["result"] if "result" in reply else {"error": reply["error"]}


# --- equal to HTTP ----------------------------------------------------------------------------------------------


@pytest.fixture
def unlogged() -> Iterator[None]:
    """Half of the calls fail, and each host logs much about that."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("unlogged")
@pytest.mark.parametrize("host", delivered.HOSTS)
def test_a_thousand_random_calls_are_answered_as_over_http(host: str):
    calls = random_calls(seed=delivered.HOSTS.index(host), count=1000)
    sent = [(tool, json.dumps(wire(arguments, how)).encode()) for tool, arguments, how in calls]
    server = delivered.make(host)
    with ThreadPoolExecutor(1) as thread:  # the other process works while this one does
        http_answers = thread.submit(over_http, host, sent)
        answers = [
            call_over_wire(server, tool, arguments, host=how).raw for tool, arguments, how in calls
        ]
    differing = [
        (call, ours, theirs)
        for call, ours, theirs in zip(calls, answers, http_answers.result(), strict=True)
        if json.dumps(ours) != json.dumps(theirs)
    ]
    assert differing == []
    errors = sum(answer.get("isError", "error" in answer) for answer in answers)
    assert 200 < errors < 800  # neither all right nor all wrong


RAW = [
    b"null",
    b"[]",
    b'"{}"',
    b"0",
    b"{",
    b"{} {}",
    b'{"value":1,"value":2}',
    b'{"value":NaN}',
    b'{"value":1e400}',
    b'{"value":01}',
    b'{"value":"\\ud800"}',
    b'{"value":"\xff"}',
    b'{"value":"\x01"}',
    b'{"value":%s}' % (b"9" * 5000),
    b'{"value":%s}' % (b"[" * 150 + b"]" * 150),
    b'{"value":%s}' % (b"[" * 5000 + b"]" * 5000),
    b'{"value":0.1000000000000000055511151231257827}',
]


@pytest.mark.usefixtures("unlogged")
@pytest.mark.parametrize("host", delivered.HOSTS)
def test_bytes_of_any_kind_are_answered_as_over_http(host: str):
    server = delivered.make(host)
    calls = [(tool, each) for tool in ("anything", "no_such_tool") for each in RAW]
    assert [call_over_wire(server, *call).raw for call in calls] == over_http(host, calls)


# --- the agent's view
# -----------------------------------------------------------------------------------------------

ORDER = {"customer": "Ann", "lines": [{"sku": "A1"}]}


def test_result_shows_the_text_and_the_repairs():
    result = call_over_wire(delivered.make("registry"), "numbers", {"count": "2"})
    seen = {
        "count": "int:2",
        "share": "NoneType:None",
        "price": "NoneType:None",
        "sure": "bool:False",
    }
    assert (json.loads(result.text), result.structured, result.is_error) == (seen, seen, False)
    assert result.repairs == (Repair(code="scalar-text", path=("count",)),)
    assert (result.problems, result.corrected) == ((), None)
    assert repr(result) == f"<WireResult repaired: scalar-text at $.count; structured={seen}>"


def test_a_refusal_shows_every_problem_and_the_corrected_call():
    result = call_over_wire(
        delivered.make("fastmcp-protected"), "order", {"data": ORDER, "Tags": {}}
    )
    assert (result.is_error, result.structured, result.repairs) == (True, None, ())
    assert [(each.code, each.where) for each in result.problems] == [
        ("nested-wrapper", "$.data"),
        ("nested-wrapper", "$.Tags"),
    ]
    assert result.corrected == {**ORDER, "tags": {}}
    problems = "nested-wrapper at $.data, nested-wrapper at $.Tags"
    assert repr(result) == f"<WireResult refused: {problems}; text={result.text!r}>"


def test_a_refusal_by_protocol_shows_the_same():
    asked = {"data": ORDER}
    by_result = call_over_wire(delivered.make("registry"), "order", asked)
    by_protocol = call_over_wire(delivered.make("registry-protocol"), "order", asked)
    assert by_protocol.raw["error"]["code"] == -32602
    for seen in ("text", "structured", "is_error", "repairs", "problems", "corrected"):
        assert getattr(by_protocol, seen) == getattr(by_result, seen)


def test_unprotected_server_returns_the_result_of_its_host():
    misspelt = {"value": 5, "valeu": 6}
    dropped = call_over_wire(delivered.make("mcp_sdk"), "anything", misspelt)
    assert repr(dropped) == "<WireResult passed; structured={'result': 'int:5'}>"
    refused = call_over_wire(delivered.make("fastmcp"), "anything", misspelt)
    assert (refused.is_error, refused.problems) == (True, ())
    assert repr(refused).startswith(
        "<WireResult error; text='1 validation error for call[anything]"
    )


def test_a_protocol_error_of_a_host_is_an_error_with_its_message():
    result = call_over_wire(delivered.make("mcp_sdk"), "anything", b"[]")
    assert result.raw == {
        "error": {"code": -32602, "message": "Invalid request parameters", "data": ""}
    }
    assert repr(result) == "<WireResult error; text='Invalid request parameters'>"


def test_content_other_than_text_is_named_in_the_text():
    registry = ToolRegistry("pictures")

    @registry.tool
    def picture() -> list[Any]:
        return ["red", Image(data=b"1")]

    assert call_over_wire(registry, "picture").text == "red\n[image]"


def test_call_over_wire_without_arguments_sends_an_empty_object():
    for host in delivered.HOSTS:
        assert call_over_wire(delivered.make(host), "anything").text == "NoneType:None"


def test_strict_filling_uses_the_schema_that_the_server_publishes():
    registry = delivered.make("registry")
    some = call_over_wire(registry, "numbers", {"count": 1}, fill="openai-strict")
    none = call_over_wire(registry, "numbers", fill="openai-strict")
    assert some.repairs == (Repair(code="null-optional", path=("sure",)),)
    assert none.repairs == (Repair(code="null-optional", path=("count",)), *some.repairs)
    assert none.structured == some.structured


def test_the_javascript_hop_reaches_the_tool():
    assert call_over_wire(delivered.make("mcp_sdk"), "anything", {"value": 5.0}).text == "float:5.0"
    assert (
        call_over_wire(delivered.make("mcp_sdk"), "anything", {"value": 5.0}, host="js").text
        == "int:5"
    )


def test_non_json_value_is_refused_before_the_server_is_called():
    with pytest.raises(NotJson, match=r'^\$.day: date is not JSON; a client sends "2026-11-15"$'):
        call_over_wire(delivered.make("registry"), "planned", {"day": date(2026, 11, 15)})


def test_misuse_of_call_over_wire_raises_with_a_reason():
    registry = delivered.make("registry")
    with pytest.raises(
        ValueError, match=r"^bytes are sent as they are: host= and fill= are for values$"
    ):
        call_over_wire(registry, "numbers", b"{}", host="js")
    with pytest.raises(
        LookupError, match=r"^delivered has no tool 'number'; it has anything, numbers, order"
    ):
        call_over_wire(registry, "number", {}, fill="openai-strict")
    with pytest.raises(
        TypeError,
        match=r"^dict is not a supported server \(ToolRegistry, FastMCP, MCPServer, Server\)$",
    ):
        call_over_wire({}, "numbers", {})

    async def inside_a_loop() -> None:
        with pytest.raises(
            RuntimeError, match=r"^an event loop is running here: await call_over_wire_async"
        ):
            call_over_wire(registry, "numbers", {})
        assert (await call_over_wire_async(registry, "numbers", {})).is_error is False

    asyncio.run(inside_a_loop())


# --- the hosts' own machinery -----------------------------------------------------------------------------------


def test_contexts_are_injected_and_their_messages_are_dropped():
    registry, mcp, sdk = ToolRegistry("r"), FastMCP("f"), MCPServer("s")

    @registry.tool
    async def with_ours(ctx: Context) -> str:
        await ctx.progress(1, 2, "half")
        return ctx.client or ""

    @mcp.tool
    async def with_fastmcp(ctx: FastMCPContext) -> str:
        await ctx.report_progress(1, 2)
        return type(ctx).__name__

    @sdk.tool()
    async def with_sdk(ctx: SdkContext) -> str:
        await ctx.report_progress(1, 2)
        return type(ctx).__name__

    seen = [
        call_over_wire(server, tool).text
        for server, tool in ((registry, "with_ours"), (mcp, "with_fastmcp"), (sdk, "with_sdk"))
    ]
    assert seen == ["toolbooth", "Context", "Context"]


def test_tool_that_sends_a_request_to_its_client_gets_an_error():
    mcp = FastMCP("f")

    @mcp.tool
    async def ask(ctx: FastMCPContext) -> str:
        await ctx.session.send_ping()
        return ""

    assert call_over_wire(mcp, "ask").is_error


@pytest.mark.parametrize("kind", [FastMCP, MCPServer])
def test_a_server_is_started_per_call_or_once_for_all(kind: Any):
    events: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[list[str]]:
        events.append("start")
        yield events
        events.append("stop")

    server = kind("counting", lifespan=lifespan)

    def count() -> str:
        events.append("call")
        return str(len(events))

    server.add_tool(count)

    async def twice() -> None:
        async with served(server) as running:
            await call_over_wire_async(running, "count")
            await call_over_wire_async(running, "count")

    call_over_wire(server, "count")
    call_over_wire(server, "count")
    asyncio.run(twice())
    assert events == [*("start", "call", "stop") * 2, "start", "call", "call", "stop"]
