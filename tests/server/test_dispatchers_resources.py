"""Dispatchers of several resources: every call is one sub-tool's call, or refused with the
corrected call.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from dispatched_crm import CREATE, Address, crm
from registry_calls import codes, on_the_wire, text
from toolbooth import ContractError, ToolRegistry
from toolbooth.lint.check import lint
from toolbooth.server.dispatch.build import mcp_action

# --- several resources --------------------------------------------------------------------------------------------


def test_a_dispatcher_of_several_resources_names_them():
    assert crm().tools["crm"].listing()["inputSchema"] == {
        "type": "object",
        "properties": {
            "resource": {"type": "string", "enum": ["contacts", "orders"]},
            "action": {"type": "string", "enum": ["create", "list", "watch"]},
            "params": {"type": "string", "description": 'Fields as JSON text, e.g. {"name": "A"}'},
            "help": {"type": "boolean"},
        },
    }


def test_names_beyond_the_limit_of_the_list_are_only_in_help():
    registry = ToolRegistry("wide")
    for number in range(60):
        registry.tool(name=f"resource{number}__get")(lambda: "got")
    registry.dispatcher("all", {f"resource{n}": {"get": f"resource{n}__get"} for n in range(60)})
    properties = registry.tools["all"].listing()["inputSchema"]["properties"]
    assert properties["resource"] == {
        "type": "string",
        "description": "resource0, resource1, resource2, resource3, resource4 … 60 in all: see help",
    }
    assert properties["action"] == {"type": "string", "enum": ["get"]}


def test_lint_finds_no_error_in_a_dispatcher_schema():
    report = lint([tool.listing() for tool in crm().tools.values()])
    assert {(each.rule, each.severity) for each in report.findings} == {
        ("no-parameter-description", "note")
    }


def test_single_resource_needs_no_name():
    registry = ToolRegistry("shop")
    registry.tool(name="create")(lambda: "created")
    registry.dispatcher("shop", {"orders": {"create": "create"}})
    assert registry.dispatch("shop", {"action": "create"}) == text("created")
    assert "resource" not in registry.tools["shop"].listing()["inputSchema"]["properties"]


MEANT = {
    "flat": ({"resource": "contacts", "action": "create", "email": "a@x.io"}, "a@x.io  None"),
    "nested": (
        {
            "resource": "contacts",
            "action": "create",
            "email": "a@x.io",
            "address": {"street": "Main"},
        },
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
        {
            "resource": "orders",
            "action": "watch",
            "trigger": {"action": "start", "resource": "x"},
            "params": {},
        },
        "action='start' resource='x' ",
    ),
    "both-levels": (
        {
            "resource": "orders",
            "action": "watch",
            "trigger": {"action": "b"},
            "params": {"resource": "r"},
        },
        "action='b' resource='' r",
    ),
    "help-not-wanted": ({"resource": "contacts", "action": "list", "help": False}, "page 1"),
}


@pytest.mark.parametrize(("sent", "words"), MEANT.values(), ids=MEANT)
def test_a_call_reaches_its_resource(sent, words):
    assert crm().dispatch("crm", sent) == text(words)
    assert on_the_wire(crm(), "crm", json.dumps(sent).encode()) == text(words)


SLIPS = {
    "whole-call-wrapped": (
        {"data": {**CREATE, "email": "a"}},
        [("nested-wrapper", "$.data")],
        {"email": "a"},
    ),
    "whole-call-in-params": (
        {"params": {**CREATE, "email": "a"}},
        [("nested-wrapper", "$.params")],
        {"email": "a"},
    ),
    "whole-call-wrapped-as-text": (
        {"request": json.dumps({**CREATE, "data": {"email": "a"}})},
        [("nested-wrapper", "$.request"), ("nested-wrapper", "$.request.data")],
        {"email": "a"},
    ),
    "whole-call-wrapped-with-params": (
        {"body": {**CREATE, "params": {"Email": "a"}}},
        [("nested-wrapper", "$.body"), ("unknown-key", "$.body.params.Email")],
        {"email": "a"},
    ),
    "part-of-the-call-wrapped": (
        {"resource": "contacts", "data": {"action": "create", "email": "a"}},
        [("nested-wrapper", "$.data")],
        {"email": "a"},
    ),
    "other-spelling": (
        {"Resource": "contacts", "ACTION": "create", "email": "a"},
        [("unknown-key", "$.Resource"), ("unknown-key", "$.ACTION")],
        {"email": "a"},
    ),
    "names-in-another-case": (
        {"resource": "Contacts", "action": "Create", "email": "a"},
        [("invalid", "$.resource"), ("invalid", "$.action")],
        {"email": "a"},
    ),
    "whole-name": (
        {"action": "contacts__create", "email": "a"},
        [("invalid", "$.action")],
        {"email": "a"},
    ),
    "and-below": (
        {"resource": "contacts", "action": "CREATE", "firstName": "A", "email": "a"},
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
    "unknown-beside-params": (
        {**CREATE, "params": {"email": "a"}, "nick": "A"},
        [("unknown-key", "$.nick")],
        None,
    ),
    "twice": (
        {**CREATE, "params": {"email": "a"}, "email": "a"},
        [("conflicting-keys", "$.email")],
        None,
    ),
    "no-such-action": ({"resource": "contacts", "action": "burn"}, [("invalid", "$.action")], None),
    "no-such-resource": (
        {"resource": "zebras", "action": "create"},
        [("invalid", "$.resource")],
        None,
    ),
    "no-resource": ({"action": "create", "email": "a"}, [("missing", "$.resource")], None),
    "neither": ({"email": "a"}, [("missing", "$.resource"), ("missing", "$.action")], None),
    "action-of-another-type": (
        {"resource": "contacts", "action": ["create"]},
        [("wrong-type", "$.action")],
        None,
    ),
    "two-wrappers-with-actions": (
        {"a": {"action": "create"}, "b": {"action": "list"}},
        [("missing", "$.resource"), ("missing", "$.action")],
        None,
    ),
    "wrapper-that-repeats": (
        {"resource": "contacts", "data": {**CREATE, "email": "a"}},
        [("nested-wrapper", "$.data")],
        {"email": "a"},
    ),
    "wrapped-and-wrong": (
        {"data": {**CREATE, "params": 5}},
        [("nested-wrapper", "$.data"), ("wrong-type", "$.data.params")],
        None,
    ),
}


@pytest.mark.parametrize(("sent", "problems", "fields"), SLIPS.values(), ids=SLIPS)
def test_unambiguous_slip_gets_a_corrected_dispatcher_call(sent, problems, fields):
    registry = crm()
    result = registry.dispatch("crm", sent)
    assert (result["isError"], codes(result)) == (True, problems)
    corrected = result["_meta"]["toolbooth"].get("corrected")
    assert corrected == (None if fields is None else {**CREATE, **fields})
    if corrected is not None:
        assert registry.dispatch("crm", corrected)["isError"] is False


def odd() -> tuple[ToolRegistry, list[Any]]:
    """Return a tool whose fields have the names of a dispatcher's own arguments."""
    registry = ToolRegistry("odd")
    got: list[Any] = []

    @registry.tool
    def odds__create(
        params: Address | None = None, help: bool = True, action: str = "", name: str = ""
    ) -> str:
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
    "the-field-itself": (
        {"params": {"street": "Main"}},
        ["$.params"],
        {"params": {"street": "Main"}},
    ),
    "both": (
        {"params": {"street": "Main"}, "help": False},
        ["$.help", "$.params"],
        {"help": False, "params": {"street": "Main"}},
    ),
}


