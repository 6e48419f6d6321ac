"""Protocol arguments: each works where it applies, can be renamed by a setting, and never replaces
a host's own argument.
"""

import json
import re
from pathlib import Path

import pytest
from django.core import checks
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol_api import Urls, names, taken
from sales.models import Company, Contact
from toolbooth.django.checks import check_tools
from toolbooth.django.conf import configuration, mistakes
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as
from toolbooth.publish import input_schema
from toolbooth.server.controls import CONTROL_ARGUMENTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "django.md"


@pytest.fixture
def call(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


@pytest.fixture
def companies(db):
    return [
        Company.objects.create(name=name) for name in ("Acme", "Bolt", "Cog", "Dynamo", "Engine")
    ]


# --- where each one applies ---


def test_the_table_has_the_arguments_of_the_nested_wrapper_decision_and_our_own():
    theirs = {"help", "continuation_token", "mode", "page", "page_size", "filter_keys", "filters"}
    assert set(CONTROL_ARGUMENTS) == {*theirs, "verify", "preview", "idempotency_key"}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (
            "companies__list",
            ["help", "filters", "filter_keys", "page_size", "mode", "continuation_token"],
        ),
        (
            "whole__list",
            ["help", "filters", "filter_keys", "page", "page_size", "mode", "continuation_token"],
        ),
        (
            "nevers__list",
            ["help", "filters", "filter_keys", "page", "page_size", "mode", "continuation_token"],
        ),
        ("people__list", ["help", "filter_keys", "page_size", "mode", "continuation_token"]),
        ("companies__retrieve", ["help", "filter_keys", "mode", "continuation_token"]),
        ("companies__create", ["help", "verify", "preview", "idempotency_key"]),
        ("companies__update", ["help", "verify", "preview", "idempotency_key"]),
        ("companies__partial_update", ["help", "verify", "preview", "idempotency_key"]),
        ("companies__destroy", ["help", "preview", "idempotency_key"]),
        ("personal__list", ["help", "filter_keys", "page_size", "mode", "continuation_token"]),
        ("clashing__list", ["continuation_token"]),
        ("clashing__create", ["preview", "idempotency_key"]),
    ],
)
def test_each_is_offered_where_it_applies_and_its_name_is_free(call, tool, expected):
    assert taken(tool) == expected


def test_the_exact_schema_has_every_filter_and_is_closed(call):
    exact = input_schema(catalogue().registry.find("contacts__list").contract, "exact")
    filters = exact["properties"]["filters"]
    assert filters["additionalProperties"] is False
    assert filters["properties"] == {
        name: exact["properties"][name]
        for name in ("company", "subscribed", "email", "email__icontains", "search")
    }


def test_every_page_parameter_of_a_paginator_is_listed_with_its_upper_bound(call):
    tools = catalogue().registry.tools
    told = {
        name: {
            key: each
            for key, each in tools[f"{name}__list"].listing()["inputSchema"]["properties"].items()
            if key in ("page", "page_size", "per", "limit", "offset", "cursor", "size")
        }
        for name in ("companies", "numbers", "sizes", "nevers", "limits", "cursor", "own")
    }
    number = {"type": "integer"}
    assert told == {
        "companies": {
            "page": number,
            "page_size": {"type": "integer", "maximum": 1000},
        },
        "numbers": {"page": number, "page_size": {"type": "integer", "maximum": 3}},
        "sizes": {"page": number, "per": {"type": "integer"}},
        "nevers": {
            "page": {"type": "integer"},
            "page_size": {"type": "integer", "maximum": 1000},
        },
        "limits": {
            "limit": {"type": "integer", "maximum": 3},
            "offset": {"type": "integer", "minimum": 0},
        },
        "cursor": {
            "cursor": {"type": "string"},
            "size": {"type": "integer", "maximum": 3},
        },
        "own": {
            "limit": {"type": "integer"},
            "offset": {"type": "integer"},
            "page_size": {"type": "integer", "maximum": 1000},
        },
    }
    # Help, and a refusal, state that a page has at least one row.
    exact = tools["numbers__list"].contract.schema["properties"]
    assert exact["page_size"] == {"type": "integer", "minimum": 1, "maximum": 3}


