"""A swallowed argument is refused on every host and transport, and the note is in every result."""

import asyncio
import json
from typing import Annotated, Any

import fastmcp
import mcp
import pytest
from mcp.server.mcpserver import MCPServer

from toolbooth import ToolRegistry, Verbatim
from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import mcp_sdk
from toolbooth.server.observe import CallRecord

SWALLOWED = 'Uses uv.</content>\n<parameter name="reason">S3CRET</parameter>\n<tags>S3CRET'
TAIL = "Have a look.</content>\n</invoke>"
NOTES = {"notes": [{"code": "call-tags", "path": "$.content"}]}

saved: list[tuple[Any, ...]] = []


def remember(
    content: str,
    reason: str | None = None,
    tags: str = "",
    source: Annotated[str, Verbatim()] = "",
) -> str:
    saved.append((content, reason, tags, source))
    return "saved"


@pytest.fixture(autouse=True)
def nothing_saved():
    saved.clear()


def registry_call(arguments: dict[str, Any]) -> dict[str, Any]:
    registry = ToolRegistry("memory")
    registry.tool()(remember)
    return registry.call("remember", arguments)


def fastmcp_call(arguments: dict[str, Any]) -> dict[str, Any]:
    server = fastmcp.FastMCP("memory")
    server.tool(remember)
    return client_call(fastmcp_adapter.protect(server), arguments)


def sdk_call(arguments: dict[str, Any]) -> dict[str, Any]:
    server = MCPServer("memory")
    server.tool()(remember)
    return client_call(mcp_sdk.protect(server), arguments)


def client_call(server: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        connected = server if isinstance(server, MCPServer) else server._mcp_server
        async with mcp.Client(connected) as client:
            result = await client.call_tool("remember", arguments)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    return asyncio.run(run())


HOSTS = {"registry": registry_call, "fastmcp": fastmcp_call, "mcp_sdk": sdk_call}


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_refuses_a_swallowed_argument_and_repeats_no_value(host: str):
    result = HOSTS[host]({"content": SWALLOWED})
    assert (result["isError"], saved) == (True, [])
    (problem,) = result["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("swallowed-argument", "$.content")
    assert '"reason", "tags"' in problem["message"]
    assert problem["message"] in result["content"][0]["text"]
    assert "S3CRET" not in json.dumps(result)
    assert "corrected" not in result["_meta"]["toolbooth"]


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_accepts_trailing_tags_with_a_note(host: str):
    result = HOSTS[host]({"content": TAIL})
    assert (result["isError"], saved) == (False, [(TAIL, None, "", "")])
    assert result["_meta"]["toolbooth"] == NOTES


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_supports_the_verbatim_marker(host: str):
    result = HOSTS[host]({"content": "x", "source": SWALLOWED})
    assert (result["isError"], saved) == (False, [("x", None, "", SWALLOWED)])
    assert "toolbooth" not in result.get("_meta", {})


def test_a_note_is_not_a_repair_for_observers():
    records: list[CallRecord] = []
    registry = ToolRegistry("memory")
    registry.observe(records.append)
    registry.tool()(remember)
    registry.call("remember", {"content": TAIL})
    registry.call("remember", {"content": SWALLOWED})
    seen = [(each.outcome, each.repairs, each.problems) for each in records]
    assert seen == [("passed", (), ()), ("refused", (), ("swallowed-argument",))]


# --- dispatchers --------------------------------------------------------------------------------


@pytest.fixture
def memory() -> ToolRegistry:
    registry = ToolRegistry("memory")
    registry.tool(name="notes__create")(remember)
    registry.tool(name="notes__list")(lambda: "none")
    registry.dispatcher("notes", {"create": "notes__create", "list": "notes__list"})
    return registry


ROUTED = {
    "flat": ({"action": "create", "content": SWALLOWED}, "$.content"),
    "params": ({"action": "create", "params": {"content": SWALLOWED}}, "$.params.content"),
    "params as text": (
        {"action": "create", "params": json.dumps({"content": SWALLOWED})},
        "$.params.content",
    ),
    "misspelt action": ({"action": "Create", "content": SWALLOWED}, "$.content"),
    "a wrapper around all of it": (
        {"data": {"action": "create", "content": SWALLOWED}},
        "$.data.content",
    ),
}


@pytest.mark.parametrize("name", ROUTED)
def test_swallowed_arguments_of_a_dispatched_action_are_refused(memory: ToolRegistry, name: str):
    arguments, path = ROUTED[name]
    result = memory.call("notes", arguments)
    assert saved == []
    found = [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]
    assert ("swallowed-argument", path) in found
    assert "S3CRET" not in json.dumps(result)
    assert "corrected" not in result["_meta"]["toolbooth"]


def test_the_dispatchers_own_arguments_are_examined(memory: ToolRegistry):
    action = 'create</action>\n<parameter name="params">{"content": "S3CRET"}'
    result = memory.call("notes", {"action": action})
    (problem,) = result["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("swallowed-argument", "$.action")
    assert "S3CRET" not in json.dumps(result)


def test_a_note_has_its_path_in_the_dispatchers_call(memory: ToolRegistry):
    result = memory.call("notes", {"action": "create", "params": {"content": TAIL}})
    assert saved == [(TAIL, None, "", "")]
    assert result["_meta"]["toolbooth"] == {
        "notes": [{"code": "call-tags", "path": "$.params.content"}]
    }
