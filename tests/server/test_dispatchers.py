"""Dispatcher tools: one tool for many. Every argument reaches its sub-tool, or the caller is told how to send it."""

import asyncio
import json
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from toolbooth import ContractError, ToolInputError, ToolRegistry, compile_json_schema
from toolbooth.lint.check import lint
from toolbooth.server.dispatchers import mcp_action
from toolbooth.server.help import help_of
from toolbooth.server.observe import CallRecord
from toolbooth.server.registry import UnknownTool
from toolbooth.server.respond import respond, respond_sync
from toolbooth.server.tools import Tool


def text(words: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": error}


def on_the_wire(registry: ToolRegistry, name: str, arguments: bytes) -> Any:
    """The result of a call that came as bytes."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
    reply = asyncio.run(respond(registry, body % (name.encode(), arguments)))
    return json.loads(reply.body)["result"]


def codes(result: Any) -> list[tuple[str, str]]:
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


def customers(**how: Any) -> ToolRegistry:
    registry = ToolRegistry("shop", **how)

    @registry.tool
    def create_customer(name: str, age: int = 0, credit: Decimal | None = None) -> str:
        return f"created {name!r} {age!r} {credit!r}"

    @registry.tool
    async def list_customers(limit: int = 10) -> str:
        return f"listed {limit}"

    actions = {"create": "create_customer", "list": "list_customers"}
    registry.dispatcher("customers", actions, description="Customers.", title="Customers")
    return registry


def test_a_dispatcher_stands_for_its_sub_tools_in_the_list():
    registry = customers()
    assert registry.tools["customers"].is_dispatcher is True
    assert [tool.listing() for tool in registry.tools.values()] == [
        {
            "name": "customers",
            "title": "Customers",
            "description": "Customers. Fields go beside action, or in params; action=help tells them.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["create", "list", "help"]},
                    "params": {"type": "string", "description": 'Fields as JSON text, e.g. {"id": 1}'},
                    "help": {"type": "boolean"},
                },
                "required": ["action"],
            },
        }
    ]


def test_sub_tools_stay_in_the_list_where_they_are_not_hidden():
    registry = ToolRegistry("shop")
    registry.tool(name="create")(lambda: "created")
    registry.dispatcher("customers", {"create": "create"}, hide=False)
    assert list(registry.tools) == ["create", "customers"]


def test_a_dispatcher_may_take_the_name_of_a_tool_it_hides():
    registry = ToolRegistry("shop")
    registry.tool(name="customers")(lambda: "listed")
    registry.dispatcher("customers", {"list": "customers"})
    assert list(registry.tools) == ["customers"]
    assert registry.dispatch("customers", {"action": "list"}) == text("listed")


def test_a_dispatcher_that_cannot_be_registered_hides_nothing():
    registry = ToolRegistry("shop")
    registry.tool(name="create")(lambda: "created")
    with pytest.raises(ContractError):
        registry.dispatcher("two words", {"create": "create"})
    with pytest.raises(UnknownTool, match="did you mean 'create'"):
        registry.dispatcher("customers", {"create": "creat"})
    assert list(registry.tools) == ["create"]


def test_a_dispatcher_of_dispatchers_is_a_mistake():
    registry = customers()
    with pytest.raises(ContractError) as caught:
        registry.dispatcher("everything", {"customers": "customers"})
    assert caught.value.mistakes == ("'customers' leads to another dispatcher; name its actions",)


LONG = "0.1000000000000000055511151231257827"

ROUTED = {
    "flat": (b'{"action": "create", "name": "Ada", "age": 36}', "created 'Ada' 36 None", []),
    "params": (b'{"action": "create", "params": {"name": "Ada", "age": 36}}', "created 'Ada' 36 None", []),
    "mixture": (b'{"action": "create", "name": "Ada", "params": {"age": 36}}', "created 'Ada' 36 None", []),
    "empty-params": (b'{"action": "create", "name": "Ada", "params": {}}', "created 'Ada' 0 None", []),
    "async": (b'{"action": "list", "limit": 5}', "listed 5", []),
    "no-params": (b'{"action": "list"}', "listed 10", []),
    "params-as-text": (
        b'{"action": "create", "params": "{\\"name\\": \\"Ada\\"}"}',
        "created 'Ada' 0 None",
        [],
    ),
    "all-as-text": (
        b'"{\\"action\\": \\"create\\", \\"params\\": \\"{\\\\\\"name\\\\\\": \\\\\\"Ada\\\\\\"}\\"}"',
        "created 'Ada' 0 None",
        [("json-text", "$")],
    ),
    "null-params": (
        b'{"action": "create", "name": "Ada", "params": null}',
        "created 'Ada' 0 None",
        [("null-optional", "$.params")],
    ),
    "repaired-below": (
        b'{"action": "create", "name": "Ada", "age": "36"}',
        "created 'Ada' 36 None",
        [("scalar-text", "$.age")],
    ),
    "repaired-async": (b'{"action": "list", "params": "{\\"limit\\": 5}"}', "listed 5", []),
    "client-key": (
        b'{"action": "create", "name": "Ada", "toolCallId": "x"}',
        "created 'Ada' 0 None",
        [("client-key", "$.toolCallId")],
    ),
    "pointed": (b'{"action": "create", "params": {"name": "Ada", "age": 36.0}}', "created 'Ada' 36 None", []),
    "exact-flat": (
        b'{"action": "create", "name": "Ada", "credit": %s}' % LONG.encode(),
        f"created 'Ada' 0 Decimal('{LONG}')",
        [],
    ),
    "exact-in-params": (
        b'{"action": "create", "params": {"name": "Ada", "credit": %s}}' % LONG.encode(),
        f"created 'Ada' 0 Decimal('{LONG}')",
        [],
    ),
    "exact-in-text": (
        b'{"action": "create", "params": "{\\"name\\": \\"Ada\\", \\"credit\\": %s}"}' % LONG.encode(),
        f"created 'Ada' 0 Decimal('{LONG}')",
        [],
    ),
    "exact-behind-an-escape": (
        b'{"action": "create", "params": "{\\"name\\": \\"Ada\\", \\"age\\": \\u0031e1}"}',
        "created 'Ada' 10 None",
        [],
    ),
}


@pytest.mark.parametrize(("sent", "words", "repairs"), ROUTED.values(), ids=ROUTED)
def test_every_argument_of_a_dispatcher_call_reaches_the_sub_tool(sent, words, repairs):
    registry = customers()
    expected = text(words)
    if repairs:
        expected["_meta"] = {"toolbooth": {"repairs": [{"code": code, "path": path} for code, path in repairs]}}
    assert registry.dispatch_bytes("customers", sent) == expected
    assert on_the_wire(registry, "customers", sent) == expected


REFUSED = {
    "wrapper": (
        b'{"action": "create", "data": {"name": "Ada"}}',
        [("nested-wrapper", "$.data")],
        {"action": "create", "name": "Ada"},
    ),
    "wrapper-for-an-async-tool": (
        b'{"action": "list", "data": {"limit": 5}}',
        [("nested-wrapper", "$.data")],
        {"action": "list", "limit": 5},
    ),
    "wrapper-in-params": (
        b'{"action": "create", "params": {"data": {"name": "Ada"}}}',
        [("nested-wrapper", "$.params.data")],
        {"action": "create", "name": "Ada"},
    ),
    "unknown-key": (
        b'{"action": "create", "name": "Ada", "nickname": "A"}',
        [("unknown-key", "$.nickname")],
        None,
    ),
    "unknown-key-in-params": (
        b'{"action": "create", "params": {"name": "Ada", "nickname": "A"}}',
        [("unknown-key", "$.params.nickname")],
        None,
    ),
    "unknown-action": (
        b'{"action": "creat", "name": "Ada"}',
        [("invalid", "$.action")],
        {"action": "create", "name": "Ada"},
    ),
    "no-action": (b'{"name": "Ada"}', [("missing", "$.action")], None),
    "twice": (
        b'{"action": "create", "name": "Ada", "params": {"name": "Ada"}}',
        [("conflicting-keys", "$.name")],
        None,
    ),
    "params-of-another-type": (b'{"action": "create", "params": [1]}', [("wrong-type", "$.params")], None),
    "params-as-other-text": (b'{"action": "create", "params": "Ada"}', [("wrong-type", "$.params")], None),
    "array": (b"[]", [("not-an-object", "$")], None),
}


@pytest.mark.parametrize(("sent", "problems", "corrected"), REFUSED.values(), ids=REFUSED)
def test_a_refused_dispatcher_call_comes_with_the_call_to_send_instead(sent, problems, corrected):
    registry = customers()
    result = registry.dispatch_bytes("customers", sent)
    assert result["isError"] is True
    assert codes(result) == problems
    assert result["_meta"]["toolbooth"].get("corrected") == corrected
    assert on_the_wire(registry, "customers", sent) == result
    if corrected is not None:
        assert f"Send instead: {json.dumps(corrected, separators=(',', ':'))}" in result["content"][0]["text"]
        assert registry.dispatch("customers", corrected)["isError"] is False


def test_a_refusal_of_a_sub_tool_names_the_sub_tool():
    result = customers().dispatch("customers", {"action": "create", "nickname": "A"})
    assert result["content"][0]["text"].startswith("Refused: 2 problems in the arguments of 'create_customer'.")


def test_a_correction_does_not_mix_up_the_action_of_the_dispatcher_with_one_of_the_sub_tools():
    registry = ToolRegistry("shop")

    @registry.tool
    def audit(action: str, level: int = 0) -> str:
        return f"{action} {level}"

    registry.dispatcher("log", {"write": "audit"})
    wrong = {"action": "write", "params": {"data": {"action": "login", "level": 2}}}
    corrected = registry.dispatch("log", wrong)["_meta"]["toolbooth"]["corrected"]
    assert corrected == {"action": "write", "params": {"action": "login", "level": 2}}
    assert registry.dispatch("log", corrected) == text("login 2")


def test_a_refused_dispatcher_call_is_a_protocol_error_where_refusals_are():
    registry = customers(errors="protocol")
    with pytest.raises(ToolInputError) as caught:
        registry.dispatch("customers", {"action": "create", "data": {"name": "Ada"}})
    assert caught.value.corrected == {"action": "create", "name": "Ada"}


def test_the_time_limit_of_a_sub_tool_holds_behind_a_dispatcher():
    registry = ToolRegistry("shop")

    @registry.tool(timeout=0.01)
    async def wait() -> None:
        await asyncio.Event().wait()

    registry.dispatcher("do", {"wait": "wait"})
    expected = text("Tool 'wait' failed: it did not answer within 0.01 s; it was stopped", error=True)
    assert registry.dispatch("do", {"action": "wait"}) == expected
    assert asyncio.run(registry.dispatch_async("do", {"action": "wait"})) == expected


def test_sync_sub_tools_alone_need_no_event_loop():
    registry = ToolRegistry("shop")
    registry.tool(name="where")(lambda: threading.current_thread().name)
    registry.dispatcher("do", {"where": "where"})
    assert registry.dispatch("do", {"action": "where"}) == text(threading.current_thread().name)


def test_a_dispatcher_call_is_recorded_once_under_its_sub_tool():
    registry = customers()
    records: list[CallRecord] = []
    registry.observe(records.append)
    registry.dispatch("customers", {"action": "create", "params": '{"name": "Ada", "age": "3"}'})
    registry.dispatch("customers", {"action": "list"})
    registry.dispatch("customers", {"action": "nothing"})
    assert [(each.tool, each.dispatcher, each.outcome, each.problems, each.repairs) for each in records] == [
        ("create_customer", "customers", "repaired", (), ("scalar-text",)),
        ("list_customers", "customers", "passed", (), ()),
        ("customers", None, "refused", ("invalid",), ()),
    ]


# --- several resources --------------------------------------------------------------------------------------------


class Address(BaseModel):
    street: str
    city: str = ""


class Line(BaseModel):
    sku: str
    count: int = 1


class Trigger(BaseModel):
    action: str
    resource: str = ""


def crm(**how: Any) -> ToolRegistry:
    registry = ToolRegistry("crm", **how)

    @registry.tool
    def contacts__create(email: str, first_name: str = "", address: Address | None = None) -> str:
        """Create a contact."""
        return f"{email} {first_name} {address}"

    @registry.tool(annotations={"readOnlyHint": True})
    def contacts__list(page: int = 1) -> str:
        """List contacts."""
        return f"page {page}"

    @registry.tool
    def orders__create(lines: list[Line], action: str = "buy", params: Address | None = None) -> str:
        """Place an order."""
        return f"{lines} {action} {params}"

    @registry.tool
    def orders__watch(trigger: Trigger, resource: str = "") -> str:
        return f"{trigger} {resource}"

    actions = {
        "contacts": {"create": "contacts__create", "list": "contacts__list"},
        "orders": {"create": "orders__create", "watch": "orders__watch"},
    }
    registry.dispatcher("crm", actions, description="Customers.")
    return registry


def test_a_dispatcher_of_several_resources_names_them():
    assert crm().tools["crm"].listing()["inputSchema"] == {
        "type": "object",
        "properties": {
            "resource": {"type": "string", "enum": ["contacts", "orders"]},
            "action": {"type": "string", "enum": ["create", "list", "watch", "help"]},
            "params": {"type": "string", "description": 'Fields as JSON text, e.g. {"id": 1}'},
            "help": {"type": "boolean"},
        },
        "required": ["action"],
    }


def test_more_names_than_a_list_should_hold_are_left_to_help():
    registry = ToolRegistry("wide")
    for number in range(60):
        registry.tool(name=f"resource{number}__get")(lambda: "got")
    registry.dispatcher("all", {f"resource{n}": {"get": f"resource{n}__get"} for n in range(60)})
    properties = registry.tools["all"].listing()["inputSchema"]["properties"]
    assert properties["resource"] == {
        "type": "string",
        "description": "resource0, resource1, resource2, resource3, resource4 … 60 in all: see help",
    }
    assert properties["action"] == {"type": "string", "enum": ["get", "help"]}


def test_every_client_can_take_a_dispatcher():
    report = lint([tool.listing() for tool in crm().tools.values()])
    assert {(each.rule, each.severity) for each in report.findings} == {("no-parameter-description", "note")}


def test_one_resource_alone_needs_no_name():
    registry = ToolRegistry("shop")
    registry.tool(name="create")(lambda: "created")
    registry.dispatcher("shop", {"orders": {"create": "create"}})
    assert registry.dispatch("shop", {"action": "create"}) == text("created")
    assert "resource" not in registry.tools["shop"].listing()["inputSchema"]["properties"]


MEANT = {
    "flat": ({"resource": "contacts", "action": "create", "email": "a@x.io"}, "a@x.io  None"),
    "nested": (
        {"resource": "contacts", "action": "create", "email": "a@x.io", "address": {"street": "Main"}},
        "a@x.io  street='Main' city=''",
    ),
    "fields-named-as-the-calls-own": (
        {
            "resource": "orders",
            "action": "create",
            "params": {"lines": [{"sku": "a"}], "action": "b", "params": {"street": "M"}},
        },
        "[Line(sku='a', count=1)] b street='M' city=''",
    ),
    "a-field-that-holds-such-names": (
        {"resource": "orders", "action": "watch", "trigger": {"action": "start", "resource": "x"}, "params": {}},
        "action='start' resource='x' ",
    ),
    "both-levels": (
        {"resource": "orders", "action": "watch", "trigger": {"action": "b"}, "params": {"resource": "r"}},
        "action='b' resource='' r",
    ),
    "help-not-wanted": ({"resource": "contacts", "action": "list", "help": False}, "page 1"),
}


@pytest.mark.parametrize(("sent", "words"), MEANT.values(), ids=MEANT)
def test_a_call_reaches_its_resource(sent, words):
    assert crm().dispatch("crm", sent) == text(words)
    assert on_the_wire(crm(), "crm", json.dumps(sent).encode()) == text(words)


CREATE = {"resource": "contacts", "action": "create"}
SLIPS = {
    "whole-call-wrapped": ({"data": {**CREATE, "email": "a"}}, [("nested-wrapper", "$.data")], {"email": "a"}),
    "whole-call-in-params": ({"params": {**CREATE, "email": "a"}}, [("nested-wrapper", "$.params")], {"email": "a"}),
    "whole-call-wrapped-as-text": (
        {"request": json.dumps({**CREATE, "data": {"email": "a"}})},
        [("nested-wrapper", "$.request"), ("nested-wrapper", "$.request.data")],
        {"email": "a"},
    ),
    "whole-call-wrapped-with-params": (
        {"body": {**CREATE, "params": {"emial": "a"}}},
        [("nested-wrapper", "$.body"), ("unknown-key", "$.body.params.emial")],
        {"email": "a"},
    ),
    "part-of-the-call-wrapped": (
        {"resource": "contacts", "data": {"action": "create", "email": "a"}},
        [("nested-wrapper", "$.data")],
        {"email": "a"},
    ),
    "other-spelling": (
        {"Resource": "contacts", "actions": "create", "email": "a"},
        [("unknown-key", "$.Resource"), ("unknown-key", "$.actions")],
        {"email": "a"},
    ),
    "near-names": (
        {"resource": "contact", "action": "Create", "email": "a"},
        [("invalid", "$.resource"), ("invalid", "$.action")],
        {"email": "a"},
    ),
    "whole-name": ({"action": "contacts__create", "email": "a"}, [("invalid", "$.action")], {"email": "a"}),
    "and-below": (
        {"resource": "contacts", "action": "creat", "firstName": "A", "email": "a"},
        [("invalid", "$.action"), ("unknown-key", "$.firstName")],
        {"first_name": "A", "email": "a"},
    ),
    "deep-in-params": (
        {**CREATE, "params": {"email": "a", "address": {"Street": "Main"}}},
        [("unknown-key", "$.params.address.Street")],
        {"email": "a", "address": {"street": "Main"}},
    ),
    "wrapper-in-params-as-text": (
        {**CREATE, "params": '{"data": {"email": "a"}}'},
        [("nested-wrapper", "$.params.data")],
        {"email": "a"},
    ),
    "params-in-params": (
        {**CREATE, "params": {"params": {"email": "a"}}},
        [("nested-wrapper", "$.params.params")],
        {"email": "a"},
    ),
    "wrapper-beside-params": (
        {**CREATE, "params": {"email": "a"}, "data": {"first_name": "A"}},
        [("nested-wrapper", "$.data")],
        {"email": "a", "first_name": "A"},
    ),
    "unknown-beside-params": ({**CREATE, "params": {"email": "a"}, "nick": "A"}, [("unknown-key", "$.nick")], None),
    "twice": (
        {**CREATE, "params": {"email": "a"}, "email": "a"},
        [("conflicting-keys", "$.email")],
        None,
    ),
    "no-such-action": ({"resource": "contacts", "action": "burn"}, [("invalid", "$.action")], None),
    "no-such-resource": ({"resource": "zebras", "action": "create"}, [("invalid", "$.resource")], None),
    "no-resource": ({"action": "create", "email": "a"}, [("missing", "$.resource")], None),
    "neither": ({"email": "a"}, [("missing", "$.resource"), ("missing", "$.action")], None),
    "action-of-another-type": ({"resource": "contacts", "action": ["create"]}, [("wrong-type", "$.action")], None),
    "two-wrappers-with-actions": (
        {"a": {"action": "create"}, "b": {"action": "list"}},
        [("missing", "$.resource"), ("missing", "$.action")],
        None,
    ),
    "wrapper-that-repeats": (
        {"resource": "contacts", "data": {**CREATE, "email": "a"}},
        [("missing", "$.action")],
        None,
    ),
    "wrapped-and-wrong": (
        {"data": {**CREATE, "params": 5}},
        [("nested-wrapper", "$.data"), ("wrong-type", "$.data.params")],
        None,
    ),
}


@pytest.mark.parametrize(("sent", "problems", "fields"), SLIPS.values(), ids=SLIPS)
def test_what_is_plainly_meant_is_told_whole_with_the_dispatchers_own_call(sent, problems, fields):
    registry = crm()
    result = registry.dispatch("crm", sent)
    assert (result["isError"], codes(result)) == (True, problems)
    corrected = result["_meta"]["toolbooth"].get("corrected")
    assert corrected == (None if fields is None else {**CREATE, **fields})
    if corrected is not None:
        assert registry.dispatch("crm", corrected)["isError"] is False


def odd() -> tuple[ToolRegistry, list[Any]]:
    """A tool whose fields are called as a dispatcher's own words."""
    registry = ToolRegistry("odd")
    got: list[Any] = []

    @registry.tool
    def odds__create(params: Address | None = None, help: bool = True, action: str = "", name: str = "") -> str:
        got.append((params, help, action, name))
        return "made"

    @registry.tool(name="odds__destroy")
    def destroy(id: int) -> str:
        got.append(id)
        return "gone"

    registry.dispatcher("odds", {"create": "odds__create", "destroy": "odds__destroy"})
    return registry, got


NAMED_AS_OWN: dict[str, tuple[dict[str, Any], list[str], dict[str, Any]]] = {
    "help-off": ({"help": False}, ["$.help"], {"help": False}),
    "help-null": ({"help": None}, ["$.help"], {"help": None}),
    "help-as-text": ({"help": "false", "name": "x"}, ["$.help"], {"name": "x", "help": "false"}),
    "no-params": ({"params": {}}, ["$.params"], {"params": {}}),
    "null-params": ({"params": None}, ["$.params"], {"params": None}),
    "the-field-itself": ({"params": {"street": "Main"}}, ["$.params"], {"params": {"street": "Main"}}),
    "both": (
        {"params": {"street": "Main"}, "help": False},
        ["$.help", "$.params"],
        {"help": False, "params": {"street": "Main"}},
    ),
}


@pytest.mark.parametrize(("sent", "places", "fields"), NAMED_AS_OWN.values(), ids=NAMED_AS_OWN)
def test_a_field_with_a_name_of_the_calls_own_is_never_dropped(sent, places, fields):
    registry, got = odd()
    result = registry.dispatch("odds", {"action": "create", **sent})
    assert (result["isError"], got) == (True, [])
    assert [path for _, path in codes(result)][: len(places)] == places
    corrected = result["_meta"]["toolbooth"].get("corrected")
    if fields == {"params": {}}:  # no address by itself: there is nothing to correct it to
        assert corrected is None
    else:
        assert corrected == {"action": "create", "params": fields}
        assert registry.dispatch("odds", corrected)["isError"] is False


@pytest.mark.parametrize("sent", [{"params": {"name": "x", "help": False}}, {"name": "x", "params": {"help": False}}])
def test_inside_params_it_is_the_field(sent):
    registry, got = odd()
    assert registry.dispatch("odds", {"action": "create", **sent}) == text("made")
    assert got == [(None, False, "", "x")]


@pytest.mark.parametrize(
    "sent",
    [
        {"action": "destory", "id": 1, "help": True},
        {"Action": "destroy", "id": 1, "help": True},
        {"call": {"action": "destroy", "id": 1, "help": True}},
    ],
    ids=str,
)
def test_a_question_is_never_corrected_into_the_call_itself(sent):
    registry, got = odd()
    told = registry.dispatch("odds", sent)["_meta"]["toolbooth"]
    assert told["corrected"] == {"action": "destroy", "help": True, "id": 1}
    assert registry.dispatch("odds", told["corrected"])["structuredContent"]["required"] == ["id"]
    assert got == []


@pytest.mark.parametrize("word", ["HELP", "Help", "hepl"])
def test_help_is_meant_by_near_words_too(word):
    told = crm().dispatch("crm", {"action": word})["_meta"]["toolbooth"]
    assert told["corrected"] == {"action": "help"}


def test_an_edit_names_a_place_once():
    sent = {"action": "create", "params": {"data": {"name": "x" * 2000}, "params": {"street": "Main"}}}
    assert odd()[0].dispatch("odds", sent)["_meta"]["toolbooth"]["edits"] == ["move $.params.data.* to $"]


def test_the_words_of_a_refusal_say_what_there_is():
    told = crm().dispatch("crm", {"resource": "contacts", "action": "burn"})["content"][0]["text"]
    assert told.splitlines()[1:] == [
        '- $.action: there is no action "burn" of "contacts"; there are "create", "list". '
        '{"action": "help"} tells more',
    ]


def test_edits_name_the_place_that_was_sent():
    sent = {"resource": "orders", "action": "create", "params": {"lines": [{"sku": "a", "cuont": 2}]}}
    told = crm().dispatch("crm", sent)["_meta"]["toolbooth"]
    assert told["edits"] == ['rename $.params.lines[0].cuont to "count"']


def test_repairs_in_params_are_reported_where_they_were_made():
    sent = {"resource": "orders", "action": "create", "params": {"lines": '[{"sku": "a", "count": "2"}]'}}
    assert crm().dispatch("crm", sent)["_meta"] == {
        "toolbooth": {
            "repairs": [
                {"code": "json-text", "path": "$.params.lines"},
                {"code": "scalar-text", "path": "$.params.lines[0].count"},
            ]
        }
    }


def test_a_secret_is_not_echoed_in_a_dispatchers_correction():
    registry = ToolRegistry("accounts")

    @registry.tool
    def log_in(password: SecretStr) -> str:
        return "in"

    registry.dispatcher("accounts", {"log_in": "log_in"})
    for sent in ({"action": "login", "password": "hunter2"}, {"data": {"action": "log_in", "password": "hunter2"}}):
        result = registry.dispatch("accounts", sent)
        assert result["isError"] is True
        assert "hunter2" not in json.dumps(result)


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
    told = asked("tools/call", {"name": "crm", "arguments": {"action": "creat", "resource": "contacts"}})
    assert "create" not in told["content"][0]["text"].replace('"creat"', "")
    told = asked("tools/call", {"name": "crm", "arguments": {"action": "list", "resource": "order"}})
    assert "orders" not in told["content"][0]["text"]
    assert asked("tools/call", {"name": "crm", "arguments": {"resource": "contacts", "action": "list"}}) == text(
        "page 1"
    )


def test_what_a_caller_may_not_see_is_as_if_it_were_not_there():
    registry = crm()

    def asked(**arguments: Any) -> str:
        params = {"name": "crm", "arguments": arguments}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
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
    reply = json.loads(respond_sync(registry, body, shows=lambda tool: tool.name == "desk__list").body)
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


@pytest.mark.parametrize("sent", [{"help": True}, {"help": "true"}, {"action": "help", "help": True}], ids=str)
def test_help_alone_tells_the_tree(sent):
    assert list(helped(crm(), **sent)["resources"]) == ["contacts", "orders"]


ASKED_WRONGLY = {
    "resource": ({"action": "help", "resource": "contcts"}, [("invalid", "$.resource")]),
    "resource-far-off": ({"action": "help", "resource": "zebra"}, [("invalid", "$.resource")]),
    "action": (
        {"action": "help", "resource": "contacts", "params": {"action": "creat"}},
        [("invalid", "$.params.action")],
    ),
    "action-without-resource": ({"action": "help", "params": {"action": "create"}}, [("missing", "$.resource")]),
    "page": ({"action": "help", "page": 2}, [("invalid", "$.page")]),
    "page-of-nothing": ({"action": "help", "page": 0}, [("invalid", "$.page")]),
    "something-else": ({"action": "help", "email": "a"}, [("unknown-key", "$.email")]),
    "not-a-flag": ({"resource": "contacts", "action": "list", "help": "create"}, [("wrong-type", "$.help")]),
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
    registry.add(compile_json_schema({"type": "object", "properties": fields}, lambda _: "done", name="wide__set"))
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


# --- classes ------------------------------------------------------------------------------------------------------


def leads() -> tuple[ToolRegistry, list[dict[str, str]]]:
    registry = ToolRegistry("sales")
    rows: list[dict[str, str]] = []

    @registry.dispatcher("leads")
    class Leads:
        """People who may buy."""

        @mcp_action
        def create(self, email: str, first_name: str = "") -> dict[str, Any]:
            """Add a lead."""
            rows.append({"email": email, "first_name": first_name})
            return {"created": True, "id": len(rows)}

        @mcp_action(name="close", title="Close", annotations={"destructiveHint": True})
        async def shut(self, id: int) -> str:
            return f"closed {id}"

        def helper(self) -> None:
            raise AssertionError("no action")

    return registry, rows


def test_the_marked_methods_of_a_class_are_its_actions():
    registry, rows = leads()
    assert registry.tools["leads"].contract.description.startswith("People who may buy. Fields go beside action")
    assert list(registry.hidden) == ["leads__create", "leads__close"]
    assert registry.hidden["leads__close"].title == "Close"
    assert registry.dispatch("leads", {"action": "create", "email": "a@x.io"})["structuredContent"] == {
        "created": True,
        "id": 1,
    }
    assert registry.dispatch("leads", {"action": "close", "id": 1}) == text("closed 1")
    assert rows == [{"email": "a@x.io", "first_name": ""}]


# What frisian-mcp 1.1.1 answered with `created: true` and a blank or partial row (evidence/gateway.md, 2.3).
LOST_ELSEWHERE = [
    {"action": "create", "data": {"email": "a@x.io"}},
    {"action": "create", "params": {"data": {"email": "a@x.io"}}},
    {"action": "create", "params": {"emial": "a@x.io"}},
    {"action": "create", "data": '{"email": "a@x.io"}'},
    {"action": "create", "params": {}, "data": {"email": "a@x.io"}},
    {"action": "create", "params": {"params": {"email": "a@x.io"}}},
    {"action": "create", "payload": {"email": "a@x.io"}},
]


@pytest.mark.parametrize("sent", LOST_ELSEWHERE, ids=json.dumps)
def test_nothing_is_lost_on_the_way_through_a_class(sent):
    registry, rows = leads()
    refused = registry.dispatch("leads", sent)
    assert (refused["isError"], rows) == (True, [])
    corrected = refused["_meta"]["toolbooth"]["corrected"]
    assert corrected == {"action": "create", "email": "a@x.io"}
    registry.dispatch("leads", corrected)
    assert rows == [{"email": "a@x.io", "first_name": ""}]


def test_what_stands_beside_params_is_routed_too():
    registry, rows = leads()
    registry.dispatch("leads", {"action": "create", "params": {"email": "a@x.io"}, "first_name": "KEPT"})
    assert rows == [{"email": "a@x.io", "first_name": "KEPT"}]


MISTAKES: dict[str, tuple[Callable[[ToolRegistry], Any], str]] = {
    "no-actions": (lambda registry: registry.dispatcher("all", {}), "there are no actions"),
    "empty-resource": (lambda registry: registry.dispatcher("all", {"a": {}}), "'a' has no actions"),
    "mixture": (
        lambda registry: registry.dispatcher("all", {"a": "one", "b": {"c": "one"}}),
        "some of the names lead to tools and some to actions; let all do the same",
    ),
    "help-named-as-another": (
        lambda registry: registry.dispatcher("all", {"a": "one"}, help="params"),
        "help='params' is no word for help; take another",
    ),
    "no-name": (lambda registry: registry.dispatcher("all", {"": "one"}), "an action or a resource has no name"),
    "class-without-actions": (
        lambda registry: registry.dispatcher("all")(type("Empty", (), {})),
        "no method is marked with @mcp_action",
    ),
}


@pytest.mark.parametrize(("make", "mistake"), MISTAKES.values(), ids=MISTAKES)
def test_a_dispatcher_that_leads_nowhere_is_a_mistake(make, mistake):
    registry = ToolRegistry("shop")
    registry.tool(name="one")(lambda: "1")
    with pytest.raises(ContractError) as caught:
        make(registry)
    assert caught.value.mistakes == (mistake,)


@pytest.mark.parametrize(
    ("annotations", "shown"),
    [
        ([{"readOnlyHint": True}, {"readOnlyHint": True}], {"readOnlyHint": True}),
        ([{"readOnlyHint": True}, {"destructiveHint": False}], {"readOnlyHint": False, "destructiveHint": False}),
        ([{"readOnlyHint": True}, {"readOnlyHint": False}], {"readOnlyHint": False, "destructiveHint": True}),
        ([{"readOnlyHint": True}, None], None),
    ],
    ids=str,
)
def test_a_dispatcher_hints_at_no_more_than_holds_of_every_action(annotations, shown):
    registry = ToolRegistry("shop")
    for number, each in enumerate(annotations):
        registry.tool(name=f"tool{number}", annotations=each)(lambda: "done")
    registry.dispatcher("all", {f"do{number}": f"tool{number}" for number in range(len(annotations))})
    assert registry.tools["all"].listing().get("annotations") == shown


# --- the law ------------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["email", "first_name", "firstName", "address", "data", "street", "toolCallId", "nick"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "5", '{"street": "Main"}', ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
SENT = st.dictionaries(NAMES, VALUES, max_size=4)
CRM = crm()


@given(SENT, st.sampled_from(["flat", "params", "text", "split"]))
def test_a_dispatched_call_comes_to_what_the_direct_one_comes_to(sent, how):
    registry = CRM
    direct = registry.dispatch("contacts__create", sent)
    half = dict(list(sent.items())[::2])
    routed = {
        "flat": {**CREATE, **sent},
        "params": {**CREATE, "params": sent},
        "text": {**CREATE, "params": json.dumps(sent)},
        "split": {**CREATE, **half, "params": {key: value for key, value in sent.items() if key not in half}},
    }[how]
    result = registry.dispatch("crm", routed)
    assert result["isError"] == direct["isError"]
    if not direct["isError"]:
        assert result["content"] == direct["content"]
        return
    told, expected = (each["_meta"]["toolbooth"] for each in (result, direct))
    plain = [{**each, "path": each["path"].replace("$.params", "$")} for each in told["problems"]]
    assert sorted(plain, key=json.dumps) == sorted(expected["problems"], key=json.dumps)
    assert told.get("corrected") == ({**CREATE, **expected["corrected"]} if "corrected" in expected else None)


# --- what newcomers try -------------------------------------------------------------------------------------------

TRIED: dict[str, tuple[dict[str, Any], list[str], dict[str, Any] | None]] = {
    "help-in-the-action": (
        {**CREATE, "action": "help create", "email": "a"},
        ["$.action"],
        {**CREATE, "help": True, "email": "a"},
    ),
    "help-and-a-resource": ({"action": "help contacts"}, ["$.action"], {"resource": "contacts", "action": "help"}),
    "help-of-the-only-one": (
        {"action": "help_list"},
        ["$.action", "$.resource"],
        {"resource": "contacts", "action": "list", "help": True},
    ),
    "help-of-nothing": ({"action": "help burn", "resource": "contacts"}, ["$.action", "$.action"], None),
    "the-only-resource-with-it": (
        {"action": "watch", "trigger": {"action": "a"}},
        ["$.resource"],
        {"resource": "orders", "action": "watch", "trigger": {"action": "a"}},
    ),
    "neither-is-known": ({"action": "burn"}, ["$.resource", "$.action"], None),
}


@pytest.mark.parametrize(("sent", "places", "corrected"), TRIED.values(), ids=TRIED)
def test_what_newcomers_try_is_answered_with_what_they_meant(sent, places, corrected):
    told = crm().dispatch("crm", sent)["_meta"]["toolbooth"]
    assert [each["path"] for each in told["problems"]] == places
    assert told.get("corrected") == corrected
    assert corrected is None or crm().dispatch("crm", corrected)["isError"] is False


def one() -> ToolRegistry:
    registry = ToolRegistry("shop")
    registry.tool(name="orders__list")(lambda: "listed")
    registry.dispatcher("shop", {"orders": {"list": "orders__list"}})
    return registry


def test_the_only_resource_may_be_said():
    assert one().dispatch("shop", {"resource": "orders", "action": "list"}) == text("listed")
    near = one().dispatch("shop", {"resource": "order", "action": "list"})["_meta"]["toolbooth"]
    assert near["corrected"] == {"action": "list"}
    other = one().dispatch("shop", {"resource": "zebras", "action": "list"})["_meta"]["toolbooth"]
    assert "corrected" not in other
    assert other["problems"][0]["message"].startswith('there is no resource "zebras" here, only "orders"')


def test_a_class_gives_its_dispatcher_a_name():
    registry = ToolRegistry("sales")

    @registry.dispatcher
    class ColdLeads:
        @mcp_action
        def count(self) -> int:
            return 3

    assert registry.dispatch("cold_leads", {"action": "count"}) == text("3")
    assert ColdLeads().count() == 3


def test_help_names_what_can_be_asked():
    told = crm().dispatch("crm", {"action": "help", "topic": "contacts"})["content"][0]["text"]
    assert told.splitlines()[-1] == 'Declared fields: "resource", "action", "params", "page".'


def test_actions_that_are_no_map_are_a_mistake():
    with pytest.raises(ContractError, match="maps each action to the name of a tool"):
        one().dispatcher("all", ["orders__list"])