@pytest.mark.parametrize(("sent", "places", "fields"), NAMED_AS_OWN.values(), ids=NAMED_AS_OWN)
def test_a_field_named_like_a_dispatcher_argument_is_never_dropped(sent, places, fields):
    registry, got = odd()
    result = registry.dispatch("odds", {"action": "create", **sent})
    assert (result["isError"], got) == (True, [])
    assert [path for _, path in codes(result)][: len(places)] == places
    corrected = result["_meta"]["toolbooth"].get("corrected")
    if fields == {"params": {}}:  # not a valid address, so it cannot be corrected
        assert corrected is None
    else:
        assert corrected == {"action": "create", "params": fields}
        assert registry.dispatch("odds", corrected)["isError"] is False


@pytest.mark.parametrize(
    "sent", [{"params": {"name": "x", "help": False}}, {"name": "x", "params": {"help": False}}]
)
def test_help_inside_params_is_the_field_of_the_tool(sent):
    registry, got = odd()
    assert registry.dispatch("odds", {"action": "create", **sent}) == text("made")
    assert got == [(None, False, "", "x")]


@pytest.mark.parametrize(
    "sent",
    [
        {"action": "Destroy", "id": 1, "help": True},
        {"Action": "destroy", "id": 1, "help": True},
        {"call": {"action": "destroy", "id": 1, "help": True}},
    ],
    ids=str,
)
def test_a_help_request_is_never_corrected_into_a_call(sent):
    registry, got = odd()
    told = registry.dispatch("odds", sent)["_meta"]["toolbooth"]
    assert told["corrected"] == {"action": "destroy", "help": True, "id": 1}
    assert registry.dispatch("odds", told["corrected"])["structuredContent"]["required"] == ["id"]
    assert got == []


