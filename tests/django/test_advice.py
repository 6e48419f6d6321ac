"""A refusal of the gateway lists the fields of the tool with their types, and the server's own
arguments apart from them.
"""

from typing import Any

import pytest
from wrapper_sentences import wrapper

from sales.models import Company, Contact
from toolbooth.server.controls import CONTROL_ARGUMENTS

OWN = CONTROL_ARGUMENTS.keys() - {"page", "page_size"}
"""Without those that belong to the paginator in some views."""


def declared(result: dict[str, Any]) -> dict[str, dict[str, str]]:
    assert result["isError"] is True
    return result["_meta"]["toolbooth"]["declared"]


def test_a_wrapped_create_lists_the_fields_and_the_servers_arguments_apart(mcp):
    result = mcp("companies__create", {"data": {"name": "Acme", "nmae": "Bolt"}})
    told = wrapper("data", send=["name"], undeclared=["nmae"])
    assert result["content"][0]["text"].splitlines() == [
        "Refused: 1 problem in the arguments of 'companies__create'. Nothing was done.",
        f"- $.data: {told}",
        'Declared fields: "name" (text, required), "website" (text), "employees" (integer or null).',
        'The server also takes: "help", "verify", "preview", "idempotency_key".',
    ]
    assert declared(result) == {
        "$": {"name": "text, required", "website": "text", "employees": "integer or null"}
    }
    assert Company.objects.count() == 0


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (
            {"email": "a@x.io", "data": {"address": {"street": "Dam 1"}}},
            wrapper("data", undeclared=["address"]),
        ),
        ({"data": {"meta": {"vip": True}}}, wrapper("data", undeclared=["meta"])),
        (
            {"email": "a@x.io", "data": {"email": "b@x.io"}},
            wrapper("data", conflicting=["email"]),
        ),
        (
            {"data": {"contact": {"email": "a@x.io"}}},
            wrapper("data", send=["email"]),
        ),
    ],
    ids=["one object", "one object of another name", "conflict", "wrapper in a wrapper"],
)
def test_the_advice_names_only_declared_fields(mcp, sent, told):
    result = mcp("contacts__create", sent)
    assert result["_meta"]["toolbooth"]["problems"][0]["message"] == told
    assert Contact.objects.count() == 0


def test_a_wrapper_in_a_row_of_a_bulk_create_gets_the_same_advice(mcp):
    rows = [{"email": "a@x.io"}, {"data": {"email": "b@x.io", "zz": 1}}]
    result = mcp("contacts__create", {"objects": rows})
    problem = result["_meta"]["toolbooth"]["problems"][0]
    told = wrapper("data", inside="$.objects[1]", send=["email"], undeclared=["zz"])
    assert (problem["path"], problem["message"]) == ("$.objects[1].data", told)
    assert declared(result)["$.objects[1]"]["email"].startswith("text")
    assert Contact.objects.count() == 0


def test_no_list_of_fields_contains_an_argument_of_the_server(mcp):
    for tool in ("contacts__create", "contacts__list", "contacts__update", "companies__list"):
        found = declared(mcp(tool, {"zz": {"q": 1}}))
        assert found["$"]
        assert not found["$"].keys() & OWN


def test_a_field_that_the_view_reports_missing_is_listed_with_its_type(mcp):
    result = mcp("companies__create", {"employees": 3})
    (problem,) = result["_meta"]["toolbooth"]["problems"]
    assert (problem["code"], problem["path"]) == ("missing", "$.name")
    fields = {"name": "text, required", "website": "text", "employees": "integer or null"}
    assert declared(result) == {"$": fields}


def test_a_wrong_key_of_filter_keys_is_answered_with_the_fields_of_the_result(mcp):
    Contact.objects.create(email="a@x.io")
    found = declared(mcp("contacts__list", {"filter_keys": ["emial"]}))
    assert found["$.filter_keys"]["email"] == "field of the result"


@pytest.mark.parametrize("tool", ["companies__create", "companies__update"])
def test_a_wrong_value_is_reported_together_with_a_missing_field(mcp, tool):
    Company.objects.create(pk=1, name="Acme")
    key = {"id": 1} if tool.endswith("update") else {}
    result = mcp(tool, {**key, "employees": "x"})
    assert result["content"][0]["text"].splitlines()[:3] == [
        f"Refused: 2 problems in the arguments of '{tool}'. Nothing was done.",
        '- $.employees: must be an integer, got text "x"; e.g. 2; leave it out if unknown',
        "- $.name: is required, but was not sent",
    ]
    assert [each.name for each in Company.objects.all()] == ["Acme"]
