"""Servers of every kind, found by name, listed and called as their clients would."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import fastmcp
import pytest
from fastmcp import FastMCP
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError as SdkToolError

from toolbooth import ToolRegistry
from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import mcp_sdk as mcp_sdk_adapter
from toolbooth.adapters.connect import TargetError, kind_of, load, served

SERVERS = """
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from toolbooth import ToolRegistry

class Mine(FastMCP):
    pass

ours, theirs, sdk = ToolRegistry("ours"), Mine("theirs"), MCPServer("sdk")
number = 1
"""


def greet(name: str, times: int = 1) -> str:
    """Greet someone."""
    return f"Hello, {name}! " * times


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "three_servers.py").write_text(SERVERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "three_servers", raising=False)
    return "three_servers"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("ours", "toolbooth"), ("theirs", "fastmcp"), ("sdk", "mcp_sdk")],
    ids=lambda each: each,
)
def test_a_server_of_any_kind_is_found_by_module_and_by_file(name: str, kind: str, module: str):
    found = load(f"{module}:{name}")
    assert (served(found).name, served(found).kind) == (name, kind)
    assert load(f"{module}.py:{name}") is found


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (
            "{0}",
            "'{0}' does not name a server: write the file or module, a colon and the name of the variable, such as {0}:ours or {0}:theirs or {0}:sdk",
        ),
        ("{}s:ours", "there is no module '{}s' here or on the path"),
        ("{0}:our", "there is no 'our' in '{0}'; use {0}:ours or {0}:theirs or {0}:sdk"),
        (
            "{0}:number",
            "'number' in '{0}' is of type int, not ToolRegistry or FastMCP or MCPServer or Server; use {0}:ours or {0}:theirs or {0}:sdk",
        ),
    ],
    ids=["no-name", "no-module", "misspelt", "no-server"],
)
def test_wrong_target_is_reported_with_the_expected_form(target: str, told: str, module: str):
    with pytest.raises(TargetError) as error:
        load(target.format(module))
    assert str(error.value) == told.format(module)


def test_a_server_of_another_kind_than_requested_is_refused(module: str):
    with pytest.raises(
        TargetError, match=r"is of type MCPServer, not ToolRegistry; use three_servers:ours$"
    ):
        load(f"{module}:sdk", kinds=("toolbooth",))


def test_missing_import_of_a_target_module_is_named(module: str):
    Path(f"{module}_2.py").write_text("import no_such_module")
    with pytest.raises(
        TargetError,
        match=r"^\w+_2\.py imports 'no_such_module' in line 1, and there is no such module: ",
    ):
        load(f"{module}_2:ours")


def test_no_host_is_loaded_for_a_server_that_is_not_its_own():
    program = (
        "import asyncio, sys; from toolbooth import ToolRegistry; from toolbooth.adapters.connect import served; "
        "asyncio.run(served(ToolRegistry('r')).tools()); print({'mcp', 'fastmcp', 'starlette'} & set(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert loaded == "set()\n"


def made(kind: str, *, protected: bool) -> Any:
    if kind == "toolbooth":
        server: Any = ToolRegistry("greetings", page_size=1)
        server.tool(greet)
        server.tool(name="greet_again")(greet)
        return server
    server = FastMCP("greetings") if kind == "fastmcp" else MCPServer("greetings")
    server.add_tool(greet)
    if protected:
        (fastmcp_adapter if kind == "fastmcp" else mcp_sdk_adapter).protect(server)
    return server


@pytest.mark.parametrize("protected", [False, True], ids=["unprotected", "protected"])
@pytest.mark.parametrize("kind", ["fastmcp", "mcp_sdk"])
def test_tools_are_listed_as_an_official_client_sees_them(kind: str, protected: bool):
    server = made(kind, protected=protected)

    async def listed() -> list[Any]:
        async with fastmcp.Client(server) if kind == "fastmcp" else Client(server) as client:
            found = await client.list_tools()
        tools = found if kind == "fastmcp" else found.tools
        return [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in tools]

    assert served(server).protected is protected
    assert asyncio.run(served(server).tools()) == asyncio.run(listed())


def test_every_page_is_listed():
    registry = made("toolbooth", protected=True)
    assert served(registry).protected
    listing = asyncio.run(served(registry).tools())
    assert listing == [tool.listing() for tool in registry.tools.values()]
    assert [each["name"] for each in listing] == ["greet", "greet_again"]


def test_a_list_that_the_server_refuses_is_an_error():
    server = FastMCP("broken")

    async def refuse(context: Any, call_next: Any) -> Any:
        raise SdkToolError("not today")

    server._mcp_server.middleware.append(refuse)
    with pytest.raises(
        RuntimeError, match=r"^broken: tools/list was answered with {'code': -32603, 'message'"
    ):
        asyncio.run(served(server).tools())


@pytest.mark.parametrize("kind", ["toolbooth", "fastmcp", "mcp_sdk"])
def test_call_takes_arguments_as_bytes_or_values(kind: str):
    there = served(made(kind, protected=True))
    as_bytes = asyncio.run(there.call("greet", b'{"name": "Ann", "times": 2}'))
    assert as_bytes == asyncio.run(there.call("greet", {"name": "Ann", "times": 2}))
    assert as_bytes["content"] == [{"type": "text", "text": "Hello, Ann! Hello, Ann! "}]


def test_host_server_is_served_unchanged():
    there = served(made("fastmcp", protected=False))
    assert served(there) is there
    assert kind_of(there) is None
    with pytest.raises(
        TypeError, match=r"^function is not a supported server \(ToolRegistry, FastMCP, MCPS"
    ):
        served(greet)
