"""The calls of the nested-wrapper decision (docs/project/evidence/nested-wrapper.md) on our registry
and on both protected hosts, with the rows that they leave.

The same calls on the Django gateway are in `tests/django/test_nested_wrapper_calls.py`, and the
helper `detect_nested_wrapper` is in `tests/test_detect.py`.
"""

import json
import sqlite3
import weakref
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from document_servers import EVERY_HOST, facts_in_order, passed, refused, serve
from toolbooth import ToolInputError, ToolRegistry, compile_json_schema
from toolbooth.boundary.repairs import CLIENT_KEYS
from toolbooth.testing import call_over_wire
from toolbooth.testing.shapes.catalogue import WRAPPERS

FLAT = {"email": "agent@example.com", "first_name": "Agent"}
HALF_WRAPPED = {**FLAT, "data": {"notes": "nested field"}}
ALL_WRAPPED = {"data": FLAT}

FIRST_ID = "00000000-0000-0000-0000-000000000001"


class ContactIn(BaseModel):
    email: str
    first_name: str = ""


class Contacts:
    """A table of contacts with the tools of the report. No field is required: a wrapped call would
    store an empty row.
    """

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self.db.close)
        self.db.execute("CREATE TABLE contact (id TEXT, email TEXT, first_name TEXT, notes TEXT)")

    def contacts__create(
        self, email: str = "", first_name: str = "", notes: str = ""
    ) -> dict[str, Any]:
        """Create a contact."""
        id = f"00000000-0000-0000-0000-{len(self.rows()) + 1:012}"
        self.db.execute("INSERT INTO contact VALUES (?, ?, ?, ?)", (id, email, first_name, notes))
        return {"created": True, "id": id}

    def contacts__bulk_create(self, objects: list[ContactIn]) -> dict[str, Any]:
        """Create several contacts."""
        made = [self.contacts__create(each.email, each.first_name) for each in objects]
        return {"created": len(made)}

    def rows(self) -> list[tuple[str, ...]]:
        found = self.db.execute("SELECT email, first_name, notes FROM contact ORDER BY id")
        return found.fetchall()


def contact_server(host: str) -> tuple[Contacts, Any]:
    contacts = Contacts()
    return contacts, serve(host, contacts.contacts__create, contacts.contacts__bulk_create)


@EVERY_HOST
def test_flat_arguments_create_the_row_without_repairs(host):
    contacts, server = contact_server(host)
    result = call_over_wire(server, "contacts__create", FLAT)
    assert passed(result) == ({"created": True, "id": FIRST_ID}, [])
    assert "toolbooth" not in result.raw["_meta"]
    assert contacts.rows() == [("agent@example.com", "Agent", "")]


@pytest.mark.parametrize(
    ("arguments", "corrected"),
    [(HALF_WRAPPED, {**FLAT, "notes": "nested field"}), (ALL_WRAPPED, FLAT)],
    ids=["half", "all"],
)
@EVERY_HOST
def test_wrapped_calls_of_the_report_create_nothing_until_corrected(host, arguments, corrected):
    contacts, server = contact_server(host)
    result = call_over_wire(server, "contacts__create", arguments)
    assert refused(result) == ([("nested-wrapper", "$.data")], corrected)
    assert contacts.rows() == []

    call_over_wire(server, "contacts__create", result.corrected)
    assert contacts.rows() == [("agent@example.com", "Agent", corrected.get("notes", ""))]


@EVERY_HOST
def test_the_refusal_gives_the_facts_of_the_report_in_its_order(host):
    _, server = contact_server(host)
    text = call_over_wire(server, "contacts__create", ALL_WRAPPED).text
    facts = ("data", "not a declared field", "nested object", "REST", "email", "first_name")
    declared = ("Declared fields", "email", "first_name", "notes")
    assert facts_in_order(text, *facts, *declared) == []


@EVERY_HOST
def test_wrapper_of_any_name_is_refused(host):
    contacts, server = contact_server(host)
    names = {*WRAPPERS, "payload", "config", "objects", "filters", "company", "Contact", "zq"}
    for name in sorted(names):
        for value in (FLAT, json.dumps(FLAT)):
            result = call_over_wire(server, "contacts__create", {name: value})
            assert refused(result) == ([("nested-wrapper", f"$.{name}")], FLAT), name
    assert contacts.rows() == []


DECLARED = ("email", "first_name", "notes")
names_of_wrappers = st.text(max_size=12).filter(lambda name: name not in {*DECLARED, *CLIENT_KEYS})
wrapped_fields = st.dictionaries(
    st.sampled_from(DECLARED) | st.text(max_size=6),
    st.text(max_size=6) | st.integers() | st.dictionaries(st.text(max_size=4), st.integers()),
    max_size=4,
)


@given(
    name=names_of_wrappers,
    inside=wrapped_fields,
    beside=st.dictionaries(st.sampled_from(DECLARED), st.text(max_size=6)),
    as_text=st.booleans(),
)
@settings(max_examples=300)
def test_no_undeclared_object_gets_past_the_guard(name, inside, beside, as_text):
    contacts = Contacts()
    registry = registry_with(contacts)
    value = json.dumps(inside) if as_text else inside
    result = registry.call("contacts__create", {name: value, **beside})
    problems = result["_meta"]["toolbooth"]["problems"]
    assert "nested-wrapper" in [each["code"] for each in problems]
    assert contacts.rows() == []


