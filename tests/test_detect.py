"""`detect_nested_wrapper`, the helper of the nested-wrapper decision
(docs/project/evidence/nested-wrapper.md), with its own cases.
"""

from typing import Any

import pytest

from toolbooth import detect_nested_wrapper

CONTACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "email": {"type": "string"},
        "first_name": {"type": "string"},
        "notes": {"type": "string"},
    },
    "required": ["email"],
}
DEVICE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "site": {"oneOf": [{"type": "string"}, {"type": "object"}]},
    },
}
BULK: dict[str, Any] = {
    "type": "object",
    "properties": {"objects": {"type": "array", "items": {"$ref": "#/$defs/Contact"}}},
    "$defs": {"Contact": CONTACT},
}

WRAPPED = (
    '$.data: "data" is not a declared field and its value is a nested object. Likely cause: a REST-style wrapper. '
    'Send "email", "first_name" at the top level, not inside "data".\n'
    'Declared fields: "email" (text, required), "first_name" (text), "notes" (text).'
)


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        pytest.param({"email": "a@b.c", "first_name": "Agent"}, CONTACT, id="flat-fields"),
        pytest.param({}, CONTACT, id="nothing-sent"),
        pytest.param(
            {"objects": [{"email": "a@b.c"}, {"email": "d@e.f"}]},
            BULK,
            id="declared-list-of-a-bulk-create",
        ),
        pytest.param(
            {"name": "sw1", "site": {"name": "hq-1"}}, DEVICE, id="declared-foreign-key-as-object"
        ),
        pytest.param({"name": "sw1", "site": "hq-1"}, DEVICE, id="declared-foreign-key-as-text"),
        pytest.param(
            {"data": {"any": {"thing": 1}}},
            {"type": "object", "properties": {"data": {"type": "object"}}},
            id="tool-that-declares-data",
        ),
        pytest.param(
            {"data": {"colour": 1}},
            {**CONTACT, "additionalProperties": True},
            id="content-of-an-open-object",
        ),
        pytest.param({"page": 2, "filters": ["a"]}, CONTACT, id="undeclared-but-no-object"),
        pytest.param({"data": "flat text"}, CONTACT, id="undeclared-text"),
    ],
)
def test_arguments_without_a_wrapper_pass(arguments, schema):
    assert detect_nested_wrapper(arguments, schema) is None


def test_wrapper_is_reported_with_its_key_its_fields_and_a_likely_cause():
    assert (
        detect_nested_wrapper({"data": {"email": "a@b.c", "first_name": "Agent"}}, CONTACT)
        == WRAPPED
    )


def test_a_wrapper_beside_flat_fields_is_found():
    found = detect_nested_wrapper({"email": "a@b.c", "data": {"notes": "nested field"}}, CONTACT)
    assert found == WRAPPED.replace('"email", "first_name" at', '"notes" at')


def test_a_wrapper_sent_as_json_text_is_found():
    found = detect_nested_wrapper({"data": '{"email": "a@b.c", "first_name": "Agent"}'}, CONTACT)
    told = WRAPPED.replace("a nested object.", "a nested object as JSON text.")
    assert found == told.replace("REST-style wrapper", "wrapper")


def test_a_wrapper_one_level_down_is_found_behind_a_reference():
    assert detect_nested_wrapper(
        {"objects": [{"email": "a@b.c"}, {"body": {"email": "d@e.f"}}]}, BULK
    ) == (
        '$.objects[1].body: "body" is not a declared field and its value is a nested object. '
        'Likely cause: a wrapper. Send "email" directly in $.objects[1], not inside "body".\n'
        'Declared fields of $.objects[1]: "email" (text, required), "first_name" (text), "notes" (text).'
    )


def test_an_open_object_is_wrapped_only_where_all_inner_keys_are_declared_ones():
    found = detect_nested_wrapper(
        {"data": {"email": "a@b.c", "first_name": "Agent"}},
        {**CONTACT, "additionalProperties": True},
    )
    assert found == WRAPPED


def test_a_property_with_an_unresolved_reference_is_still_declared():
    schema = {
        "type": "object",
        "properties": {"site": {"$ref": "#/$defs/Missing"}, "name": {"type": "string"}},
    }
    assert detect_nested_wrapper({"site": {"name": "hq-1"}}, schema) is None
    assert detect_nested_wrapper({"data": {"name": "hq-1"}}, schema) == (
        '$.data: "data" is not a declared field and its value is a nested object. Likely cause: a REST-style wrapper. '
        'Send "name" at the top level, not inside "data".\n'
        'Declared fields: "site" (anything), "name" (text).'
    )


@pytest.mark.parametrize(
    "schema", [{}, {"description": "Takes anything."}], ids=["empty", "only-a-description"]
)
def test_schema_without_keywords_accepts_every_object(schema):
    assert detect_nested_wrapper({"data": {"email": "a@b.c"}}, schema) is None
