"""Wrapped calls against the database: none makes a blank, partial or unchanged row that looks
right.

Each case is sent to the tool itself, and through dispatchers of every kind: of a resource, of an
app, of a group, and of a hand-written class.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Annotated, Any

import pytest
from django.core import serializers
from django.test import Client
from pydantic import BaseModel
from rest_framework.request import Request

from odd.models import Device, Site
from sales.models import Company, Contact, Deal, Line, Note, Tag
from toolbooth import Unpack
from toolbooth.django import decorators
from toolbooth.django.decorators import mcp_action, mcp_dispatcher
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.testing.shapes.agent_shapes import agent_shapes
from toolbooth.testing.shapes.catalogue import WRAPPERS

MODELS = (Company, Contact, Deal, Line, Note, Tag, Site, Device)
KEYS = ("objects", "items", "_items", "contact", "Contact", "values", "json", "record", "zq")


def rows():
    """Return every row of every table, as text."""
    return serializers.serialize(
        "json", [row for model in MODELS for row in model.objects.order_by("pk")]
    )


@pytest.fixture
def stock(ann):
    """Create a row of each kind, to be changed."""
    acme = Company.objects.create(name="Acme")
    contact = Contact.objects.create(email="old@example.com", first_name="Old", company=acme)
    deal = Deal.objects.create(title="Old", company=acme)
    Line.objects.create(deal=deal, product="p", price=1)
    note = Note.objects.create(owner=ann, title="Old")
    # JSON keeps milliseconds, so the time of its creation would not always be the same after
    # `reset`.
    Note.objects.update(written=datetime(2026, 1, 1, tzinfo=UTC))
    return {"company": acme.pk, "contact": str(contact.pk), "deal": deal.pk, "note": note.pk}


# --- ways of sending a call ---


class LineIn(BaseModel):
    product: str
    quantity: int = 1
    price: float


class DealIn(BaseModel):
    title: str = ""
    company: int
    lines: list[LineIn] = []


class ContactIn(BaseModel):
    email: str = ""
    first_name: str = ""
    last_name: str = ""
    notes: str = ""


def written_by_hand() -> None:
    """Dispatchers that write every value they are given, under the names of the example's own
    tools.
    """

    @mcp_dispatcher
    class Contacts:
        @mcp_action
        def create(self, contact: Annotated[ContactIn, Unpack()]) -> dict[str, Any]:
            """Create a contact."""
            return {"id": str(Contact.objects.create(**contact.model_dump()).pk)}

        @mcp_action
        def update(self, id: str, contact: Annotated[ContactIn, Unpack()]) -> dict[str, Any]:
            """Replace a contact."""
            return {"changed": Contact.objects.filter(pk=id).update(**contact.model_dump())}

        @mcp_action
        def partial_update(
            self, id: str, contact: Annotated[ContactIn, Unpack()]
        ) -> dict[str, Any]:
            """Change a contact."""
            return {
                "changed": Contact.objects.filter(pk=id).update(
                    **contact.model_dump(exclude_unset=True)
                )
            }

    @mcp_dispatcher
    class Notes:
        @mcp_action
        def create(self, request: Request, title: str = "", body: str = "") -> dict[str, Any]:
            """Create a note."""
            return {"id": Note.objects.create(owner=request.user, title=title, body=body).pk}

    @mcp_dispatcher
    class Deals:
        @mcp_action
        def close(self, id: int, won: bool = False, reason: str = "") -> dict[str, Any]:
            """Close a deal."""
            return {
                "closed": Deal.objects.filter(pk=id).update(
                    stage="won" if won else "lost", reason=reason
                )
            }

        @mcp_action
        def create(self, deal: Annotated[DealIn, Unpack()]) -> dict[str, Any]:
            """Create a deal with its lines."""
            made = Deal.objects.create(title=deal.title, company_id=deal.company)
            for line in deal.lines:
                Line.objects.create(deal=made, **line.model_dump())
            return {"id": made.pk}

        @mcp_action
        def update(self, id: int, deal: Annotated[DealIn, Unpack()]) -> dict[str, Any]:
            """Replace a deal and its lines."""
            Deal.objects.filter(pk=id).update(title=deal.title, company=deal.company)
            Line.objects.filter(deal=id).delete()
            for line in deal.lines:
                Line.objects.create(deal_id=id, **line.model_dump())
            return {"id": id}

        @mcp_action
        def partial_update(self, id: int, deal: Annotated[DealIn, Unpack()]) -> dict[str, Any]:
            """Change a deal."""
            return self.update(id, deal)


DISPATCHED = {
    "by resource": "resource",
    "by app": "app",
    "in groups": {
        "people": ["contacts", "companies"],
        "work": ["deal*", "devices", "notes", "tags"],
    },
    "by hand": None,
}
FLAT, PARAMS, TEXT = "flat", "params", "params as JSON text"
SENDINGS = (FLAT, PARAMS, TEXT)


class Sender:
    """Calls tools as Ann: directly, or through their dispatchers."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.client = Client(headers={"Authorization": "Basic YW5uOnB3"})
        every = catalogue().registry.tools.items()
        below = [
            (name, way, sub) for name, each in every if each.table for way, sub in each.table.subs()
        ]
        self.leads = {sub.name: (name, way) for name, way, sub in below}
        """The dispatcher of each tool, and the resource and action there."""

    def __call__(self, tool: str, arguments: Any, how: str = FLAT) -> Any:
        name, call = self.call(tool, arguments, how)
        return self.post(name, json.dumps(call))

    def post(self, name: str, body: str) -> Any:
        params = f'{{"name":"{name}","arguments":{body}}}'
        message = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'
        reply = self.client.post("/mcp/", message, content_type="application/json").json()
        return reply.get("result", reply)

    def call(self, tool: str, arguments: Any, how: str = FLAT) -> tuple[str, Any]:
        """Return the name to call, and the arguments to send."""
        if self.way == "direct":
            return tool, arguments
        name, leads = self.leads[tool]
        if how == FLAT:
            return name, {**leads, **arguments}
        return name, {**leads, "params": arguments if how == PARAMS else json.dumps(arguments)}

    def each_way(self, keys: Any) -> Iterator[tuple[str, str]]:
        """Send every key, with one way of sending after the other. `params` beside an action is not
        a wrapper.
        """
        for number, key in enumerate(keys):
            how = SENDINGS[number % 3]
            yield key, PARAMS if key == "params" and how == FLAT else how


