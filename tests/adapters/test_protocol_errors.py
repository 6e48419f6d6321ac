"""`protect(server, errors="protocol")`: refusals as JSON-RPC -32602, with the message and the data
of the registry. All other replies stay those of the host.
"""

import asyncio
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import failing_server
import fastmcp
import mcp
import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from fastmcp.server.middleware import Middleware
from hypothesis import given
from hypothesis import strategies as st
from mcp import StdioServerParameters
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import ListToolsResult, Tool

from toolbooth import ToolError, ToolRegistry, protect
from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import lowlevel
from toolbooth.adapters import mcp_sdk as sdk_adapter
from toolbooth.adapters.connect import served
from toolbooth.server.respond import respond

SERVER = Path(failing_server.__file__)
PROTECTED = pytest.mark.parametrize("host", ["fastmcp", "mcp_sdk"])
EVERY = pytest.mark.parametrize("host", ["registry", "fastmcp", "mcp_sdk", "lowlevel"])
WRONG = {"data": {"headers": '{"A": "b"}'}}


def error_of_registry(tool: str, arguments: Any) -> dict[str, Any]:
    """Return the JSON-RPC error that our own server sends."""
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    registry = failing_server.make("registry", "protocol")
    return json.loads(asyncio.run(respond(registry, json.dumps(message).encode())).body)["error"]


def called(server: Any, tool: str, arguments: Any) -> dict[str, Any]:
    return asyncio.run(served(server).call(tool, arguments))


def as_data(error: MCPError) -> dict[str, Any]:
    return error.error.model_dump(mode="json", exclude_none=True)


@PROTECTED
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("http_request", WRONG),
        ("http_request", {"headers": "[1]"}),
        ("http_request", {"headres": "{}"}),
        ("measure", {}),
        ("measure", {"windows": [{"start": "1", "end": "x"}], "token": 5}),
        ("measure", "[]"),
    ],
    ids=["a wrapper", "a failing validator", "a misspelt key", "missing", "types", "no object"],
)
def test_a_refusal_is_the_error_of_the_registry(host, tool, arguments):
    error = called(failing_server.make(host, "protocol"), tool, arguments)["error"]
    assert error["code"] == -32602
    assert error == error_of_registry(tool, arguments)