@pytest.mark.parametrize("word", ["HELP", "Help"])
def test_miscased_help_action_is_corrected_to_help(word):
    told = crm().dispatch("crm", {"action": word})["_meta"]["toolbooth"]
    assert told["corrected"] == {"help": True}


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (
            {"resource": "contacts", "action": "creat", "email": "a"},
            'there is no action "creat" of "contacts"; did you mean "create"?',
        ),
        (
            {"resource": "contact", "action": "create"},
            'there is no resource "contact"; did you mean "contacts"?',
        ),
        (
            {"resource": "contacts", "actions": "create"},
            'there is no argument "actions"; did you mean "action"?',
        ),
    ],
)
def test_a_similar_name_is_mentioned_and_no_corrected_call_is_built_on_it(sent, message):
    told = crm().dispatch("crm", sent)["_meta"]["toolbooth"]
    assert (told["problems"][0]["message"], "corrected" in told) == (message, False)


@pytest.mark.parametrize(
    ("one", "other"), [("enable", "disable"), ("lock", "unlock"), ("credit", "debit")]
)
def test_an_action_is_never_corrected_to_its_opposite(one, other):
    for declared, sent in [(one, other), (other, one)]:
        registry = ToolRegistry("x")
        registry.tool(lambda name: name, name=f"thing__{declared}")
        registry.dispatcher("thing", {declared: f"thing__{declared}"})
        told = registry.dispatch("thing", {"action": sent, "name": "x"})
        assert (told["isError"], "corrected" in told["_meta"]["toolbooth"]) == (True, False)


def test_a_correction_names_each_place_once():
    sent = {
        "action": "create",
        "params": {"data": {"name": "x" * 2000}, "params": {"street": "Main"}},
    }
    assert odd()[0].dispatch("odds", sent)["_meta"]["toolbooth"]["edits"] == [
        "move $.params.data.* to $"
    ]


def test_refusal_lists_the_existing_actions():
    told = crm().dispatch("crm", {"resource": "contacts", "action": "burn"})["content"][0]["text"]
    assert told.splitlines()[1:] == [
        '- $.action: there is no action "burn" of "contacts"; there are "create", "list". '
        '{"help": true} shows more',
    ]


def test_corrections_name_the_place_in_the_call_as_sent():
    sent = {
        "resource": "orders",
        "action": "create",
        "params": {"lines": [{"sku": "a", "Count": 2}]},
    }
    told = crm().dispatch("crm", sent)["_meta"]["toolbooth"]
    assert told["edits"] == ['rename $.params.lines[0].Count to "count"']


def test_repairs_in_params_are_reported_where_they_were_made():
    sent = {
        "resource": "orders",
        "action": "create",
        "params": {"lines": '[{"sku": "a", "count": "2"}]'},
    }
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
    for sent in (
        {"action": "login", "password": "hunter2"},
        {"data": {"action": "log_in", "password": "hunter2"}},
    ):
        result = registry.dispatch("accounts", sent)
        assert result["isError"] is True
        assert "hunter2" not in json.dumps(result)


# --- the law ------------------------------------------------------------------------------------------------------


