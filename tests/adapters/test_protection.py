"""`toolbooth.protect` and `is_protected`, which find the adapter themselves."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from nullable_profile import NullableProfile

import toolbooth
from toolbooth import ToolRegistry, is_protected, protect
from toolbooth.adapters.connect import served
from toolbooth.testing import call_over_wire

ROOT = Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}

TAKEN = (
    "protect() takes a FastMCP server, an MCPServer or a low-level Server of the official SDK, "
    "or tools of an agent framework: one, a list or a toolset"
)


def greet(name: str, times: int = 1) -> str:
    return f"Hello, {name}! " * times


async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "times": {"type": "integer"}},
        "required": ["name"],
    }
    return ListToolsResult(tools=[Tool(name="greet", input_schema=schema)])


async def call_tool(ctx: Any, params: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=greet(**params.arguments))])


class Shop(FastMCP):
    pass


class Store(MCPServer):
    pass


class Depot(Server):
    pass


def made(kind: type) -> Any:
    """Return a server of a host with the one tool."""
    if issubclass(kind, Server):
        return kind("greetings", on_list_tools=list_tools, on_call_tool=call_tool)
    server = kind("greetings")
    server.add_tool(greet)
    return server


@pytest.mark.parametrize("kind", [FastMCP, MCPServer, Server, Shop, Store, Depot])
def test_a_server_of_every_host_is_returned_protected(kind: type):
    server = made(kind)
    assert not is_protected(server)
    assert protect(server) is server
    assert is_protected(server)
    assert protect(server) is server

    result = call_over_wire(server, "greet", {"name": "Ann", "times": "2"})
    assert result.text == "Hello, Ann! Hello, Ann! "
    assert [(each.code, each.where) for each in result.repairs] == [("scalar-text", "$.times")]
    refused = call_over_wire(server, "greet", {"name": "Ann", "tmies": 2})
    assert [(each.code, each.where) for each in refused.problems] == [("unknown-key", "$.tmies")]


@pytest.mark.parametrize("kind", [FastMCP, MCPServer, Server])
def test_a_server_is_protected_inside_a_running_event_loop(kind: type):
    async def run() -> Any:
        server = protect(made(kind))
        return await served(server).call("greet", {"name": "Ann", "tmies": 2})

    assert asyncio.run(run())["isError"]


def test_the_profile_is_passed_on():
    def search(text: str | None = None) -> str:
        return str(text)

    server = protect(FastMCP("x"), profile=NullableProfile())
    server.tool(search)
    [tool] = asyncio.run(served(server).tools())
    assert tool["inputSchema"]["properties"]["text"]["nullable"] is True


@pytest.mark.parametrize("kind", [FastMCP, MCPServer, Server])
def test_an_unknown_profile_is_refused_and_nothing_is_protected(kind: type):
    server = made(kind)
    unknown: Any = "curly"
    with pytest.raises(ValueError, match="curly"):
        protect(server, profile=unknown)
    assert not is_protected(server)


WRONG = {
    "None": (None, f"this is an object of type builtins.NoneType: {TAKEN}"),
    "text": ("server.py", f"this is an object of type builtins.str: {TAKEN}"),
    "a look-alike": (
        type("FastMCP", (), {"name": "x"})(),
        f"this is an object of type {__name__}.FastMCP: {TAKEN}",
    ),
    "a provider": (
        FastMCP("x")._local_provider,
        "this is an object of type fastmcp.server.providers.local_provider.local_provider."
        f"LocalProvider: {TAKEN}",
    ),
    "an ASGI app": (
        FastMCP("x").http_app(),
        f"this is an object of type fastmcp.server.http.StarletteWithLifespan: {TAKEN}",
    ),
    "a registry": (
        ToolRegistry("x"),
        "this is an object of type toolbooth.server.registry.ToolRegistry: "
        "a ToolRegistry needs no protect(), its tools are behind the boundary already",
    ),
    "a class": (
        FastMCP,
        "protect() takes a server, not a class: pass an instance of FastMCP",
    ),
}


@pytest.mark.parametrize(("server", "sentence"), WRONG.values(), ids=WRONG)
def test_any_other_object_is_a_type_error(server: Any, sentence: str):
    for function in (protect, is_protected):
        with pytest.raises(TypeError) as raised:
            function(server)
        assert str(raised.value) == sentence


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=ENV, check=False
    )


def test_importing_protect_loads_no_host():
    ran = run(
        "import json, sys; from toolbooth import protect, is_protected\n"
        "for wrong in (None, 'server.py'):\n"
        "    try: protect(wrong)\n"
        "    except TypeError: pass\n"
        "print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    )
    assert ran.returncode == 0, ran.stderr
    assert {"fastmcp", "mcp", "mcp_types", "asyncio", "anyio"} & set(
        json.loads(ran.stdout)
    ) == set()


LOOK_ALIKE = "type('{0}', (), {{'__module__': '{1}', '__qualname__': '{0}'}})()"


@pytest.mark.parametrize(
    ("name", "module", "missing", "sentence"),
    [
        (
            "FastMCP",
            "fastmcp.server.server",
            "fastmcp",
            "toolbooth.adapters.fastmcp needs FastMCP: pip install 'toolbooth[fastmcp]'",
        ),
        (
            "Server",
            "mcp.server.lowlevel.server",
            "mcp",
            "toolbooth.adapters.lowlevel needs the official MCP SDK: pip install 'toolbooth[mcp]'",
        ),
    ],
)
def test_a_missing_extra_is_reported_in_one_sentence(
    name: str, module: str, missing: str, sentence: str
):
    ran = run(
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"from toolbooth import protect; protect({LOOK_ALIKE.format(name, module)})"
    )
    assert ran.stderr.splitlines()[-1] == f"toolbooth.extras.MissingExtra: {sentence}"


def test_a_host_without_the_names_that_its_adapter_imports_is_a_runtime_error():
    ran = run(
        "from fastmcp import FastMCP; import fastmcp.server.transforms as moved\n"
        "del moved.Transform; from toolbooth import protect; protect(FastMCP('x'))"
    )
    assert ran.stderr.splitlines()[-1] == (
        "RuntimeError: protect() does not work with fastmcp 4.1.2 and mcp 2.3.0; this version of "
        "Toolbooth is tested with fastmcp 4.1.2 and mcp 2.3.0: "
        "pip install fastmcp==4.1.2 mcp==2.3.0, or upgrade Toolbooth"
    )


EVERY_SUBMODULE = """
import importlib, pkgutil
import django
from django.conf import settings
settings.configure(INSTALLED_APPS=["rest_framework", "toolbooth.django"], SECRET_KEY="x")
django.setup()
import toolbooth
for module in pkgutil.walk_packages(toolbooth.__path__, "toolbooth."):
    # Each framework has an environment of its own (`make frameworks`).
    elsewhere = ".adapters.frameworks." in module.name
    if not module.name.endswith("__main__") and not elsewhere:
        importlib.import_module(module.name)