def test_a_low_level_server_answers_with_the_error_of_the_registry():
    error = called(failing_server.make("lowlevel", "protocol"), "http_request", WRONG)["error"]
    assert (error["code"], error["message"].splitlines()[0]) == (
        -32602,
        "Refused: 1 problem in the arguments of 'http_request'. Nothing was done.",
    )
    [problem] = error["data"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("nested-wrapper", "$.data")
    assert error["data"]["toolbooth"]["corrected"] == {"headers": '{"A": "b"}'}


@EVERY
def test_by_default_a_refusal_is_a_result(host):
    result = called(failing_server.make(host), "http_request", WRONG)
    assert result["isError"] is True
    assert result["_meta"]["toolbooth"]["problems"][0]["path"] == "$.data"


async def raised_by(client: Any, tool: str, arguments: Any) -> dict[str, Any]:
    call = client.call_tool_mcp if isinstance(client, fastmcp.Client) else client.call_tool
    with pytest.raises(MCPError) as raised:
        await call(tool, arguments)
    return as_data(raised.value)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@EVERY
def test_a_real_client_gets_the_error_over_stdio(host, mode):
    async def run() -> tuple[dict[str, Any], Any]:
        command = StdioServerParameters(
            command=sys.executable, args=[str(SERVER), host, "protocol"], env=dict(os.environ)
        )
        async with mcp.Client(command, mode=mode) as client:
            error = await raised_by(client, "http_request", WRONG)
            # The connection goes on.
            return error, await client.call_tool("http_request", {"headers": "{}"})

    error, result = asyncio.run(run())
    expected = error_of_registry("http_request", WRONG)
    assert (error["code"], error["message"].splitlines()[0]) == (
        -32602,
        expected["message"].splitlines()[0],
    )
    if host != "lowlevel":
        assert error == expected
    assert not result.is_error


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("host", failing_server.HOSTS)
def test_a_real_client_gets_the_error_over_http(host, mode):
    async def run() -> dict[str, Any]:
        listening = failing_server.listening(host, "protocol")
        async with listening as address, mcp.Client(address, mode=mode) as client:
            return await raised_by(client, "http_request", WRONG)

    assert asyncio.run(run()) == error_of_registry("http_request", WRONG)


@PROTECTED
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_real_client_gets_the_error_in_process(host, mode):
    kind = (fastmcp if host == "fastmcp" else mcp).Client

    async def run() -> dict[str, Any]:
        async with kind(failing_server.make(host, "protocol"), mode=mode) as client:
            return await raised_by(client, "http_request", WRONG)

    assert asyncio.run(run()) == error_of_registry("http_request", WRONG)


@PROTECTED
def test_tool_error_and_crash_are_results_and_not_protocol_errors(host):
    def crash(number: int) -> str:
        raise KeyError("secret")

    def tell(number: int) -> str:
        raise ToolError("tell", "out of stock")

    server = failing_server.make(host, "protocol")
    for tool in (crash, tell):
        (server.tool if host == "fastmcp" else server.add_tool)(tool)
    assert called(server, "told", {"value": 1})["isError"] is True
    assert called(server, "tell", {"number": 1})["content"][0]["text"] == (
        "Tool 'tell' failed: out of stock"
    )
    assert called(server, "crash", {"number": 1})["isError"] is True
    assert called(server, "http_request", {})["isError"] is False


@PROTECTED
def test_hosts_log_refusals_as_usual(host, caplog):
    with caplog.at_level(logging.INFO):
        called(failing_server.make(host, "protocol"), "http_request", WRONG)
    [record] = [each for each in caplog.records if each.name.startswith((host, "mcp.server"))]
    words = "Invalid arguments for tool" if host == "fastmcp" else "rejected arguments"
    assert words in record.getMessage()


class Watch(Middleware):
    def __init__(self, answer: str | None = None) -> None:
        self.answer = answer
        self.seen: list[Exception] = []

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        try:
            return await call_next(context)
        except ValidationError as error:
            self.seen.append(error)
            if self.answer is None:
                raise
            return fastmcp.tools.ToolResult(content=self.answer)


def test_middleware_of_fastmcp_sees_its_exception_and_may_answer_instead():
    server, watch = failing_server.make("fastmcp", "protocol"), Watch()
    server.add_middleware(watch)
    assert called(server, "http_request", WRONG)["error"]["code"] == -32602
    assert [type(each) for each in watch.seen] == [ValidationError]
    server.add_middleware(Watch("never mind"))
    assert called(server, "http_request", WRONG)["content"][0]["text"] == "never mind"


def test_middleware_of_a_low_level_server_sees_the_error():
    server, seen = failing_server.make("lowlevel", "protocol"), []

    async def watch(ctx: Any, call_next: Any) -> Any:
        try:
            return await call_next(ctx)
        except MCPError as error:
            seen.append(error.error.code)
            raise

    server.middleware.append(watch)
    assert called(server, "http_request", WRONG)["error"]["code"] == -32602
    assert seen == [-32602]


def test_low_level_server_that_fails_to_list_tools_returns_an_error():
    async def list_tools(ctx: Any, params: Any) -> Any:
        raise KeyError("database")

    async def call_tool(ctx: Any, params: Any) -> Any: ...

    server = protect(
        Server("broken", on_list_tools=list_tools, on_call_tool=call_tool), errors="protocol"
    )
    assert called(server, "any", {})["isError"] is True


def test_a_call_in_python_raises_as_before():
    with pytest.raises(ValidationError, match="Refused"):
        asyncio.run(failing_server.make("fastmcp", "protocol").call_tool("http_request", WRONG))


@pytest.mark.parametrize("child_errors", ["result", "protocol"])
@pytest.mark.parametrize("errors", ["result", "protocol"])
def test_the_called_servers_setting_applies_to_mounted_servers(errors, child_errors):
    child = failing_server.make("fastmcp", child_errors)
    parent = protect(FastMCP("parent"), errors=errors)
    parent.mount(child, namespace="web")
    reply = called(parent, "web_http_request", WRONG)
    assert ("error" in reply) == (errors == "protocol")
    text = reply["error"]["message"] if "error" in reply else reply["content"][0]["text"]
    assert text.startswith("Refused: 1 problem in the arguments of 'web_http_request'.")


def test_the_setting_also_applies_to_servers_mounted_later():
    child = FastMCP("child")
    child.tool(failing_server.http_request)
    protect(FastMCP("parent"), errors="protocol").mount(child)
    assert called(child, "http_request", WRONG)["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("make", "module"),
    [
        (lambda: FastMCP("x"), fastmcp_adapter),
        (lambda: MCPServer("x"), sdk_adapter),
        (lambda: Server("x"), lowlevel),
    ],
    ids=["fastmcp", "mcp_sdk", "lowlevel"],
)
@pytest.mark.parametrize("errors", ["jsonrpc", "", None, True])
def test_an_invalid_value_is_an_error_and_changes_nothing(make, module, errors):
    server = make()
    words = f"errors={errors!r}: must be one of 'result', 'protocol'"
    for choose in (protect, module.protect):
        with pytest.raises(ValueError, match=words):
            choose(server, errors=errors)
    assert not module.is_protected(server)
    with pytest.raises(ValueError, match=words):
        ToolRegistry("x", errors=errors)


def test_errors_setting_of_the_first_protect_call_is_kept():
    server = failing_server.make("mcp_sdk", "protocol")
    assert protect(server) is server
    assert "error" in called(server, "http_request", WRONG)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["headers", "windows", "token", "data", "Headers"]), VALUES, max_size=3
)
SERVERS = {host: failing_server.make(host, "protocol") for host in ("fastmcp", "mcp_sdk")}


@given(ARGUMENTS)
def test_hosts_and_registry_agree_on_every_error(arguments):
    registry = called(failing_server.make("registry", "protocol"), "http_request", arguments)
    for server in SERVERS.values():
        reply = called(server, "http_request", arguments)
        assert reply.get("error") == registry.get("error")


def test_listing_is_not_changed():
    server = failing_server.make("mcp_sdk", "protocol")

    async def run() -> ListToolsResult:
        async with mcp.Client(server) as client:
            return await client.list_tools()

    tools: list[Tool] = asyncio.run(run()).tools
    assert [each.name for each in tools] == [each.__name__ for each in failing_server.TOOLS]
