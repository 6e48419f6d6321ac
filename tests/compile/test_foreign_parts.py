"""Foreign schemas made of parts: references, `allOf`, unions, and the schemas that are valid at the
root.
"""

import json
from typing import Any

import pytest
from foreign_tool import codes, of, outcome

from toolbooth import ContractError, compile_json_schema, handle_bytes
from toolbooth.shape import walk
from toolbooth.shape_check import check_schema

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
ADDRESS = {"type": "object", "properties": {"street": STRING, "number": INTEGER}}


# --- references ---------------------------------------------------------------------------------

REFERENCES: dict[str, tuple[str, dict[str, Any]]] = {
    "index": ("#/properties/from/anyOf/0", {}),
    "percent-encoding": ("#/$defs/a%20b", {"$defs": {"a b": ADDRESS}}),
    "percent-encoded-slash": ("#/$defs/a~1b%25", {"$defs": {"a/b%": ADDRESS}}),
    "anchor": ("#home", {"$defs": {"x": {**ADDRESS, "$anchor": "home"}}}),
    "dynamic-anchor": ("#home", {"$defs": {"x": {**ADDRESS, "$dynamicAnchor": "home"}}}),
    "anchor-in-a-list": (
        "#home",
        {"$defs": {"x": {"allOf": [{}, {"not": {**ADDRESS, "$anchor": "home"}}]}}},
    ),
    "own-address": (
        "https://a.example/tool#/$defs/x",
        {"$id": "https://a.example/tool", "$defs": {"x": ADDRESS}},
    ),
    "another-resource": (
        "address",
        {"$id": "https://a.example/tool", "$defs": {"x": {**ADDRESS, "$id": "address"}}},
    ),
    "anchor-in-another-resource": (
        "https://b.example/all#home",
        {
            "$defs": {
                "x": {
                    "$id": "https://b.example/all",
                    "$defs": {"y": {**ADDRESS, "$anchor": "home"}},
                }
            }
        },
    ),
    "reference-in-another-resource": (
        "urn:example:all",
        {"$defs": {"x": {"$id": "urn:example:all", "$ref": "#/$defs/y", "$defs": {"y": ADDRESS}}}},
    ),
}


@pytest.mark.parametrize(("ref", "more"), REFERENCES.values(), ids=REFERENCES)
def test_a_reference_is_followed_so_misspelt_keys_and_text_are_found(ref, more):
    whole = {"type": "object", "properties": {"from": {"anyOf": [ADDRESS, {"type": "null"}]}}}
    to = {"to": {"$ref": ref}}
    schema = {**whole, "properties": {**whole["properties"], **to}, **more}
    assert outcome(schema, b'{"to": {"street": "a", "number": "5"}}') == (
        {"to": {"street": "a", "number": 5}},
        [("scalar-text", "$.to.number")],
    )
    assert outcome(schema, b'{"to": "{\\"street\\": \\"a\\"}"}') == (
        {"to": {"street": "a"}},
        [("json-text", "$.to")],
    )
    assert outcome(schema, b'{"to": {"street": "a", "numbr": 5}}') == [
        ("unknown-key", "$.to.numbr", 'there is no field "numbr"; did you mean "number"?')
    ]


def test_an_anchor_of_draft_07_is_followed():
    schema = of(
        {"$ref": "#home"},
        **{
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"x": {**ADDRESS, "$id": "#home"}},
        },
    )
    assert codes(schema, b'{"p": {"strete": "a"}}') == [("unknown-key", "$.p.strete")]


def test_siblings_of_a_reference_are_ignored_up_to_draft_07():
    schema = of(
        {"$ref": "#/definitions/text", "type": "integer"},
        **{
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"text": STRING},
        },
    )
    assert outcome(schema, b'{"p": "5"}') == ({"p": "5"}, [])


TREE = {
    "type": "object",
    "properties": {
        "name": STRING,
        "children": {"type": "array", "items": {"$dynamicRef": "#node"}},
    },
    "$dynamicAnchor": "node",
}


def test_a_dynamic_reference_to_the_only_anchor_is_followed():
    schema = of({"$ref": "#/$defs/tree"}, **{"$defs": {"tree": TREE}})
    assert outcome(schema, b'{"p": {"children": [{"nam": "a"}]}}') == [
        ("unknown-key", "$.p.children[0].nam", 'there is no field "nam"; did you mean "name"?')
    ]