import inspect
from typing import Annotated
from fastmcp import FastMCP
from pydantic import BaseModel
from toolbooth import *

class Item(BaseModel):
    name: str

def greet(name: str) -> str:
    return name

def flat(item: Annotated[Item, Unpack()]) -> str:
    return item.name

contract = compile_function(greet)
server = FastMCP("x")
calls = {
    "Audio": lambda: Audio(data=b"x"),
    "CallRecord": lambda: CallRecord.__dataclass_fields__,
    "Context": lambda: Context(),
    "Contract": lambda: isinstance(contract, Contract),
    "ContractError": lambda: ContractError("x", ["y"]),
    "ContractWarning": lambda: ContractWarning("x"),
    "Image": lambda: Image(data=b"x"),
    "JsonText": lambda: JsonText(),
    "Limits": lambda: Limits(),
    "Problem": lambda: Problem(code="invalid", path=(), message="x"),
    "Resource": lambda: Resource(uri="file:///x", content="x"),
    "Text": lambda: Text(text="x"),
    "ToolError": lambda: ToolError("x", "y"),
    "ToolInputError": lambda: ToolInputError([]),
    "ToolRegistry": lambda: ToolRegistry("x"),
    "UnknownTool": lambda: UnknownTool("x"),
    "Unpack": lambda: Unpack(),
    "Verbatim": lambda: Verbatim(),
    "asgi_app": lambda: asgi_app(ToolRegistry("x")),
    "compile_function": lambda: compile_function(greet),
    "compile_json_schema": lambda: compile_json_schema({"type": "object"}),
    "compile_model": lambda: compile_model(Item),
    "detect_nested_wrapper": lambda: detect_nested_wrapper({}, {}),
    "handle_arguments": lambda: handle_arguments(contract, {"name": "x"}),
    "handle_arguments_async": lambda: handle_arguments_async(contract, {"name": "x"}).close(),
    "handle_bytes": lambda: handle_bytes(contract, b'{"name": "x"}'),
    "handle_bytes_async": lambda: handle_bytes_async(contract, b'{"name": "x"}').close(),
    "input_schema": lambda: input_schema(contract),
    "is_protected": lambda: is_protected(server),
    "lint_tools": lambda: lint_tools([]),
    "mcp_action": lambda: mcp_action(greet),
    "protect": lambda: protect(server),
    "tools_for": lambda: inspect.signature(tools_for),
    "unpack_pydantic_params": lambda: unpack_pydantic_params(flat)(name="x"),
}
assert sorted(calls) == sorted(toolbooth.__all__), set(calls) ^ set(toolbooth.__all__)
for call in calls.values():
    call()
print(len(calls))
"""


def test_no_submodule_hides_a_public_name():
    ran = run(EVERY_SUBMODULE)
    assert (ran.returncode, ran.stdout) == (0, f"{len(toolbooth.__all__)}\n"), ran.stderr
