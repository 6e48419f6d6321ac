"""A foreign JSON Schema gets the same protection; its rules beyond shapes are left to the schema
validator.
"""

import json
from typing import Any

import pytest
from foreign_tool import of, outcome

from toolbooth import ContractError, compile_json_schema, handle_bytes


@pytest.mark.parametrize(
    ("schema", "mistake"),
    [
        pytest.param({"type": "objekt"}, "not a usable JSON Schema: ", id="no-such-type"),
        pytest.param(
            of({"$ref": "#/$defs/Missing"}), "not a usable JSON Schema: ", id="reference-to-nowhere"
        ),
        pytest.param(
            of({"$ref": "https://example.com/address.json"}),
            "not a usable JSON Schema: .*example.com/address.json is not fetched: the specification forbids it",
            id="reference-to-the-network",
        ),
        pytest.param(
            {"type": "array"}, "the root of an inputSchema must describe an object", id="array"
        ),
        pytest.param({}, "the root of an inputSchema must describe an object", id="says-nothing"),
    ],
)
def test_schema_that_cannot_be_enforced_is_a_contract_error(schema, mistake):
    with pytest.raises(ContractError, match=f"foreign: {mistake}") as raised:
        compile_json_schema(schema, name="foreign")
    assert raised.value.owner == "foreign"
    assert len(raised.value.mistakes) == 1


def test_keys_that_match_a_pattern_have_the_type_of_the_pattern():
    schema = of(
        {
            "type": "object",
            "patternProperties": {"^X_": {"type": "string"}},
            "additionalProperties": False,
        }
    )
    assert outcome(schema, b'{"p": {"X_A": "b"}}') == ({"p": {"X_A": "b"}}, [])
    assert outcome(schema, b'{"p": {"X_A": 5}}') == [
        ("wrong-type", "$.p.X_A", "must be text, got an integer 5")
    ]
    assert outcome(schema, b'{"p": {"Y_A": "b"}}') == [
        ("unknown-key", "$.p.Y_A", 'there is no field "Y_A"')
    ]


def test_a_draft_07_tuple_is_repaired_item_by_item():
    schema = of(
        {
            "items": [{"type": "integer"}, {"type": "string"}],
            "additionalItems": {"type": "boolean"},
        },
        **{"$schema": "http://json-schema.org/draft-07/schema#"},
    )
    assert outcome(schema, b'{"p": ["1", "2", "true"]}') == (
        {"p": [1, "2", True]},
        [("scalar-text", "$.p[0]"), ("scalar-text", "$.p[2]")],
    )
    assert outcome(schema, b'{"p": [1, 2]}') == [
        ("wrong-type", "$.p[1]", "must be text, got an integer 2")
    ]


@pytest.mark.parametrize(
    "schema", [{"minItems": 1}, {"prefixItems": [{}]}, {"maxItems": 3}], ids=lambda s: next(iter(s))
)
def test_a_schema_with_items_and_no_type_is_an_array(schema):
    assert outcome(of(schema), b'{"p": "[1]"}') == ({"p": [1]}, [("json-text", "$.p")])
    [(code, path, message)] = outcome(of(schema), b'{"p": {}}')
    assert (code, path) == ("wrong-type", "$.p")
    assert message.startswith("must be an array, got an object")


def test_an_enum_that_contains_an_object_accepts_that_object():
    schema = of({"enum": [{"a": 1}, "x", [1], None]})
    for text in (b'{"a":1}', b'"x"', b"[1]"):
        assert outcome(schema, b'{"p": %b}' % text)[1] == []
    assert [each[:2] for each in outcome(schema, b'{"p": {"a": 2}}')] == [("invalid", "$.p")]
    assert [each[:2] for each in outcome(schema, b'{"p": 5}')] == [("wrong-type", "$.p")]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["number", "string"], "format": "decimal"},
        {
            "anyOf": [{"type": "number", "format": "decimal"}, {"type": "string"}],
            "description": "An amount",
        },
    ],
    ids=["one-node", "union"],
)
def test_a_decimal_keeps_every_digit(schema):
    sent: list[Any] = []
    contract = compile_json_schema(of(schema), sent.append, name="foreign")
    handle_bytes(contract, b'{"p": 12345678901234567890.5}')
    handle_bytes(contract, b'{"p": 12.50}')
    assert [repr(each["p"]) for each in sent] == ["Decimal('12345678901234567890.5')", "12.5"]


INTEGERS = {"type": "array", "items": {"type": "integer"}}
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [OBJECT, INTEGERS]},
        {"oneOf": [INTEGERS, {"type": "boolean"}]},
        {"anyOf": [{"$ref": "#/$defs/list"}, OBJECT]},
        {"allOf": [INTEGERS]},
        {"allOf": [{"type": "array"}, INTEGERS]},
        {"type": "array", "anyOf": [INTEGERS]},
        {"type": "array", "prefixItems": [{"type": "integer"}], "allOf": [{"type": "array"}]},
        {"type": "array", "items": True, "allOf": [INTEGERS]},
    ],
    ids=json.dumps,
)
def test_items_are_repaired_in_arrays_that_are_alternatives_or_parts(schema: Any):
    whole = of(schema, **{"$defs": {"list": INTEGERS}})
    assert outcome(whole, b'{"p": ["5"]}') == ({"p": [5]}, [("scalar-text", "$.p[0]")])


@pytest.mark.parametrize(
    ("bound", "sent", "expected"),
    [
        ({"type": "string", "maxLength": 2.0}, "abc", 'at most 2 characters; got "abc"; e.g. "te"'),
        ({"type": "string", "minLength": 1e9}, "a", 'at least 1000000000 characters; got "a"'),
        ({"type": "array", "minItems": 5e8}, [1], "at least 500000000 items"),
    ],
)
def test_bounds_may_be_written_with_a_point_or_be_huge(
    bound: Any, sent: Any, expected: str
) -> None:
    schema = {"type": "object", "properties": {"field": bound}, "required": ["field"]}
    contract = compile_json_schema(schema, lambda arguments: "done", name="foreign")
    result = handle_bytes(contract, json.dumps({"field": sent}).encode())
    assert result["isError"]
    assert expected in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("reference", "definitions"),
    [
        ("#/properties/first", {}),
        ("#named", {"$defs": {"n": {"$anchor": "named", "type": "string", "minLength": 2}}}),
        ("#/definitions/n", {"definitions": {"n": {"type": "string", "minLength": 2}}}),
    ],
)
def test_a_wrong_value_behind_any_kind_of_reference_is_refused(
    reference: str, definitions: Any
) -> None:
    schema = {
        "type": "object",
        "properties": {
            "first": {"type": "string", "minLength": 2},
            "second": {"type": "object", "properties": {"inner": {"$ref": reference}}},
        },
        **definitions,
    }
    contract = compile_json_schema(schema, lambda arguments: "done", name="foreign")
    result = handle_bytes(contract, b'{"second":{"inner":"a"}}')
    assert result["isError"]
    assert "$.second.inner: must have at least 2 characters" in result["content"][0]["text"]


def test_a_wrong_value_is_refused_if_its_schema_has_definitions_of_its_own():
    items = {"$ref": "#/properties/v/$defs/n"}
    array = {"type": "array", "items": items, "$defs": {"n": {"type": "string", "minLength": 2}}}
    schema = {"type": "object", "properties": {"v": array}}
    contract = compile_json_schema(schema, lambda arguments: "done", name="foreign")
    result = handle_bytes(contract, b'{"v":"a"}')
    assert result["isError"]
    assert '$.v: must be an array, got text "a"' in result["content"][0]["text"]
