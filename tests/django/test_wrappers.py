"""Seed 000 against the database: a wrapped call never makes a blank, partial or unchanged row that looks right."""

import json
from itertools import product

import pytest
from django.core import serializers
from django.test import Client

from odd.models import Device, Site
from sales.models import Company, Contact, Deal, Line, Note, Tag
from toolbooth.django.catalogue import catalogue
from toolbooth.testing.catalogue import WRAPPERS
from toolbooth.testing.shapes import agent_shapes

MODELS = (Company, Contact, Deal, Line, Note, Tag, Site, Device)
KEYS = ("objects", "items", "_items", "contact", "Contact", "values", "json", "record", "zq")


def rows():
    """Every row of every table, as text."""
    return serializers.serialize("json", [row for model in MODELS for row in model.objects.order_by("pk")])


@pytest.fixture
def stock(ann):
    """A row of each kind, to be changed."""
    acme = Company.objects.create(name="Acme")
    contact = Contact.objects.create(email="old@example.com", first_name="Old", company=acme)
    deal = Deal.objects.create(title="Old", company=acme)
    Line.objects.create(deal=deal, product="p", price=1)
    note = Note.objects.create(owner=ann, title="Old")
    return {"company": acme.pk, "contact": str(contact.pk), "deal": deal.pk, "note": note.pk}


CONTACT = {"email": "new@example.com", "first_name": "New", "last_name": "Name"}
CALLS = {
    "create": ("contacts__create", lambda stock: {}, CONTACT),
    "create, nothing required": ("notes__create", lambda stock: {}, {"title": "New", "body": "b"}),
    "update": ("contacts__update", lambda stock: {"id": stock["contact"]}, CONTACT),
    "patch": ("contacts__partial_update", lambda stock: {"id": stock["contact"]}, CONTACT),
    "action": ("deals__close", lambda stock: {"id": stock["deal"]}, {"won": True, "reason": "cheap"}),
}
"""A tool, what stands beside the fields, and the fields."""

FORMS = {
    "object": lambda key, fields: {key: fields},
    "JSON text": lambda key, fields: {key: json.dumps(fields)},
    "JSON text twice": lambda key, fields: {key: json.dumps(json.dumps(fields))},
    "half": lambda key, fields: {key: dict(list(fields.items())[1:]), **dict(list(fields.items())[:1])},
    "half, as JSON text": lambda key, fields: {
        key: json.dumps(dict(list(fields.items())[1:])),
        **dict(list(fields.items())[:1]),
    },
    "double": lambda key, fields: {key: {key: fields}},
    "beside": lambda key, fields: {**fields, key: {"notes": "nested field"}},
    "empty": lambda key, fields: {key: {}},
}


@pytest.mark.parametrize(("call", "form"), list(product(CALLS, FORMS)))
def test_a_wrapper_of_whatever_name_changes_no_row(mcp, stock, call, form):
    tool, beside, fields = CALLS[call]
    before = rows()
    for key in (*WRAPPERS, *KEYS):
        if key not in fields:
            result = mcp(tool, {**beside(stock), **FORMS[form](key, fields)})
            codes = [each["code"] for each in result["_meta"]["toolbooth"]["problems"]]
            assert (codes, rows()) == (["nested-wrapper"], before), key


@pytest.mark.parametrize("call", CALLS)
def test_a_wrapper_is_refused_by_protocol_where_errors_are(mcp, stock, settings_of, call):
    settings_of(TOOLBOOTH={"ERRORS": "protocol"})
    tool, beside, fields = CALLS[call]
    before = rows()
    for form in FORMS.values():
        error = mcp(tool, {**beside(stock), **form("data", fields)})["error"]
        assert (error["code"], rows()) == (-32602, before)


@pytest.mark.parametrize(("call", "form"), list(product(CALLS, ["object", "JSON text", "half", "double"])))
def test_the_corrected_call_does_what_was_meant(mcp, stock, call, form):
    tool, beside, fields = CALLS[call]
    refused = mcp(tool, {**beside(stock), **FORMS[form]("data", fields)})
    corrected = refused["_meta"]["toolbooth"]["corrected"]
    assert corrected == {**beside(stock), **fields}
    assert mcp(tool, corrected)["isError"] is False
    model, key = {"contacts": (Contact, "contact"), "notes": (Note, "note"), "deals": (Deal, "deal")}[
        tool.partition("__")[0]
    ]
    made = model.objects.exclude(pk=stock[key]).get() if "create" in tool else model.objects.get(pk=stock[key])
    expected = {"stage": "won", "reason": "cheap"} if tool == "deals__close" else fields
    assert {name: getattr(made, name) for name in expected} == expected


