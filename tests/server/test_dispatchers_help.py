"""What a dispatcher tells of its sub-tools: its help, and nothing of tools that are hidden."""

import json
from typing import Any

import pytest

from dispatched_crm import CREATE, crm
from registry_calls import codes, text
from toolbooth import ContractError, ToolRegistry, compile_json_schema
from toolbooth.server.dispatch.help import help_of
from toolbooth.server.registry import UnknownTool
from toolbooth.server.respond import respond_sync
from toolbooth.server.tool import Tool

# --- hidden tools -------------------------------------------------------------------------------------------------


def test_hidden_tools_leave_the_list_and_are_called_by_name_as_ever():
    registry = crm()
    assert list(registry.tools) == ["crm"]
    assert registry.dispatch("contacts__list", {"page": 2}) == text("page 2")
    with pytest.raises(UnknownTool, match="did you mean 'contacts__list'"):
        registry.dispatch("contacts_list")
    with pytest.raises(ContractError, match="registered already"):
        registry.tool(name="contacts__list")(lambda: "again")


def test_a_caller_is_shown_only_what_they_may_see_behind_a_dispatcher():
    registry = crm()

    def shows(tool: Tool) -> bool:
        return tool.name == "contacts__list"

    def asked(method: str, params: dict[str, Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        return json.loads(respond_sync(registry, body, shows=shows).body)["result"]

    (listed,) = asked("tools/list", {})["tools"]
    assert listed["inputSchema"]["properties"] == {
        "action": {"type": "string", "enum": ["list", "help"]},
        "resource": {"type": "string", "enum": ["contacts"]},
        "params": {"type": "string", "description": 'Fields as JSON text, e.g. {"id": 1}'},
        "help": {"type": "boolean"},
    }
    assert listed["annotations"] == {"readOnlyHint": True}
    tree = asked("tools/call", {"name": "crm", "arguments": {"action": "help"}})
    assert tree["structuredContent"]["resources"] == {"contacts": ["list"]}
    told = asked(
        "tools/call", {"name": "crm", "arguments": {"action": "creat", "resource": "contacts"}}
    )
    assert "create" not in told["content"][0]["text"].replace('"creat"', "")
    told = asked(
        "tools/call", {"name": "crm", "arguments": {"action": "list", "resource": "order"}}
    )
    assert "orders" not in told["content"][0]["text"]
    assert asked(
        "tools/call", {"name": "crm", "arguments": {"resource": "contacts", "action": "list"}}
    ) == text("page 1")


def test_what_a_caller_may_not_see_is_as_if_it_were_not_there():
    registry = crm()

    def asked(**arguments: Any) -> str:
        params = {"name": "crm", "arguments": arguments}
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        ).encode()
        reply = respond_sync(registry, body, shows=lambda tool: tool.name.startswith("contacts"))
        return json.loads(reply.body)["result"]["content"][0]["text"]

    for sent in ({"action": "help"}, {"action": "nope"}):
        hidden, missing = asked(resource="orders", **sent), asked(resource="zebras", **sent)
        assert hidden.replace("orders", "zebras") == missing


def test_an_action_named_help_that_is_hidden_keeps_its_name():
    registry = ToolRegistry("desk")
    registry.tool(name="desk__help")(lambda: "on its way")
    registry.tool(name="desk__list")(lambda: "listed")
    registry.dispatcher("desk", {"help": "desk__help", "list": "desk__list"})
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    reply = json.loads(
        respond_sync(registry, body, shows=lambda tool: tool.name == "desk__list").body
    )
    (listed,) = reply["result"]["tools"]
    assert listed["inputSchema"]["properties"]["action"]["enum"] == ["list", "tool_help"]
    assert "action=tool_help tells them" in listed["description"]


def test_a_dispatcher_of_which_a_caller_may_see_nothing_is_not_listed():
    registry = crm()
    registry.tool(name="ping")(lambda: "pong")
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    reply = json.loads(respond_sync(registry, body, shows=lambda tool: tool.name == "ping").body)
    assert [tool["name"] for tool in reply["result"]["tools"]] == ["ping"]
    whole = json.loads(respond_sync(registry, body, shows=lambda _: True).body)
    assert [tool["name"] for tool in whole["result"]["tools"]] == ["crm", "ping"]


# --- help ---------------------------------------------------------------------------------------------------------


def helped(registry: ToolRegistry, name: str = "crm", **sent: Any) -> Any:
    result = registry.dispatch(name, sent)
    assert result["isError"] is False, result
    return result["structuredContent"]


def test_help_tells_the_tree_then_a_resource_then_an_action():
    registry = crm()
    assert helped(registry, action="help") == {
        "resources": {"contacts": ["create", "list"], "orders": ["create", "watch"]},
        "next_step": '{"action": "help", "resource": "…"} tells what the actions of one take.',
    }
    assert helped(registry, action="help", resource="contacts") == {
        "resource": "contacts",
        "actions": {
            "create": {
                "description": "Create a contact.",
                "required": ["email"],
                "optional": ["first_name", "address"],
            },
            "list": {"description": "List contacts.", "optional": ["page"]},
        },
        "next_step": '{"resource": "contacts", "action": "…", "help": true} '
        "tells the types of one action's fields, with an example.",
    }
    whole = helped(registry, action="create", resource="orders", help=True)
    assert whole == {
        "resource": "orders",
        "action": "create",
        "tool": "orders__create",
        "description": "Place an order.",
        "fields": registry.hidden["orders__create"].listing()["inputSchema"]["properties"],
        "required": ["lines"],
        "example": {"resource": "orders", "action": "create", "lines": [{"sku": "text"}]},
        "note": 'Send the fields "action", "params" inside "params".',
    }
    assert helped(registry, action="help", resource="orders", params={"action": "create"}) == whole
    assert registry.dispatch("crm", whole["example"])["isError"] is False


def test_help_for_an_action_calls_nothing_and_says_so():
    told = helped(crm(), **CREATE, help=True, email="a@x.io", params={"first_name": 5})
    assert told["called"] == "nothing: help was asked for"


@pytest.mark.parametrize(
    "sent", [{"help": True}, {"help": "true"}, {"action": "help", "help": True}], ids=str
)
def test_help_alone_tells_the_tree(sent):
    assert list(helped(crm(), **sent)["resources"]) == ["contacts", "orders"]


ASKED_WRONGLY = {
    "resource": ({"action": "help", "resource": "contcts"}, [("invalid", "$.resource")]),
    "resource-far-off": ({"action": "help", "resource": "zebra"}, [("invalid", "$.resource")]),
    "action": (
        {"action": "help", "resource": "contacts", "params": {"action": "creat"}},
        [("invalid", "$.params.action")],
    ),
    "action-without-resource": (
        {"action": "help", "params": {"action": "create"}},
        [("missing", "$.resource")],
    ),
    "page": ({"action": "help", "page": 2}, [("invalid", "$.page")]),
    "page-of-nothing": ({"action": "help", "page": 0}, [("invalid", "$.page")]),
    "something-else": ({"action": "help", "email": "a"}, [("unknown-key", "$.email")]),
    "not-a-flag": (
        {"resource": "contacts", "action": "list", "help": "create"},
        [("wrong-type", "$.help")],
    ),
}


@pytest.mark.parametrize(("sent", "problems"), ASKED_WRONGLY.values(), ids=ASKED_WRONGLY)
def test_help_about_what_there_is_not_is_refused(sent, problems):
    result = crm().dispatch("crm", sent)
    assert (result["isError"], codes(result)) == (True, problems)


def test_long_help_comes_in_pages_that_lose_nothing():
    registry = ToolRegistry("wide")
    resources = {f"resource{n}": {"get": f"resource{n}__get"} for n in range(400)}
    for actions in resources.values():
        registry.tool(name=actions["get"])(lambda: "got")
    registry.dispatcher("all", resources)
    found: dict[str, Any] = {}
    ask: dict[str, Any] | None = {"action": "help"}
    pages = 0
    while ask is not None:
        told = helped(registry, "all", **ask)
        assert len(json.dumps(told)) < 6_000
        found |= told["resources"]
        pages += 1
        assert (told["page"], told["pages"]) == (pages, 2)
        ask = told.get("next_page")
    assert found == {resource: ["get"] for resource in resources}


def test_the_fields_of_a_wide_action_come_in_pages_too():
    registry = ToolRegistry("wide")
    fields = {f"field_{n}": {"type": "string", "description": "words " * 8} for n in range(150)}
    registry.add(
        compile_json_schema(
            {"type": "object", "properties": fields}, lambda _: "done", name="wide__set"
        )
    )
    registry.tool(name="other")(lambda: "done")
    registry.dispatcher("all", {"wide": {"set": "wide__set"}, "other": {"do": "other"}})
    found: dict[str, Any] = {}
    ask: dict[str, Any] | None = {"resource": "wide", "action": "set", "help": True}
    while ask is not None:
        told = helped(registry, "all", **ask)
        found |= told["fields"]
        ask = told.get("next_page")
    assert found.keys() == fields.keys()


def test_an_action_of_the_authors_own_named_help_stays_what_it_is():
    registry = ToolRegistry("desk")
    registry.tool(name="desk__help")(lambda: "on its way")
    registry.dispatcher("desk", {"help": "desk__help"})
    assert registry.dispatch("desk", {"action": "help"}) == text("on its way")
    assert helped(registry, "desk", action="tool_help")["actions"] == {"help": {}}


def test_the_word_for_help_can_be_another():
    registry = ToolRegistry("desk")

    @registry.tool
    def desk__ask(help: str) -> str:
        return help

    registry.dispatcher("desk", {"ask": "desk__ask"}, help="explain")
    assert registry.dispatch("desk", {"action": "ask", "help": "me"}) == text("me")
    assert helped(registry, "desk", action="ask", explain=True)["required"] == ["help"]
    assert helped(registry, "desk", action="explain")["actions"] == {"ask": {"required": ["help"]}}


def test_help_of_one_tool_is_its_whole_contract():
    registry = crm()
    told = help_of(registry.hidden["contacts__list"])
    assert told == {
        "tool": "contacts__list",
        "description": "List contacts.",
        "fields": {"page": {"type": "integer", "default": 1}},
        "required": [],
        "example": {},
    }