def test_dynamic_reference_with_several_anchors_is_left_to_the_validator():
    strict = {
        "$id": "https://a.example/strict",
        "$dynamicAnchor": "node",
        "$ref": "https://a.example/tree",
        "properties": {"size": INTEGER},
    }
    tree = {**TREE, "$id": "https://a.example/tree"}
    schema = of({"$ref": "https://a.example/strict"}, **{"$defs": {"t": tree, "s": strict}})
    body = b'{"p": {"name": "r", "size": 1, "children": [{"name": "a", "size": 2}]}}'
    assert outcome(schema, body) == (json.loads(body), [])
    wrong = b'{"p": {"children": [{"name": "a", "size": "2"}]}}'
    assert codes(schema, wrong) == [("invalid", "$.p.children[0].size")]


@pytest.mark.parametrize(
    "ref",
    ["https://example.com/a.json", "other.json", "file:///etc/a.json", "#nowhere", "#/$defs/x/0"],
)
def test_a_reference_out_of_the_document_or_to_nothing_is_the_authors_mistake(ref):
    with pytest.raises(ContractError, match="not a usable JSON Schema"):
        compile_json_schema(of({"$ref": ref}, **{"$defs": {"x": STRING}}), name="tool")


def test_a_reference_that_refers_only_to_itself_allows_anything():
    schema = of({"$ref": "#/$defs/x"}, **{"$defs": {"x": {"$ref": "#/$defs/x"}}})
    assert outcome(schema, b'{"p": "[1]"}') == ({"p": "[1]"}, [])


def test_ids_and_anchors_inside_data_are_ignored():
    data = {"$id": "https://a.example/x", "$anchor": "home"}
    schema = of({"const": data}, **{"$defs": {"x": {**ADDRESS, "$anchor": "home"}}})
    schema["properties"]["q"] = {"$ref": "#home"}
    assert codes(schema, b'{"q": {"strete": "a"}}') == [("unknown-key", "$.q.strete")]
    assert outcome(schema, json.dumps({"p": data}).encode()) == ({"p": data}, [])


# --- parts that all hold ------------------------------------------------------------------------

OPENING: dict[str, dict[str, Any]] = {
    "all-of-open": {"allOf": [{"additionalProperties": True}]},
    "all-of-unevaluated": {"allOf": [{"unevaluatedProperties": True}]},
    "all-of-typed": {"allOf": [{"type": "object", "unevaluatedProperties": {}}]},
    "behind-a-reference": {"$ref": "#/$defs/open"},
    "outer-unevaluated-false": {
        "allOf": [{"unevaluatedProperties": True}],
        "unevaluatedProperties": False,
    },
}


@pytest.mark.parametrize("part", OPENING.values(), ids=OPENING)
def test_part_with_additional_properties_opens_the_object(part):
    definitions = {"$defs": {"open": {"additionalProperties": True}}}
    schema = of({"type": "object", "properties": {"a": INTEGER}, **part}, **definitions)
    assert outcome(schema, b'{"p": {"a": "1", "b": "2"}}') == (
        {"p": {"a": 1, "b": "2"}},
        [("scalar-text", "$.p.a")],
    )


def test_part_without_a_rule_for_other_keys_keeps_the_object_closed():
    schema = of(
        {
            "type": "object",
            "properties": {"a": INTEGER},
            "allOf": [{"type": "object"}, {"minProperties": 1}, {"required": ["a"]}],
        }
    )
    assert codes(schema, b'{"p": {"a": 1, "b": 2}}') == [("unknown-key", "$.p.b")]


def test_additional_properties_of_all_parts_are_combined():
    schema = of(
        {
            "type": "object",
            "additionalProperties": {},
            "allOf": [{"additionalProperties": INTEGER}],
        }
    )
    assert outcome(schema, b'{"p": {"b": "2"}}') == (
        {"p": {"b": 2}},
        [("scalar-text", "$.p.b")],
    )


def test_unevaluated_keys_are_repaired_if_no_other_part_evaluates_them():
    alone = of({"type": "object", "unevaluatedProperties": INTEGER})
    assert outcome(alone, b'{"p": {"b": "2"}}') == ({"p": {"b": 2}}, [("scalar-text", "$.p.b")])
    beside = of(
        {
            "type": "object",
            "unevaluatedProperties": INTEGER,
            "anyOf": [{"additionalProperties": STRING}, {"required": ["none"]}],
        }
    )
    assert outcome(beside, b'{"p": {"b": "2"}}') == ({"p": {"b": "2"}}, [])


