"""The help of a dispatcher about its sub-tools, which omits tools that are hidden."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatched_crm import CREATE, crm
from registry_calls import codes, text
from toolbooth import ContractError, ToolError, ToolRegistry, compile_json_schema
from toolbooth.server.dispatch.help import help_of
from toolbooth.server.listed_tools import UnknownTool
from toolbooth.server.observe import CallRecord
from toolbooth.server.respond import respond_sync

# --- hidden tools -------------------------------------------------------------------------------------------------


def test_hidden_tools_are_not_listed_and_can_still_be_called_by_name():
    registry = crm()
    assert list(registry.tools) == ["crm"]
    assert registry.dispatch("contacts__list", {"page": 2}) == text("page 2")
    with pytest.raises(UnknownTool, match=r"did you mean 'crm' \(contacts, list\)\?"):
        registry.dispatch("contacts_list")
    with pytest.raises(ContractError, match="registered already"):
        registry.tool(name="contacts__list")(lambda: "again")


def test_caller_is_listed_only_permitted_actions_of_a_dispatcher():
    registry = crm()

    def shows(tool: str) -> bool:
        return tool == "contacts__list"

    def asked(method: str, params: dict[str, Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        return json.loads(respond_sync(registry, body, shows=shows).body)["result"]

    (listed,) = asked("tools/list", {})["tools"]
    assert listed["inputSchema"]["properties"] == {
        "action": {"type": "string", "enum": ["list"]},
        "resource": {"type": "string", "enum": ["contacts"]},
        "params": {"type": "string", "description": 'Fields as JSON text, e.g. {"name": "A"}'},
        "help": {"type": "boolean"},
    }
    assert listed["annotations"] == {"readOnlyHint": True}
    assert listed["description"].endswith("help=true lists them. contacts: list(page?).")
    tree = asked("tools/call", {"name": "crm", "arguments": {"help": True}})
    assert tree["structuredContent"]["resources"] == {"contacts": ["list(page?)"]}
    create = asked("tools/call", {"name": "crm", "arguments": {"help": True, "action": "create"}})
    assert codes(create) == [("invalid", "$.action")]
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


def test_hidden_resource_is_answered_like_an_unknown_one():
    registry = crm()

    def asked(**arguments: Any) -> str:
        params = {"name": "crm", "arguments": arguments}
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        ).encode()
        reply = respond_sync(registry, body, shows=lambda tool: tool.startswith("contacts"))
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
    reply = json.loads(respond_sync(registry, body, shows=lambda tool: tool == "desk__list").body)
    (listed,) = reply["result"]["tools"]
    assert listed["inputSchema"]["properties"]["action"]["enum"] == ["list"]
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"desk","arguments":%s}}'
    for question in (b'{"action":"tool_help"}', b'{"help":true}'):
        told = respond_sync(registry, body % question, shows=lambda tool: tool == "desk__list")
        actions = json.loads(told.body)["result"]["structuredContent"]["actions"]
        assert actions == {"list": {"signature": "list()"}}


REFUSED = {
    "tool-error": (ToolError("desk__open", "closed today"), "Tool 'desk' failed: closed today"),
    "another": (PermissionError(), "Tool 'desk' failed unexpectedly."),
}


@pytest.mark.parametrize(("error", "told"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("sent", [{"help": True}, {"action": "opn"}, {}], ids=str)
def test_a_caller_without_visible_actions_is_not_shown_any_action_name(error, told, sent):
    registry = ToolRegistry("desk")
    contract = compile_json_schema({"type": "object"}, lambda _: "opened", name="desk__open")
    registry.add(contract, access_check=lambda: error)
    registry.dispatcher("desk", {"open": "desk__open"})
    params = {"name": "desk", "arguments": sent}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    reply = respond_sync(registry, body.encode(), shows=lambda _: False)
    assert json.loads(reply.body)["result"] == text(told, error=True)


def test_help_shows_no_actions_to_a_caller_who_may_see_none():
    registry = ToolRegistry("desk")
    contract = compile_json_schema({"type": "object"}, lambda _: "opened", name="desk__open")
    registry.add(contract, access_check=lambda: None)
    registry.dispatcher("desk", {"open": "desk__open"})
    body = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
        b'"params":{"name":"desk","arguments":{"help":true}}}'
    )
    reply = respond_sync(registry, body, shows=lambda _: False)
    assert json.loads(reply.body)["result"]["structuredContent"]["actions"] == {}


def test_a_dispatcher_without_a_visible_action_is_not_listed():
    registry = crm()
    registry.tool(name="ping")(lambda: "pong")
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    reply = json.loads(respond_sync(registry, body, shows=lambda tool: tool == "ping").body)
    assert [tool["name"] for tool in reply["result"]["tools"]] == ["ping"]
    whole = json.loads(respond_sync(registry, body, shows=lambda _: True).body)
    assert [tool["name"] for tool in whole["result"]["tools"]] == ["crm", "ping"]


# --- help ---------------------------------------------------------------------------------------------------------


def helped(registry: ToolRegistry, name: str = "crm", **sent: Any) -> Any:
    result = registry.dispatch(name, sent)
    assert result["isError"] is False, result
    return result["structuredContent"]


def test_help_lists_resources_then_actions_then_fields():
    registry = crm()
    assert helped(registry, help=True) == {
        "resources": {
            "contacts": ["create(email, first_name?, address?)", "list(page?)"],
            "orders": ["create(lines, action?, params?)", "watch(trigger, resource?)"],
        },
        "next_step": '{"resource": "…", "help": true} '
        "lists the actions and fields of one resource.",
    }
    assert helped(registry, help=True, resource="contacts") == {
        "resource": "contacts",
        "actions": {
            "create": {
                "signature": "create(email, first_name?, address?)",
                "description": "Create a contact.",
            },
            "list": {"signature": "list(page?)", "description": "List contacts."},
        },
        "next_step": '{"resource": "contacts", "action": "…", "help": true} '
        "returns the types of one action's fields, with an example.",
    }
    whole = helped(registry, action="create", resource="orders", help=True)
    assert whole == {
        "tool": "crm",
        "resource": "orders",
        "action": "create",
        "description": "Place an order.",
        "fields": registry.hidden["orders__create"].listing()["inputSchema"]["properties"],
        "required": ["lines"],
        "example": {"resource": "orders", "action": "create", "lines": [{"sku": "text"}]},
        "note": 'Send the fields "action", "params" inside "params".',
    }
    assert registry.dispatch("crm", whole["example"])["isError"] is False


def test_help_with_only_an_action_lists_the_resources_that_have_it():
    assert helped(crm(), help=True, action="create") == {
        "resources": {
            "contacts": ["create(email, first_name?, address?)"],
            "orders": ["create(lines, action?, params?)"],
        },
        "next_step": '{"resource": "…", "action": "create", "help": true} '
        "returns the types of one action's fields, with an example.",
    }
    assert list(helped(crm(), help=True, action="watch")["resources"]) == ["orders"]


NAMES = {
    "resource": st.sampled_from([None, "contacts", "orders", "Orders", "zebras"]),
    "action": st.sampled_from([None, "create", "list", "watch", "CREATE", "burn"]),
    "page": st.sampled_from([None, 1, 2, "2", 0, "x"]),
    "email": st.sampled_from([None, "a@x.io"]),
}


@given(asked=st.fixed_dictionaries(NAMES), in_text=st.booleans())
def test_help_as_an_argument_and_as_an_action_are_the_same_question(asked, in_text):
    """For every topic, and for every mistake in the call; only paths name the place where an
    argument was sent.
    """
    named = {key: each for key, each in asked.items() if each is not None}
    params: Any = {key: named[key] for key in ("action",) if key in named}
    others = {key: each for key, each in named.items() if key != "action"}
    as_action = {**others, "action": "help"}
    if params:
        as_action["params"] = json.dumps(params) if in_text else params
    registry = crm()
    records: list[CallRecord] = []
    registry.observe(records.append)
    by_argument = registry.dispatch("crm", {**named, "help": True})
    by_action = registry.dispatch("crm", as_action)
    assert without_places(by_action) == without_places(by_argument)
    assert len({each.outcome for each in records}) == 1


def without_places(result: dict[str, Any]) -> str:
    return json.dumps(result).replace("$.params.action", "$.action")


def test_help_for_an_action_does_not_call_it_and_notes_it():
    told = helped(crm(), **CREATE, help=True, email="a@x.io", params={"first_name": 5})
    assert told["called"] == "nothing: help was requested"


@pytest.mark.parametrize(
    "sent",
    [{"help": True}, {"help": "true"}, {"action": "help"}, {"action": "help", "help": True}],
    ids=str,
)
def test_help_alone_lists_all_resources(sent):
    assert list(helped(crm(), **sent)["resources"]) == ["contacts", "orders"]


ASKED_WRONGLY = {
    "resource": ({"action": "help", "resource": "contcts"}, [("invalid", "$.resource")]),
    "resource-far-off": ({"action": "help", "resource": "zebra"}, [("invalid", "$.resource")]),
    "action": (
        {"action": "help", "resource": "contacts", "params": {"action": "creat"}},
        [("invalid", "$.params.action")],
    ),
    "action-of-no-resource": (
        {"action": "help", "params": {"action": "creat"}},
        [("invalid", "$.params.action")],
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
def test_help_about_an_unknown_resource_or_action_is_refused(sent, problems):
    result = crm().dispatch("crm", sent)
    assert (result["isError"], codes(result)) == (True, problems)


def test_long_help_comes_in_pages_that_lose_nothing():
    registry = ToolRegistry("wide")
    resources = {f"resource{n}": {"get": f"resource{n}__get"} for n in range(400)}
    for actions in resources.values():
        registry.tool(name=actions["get"])(lambda: "got")
    registry.dispatcher("all", resources)
    found: dict[str, Any] = {}
    ask: dict[str, Any] | None = {"help": True}
    pages = 0
    while ask is not None:
        told = helped(registry, "all", **ask)
        assert len(json.dumps(told)) < 6_000
        found |= told["resources"]
        pages += 1
        assert (told["page"], told["pages"]) == (pages, 2)
        ask = told.get("next_page")
    assert found == {resource: ["get()"] for resource in resources}


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
        assert "called" not in told
    assert found.keys() == fields.keys()
    first = helped(registry, "all", resource="wide", action="set", help=True)
    for page in (0, 99, "x"):
        told = helped(registry, "all", resource="wide", action="set", help=True, page=page)
        assert told == {**first, "called": "nothing: help was requested"}
    assert helped(registry, "all", help=True)["resources"]["wide"] == [
        "set(field_0?, field_1?, field_2?, field_3?, field_4?, field_5?, field_6?, field_7?, "
        "field_8?, field_9?, field_10?, … 139 more)"
    ]
    actions = helped(registry, "all", resource="wide", help=True)["actions"]
    assert actions["set"]["signature"] == f"set({', '.join(f'{name}?' for name in fields)})"


def test_resource_with_very_many_actions_is_listed_without_arguments():
    registry = ToolRegistry("wide")
    for number in range(120):
        registry.tool(name=f"rows__act{number}")(lambda first_argument, second_argument: "done")
    registry.tool(name="other")(lambda: "done")
    actions = {f"act{number}": f"rows__act{number}" for number in range(120)}
    registry.dispatcher("all", {"rows": actions, "other": {"do": "other"}})
    lines = helped(registry, "all", help=True)["resources"]
    assert lines == {"rows": [f"act{number}(…)" for number in range(120)], "other": ["do()"]}


def test_own_action_named_help_is_still_called():
    registry = ToolRegistry("desk")
    registry.tool(name="desk__help")(lambda: "on its way")
    registry.dispatcher("desk", {"help": "desk__help"})
    assert registry.dispatch("desk", {"action": "help"}) == text("on its way")
    assert helped(registry, "desk", action="tool_help")["actions"] == {
        "help": {"signature": "help()"}
    }


def test_the_help_argument_can_be_renamed():
    registry = ToolRegistry("desk")

    @registry.tool
    def desk__ask(help: str) -> str:
        return help

    registry.dispatcher("desk", {"ask": "desk__ask"}, help="explain")
    assert registry.dispatch("desk", {"action": "ask", "help": "me"}) == text("me")
    assert helped(registry, "desk", action="ask", explain=True)["required"] == ["help"]
    actions = {"ask": {"signature": "ask(help)"}}
    assert helped(registry, "desk", action="explain")["actions"] == actions
    assert helped(registry, "desk", explain=True)["actions"] == actions


def listed_words(*resources: str, rare: str = "", arguments: int = 0) -> str:
    """Return the listed description of a dispatcher whose resources all have one action, and the
    first of them another.
    """
    registry = ToolRegistry("shop")
    fields = {f"argument_{number}": {"type": "string"} for number in range(arguments)}
    schema = {"type": "object", "properties": fields}
    table: dict[str, dict[str, str]] = {}
    for resource in resources:
        names = ("get", rare) if rare and resource == resources[0] else ("get",)
        table[resource] = {action: f"{resource}__{action}" for action in names}
        for tool in table[resource].values():
            registry.add(compile_json_schema(schema, lambda _: "done", name=tool))
    registry.dispatcher("all", table)
    words = registry.tools["all"].listing()["description"]
    return words.partition("lists them.")[2].strip()


def test_the_list_shows_signatures_if_they_are_short():
    assert listed_words("teas", "mugs", arguments=1) == (
        "teas: get(argument_0?); mugs: get(argument_0?)."
    )
    assert listed_words("teas", rare="brew") == "get(), brew()."


def test_the_description_names_actions_that_only_few_resources_have():
    assert listed_words("teas", "mugs", "jars", rare="brew", arguments=9) == "brew: only teas."
    assert listed_words("teas", "mugs", rare="brew", arguments=9) == ""
    assert listed_words("teas", "mugs", "jars", arguments=9) == ""
    assert listed_words("teas", "mugs", "jars", rare="b" * 60, arguments=9) == ""


def test_help_about_one_tool_shows_its_whole_contract():
    registry = crm()
    told = help_of(registry.hidden["contacts__list"])
    assert told == {
        "tool": "contacts__list",
        "description": "List contacts.",
        "fields": {"page": {"type": "integer", "default": 1}},
        "required": [],
        "example": {},
    }
