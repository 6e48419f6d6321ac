"""A validator that raises an exception refuses the call with the same message on every host, over
every transport. The author's own messages to the agent or to a host are kept.
"""

import asyncio
import json
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import failing_server
import fastmcp
import mcp
import pytest
from fastmcp import FastMCP
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.tool_transform import ArgTransform, TransformedTool
from mcp import StdioServerParameters
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.shared.exceptions import MCPError
from pydantic import AfterValidator, BaseModel, BeforeValidator

from toolbooth import protect
from toolbooth.adapters.connect import served

SERVER = Path(failing_server.__file__)
HOSTS = pytest.mark.parametrize("host", failing_server.HOSTS)
PROTECTED = pytest.mark.parametrize("host", ["fastmcp", "mcp_sdk"])
SENT = {"headers": "[1]"}
TEXT = """Refused: 1 problem in the arguments of 'http_request'. Nothing was done.
- $.headers: its value could not be read; got "[1]\""""
REFUSED = {
    "content": [{"type": "text", "text": TEXT}],
    "isError": True,
    "toolbooth": {
        "code": -32602,
        "problems": [
            {
                "code": "invalid",
                "path": "$.headers",
                "message": 'its value could not be read; got "[1]"',
            }
        ],
    },
}


def in_short(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the additions of hosts."""
    meta = result.get("_meta") or {}
    kept = {key: result[key] for key in ("content", "isError") if key in result}
    return {**kept, "toolbooth": meta["toolbooth"]} if "toolbooth" in meta else kept


def dumped(result: Any) -> dict[str, Any]:
    return in_short(result.model_dump(mode="json", by_alias=True, exclude_none=True))


def called(host: str, tool: str, arguments: Any) -> dict[str, Any]:
    """Return the result of a call over the bytes of a message."""
    result = asyncio.run(served(failing_server.make(host)).call(tool, arguments))
    return result if "error" in result else in_short(result)


@HOSTS
def test_the_validator_of_the_http_tool_names_its_field(host, caplog):
    assert called(host, "http_request", SENT) == REFUSED
    tracebacks = [each for each in caplog.records if each.exc_info]
    assert [each.name for each in tracebacks] == ["toolbooth"]
    assert tracebacks[0].exc_info[0] is AttributeError
    right = called(host, "http_request", {"headers": '{"A": 1}'})
    assert (right["isError"], json.loads(right["content"][0]["text"])) == (
        False,
        {"headers": {"A": "1"}},
    )


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@HOSTS
def test_failing_validator_is_a_refusal_for_a_stdio_client(host, mode):
    async def run() -> dict[str, Any]:
        command = StdioServerParameters(
            command=sys.executable, args=[str(SERVER), host], env=dict(os.environ)
        )
        async with mcp.Client(command, mode=mode) as client:
            return dumped(await client.call_tool("http_request", SENT))

    assert asyncio.run(run()) == REFUSED


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@HOSTS
def test_failing_validator_is_a_refusal_for_an_http_client(host, mode):
    async def run() -> dict[str, Any]:
        async with (
            failing_server.listening(host) as address,
            mcp.Client(address, mode=mode) as client,
        ):
            return dumped(await client.call_tool("http_request", SENT))

    assert asyncio.run(run()) == REFUSED


def test_failing_validator_is_a_refusal_for_the_fastmcp_client():
    async def run() -> dict[str, Any]:
        async with fastmcp.Client(failing_server.make("fastmcp")) as client:
            return dumped(await client.call_tool_mcp("http_request", SENT))

    assert asyncio.run(run()) == REFUSED


@HOSTS
def test_an_object_and_a_default_are_named(host):
    windows = [{"start": 1, "end": 2}, {"start": 1, "end": 1}]
    result = called(host, "measure", {"windows": windows, "token": "a"})
    assert [each["path"] for each in result["toolbooth"]["problems"]] == ["$.windows[1]"]
    result = called(host, "measure", {"windows": []})
    assert result["toolbooth"]["problems"] == [
        {
            "code": "invalid",
            "path": "$.token",
            "message": "its value could not be read from the default; send a value",
        }
    ]


@HOSTS
def test_a_tool_error_in_a_validator_keeps_its_message(host, caplog):
    result = called(host, "told", {"value": 1})
    text = "Tool 'told' failed: the shop is closed"
    assert result == {"content": [{"type": "text", "text": text}], "isError": True}
    assert [each for each in caplog.records if each.name == "toolbooth"] == []


@pytest.mark.parametrize(
    ("host", "tool", "text"),
    [
        ("fastmcp", "told_fastmcp", "the shop is closed"),
        ("mcp_sdk", "told_sdk", "Error executing tool told_sdk: the shop is closed"),
    ],
)
def test_a_hosts_own_tool_error_in_a_validator_keeps_its_message(host, tool, text):
    result = called(host, tool, {"value": 1})
    assert result == {"content": [{"type": "text", "text": text}], "isError": True}


@pytest.mark.parametrize("tool", ["told_fastmcp", "told_sdk", "told_protocol"])
def test_the_exceptions_of_hosts_are_refusals_on_our_own_server(tool):
    result = called("registry", tool, {"value": 1})
    assert result["toolbooth"]["problems"][0]["path"] == "$.value"
    assert "closed" not in json.dumps(result)


def test_a_protocol_error_in_a_validator_passes_to_the_host():
    assert called("mcp_sdk", "told_protocol", {"value": 1}) == {
        "error": {"code": -32042, "message": "log in first", "data": {"url": "https://a.example"}}
    }
    # FastMCP makes a result of it, wherever a tool raises it.
    text = "Error calling tool 'told_protocol': log in first"
    assert called("fastmcp", "told_protocol", {"value": 1}) == {
        "content": [{"type": "text", "text": text}],
        "isError": True,
    }


@PROTECTED
def test_hosts_log_the_refusal_like_any_other(host, caplog):
    with caplog.at_level(logging.INFO):
        called(host, "http_request", SENT)
    [record] = [each for each in caplog.records if each.name.startswith((host, "mcp.server"))]
    assert record.exc_info is None
    assert ("Invalid arguments" if host == "fastmcp" else "headers") in record.getMessage()


def test_a_host_raises_the_refusal_in_its_own_way():
    with pytest.raises(fastmcp.exceptions.ValidationError, match="could not be read"):
        asyncio.run(failing_server.make("fastmcp").call_tool("http_request", SENT))
    with pytest.raises(MCPError, match="log in first"):
        asyncio.run(failing_server.make("mcp_sdk").call_tool("told_protocol", {"value": 1}))


# --- tools that a host validates itself ----------------------------------------------------------


def broken(value: Any) -> Any:
    raise KeyError("secret")


def not_one(value: Any) -> Any:
    return {0: 0}[value]


class Part(BaseModel):
    number: Annotated[int, AfterValidator(broken)]


def build(value: Annotated[int, BeforeValidator(not_one)] = 0, parts: list[Part] | None = None):
    return "ran"


def crash(value: int) -> str:
    raise KeyError("secret")


class OwnTool(FunctionTool):
    async def run(self, arguments: dict[str, Any]) -> Any:
        return await super().run(arguments)


class OwnMetadata(FuncMetadata):
    pass


def transformed(function: Any) -> Tool:
    """A tool that was transformed twice."""
    once = Tool.from_tool(
        Tool.from_function(function), transform_args={"value": ArgTransform(name="v")}
    )
    return Tool.from_tool(once, name="tool", transform_args={"v": ArgTransform(name="w")})


def of_sdk(function: Any) -> SdkTool:
    tool = SdkTool.from_function(function, name="tool")
    metadata = OwnMetadata(**{name: getattr(tool.fn_metadata, name) for name in FIELDS})
    return tool.model_copy(update={"fn_metadata": metadata})


FIELDS = FuncMetadata.model_fields


def server_with(tool: Any) -> Any:
    if isinstance(tool, SdkTool):
        return protect(MCPServer("own", tools=[tool]))
    server = protect(FastMCP("own", mask_error_details=True))
    server.add_tool(tool)
    return server


@pytest.mark.parametrize(
    ("tool", "sent", "path"),
    [
        (transformed(build), {"w": 1}, "$.w"),
        (transformed(build), {"parts": [{"number": 1}]}, "$.parts[0].number"),
        (OwnTool.from_function(build, name="tool"), {"value": 1}, "$.value"),
        (of_sdk(build), {"value": 1}, "$.value"),
        (of_sdk(build), {"parts": [{"number": 1}]}, "$.parts[0].number"),
    ],
    ids=["transformed", "transformed, nested", "its own run", "its own metadata", "nested"],
)
def test_a_validation_of_the_host_that_fails_names_its_field(tool, sent, path, caplog):
    result = asyncio.run(served(server_with(tool)).call("tool", sent))
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert problem == {"code": "invalid", "path": path, "message": "its value could not be read"}
    assert "secret" not in json.dumps(result)
    assert "toolbooth" in [each.name for each in caplog.records if each.exc_info]


@pytest.mark.parametrize(
    "tool", [transformed(crash), OwnTool.from_function(crash, name="tool"), of_sdk(crash)]
)
def test_a_body_that_fails_is_a_failed_tool(tool):
    sent = {"w": 1} if isinstance(tool, TransformedTool) else {"value": 1}
    result = asyncio.run(served(server_with(tool)).call("tool", sent))
    assert result["isError"] is True
    assert "toolbooth" not in result.get("_meta", {})
    assert result["content"][0]["text"].startswith(("Error calling tool", "Error executing tool"))