@pytest.fixture
def sender(ann, settings_of, monkeypatch, built_once):
    """Create senders."""

    def make(way: str, **chosen: Any) -> Sender:
        monkeypatch.setattr(decorators, "declared", {})
        if way == "by hand":
            written_by_hand()
        settings_of(TOOLBOOTH={"DISPATCH": DISPATCHED.get(way), **chosen})
        return Sender(way)

    return make


@pytest.fixture(params=["direct", *DISPATCHED])
def send(request, sender):
    return sender(request.param)


# --- wrappers ---

CONTACT = {"email": "new@example.com", "first_name": "New", "last_name": "Name"}
CALLS = {
    "create": ("contacts__create", lambda stock: {}, CONTACT),
    "create, nothing required": ("notes__create", lambda stock: {}, {"title": "New", "body": "b"}),
    "update": ("contacts__update", lambda stock: {"id": stock["contact"]}, CONTACT),
    "patch": ("contacts__partial_update", lambda stock: {"id": stock["contact"]}, CONTACT),
    "action": (
        "deals__close",
        lambda stock: {"id": stock["deal"]},
        {"won": True, "reason": "cheap"},
    ),
}
"""A tool, the arguments beside the fields, and the fields."""

FORMS = {
    "object": lambda key, fields: {key: fields},
    "JSON text": lambda key, fields: {key: json.dumps(fields)},
    "JSON text twice": lambda key, fields: {key: json.dumps(json.dumps(fields))},
    "half": lambda key, fields: {
        key: dict(list(fields.items())[1:]),
        **dict(list(fields.items())[:1]),
    },
    "half, as JSON text": lambda key, fields: {
        key: json.dumps(dict(list(fields.items())[1:])),
        **dict(list(fields.items())[:1]),
    },
    "double": lambda key, fields: {key: {key: fields}},
    "beside": lambda key, fields: {**fields, key: {"notes": "nested field"}},
    "empty": lambda key, fields: {key: {}},
}


@pytest.mark.parametrize(("call", "form"), list(product(CALLS, FORMS)))
def test_wrapper_of_any_name_changes_no_row(send, stock, call, form):
    tool, beside, fields = CALLS[call]
    before = rows()
    for key, how in send.each_way((*WRAPPERS, *KEYS)):
        if key not in fields:
            result = send(tool, {**beside(stock), **FORMS[form](key, fields)}, how)
            codes = [each["code"] for each in result["_meta"]["toolbooth"]["problems"]]
            # Required fields may be inside a wrapper, but not inside an empty one.
            missing = ["missing"] * codes.count("missing") if form == "empty" else []
            assert (codes, rows()) == (["nested-wrapper", *missing], before), key


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("way", ["direct", *DISPATCHED])
def test_a_wrapper_is_a_protocol_error_with_errors_protocol(sender, stock, way, call):
    send = sender(way, ERRORS="protocol")
    tool, beside, fields = CALLS[call]
    before = rows()
    for form, how in send.each_way(FORMS):
        error = send(tool, {**beside(stock), **FORMS[form]("data", fields)}, how)["error"]
        assert (error["code"], rows()) == (-32602, before)