# --- anything at all ---


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
)
VALUES = (
    SCALARS
    | st.lists(SCALARS, max_size=2)
    | st.dictionaries(st.sampled_from(["search", "name", "x"]), SCALARS)
)
ODD = st.dictionaries(
    st.sampled_from([*CONTROL_ARGUMENTS, "search", "name"]),
    VALUES | VALUES.map(json.dumps),
    max_size=4,
)


@pytest.mark.parametrize(
    "tool", ["whole__list", "numbers__list", "companies__retrieve", "companies__create"]
)
@given(sent=ODD)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_random_protocol_arguments_are_applied_or_refused(call, companies, tool, sent):
    beside = {"id": companies[0].pk} if tool.endswith("retrieve") else {}
    before = Company.objects.count()
    found = call(tool, {**sent, **beside})
    told = found.problems or "Invalid page." in found.text  # the paginator's own words
    assert bool(told) == found.is_error, found
    made = Company.objects.count() - before
    assert made == (
        tool == "companies__create" and not found.is_error and "tool" not in found.value
    )
    Company.objects.filter(pk__gt=companies[-1].pk).delete()


# --- names ---


def test_a_hosts_own_field_is_never_replaced(call):
    found = call("clashing__create", email="a@x.io", help=True, verify="yes")
    made = Contact.objects.get()
    assert (made.subscribed, made.notes) == (True, "yes")
    assert found.value["set"] == ["email", "help", "verify"]
    assert (
        call("clashing__list", mode="x", filters="y", page="z", help="w").value["results"][0][
            "email"
        ]
        == "a@x.io"
    )


def test_a_check_names_each_clash_and_its_remedy(settings_of):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"INCLUDE": ["clashing__create", "companies__*"]})
    found = [
        each
        for each in checks.run_checks(include_deployment_checks=True)
        if each.id == "toolbooth.W001"
    ]
    assert [(each.msg, each.hint) for each in found] == [
        (
            f"The protocol argument {name!r} is not offered where the host has an argument {name!r}: "
            "on clashing__create.",
            f"To have both, rename the former: TOOLBOOTH['ARGUMENTS'] = {{{name!r}: 'mcp_{name}'}}.",
        )
        for name in ("help", "verify")
    ]


def test_renamed_protocol_argument_works_beside_the_own_field(settings_of, ann):
    renamed = {"help": "mcp_help", "verify": "mcp_verify", "mode": None}
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": renamed})
    call = acting_as(ann).call
    assert not [
        each
        for each in checks.run_checks(include_deployment_checks=True)
        if each.id == "toolbooth.W001" and "clashing__create" in each.msg
    ]
    assert call("clashing__create", email="a@x.io", help=True, mcp_verify=True).value == {
        "id": str(Contact.objects.get().pk),
        "email": "a@x.io",
        "help": True,
        "verify": "",
    }
    assert call("clashing__create", mcp_help=True).value["protocol"] == {
        "mcp_help": CONTROL_ARGUMENTS["help"].meaning,
        "mcp_verify": CONTROL_ARGUMENTS["verify"].meaning,
        "preview": CONTROL_ARGUMENTS["preview"].meaning,
        "idempotency_key": CONTROL_ARGUMENTS["idempotency_key"].meaning,
    }
    assert taken("companies__list") == [
        "mcp_help",
        "filters",
        "filter_keys",
        "page_size",
        "continuation_token",
    ]
    assert [each.where for each in call("companies__list", mode="full").problems] == ["$.mode"]
    assert [each.where for each in call("companies__create", name="x", verify=True).problems] == [
        "$.verify"
    ]
    assert Company.objects.count() == 0


