"""`protect` protects its own kind of server, and refuses every other object with the correct
import.
"""

import pytest
from fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from toolbooth import ToolRegistry
from toolbooth.adapters.fastmcp import protect as protect_fastmcp
from toolbooth.adapters.lowlevel import protect as protect_lowlevel
from toolbooth.adapters.mcp_sdk import protect as protect_mcp_sdk

OF_ANOTHER_HOST = "this is an object of type {}: from toolbooth import protect"


class Shop(MCPServer):
    pass


class Store(FastMCP):
    pass


def told(protect, server):
    with pytest.raises(TypeError) as caught:
        protect(server)
    return str(caught.value)


def test_the_fastmcp_adapter_refuses_an_sdk_server():
    assert told(protect_fastmcp, MCPServer("x")) == OF_ANOTHER_HOST.format(
        "mcp.server.mcpserver.server.MCPServer"
    )
    assert told(protect_fastmcp, Shop("x")) == OF_ANOTHER_HOST.format(f"{__name__}.Shop")


def test_the_sdk_adapter_refuses_a_fastmcp_server():
    assert told(protect_mcp_sdk, FastMCP("x")) == OF_ANOTHER_HOST.format(
        "fastmcp.server.server.FastMCP"
    )
    assert told(protect_mcp_sdk, Store("x")) == OF_ANOTHER_HOST.format(f"{__name__}.Store")


@pytest.mark.parametrize("protect", [protect_fastmcp, protect_mcp_sdk])
def test_the_other_adapters_refuse_a_low_level_server(protect):
    assert told(protect, Server("x")) == OF_ANOTHER_HOST.format("mcp.server.lowlevel.server.Server")


@pytest.mark.parametrize("host", [FastMCP, MCPServer])
def test_the_low_level_adapter_refuses_every_other_server(host):
    name = f"{host.__module__}.{host.__qualname__}"
    assert told(protect_lowlevel, host("x")) == OF_ANOTHER_HOST.format(name)


@pytest.mark.parametrize("protect", [protect_fastmcp, protect_mcp_sdk, protect_lowlevel])
def test_protect_refuses_a_tool_registry_with_a_reason(protect):
    assert told(protect, ToolRegistry("x")) == (
        "this is an object of type toolbooth.server.registry.ToolRegistry: "
        "a ToolRegistry needs no protect(), its tools are behind the boundary already"
    )


@pytest.mark.parametrize("protect", [protect_fastmcp, protect_mcp_sdk, protect_lowlevel])
def test_a_server_class_is_refused(protect):
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
    adapters = {
        "fastmcp": protect_fastmcp,
        "mcp_sdk": protect_mcp_sdk,
        "lowlevel": protect_lowlevel,
    }
    for adapter, protect in adapters.items():
        advice = f"toolbooth.adapters.{adapter}.protect() does not know this kind of server"
        assert told(protect, server) == f"this is an object of type {kind}: {advice}"


def test_servers_of_its_own_kind_and_their_subclasses_are_protected():
    for server in (FastMCP("x"), Store("x")):
        assert protect_fastmcp(server) is server
    for server in (MCPServer("x"), Shop("x")):
        assert protect_mcp_sdk(server) is server