NAMES = st.sampled_from(
    ["email", "first_name", "firstName", "address", "data", "street", "toolCallId", "nick"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["a", "5", '{"street": "Main"}', ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
SENT = st.dictionaries(NAMES, VALUES, max_size=4)
CRM = crm()


@given(SENT, st.sampled_from(["flat", "params", "text", "split"]))
def test_dispatched_call_has_the_result_of_the_direct_call(sent, how):
    registry = CRM
    direct = registry.dispatch("contacts__create", sent)
    half = dict(list(sent.items())[::2])
    routed = {
        "flat": {**CREATE, **sent},
        "params": {**CREATE, "params": sent},
        "text": {**CREATE, "params": json.dumps(sent)},
        "split": {
            **CREATE,
            **half,
            "params": {key: value for key, value in sent.items() if key not in half},
        },
    }[how]
    result = registry.dispatch("crm", routed)
    assert result["isError"] == direct["isError"]
    if not direct["isError"]:
        assert result["content"] == direct["content"]
        return
    told, expected = (each["_meta"]["toolbooth"] for each in (result, direct))
    plain = [{**each, "path": each["path"].replace("$.params", "$")} for each in told["problems"]]
    assert sorted(plain, key=json.dumps) == sorted(expected["problems"], key=json.dumps)
    assert told.get("corrected") == (
        {**CREATE, **expected["corrected"]} if "corrected" in expected else None
    )


# --- first attempts of newcomers
# ------------------------------------------------------------------------------------


TRIED: dict[str, tuple[dict[str, Any], list[str], dict[str, Any] | None]] = {
    "help-in-the-action": (
        {**CREATE, "action": "help create", "email": "a"},
        ["$.action"],
        {**CREATE, "help": True, "email": "a"},
    ),
    "help-and-a-resource": (
        {"action": "help contacts"},
        ["$.action"],
        {"resource": "contacts", "help": True},
    ),
    "help-of-the-only-one": (
        {"action": "help_list"},
        ["$.action"],
        {"action": "list", "help": True},
    ),
    "help-of-nothing": (
        {"action": "help burn", "resource": "contacts"},
        ["$.action", "$.action"],
        None,
    ),
    "the-only-resource-with-it": (
        {"action": "watch", "trigger": {"action": "a"}},
        ["$.resource"],
        {"resource": "orders", "action": "watch", "trigger": {"action": "a"}},
    ),
    "neither-is-known": ({"action": "burn"}, ["$.resource", "$.action"], None),
}


@pytest.mark.parametrize(("sent", "places", "corrected"), TRIED.values(), ids=TRIED)
def test_newcomer_calls_are_refused_with_the_intended_call(sent, places, corrected):
    told = crm().dispatch("crm", sent)["_meta"]["toolbooth"]
    assert [each["path"] for each in told["problems"]] == places
    assert told.get("corrected") == corrected
    assert corrected is None or crm().dispatch("crm", corrected)["isError"] is False


def one() -> ToolRegistry:
    registry = ToolRegistry("shop")
    registry.tool(name="orders__list")(lambda: "listed")
    registry.dispatcher("shop", {"orders": {"list": "orders__list"}})
    return registry


def test_only_resource_of_a_dispatcher_may_be_named():
    assert one().dispatch("shop", {"resource": "orders", "action": "list"}) == text("listed")
    recased = one().dispatch("shop", {"resource": "Orders", "action": "list"})["_meta"]["toolbooth"]
    assert recased["corrected"] == {"resource": "orders", "action": "list"}
    other = one().dispatch("shop", {"resource": "zebras", "action": "list"})["_meta"]["toolbooth"]
    assert "corrected" not in other
    assert other["problems"][0]["message"].startswith(
        'there is no resource "zebras" here; send "orders" or leave it out'
    )


def test_a_dispatcher_is_named_after_its_class():
    registry = ToolRegistry("sales")

    @registry.dispatcher
    class ColdLeads:
        @mcp_action
        def count(self) -> int:
            return 3

    assert registry.dispatch("cold_leads", {"action": "count"}) == text("3")
    assert ColdLeads().count() == 3


def test_help_with_an_unknown_topic_lists_its_fields():
    told = crm().dispatch("crm", {"action": "help", "topic": "contacts"})["content"][0]["text"]
    assert told.splitlines()[-1] == (
        'Declared fields: "resource" (text), "action" (text), "help" (boolean), "page" (integer).'
    )


def test_actions_that_are_not_a_mapping_are_a_contract_error():
    with pytest.raises(ContractError, match="must map each action to the name of a tool"):
        one().dispatcher("all", ["orders__list"])
