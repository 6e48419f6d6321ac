"""The advice about a wrapper and the declared fields, on every host and transport."""

import asyncio
from typing import Any

import fastmcp
import mcp
import pytest
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, ConfigDict
from wrapper_sentences import wrapper

from toolbooth import ToolRegistry
from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import mcp_sdk

created: list[Any] = []


class Address(BaseModel):
    street: str
    city: str = ""


class Event(BaseModel):
    model_config = ConfigDict(extra="allow")
    place: str
    colour: str = ""


def create(email: str, address: Address | None = None, event: Event | None = None) -> str:
    created.append((email, address, event))
    return "created"


@pytest.fixture(autouse=True)
def nothing_created():
    created.clear()


def registry_call(arguments: dict[str, Any]) -> dict[str, Any]:
    registry = ToolRegistry("contacts")
    registry.tool()(create)
    return registry.call("create", arguments)


def dispatcher_call(arguments: dict[str, Any]) -> dict[str, Any]:
    registry = ToolRegistry("contacts")
    registry.tool(name="contacts__create")(create)
    registry.tool(name="contacts__list")(lambda: "none")
    registry.dispatcher("contacts", {"create": "contacts__create", "list": "contacts__list"})
    return registry.call("contacts", {"action": "create", **arguments})


def fastmcp_call(arguments: dict[str, Any]) -> dict[str, Any]:
    server = fastmcp.FastMCP("contacts")
    server.tool(create)
    return client_call(fastmcp_adapter.protect(server), arguments)


def sdk_call(arguments: dict[str, Any]) -> dict[str, Any]:
    server = MCPServer("contacts")
    server.tool()(create)
    return client_call(mcp_sdk.protect(server), arguments)


def client_call(server: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        connected = server if isinstance(server, MCPServer) else server._mcp_server
        async with mcp.Client(connected) as client:
            result = await client.call_tool("create", arguments)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    return asyncio.run(run())


HOSTS = {
    "registry": registry_call,
    "dispatcher": dispatcher_call,
    "fastmcp": fastmcp_call,
    "mcp_sdk": sdk_call,
}
FIELDS = {"email": "text, required", "address": "object or null", "event": "object or null"}
ADDRESS = {"street": "text, required", "city": "text"}
EVENT = {"place": "text, required", "colour": "text"}

CASES: dict[str, tuple[dict[str, Any], str, str, dict[str, str]]] = {
    "one object inside": (
        {"email": "a", "data": {"address": {"street": "Dam 1"}}},
        wrapper("data", send=["address"]),
        "$",
        FIELDS,
    ),
    "a flat and a wrapped value": (
        {"email": "a", "data": {"email": "b"}},
        wrapper("data", conflicting=["email"]),
        "$",
        FIELDS,
    ),
    "a misspelt name inside": (
        {"data": {"emial": "a"}},
        wrapper("data", similar=[("emial", "email")]),
        "$",
        FIELDS,
    ),
    "JSON text": (
        {"data": '{"email": "a", "zz": 1}'},
        wrapper("data", as_text=True, send=["email"], undeclared=["zz"]),
        "$",
        FIELDS,
    ),
    "one level down": (
        {"email": "a", "address": {"data": {"street": "Dam 1", "email": "b"}}},
        wrapper("data", inside="$.address", send=["street"], undeclared=["email"]),
        "$.address",
        ADDRESS,
    ),
    "an open object": (
        {"email": "a", "event": {"data": {"place": "Utrecht", "hall": 3}}},
        wrapper("data", inside="$.event", send=["place"], content=["hall"]),
        "$.event",
        EVENT,
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("host", HOSTS)
def test_every_host_gives_the_same_advice_and_the_same_fields(host: str, case: str):
    arguments, told, path, fields = CASES[case]
    result = HOSTS[host](arguments)
    data = result["_meta"]["toolbooth"]
    assert (result["isError"], created) == (True, [])
    problem = data["problems"][0]
    assert (problem["code"], problem["message"]) == ("nested-wrapper", told)
    assert list(data["declared"][path].items()) == list(fields.items())
    names = ", ".join(f'"{name}" ({words})' for name, words in fields.items())
    where = "" if path == "$" else f" of {path}"
    lines = result["content"][0]["text"].splitlines()
    assert f"- {problem['path']}: {told}" in lines
    assert f"Declared fields{where}: {names}." in lines


def test_a_dispatcher_names_no_undeclared_field_of_a_wrapped_call():
    registry = ToolRegistry("contacts")
    registry.tool(name="contacts__create")(create)
    registry.tool(name="contacts__list")(lambda: "none")
    registry.dispatcher("contacts", {"create": "contacts__create", "list": "contacts__list"})
    call = {"data": {"action": "create", "email": "a", "emial": "b"}}
    result = registry.call("contacts", call)
    told = result["_meta"]["toolbooth"]["problems"][0]["message"]
    assert told == (
        '"data" wraps the whole call; send "action", "email" at the top level, not inside "data"'
    )
    call = {"data": {"action": "zz", "email": "a"}}
    told = registry.call("contacts", call)["_meta"]["toolbooth"]["problems"][0]["message"]
    assert told == '"data" wraps the whole call; send "action" at the top level, not inside "data"'


def test_dispatcher_help_notes_an_ignored_wrapper():
    registry = ToolRegistry("contacts")
    registry.tool(name="contacts__create")(create)
    registry.tool(name="contacts__list")(lambda: "none")
    registry.dispatcher("contacts", {"create": "contacts__create", "list": "contacts__list"})
    call = {"action": "create", "help": True, "data": {"email": "a"}}
    told = registry.call("contacts", call)["structuredContent"]
    assert told["called"] == 'nothing: help was requested, so "data" was ignored'
    assert told["ignored"] == {"$.data": wrapper("data", send=["email"])}
    call = {"action": "create", "help": True, "email": "a"}
    told = registry.call("contacts", call)["structuredContent"]
    assert (told["called"], "ignored" in told) == ("nothing: help was requested", False)
    assert created == []
