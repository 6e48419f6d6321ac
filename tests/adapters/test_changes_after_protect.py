"""Order never matters: a change to a server or its tools after `protect` has the same effect as
before.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.apps.app import FastMCPApp
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.server.transforms import Namespace, ToolTransform
from fastmcp.skills.extension import SkillsExtension
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.tool_transform import ToolTransformConfig
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import BaseModel

from toolbooth import Unpack
from toolbooth.adapters import mcp_sdk
from toolbooth.adapters.fastmcp import protect


def count(number: int) -> str:
    return f"counted {number}"


async def listed(server: FastMCP[Any]) -> list[dict[str, Any]]:
    """Return the tools of `tools/list`, except for their input schemas."""
    async with Client(server) as client:
        tools = (await client.list_tools_mcp()).tools
    return [tool.model_dump(exclude={"input_schema"}, exclude_none=True) for tool in tools]


async def called(server: FastMCP[Any], name: str, **arguments: Any) -> CallToolResult:
    async with Client(server) as client:
        return await client.call_tool_mcp(name, arguments)


def refused(result: CallToolResult) -> list[str]:
    found = (result.meta or {}).get("toolbooth", {}).get("problems", ())
    return [each["code"] for each in found]


# --- the listing is the same, before and after
# ----------------------------------------------------------


def as_an_app(server: FastMCP[Any]) -> None:
    server.tool(count, name="count", app=True)


def changed_after_adding(server: FastMCP[Any]) -> None:
    tool = server.add_tool(Tool.from_function(count, tags={"cold"}))
    tool.description = "Counts."
    tool.tags.add("hot")
    tool.title = "Counter"
    tool.meta = {"own": 1}
    tool.annotations = ToolAnnotations(read_only_hint=True)


def changed_after_a_look(server: FastMCP[Any]) -> None:
    tool = server.add_tool(Tool.from_function(count))
    asyncio.run(listed(server))
    tool.description = "Counts."


def with_disabled_tools(server: FastMCP[Any]) -> None:
    server.tool(count, name="hidden", tags={"secret"})
    server.tool(count, name="count")
    server.disable(tags={"secret"})


def with_transforms(server: FastMCP[Any]) -> None:
    server.tool(count)
    server.add_transform(ToolTransform({"count": ToolTransformConfig(name="tally")}))
    server.add_transform(Namespace("api"))


def with_a_mounted_server(server: FastMCP[Any]) -> None:
    child = FastMCP("child")
    server.mount(child, namespace="ch")
    child.tool(count, app=True)


def with_an_app_of_its_own(server: FastMCP[Any]) -> None:
    app = FastMCPApp("Counter")
    app.tool(count)
    server.add_provider(app)


CHANGES = [
    as_an_app,
    changed_after_adding,
    changed_after_a_look,
    with_disabled_tools,
    with_transforms,
    with_a_mounted_server,
    with_an_app_of_its_own,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("first", ["protect", "change"])
def test_the_listing_does_not_depend_on_when_a_server_is_protected(
    change: Callable[[FastMCP[Any]], None], first: str
):
    plain, server = FastMCP("s"), FastMCP("s")
    change(plain)
    if first == "protect":
        protect(server)
    change(server)
    protect(server)
    assert asyncio.run(listed(server)) == asyncio.run(listed(plain))
    for each in asyncio.run(listed(server)):
        assert refused(asyncio.run(called(server, each["name"], nmbr=1))) == [
            "unknown-key",
            "missing",
        ]
        assert asyncio.run(called(server, each["name"], number="2")).content[0].text == "counted 2"


@pytest.mark.parametrize("first", ["protect", "skills"])
def test_skills_are_served_before_and_after_protection(first: str, tmp_path: Path):
    skill = tmp_path / "counting"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: counting\ndescription: How to count.\n---\nOne.\n")
    server = FastMCP("s")
    if first == "protect":
        protect(server)
    provider = SkillsDirectoryProvider(roots=[tmp_path], experimental_skills=True)
    server.add_provider(provider)
    server.add_extension(SkillsExtension(providers=[provider]))
    server.tool(count)
    protect(server)

    async def resources() -> list[str]:
        async with Client(server) as client:
            return [str(each.uri) for each in await client.list_resources()]

    assert "skill://counting/SKILL.md" in asyncio.run(resources())
    assert refused(asyncio.run(called(server, "count", nmbr=1))) == ["unknown-key", "missing"]


def test_injected_tools_are_protected():
    server = protect(FastMCP("s"))
    server.add_middleware(ToolInjectionMiddleware([Tool.from_function(count)]))
    assert refused(asyncio.run(called(server, "count", nmbr=1))) == ["unknown-key", "missing"]


# --- tools are the same objects as before
# ---------------------------------------------------------------


class OwnTool(FunctionTool):
    owner: str = ""


def test_a_tool_remains_the_same_object():
    server = protect(FastMCP("s"))
    tool = OwnTool.from_function(count)
    tool.owner = "Ann"
    assert server.add_tool(tool) is tool
    assert type(tool) is OwnTool
    found: Any = asyncio.run(server.get_tool("count"))
    assert (type(found).__name__, isinstance(found, OwnTool), found.owner) == (
        "OwnTool",
        True,
        "Ann",
    )
    assert found.fn is count


def test_a_tool_that_one_server_protects_is_plain_on_another():
    tool = Tool.from_function(count)
    plain, server = FastMCP("plain"), protect(FastMCP("s"))
    plain.add_tool(tool)
    server.add_tool(tool)
    assert "validation error" in asyncio.run(called(plain, "count", nmbr=1)).content[0].text
    assert refused(asyncio.run(called(server, "count", nmbr=1))) == ["unknown-key", "missing"]


def test_run_replaced_on_one_tool_gets_the_sent_arguments():
    tool = Tool.from_function(count)
    seen: list[Any] = []
    run = tool.run

    async def recorded(arguments: dict[str, Any]) -> Any:
        seen.append(arguments)
        return await run(arguments)

    object.__setattr__(tool, "run", recorded)
    server = protect(FastMCP("s"))
    server.add_tool(tool)
    assert asyncio.run(called(server, "count", number=2)).content[0].text == "counted 2"
    assert seen == [{"number": 2}]
    assert refused(asyncio.run(called(server, "count", nmbr=1))) == ["unknown-key", "missing"]


class Order(BaseModel):
    customer: str
    lines: int = 1


def place(order: Annotated[Order, Unpack()]) -> str:
    return f"{order.lines} for {order.customer}"


def test_a_transformed_tool_is_guarded_by_the_contract_of_its_function():
    server = protect(FastMCP("s"))
    server.tool(place)
    server.add_transform(ToolTransform({"place": ToolTransformConfig(name="order")}))
    result = asyncio.run(called(server, "order", customer="Ann", lines="2"))
    assert result.content[0].text == "2 for Ann"


def test_the_sdk_keeps_its_tools_and_its_tool_manager():
    server: Any = MCPServer("s")
    manager = server._tool_manager
    mcp_sdk.protect(server)
    tool = manager.add_tool(count)
    assert server._tool_manager is manager
    tool.description = "Counts."
    tool.title = "Counter"
    [found] = asyncio.run(server.list_tools())
    assert (found.description, found.title) == ("Counts.", "Counter")
    assert manager.add_tool(count) is tool


def names(tools: Sequence[Any]) -> list[str]:
    return [tool.name for tool in tools]


def test_a_removed_sdk_tool_is_not_listed_and_may_be_added_again():
    server = mcp_sdk.protect(MCPServer("s"))
    server.add_tool(count)
    server.remove_tool("count")
    assert names(asyncio.run(server.list_tools())) == []
    server.add_tool(place, name="count")
    [found] = asyncio.run(server.list_tools())
    assert list(found.input_schema["properties"]) == ["customer", "lines"]