@EVERY_HOST
def test_a_bulk_create_is_accepted_and_a_wrapper_in_one_row_refuses_all_rows(host):
    contacts, server = contact_server(host)
    two = [FLAT, {"email": "bo@example.com"}]
    result = call_over_wire(server, "contacts__bulk_create", {"objects": two})
    assert passed(result) == ({"created": 2}, [])
    rows = [("agent@example.com", "Agent", ""), ("bo@example.com", "", "")]
    assert contacts.rows() == rows

    wrapped = {"objects": [FLAT, {"data": {"email": "bo@example.com"}}]}
    result = call_over_wire(server, "contacts__bulk_create", wrapped)
    assert refused(result) == ([("nested-wrapper", "$.objects[1].data")], {"objects": two})
    assert contacts.rows() == rows


Site = Annotated[str | dict[str, str] | None, Field(examples=[{"name": "hq-1"}])]


def dcim__devices(name: str, site: Site = None) -> dict[str, Any]:
    """Create a device. The foreign key is text or an object, as in the report."""
    return {"name": name, "site": site}


@pytest.mark.parametrize("site", [{"name": "hq-1"}, "hq-1"], ids=["object", "text"])
@EVERY_HOST
def test_a_declared_foreign_key_passes_as_an_object_and_as_text(host, site):
    arguments = {"name": "switch", "site": site}
    result = call_over_wire(serve(host, dcim__devices), "dcim__devices", arguments)
    assert passed(result) == (arguments, [])


def import_rows(
    data: Annotated[dict[str, str], Field(examples=[{"email": "ann@example.org"}])],
) -> dict[str, Any]:
    """Import a row as it is."""
    return {"data": data}


@EVERY_HOST
def test_a_tool_that_declares_data_gets_it_and_still_refuses_other_wrappers(host):
    server = serve(host, import_rows)
    assert passed(call_over_wire(server, "import_rows", ALL_WRAPPED)) == (ALL_WRAPPED, [])
    result = call_over_wire(server, "import_rows", {**ALL_WRAPPED, "config": {"dry": True}})
    assert refused(result) == ([("nested-wrapper", "$.config")], None)


def test_a_declared_configuration_object_passes_and_an_omitted_one_is_refused():
    config = {"type": "object", "properties": {"retry": {"type": "object"}}}
    registry = ToolRegistry("jobs")
    for name, properties in (("declares", {"config": config}), ("omits", {})):
        schema = {"type": "object", "properties": {"job": {"type": "string"}, **properties}}
        registry.add(compile_json_schema(schema, dict, name=name))

    arguments = {"job": "sync", "config": {"retry": {"times": 3}}}
    assert passed(call_over_wire(registry, "declares", arguments)) == (arguments, [])
    result = call_over_wire(registry, "omits", arguments)
    assert refused(result) == ([("nested-wrapper", "$.config")], None)


# --- the registry: -32602, dispatchers, settings ---


def registry_with(contacts: Contacts, **settings: Any) -> ToolRegistry:
    registry = ToolRegistry("contacts", **settings)
    registry.tool(contacts.contacts__create)
    return registry


def test_with_protocol_errors_a_wrapper_is_json_rpc_invalid_params():
    contacts = Contacts()
    registry = registry_with(contacts, errors="protocol")
    raw = call_over_wire(registry, "contacts__create", ALL_WRAPPED).raw
    assert raw.keys() == {"error"}
    assert raw["error"].keys() == {"code", "message", "data"}
    assert raw["error"]["code"] == -32602
    assert raw["error"]["data"]["toolbooth"]["corrected"] == FLAT
    facts = ("data", "nested object", "email", "first_name", "Declared fields", "notes")
    assert facts_in_order(raw["error"]["message"], *facts) == []

    with pytest.raises(ToolInputError) as raised:
        registry.dispatch("contacts__create", ALL_WRAPPED)
    assert [(each.code, each.where) for each in raised.value.problems] == [
        ("nested-wrapper", "$.data")
    ]
    assert contacts.rows() == []


@pytest.mark.parametrize("errors", ["result", "protocol"])
def test_a_dispatcher_does_not_drop_a_wrapper(errors):
    """The report does not decide this call: `data` beside the action of a dispatcher."""
    contacts = Contacts()
    registry = registry_with(contacts, errors=errors)
    registry.tool(dcim__devices)
    actions = {"contacts": {"create": "contacts__create"}, "devices": {"create": "dcim__devices"}}
    registry.dispatcher("crm", actions)
    assert registry.tools["crm"].is_dispatcher

    target = {"action": "create", "resource": "contacts"}
    for fields in ({"data": FLAT}, {"params": {"data": FLAT}}):
        result = call_over_wire(registry, "crm", {**target, **fields})
        assert [each.code for each in result.problems] == ["nested-wrapper"]
        assert result.corrected == {**target, **FLAT}
        assert contacts.rows() == []
    assert passed(call_over_wire(registry, "crm", result.corrected))[1] == []
    assert contacts.rows() == [("agent@example.com", "Agent", "")]


@pytest.mark.parametrize(
    "settings",
    [{}, {"errors": "protocol"}, {"help": "help"}, {"profile": "exact"}, {"timeout": 5}],
    ids=lambda settings: next(iter(settings), "default"),
)
def test_no_setting_of_a_registry_turns_the_guard_off(settings):
    contacts = Contacts()
    result = call_over_wire(registry_with(contacts, **settings), "contacts__create", ALL_WRAPPED)
    assert [each.code for each in result.problems] == ["nested-wrapper"]
    assert contacts.rows() == []
