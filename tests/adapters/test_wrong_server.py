"""`protect` protects its own kind of server, and refuses every other object with the import that is
right.
"""

import pytest
from fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from toolbooth import ToolRegistry
from toolbooth.adapters.fastmcp import protect as protect_fastmcp
from toolbooth.adapters.mcp_sdk import protect as protect_mcp_sdk

OF_THE_SDK = "this is an object of type {}: from toolbooth.adapters.mcp_sdk import protect"
OF_FASTMCP = "this is an object of type {}: from toolbooth.adapters.fastmcp import protect"


class Shop(MCPServer):
    pass


class Store(FastMCP):
    pass


def told(protect, server):
    with pytest.raises(TypeError) as caught:
        protect(server)
    return str(caught.value)


def test_an_sdk_server_is_not_returned_unprotected_by_the_fastmcp_adapter():
    assert told(protect_fastmcp, MCPServer("x")) == OF_THE_SDK.format(
        "mcp.server.mcpserver.server.MCPServer"
    )
    assert told(protect_fastmcp, Shop("x")) == OF_THE_SDK.format(f"{__name__}.Shop")


def test_a_fastmcp_server_is_not_taken_by_the_sdk_adapter():
    assert told(protect_mcp_sdk, FastMCP("x")) == OF_FASTMCP.format("fastmcp.server.server.FastMCP")
    assert told(protect_mcp_sdk, Store("x")) == OF_FASTMCP.format(f"{__name__}.Store")


@pytest.mark.parametrize("protect", [protect_fastmcp, protect_mcp_sdk])
def test_a_low_level_server_is_said_not_to_be_supported_yet(protect):
    assert told(protect, Server("x")) == (
        "this is an object of type mcp.server.lowlevel.server.Server: low-level servers are not supported yet; "
        "use MCPServer, or a toolbooth.ToolRegistry"
    )


@pytest.mark.parametrize("protect", [protect_fastmcp, protect_mcp_sdk])
def test_a_registry_is_said_to_need_no_protection(protect):
    assert told(protect, ToolRegistry("x")) == (
        "this is an object of type toolbooth.server.registry.ToolRegistry: "
        "a ToolRegistry needs no protect(), its tools are behind the boundary already"
    )


@pytest.mark.parametrize("protect", [protect_fastmcp, protect_mcp_sdk])
def test_a_class_is_not_a_server(protect):
    assert (
        told(protect, FastMCP)
        == "protect() takes a server, not a class: pass an instance of FastMCP"
    )


@pytest.mark.parametrize(
    ("server", "kind"),
    [
        (None, "builtins.NoneType"),
        ("x", "builtins.str"),
        (type("FastMCP", (), {"name": "x"})(), f"{__name__}.FastMCP"),
        (
            FastMCP("x")._local_provider,
            "fastmcp.server.providers.local_provider.local_provider.LocalProvider",
        ),
    ],
    ids=["None", "text", "a look-alike", "a provider"],
)
def test_any_other_object_is_refused_by_its_type(server, kind):
    for protect, adapter in [(protect_fastmcp, "fastmcp"), (protect_mcp_sdk, "mcp_sdk")]:
        advice = f"toolbooth.adapters.{adapter}.protect() does not know this kind of server"
        assert told(protect, server) == f"this is an object of type {kind}: {advice}"


def test_servers_of_its_own_kind_and_their_subclasses_are_protected():
    for server in (FastMCP("x"), Store("x")):
        assert protect_fastmcp(server) is server
    for server in (MCPServer("x"), Shop("x")):
        assert protect_mcp_sdk(server) is server