def test_fields_that_two_parts_declare_have_the_keys_of_both():
    schema = of(
        {
            "type": "object",
            "properties": {"at": {"type": "object", "properties": {"x": INTEGER}}, "n": {}},
            "allOf": [
                {
                    "properties": {
                        "at": {"type": "object", "properties": {"y": INTEGER}},
                        "n": INTEGER,
                    },
                    "required": ["n"],
                }
            ],
        }
    )
    assert outcome(schema, b'{"p": {"at": {"x": "1", "y": "2"}, "n": "3"}}') == (
        {"p": {"at": {"x": 1, "y": 2}, "n": 3}},
        [
            ("scalar-text", "$.p.at.x"),
            ("scalar-text", "$.p.at.y"),
            ("scalar-text", "$.p.n"),
        ],
    )
    assert codes(schema, b'{"p": {"n": null}}') == [("wrong-type", "$.p.n")]
    assert codes(schema, b'{"p": {"n": 1, "at": {"z": 1}}}') == [("unknown-key", "$.p.at.z")]


def test_keys_that_a_part_forbids_are_unknown_keys():
    part = {"properties": {"a": INTEGER}, "additionalProperties": False}
    schema = of({"allOf": [part, {"properties": {"b": INTEGER}}]})
    assert outcome(schema, b'{"p": {"a": 1, "b": 2}}') == [
        ("unknown-key", "$.p.b", 'there is no field "b"')
    ]
    schema = of({"allOf": [{"properties": {"a": INTEGER}}], "unevaluatedProperties": False})
    assert codes(schema, b'{"p": {"a": 1, "b": 2}}') == [("unknown-key", "$.p.b")]


# --- unions -------------------------------------------------------------------------------------


def test_keys_of_two_alternatives_at_once_are_explained():
    one = {"type": "object", "properties": {"bar": INTEGER}, "required": ["bar"]}
    other = {"type": "object", "properties": {"foo": STRING, "baz": {}}, "required": ["foo"]}
    schema = of({"anyOf": [one, other]})
    assert outcome(schema, b'{"p": {"foo": "a", "bar": 2}}') == [
        (
            "unknown-key",
            "$.p.foo",
            '"foo" cannot be combined with "bar"; it is used with "baz"',
        )
    ]
    assert codes(schema, b'{"p": {"bar": 2, "baz": {"x": 1}}}') == [("unknown-key", "$.p.baz")]
    assert outcome(schema, b'{"p": {"bar": 2, "fo": 1}}') == [
        ("unknown-key", "$.p.fo", 'there is no field "fo"')
    ]


def test_a_wrapper_in_an_open_alternative_is_a_wrapper():
    one = {"type": "object", "properties": {"bar": INTEGER}, "additionalProperties": True}
    other = {"type": "object", "properties": {"foo": {}}, "required": ["foo"]}
    schema = of({"anyOf": [one, other]})
    assert codes(schema, b'{"p": {"foo": {"bar": 1}, "baz": 1}}') == [("nested-wrapper", "$.p.foo")]


def test_many_unions_that_all_hold_are_not_multiplied():
    unions = [
        {"anyOf": [{"properties": {f"a{index}": INTEGER}}, {"properties": {f"b{index}": STRING}}]}
        for index in range(12)
    ]
    schema = of({"type": "object", "allOf": unions})
    contract = compile_json_schema(schema, lambda arguments: None, name="tool")
    assert len(list(walk(contract.shape))) < 2_000
    assert outcome(schema, b'{"p": {"a0": 1, "b11": "x"}}') == ({"p": {"a0": 1, "b11": "x"}}, [])
    assert codes(schema, b'{"p": {"c": 1}}') == [("unknown-key", "$.p.c")]


# --- the root -----------------------------------------------------------------------------------


def test_a_root_that_lists_whole_objects_accepts_them():
    schema = {"enum": [{"a": 1}, {"a": 2, "b": {"c": "5"}}]}
    assert outcome(schema, b'{"a": 2, "b": {"c": "5"}}') == ({"a": 2, "b": {"c": "5"}}, [])
    assert codes(schema, b'{"a": 3}') == [("invalid", "$")]
    assert codes(schema, b'{"A": 1}') == [("unknown-key", "$.A")]
    assert outcome({"const": {"a": 1}}, b'{"a": 1}') == ({"a": 1}, [])
    assert outcome({"type": "object", "const": {}}, b"{}") == ({}, [])


@pytest.mark.parametrize(
    "schema",
    [
        {"minProperties": 1},
        {"type": "object", "minProperties": 1},
        {"maxProperties": 3},
        {"propertyNames": {"maxLength": 5}},
    ],
    ids=json.dumps,
)
def test_a_root_with_only_general_rules_for_keys_accepts_any_key(schema):
    assert outcome(schema, b'{"a": "5", "b": null}') == ({"a": "5", "b": None}, [])