def test_each_protocol_argument_can_be_renamed(settings_of, ann, companies):
    renamed = {name: f"x_{name}" for name in CONTROL_ARGUMENTS}
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": renamed})
    call = acting_as(ann).call
    found = call(
        "whole__list",
        x_filters={"search": "o"},
        x_filter_keys=["name"],
        x_page=1,
        x_page_size=1,
        x_mode="page",
    )
    assert names(found) == ["Bolt"]
    token = found.value["continuation"]["x_continuation_token"]
    found = call("whole__list", x_continuation_token=token)
    assert names(found) == ["Cog"]
    token = found.value["continuation"]["x_continuation_token"]
    assert names(call("whole__list", x_continuation_token=token)) == ["Dynamo"]
    refused = call("whole__list", x_filters={"ordering": "size"}, x_filter_keys=["nam"])
    assert [each.where for each in refused.problems] == ["$.x_filters.ordering"]
    assert [each.where for each in call("whole__list", x_filter_keys=["nam"]).problems] == [
        "$.x_filter_keys[0]"
    ]
    assert call("companies__create", name="New", x_verify=True).value["website"] == ""


def test_without_protocol_arguments_the_listing_is_an_ordinary_one(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": dict.fromkeys(CONTROL_ARGUMENTS)})
    tools = acting_as(ann).tools()
    assert list(tools["companies__list"]["inputSchema"]["properties"]) == [
        "search",
        "ordering",
        "page",
    ]
    assert tools["companies__destroy"]["inputSchema"]["properties"] == {"id": {"type": "integer"}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["mode"],
            "must be a dict that renames protocol arguments, or switches them off with None, not ['mode']",
        ),
        (
            {"modus": "x"},
            "there is no protocol argument 'modus'; there are " + ", ".join(CONTROL_ARGUMENTS),
        ),
        (
            {"mode": "a b"},
            "'mode' must be given a name of letters, digits and _, or None, not 'a b'",
        ),
        ({"mode": True}, "'mode' must be given a name of letters, digits and _, or None, not True"),
        ({"mode": "params"}, "'mode' cannot be called 'params', which means something else"),
        ({"mode": "_meta"}, "'mode' cannot be called '_meta', which means something else"),
        (
            {"help": "toolCallId"},
            "'help' cannot be called 'toolCallId', which means something else",
        ),
        ({"mode": "help"}, "two protocol arguments would be called 'help'"),
        ({"mode": "x", "page": "x"}, "two protocol arguments would be called 'x'"),
    ],
    ids=str,
)
def test_invalid_protocol_argument_names_are_mistakes_of_the_setting(settings_of, given, said):
    settings_of(TOOLBOOTH={"ARGUMENTS": given})
    assert list(mistakes()) == [("ARGUMENTS", said)]
    assert configuration().arguments == {}


def test_two_protocol_arguments_may_swap_names(settings_of):
    settings_of(TOOLBOOTH={"ARGUMENTS": {"page": "page_size", "page_size": "page"}})
    assert list(mistakes()) == []


def test_tools_that_cannot_be_compiled_are_a_warning(settings_of):
    settings_of(ROOT_URLCONF="no.such.module")
    words = "The tools cannot be compiled: ModuleNotFoundError: No module named 'no'"
    assert [(each.id, each.msg) for each in check_tools()] == [("toolbooth.W002", words)]


# --- the page about it ---


def test_docs_show_the_answers_to_their_protocol_calls(settings_of, ann):
    settings_of(ROOT_URLCONF="crm.urls")
    Contact.objects.create(email="ann@example.org", first_name="Ann", subscribed=True)
    Contact.objects.create(email="bob@example.org", first_name="Bob")
    section = (
        PAGE.read_text(encoding="utf-8").partition("## Protocol arguments")[2].partition("\n## ")[0]
    )
    shown = re.findall(r"```json\n(.*?)\n```.*?```text\n(.*?)\n```", section, re.DOTALL)
    assert [acting_as(ann).call("contacts__list", sent.encode()).text for sent, _ in shown] == [
        answer for _, answer in shown
    ]
    assert [name for name in CONTROL_ARGUMENTS if f"`{name}" not in section] == []