NESTED = {
    "an item": lambda key, line: [{key: line}],
    "an item as JSON text": lambda key, line: [{key: json.dumps(line)}],
    "half an item": lambda key, line: [{"product": line["product"], key: {"price": line["price"]}}],
    "an item twice": lambda key, line: [{key: {key: line}}],
    "one of several": lambda key, line: [line, {key: line}],
    "the list": lambda key, line: {key: [line]},
}


@pytest.mark.parametrize("tool", ["deals__create", "deals__update", "deals__partial_update"])
@pytest.mark.parametrize("form", NESTED)
def test_a_wrapper_in_a_nested_row_changes_no_row(mcp, stock, tool, form):
    beside = {} if tool == "deals__create" else {"id": stock["deal"]}
    before = rows()
    for key in (*WRAPPERS, *KEYS):
        lines = NESTED[form](key, {"product": "q", "price": "2.00"})
        result = mcp(tool, {**beside, "title": "New", "company": stock["company"], "lines": lines})
        assert result["isError"] is True, (key, result)
        assert rows() == before, key


# --- seed 000, the validation cases of T3 ---


@pytest.mark.parametrize("errors", ["result", "protocol"])
def test_seed_cases_flat_wrapped_bulk_and_foreign_keys(mcp, settings_of, errors):
    settings_of(TOOLBOOTH={"ERRORS": errors})
    sent = {"email": "agent@example.com", "first_name": "Agent"}

    assert mcp("contacts__create", sent)["isError"] is False
    assert list(Contact.objects.values("email", "first_name")) == [sent]

    result = mcp("contacts__create", {"data": sent})
    text = result["error"]["message"] if errors == "protocol" else result["content"][0]["text"]
    code = result["error"]["code"] if errors == "protocol" else result["_meta"]["toolbooth"]["code"]
    assert code == -32602
    for word in ('"data"', "nested object", '"email", "first_name"', "Declared fields:", '"notes"'):
        assert word in text
    assert Contact.objects.count() == 1

    assert (
        mcp("contacts__create", {"objects": [{"email": "a@example.com"}, {"email": "b@example.com"}]})["isError"]
        is False
    )
    assert Contact.objects.count() == 3

    Site.objects.create(slug="hq-1", name="hq-1")
    assert mcp("devices__create", {"label": "switch", "site": {"name": "hq-1"}})["isError"] is False
    assert Device.objects.get().site.name == "hq-1"


# --- every shape that the law knows, over every tool that writes ---

CORRECT = {
    "companies__create": lambda stock: {"name": "New", "website": "https://example.com/", "employees": 5},
    "companies__update": lambda stock: {"id": stock["company"], "name": "New", "employees": 5},
    "companies__partial_update": lambda stock: {"id": stock["company"], "employees": 5},
    "contacts__create": lambda stock: {
        **CONTACT,
        "company": stock["company"],
        "profile": {"a": [1]},
        "subscribed": True,
    },
    "contacts__update": lambda stock: {"id": stock["contact"], **CONTACT, "tags": []},
    "contacts__partial_update": lambda stock: {"id": stock["contact"], "notes": "New", "subscribed": True},
    "deals__create": lambda stock: {
        "title": "New",
        "company": stock["company"],
        "closes_on": "2026-01-01",
        "lines": [{"product": "p", "price": "1.50"}, {"product": "q", "quantity": 2, "price": 2.5}],
    },
    "deals__update": lambda stock: {"id": stock["deal"], "title": "New", "company": stock["company"], "lines": []},
    "deals__close": lambda stock: {"id": stock["deal"], "won": False, "reason": "dear"},
    "notes__create": lambda stock: {"title": "New", "pinned": True},
    "notes__partial_update": lambda stock: {"id": stock["note"], "pinned": True},
    "tags__create": lambda stock: {"slug": "a", "title": "A"},
}


@pytest.mark.parametrize("tool", CORRECT)
def test_every_shape_that_agents_send_does_what_was_meant_or_nothing(stock, tool):
    client = Client(headers={"Authorization": "Basic YW5uOnB3"})
    contract = catalogue().registry.tools[tool].contract
    before = rows()
    wrong = []
    for shape in agent_shapes(contract, CORRECT[tool](stock)):
        params = f'{{"name":"{tool}","arguments":{shape.body.decode() or "null"}}}'
        message = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'
        result = client.post("/mcp/", message, content_type="application/json").json()["result"]
        refused = shape.law.outcome == "refused"
        if result["isError"] is not refused or (refused and rows() != before):
            wrong.append((shape.id, result))
        if not refused:
            reset(before)
    assert wrong == []


def reset(before):
    """Put every table back to what it was."""
    for model in reversed(MODELS):
        model.objects.all().delete()
    for row in serializers.deserialize("json", before):
        row.save()