def test_a_root_with_patterns_accepts_only_matching_keys():
    schema = {"type": "object", "patternProperties": {"^x-": INTEGER}}
    assert outcome(schema, b'{"x-a": "1"}') == ({"x-a": 1}, [("scalar-text", '$["x-a"]')])
    assert codes(schema, b'{"x_a": 1}') == [("unknown-key", "$.x_a")]


def test_a_root_that_only_requires_names_accepts_exactly_those():
    assert outcome({"required": ["a"]}, b'{"a": "5"}') == ({"a": "5"}, [])
    assert codes({"required": ["a"], "minProperties": 1}, b'{"b": 1, "a": 2}') == [
        ("unknown-key", "$.b")
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"if": {"properties": {"a": INTEGER}}, "then": {"properties": {"b": {}}}},
        {"anyOf": [{"properties": {"a": INTEGER, "b": INTEGER}}, True]},
        {"dependentRequired": {"a": ["b"]}},
    ],
    ids=json.dumps,
)
def test_a_root_without_a_type_declares_the_keys_that_its_parts_name(schema):
    assert outcome(schema, b'{"a": "1", "b": 2}') == ({"a": "1", "b": 2}, [])
    assert codes(schema, b'{"c": 1}') == [("unknown-key", "$.c")]


@pytest.mark.parametrize(
    "schema", [{}, {"not": {"type": "null"}}, {"type": "array"}, {"$comment": ""}]
)
def test_a_root_that_does_not_describe_an_object_is_the_authors_mistake(schema):
    with pytest.raises(ContractError, match="the root of an inputSchema must describe an object"):
        compile_json_schema(schema, name="tool")


def test_keywords_for_objects_and_for_arrays_without_a_type_allow_both():
    schema = of({"properties": {"a": INTEGER}, "items": INTEGER})
    assert outcome(schema, b'{"p": {"a": "1"}}') == ({"p": {"a": 1}}, [("scalar-text", "$.p.a")])
    assert outcome(schema, b'{"p": ["1"]}') == ({"p": [1]}, [("scalar-text", "$.p[0]")])
    assert codes(schema, b'{"p": "a"}') == [("wrong-type", "$.p")]


# --- size ---------------------------------------------------------------------------------------

GROWING = {
    "conditions": lambda each: {"if": each, "then": {"properties": {"a": each}}, "else": each},
    "dependencies": lambda each: {
        "type": "object",
        "properties": {"a": each},
        "dependentSchemas": {"a": {"properties": {"a": each, "b": each}}},
    },
    "parts": lambda each: {
        "allOf": [each, {"properties": {"a": each}}, {"properties": {"a": each}}]
    },
    "patterns": lambda each: {"patternProperties": {"^a": each, "a": each}, "allOf": [each]},
}


@pytest.mark.parametrize("two", GROWING.values(), ids=GROWING)
def test_a_schema_that_grows_when_it_is_merged_stays_small(two):
    definitions = {f"d{index}": two({"$ref": f"#/$defs/d{index + 1}"}) for index in range(30)}
    definitions["d30"] = {"type": "object", "properties": {"x": INTEGER}}
    schema = of({"$ref": "#/$defs/d0"}, **{"$defs": definitions})
    contract = compile_json_schema(schema, lambda arguments: None, name="tool")
    assert len(list(walk(contract.shape))) < 20_000
    assert len(json.dumps(check_schema(contract.shape))) < 2_000_000
    assert handle_bytes(contract, b'{"p": {}}')["isError"] is False


def test_objects_that_contain_themselves_are_merged():
    tree = {
        "type": "object",
        "properties": {"left": {"$ref": "#/$defs/tree"}, "size": INTEGER},
        "allOf": [{"$ref": "#/$defs/named"}],
        "if": {"required": ["size"]},
        "then": {"properties": {"right": {"$ref": "#/$defs/tree"}}},
    }
    named = {
        "type": "object",
        "properties": {"left": {"$ref": "#/$defs/named"}, "name": STRING},
    }
    schema = of({"$ref": "#/$defs/tree"}, **{"$defs": {"tree": tree, "named": named}})
    body = b'{"p": {"left": {"left": {"name": "a", "size": "1"}, "right": {"name": "b"}}}}'
    assert outcome(schema, body) == (
        {"p": {"left": {"left": {"name": "a", "size": 1}, "right": {"name": "b"}}}},
        [("scalar-text", "$.p.left.left.size")],
    )
    assert codes(schema, b'{"p": {"left": {"right": {"nam": "b"}}}}') == [
        ("unknown-key", "$.p.left.right.nam")
    ]
