"""A protected server of either host lists its tools in the profile that `protect` was given."""

import asyncio
from typing import Any

import fastmcp
import mcp
import pytest
from mcp.server.mcpserver import MCPServer
from nullable_profile import NullableProfile

from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import mcp_sdk as sdk_adapter

HOSTS = {
    "fastmcp": (fastmcp.FastMCP, fastmcp_adapter.protect, fastmcp.Client),
    "mcp_sdk": (MCPServer, sdk_adapter.protect, mcp.Client),
}
PORTABLE = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "description": "or null"},
        "count": {"type": "integer"},
    },
    "required": ["note"],
}
NULLABLE = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "nullable": True},
        "count": {"type": "integer", "nullable": True},
    },
    "required": ["note"],
}


def early(note: str | None, count: int | None = None) -> str:
    return f"{note} {count}"


def late(note: str | None, count: int | None = None) -> str:
    return f"{note} {count}"


def listed(server: Any, host: str) -> dict[str, Any]:
    """Return the tools that a client of the host receives from `tools/list`."""

    async def ask() -> Any:
        async with HOSTS[host][2](server) as client:
            return await (client.list_tools_mcp() if host == "fastmcp" else client.list_tools())

    return {tool.name: tool.input_schema for tool in asyncio.run(ask()).tools}


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> str:
    return request.param


def served(host: str, **how: Any) -> Any:
    make, protect, _ = HOSTS[host]
    server = make("shop")
    server.add_tool(early)
    protect(server, **how)
    server.add_tool(late)
    return server


def test_portable_is_the_default(host):
    assert listed(served(host), host) == {"early": PORTABLE, "late": PORTABLE}


@pytest.mark.parametrize("profile", [NullableProfile, NullableProfile()], ids=["class", "instance"])
def test_a_third_profile_is_listed_also_for_tools_that_are_added_later(host, profile):
    server = served(host, profile=profile)
    assert listed(server, host) == {"early": NULLABLE, "late": NULLABLE}

    async def call() -> Any:
        async with HOSTS[host][2](server) as client:
            return await client.call_tool("late", {"note": None})

    [content] = asyncio.run(call()).content
    assert content.text == "None None"


def test_a_server_that_is_protected_twice_keeps_its_profile(host):
    server = served(host, profile=NullableProfile)
    HOSTS[host][1](server)

    def latest(note: str | None, count: int | None = None) -> str:
        return f"{note} {count}"

    server.add_tool(latest)
    assert listed(server, host) == dict.fromkeys(("early", "late", "latest"), NULLABLE)


def test_an_unknown_profile_is_refused_and_nothing_is_protected(host):
    with pytest.raises(
        ValueError, match="there is no profile 'gemini'; the profiles are 'portable'"
    ):
        served(host, profile="gemini")


def test_mounted_server_uses_the_profile_of_its_parent_unless_it_has_one():
    parent = fastmcp_adapter.protect(fastmcp.FastMCP("parent"), profile=NullableProfile)
    child = fastmcp.FastMCP("child")
    child.add_tool(early)
    own = served("fastmcp")
    parent.mount(child, namespace="child")
    parent.mount(own, namespace="own")
    assert listed(parent, "fastmcp") == {
        "child_early": NULLABLE,
        "own_early": PORTABLE,
        "own_late": PORTABLE,
    }