@pytest.mark.parametrize(
    ("call", "form"), list(product(CALLS, ["object", "JSON text", "half", "double"]))
)
def test_corrected_call_does_the_intended_write(send, stock, call, form):
    tool, beside, fields = CALLS[call]
    name, expected = send.call(tool, {**beside(stock), **fields})
    for how in SENDINGS:
        refused = send(tool, {**beside(stock), **FORMS[form]("data", fields)}, how)
        assert refused["_meta"]["toolbooth"]["corrected"] == expected
    assert send.post(name, json.dumps(expected))["isError"] is False
    model, key = {
        "contacts": (Contact, "contact"),
        "notes": (Note, "note"),
        "deals": (Deal, "deal"),
    }[tool.partition("__")[0]]
    made = (
        model.objects.exclude(pk=stock[key]).get()
        if "create" in tool
        else model.objects.get(pk=stock[key])
    )
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
def test_a_wrapper_in_a_nested_row_changes_no_row(send, stock, tool, form):
    beside = {} if tool == "deals__create" else {"id": stock["deal"]}
    before = rows()
    for key, how in send.each_way((*WRAPPERS, *KEYS)):
        lines = NESTED[form](key, {"product": "q", "price": "2.00"})
        result = send(
            tool, {**beside, "title": "New", "company": stock["company"], "lines": lines}, how
        )
        assert result["isError"] is True, (key, result)
        assert rows() == before, key


# --- the test cases of docs/project/evidence/nested-wrapper.md ---


@pytest.mark.parametrize("errors", ["result", "protocol"])
@pytest.mark.parametrize("way", ["direct", "by resource", "by app", "in groups"])
def test_the_cases_of_the_report_have_their_documented_results(sender, way, errors):
    mcp = sender(way, ERRORS=errors)
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
        mcp(
            "contacts__create",
            {"objects": [{"email": "a@example.com"}, {"email": "b@example.com"}]},
        )["isError"]
        is False
    )
    assert Contact.objects.count() == 3

    Site.objects.create(slug="hq-1", name="hq-1")
    assert mcp("devices__create", {"label": "switch", "site": {"name": "hq-1"}})["isError"] is False
    assert Device.objects.get().site.name == "hq-1"


# --- every shape that the law knows, over every tool that writes ---

CORRECT = {
    "companies__create": lambda stock: {
        "name": "New",
        "website": "https://example.com/",
        "employees": 5,
    },
    "companies__update": lambda stock: {"id": stock["company"], "name": "New", "employees": 5},
    "companies__partial_update": lambda stock: {"id": stock["company"], "employees": 5},
    "contacts__create": lambda stock: {
        **CONTACT,
        "company": stock["company"],
        "profile": {"a": [1]},
        "subscribed": True,
    },
    "contacts__update": lambda stock: {"id": stock["contact"], **CONTACT, "tags": []},
    "contacts__partial_update": lambda stock: {
        "id": stock["contact"],
        "notes": "New",
        "subscribed": True,
    },
    "deals__create": lambda stock: {
        "title": "New",
        "company": stock["company"],
        "closes_on": "2026-01-01",
        "lines": [{"product": "p", "price": "1.50"}, {"product": "q", "quantity": 2, "price": 2.5}],
    },
    "deals__update": lambda stock: {
        "id": stock["deal"],
        "title": "New",
        "company": stock["company"],
        "lines": [],
    },
    "deals__close": lambda stock: {"id": stock["deal"], "won": False, "reason": "dear"},
    "notes__create": lambda stock: {"title": "New", "pinned": True},
    "notes__partial_update": lambda stock: {"id": stock["note"], "pinned": True},
    "tags__create": lambda stock: {"slug": "a", "title": "A"},
}


def spelt(send: Sender, tool: str, body: str, how: str) -> tuple[str, str] | None:
    """Return a call with these bytes for its fields; None if they cannot be written so."""
    if send.way == "direct":
        return tool, body or "null"
    name, leads = send.leads[tool]
    start = json.dumps(leads)[:-1]
    if how == PARAMS:
        return name, f'{start},"params":{body or "null"}}}'
    if not body.startswith("{") or '"params"' in body:
        return None
    return name, f"{start}{',' if body.strip('{} ') else ''}{body[1:]}"


THROUGH = (("by app", FLAT), ("in groups", PARAMS))


@pytest.mark.parametrize(
    ("tool", "way", "how"),
    [
        *((tool, "direct", FLAT) for tool in CORRECT),
        *((tool, *THROUGH[number % 2]) for number, tool in enumerate(CORRECT)),
    ],
)
def test_every_agent_shape_is_executed_correctly_or_refused(sender, stock, tool, way, how):
    send = sender(way)
    contract = catalogue().registry.find(tool).contract
    before = rows()
    wrong = []
    for shape in agent_shapes(contract, CORRECT[tool](stock)):
        call = spelt(send, tool, shape.body.decode(), how)
        if call is None:
            continue
        result = send.post(*call)
        refused = shape.law.outcome == "refused"
        if result["isError"] is not refused or (refused and rows() != before):
            wrong.append((shape.id, result))
        if not refused:
            reset(before)
    assert wrong == []


def reset(before):
    """Restore every table."""
    for model in reversed(MODELS):
        model.objects.all().delete()
    for row in serializers.deserialize("json", before):
        row.save()
