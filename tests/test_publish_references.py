"""The published form of references, of recursion, and of schemas that grow when they are inlined."""

import json
from typing import Any

import pytest
from published_schemas import ANY, INTEGER, STRING, Tree, assert_portable, exact, published

from toolbooth.publish import ANY_ITEMS, MAX_BYTES, portable


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"$ref": "#/$defs/City"}, {**STRING, "description": "A city."}, id="defs"),
        pytest.param({"$ref": "#/definitions/a~1b~0c"}, INTEGER, id="definitions-and-escapes"),
        pytest.param({"$ref": "#/definitions/a%7E1b~0c"}, INTEGER, id="percent-encoding"),
        pytest.param({"$ref": "#/$defs/Either/anyOf/1"}, INTEGER, id="into-a-list"),
        pytest.param(
            {"$ref": "https://a.example/s#/$defs/City"},
            {**STRING, "description": "A city."},
            id="own-address",
        ),
        pytest.param(
            {"$ref": "#/$defs/City", "description": "Home.", "minLength": 2},
            {**STRING, "minLength": 2, "description": "Home."},
            id="the-field's-text-wins",
        ),
        pytest.param({"$ref": "https://b.example/s"}, ANY, id="outside"),
        pytest.param({"$ref": "#Number"}, INTEGER, id="anchor"),
        pytest.param({"$ref": "#City"}, ANY, id="anchor-to-nothing"),
        pytest.param({"$ref": "#/$defs/Nowhere/properties/x"}, ANY, id="nowhere"),
        pytest.param(
            {"$ref": "#/$defs/Bundled"},
            {"type": "object", "properties": {"x": ANY, "y": INTEGER}},
            id="another-resource",
        ),
        pytest.param({"$ref": "https://c.example/#/$defs/z"}, INTEGER, id="its-definitions"),
        pytest.param({"$ref": "#/$defs/Bundled/properties/x"}, ANY, id="inside-another-resource"),
        pytest.param({"$ref": "#/$defs/Bundled/properties/y"}, INTEGER, id="through-another"),
        pytest.param({"$ref": "#/$defs/Loop"}, ANY, id="loop"),
    ],
)
def test_a_reference_is_inlined(schema: Any, expected: Any):
    root = {
        "$id": "https://a.example/s",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "City": {"type": "string", "description": "A city."},
            "Either": {"anyOf": [STRING, {**INTEGER, "$anchor": "Number"}]},
            "Bundled": {
                "$id": "https://c.example/",
                "properties": {"x": {"$ref": "#/$defs/City"}, "y": {"$ref": "#/$defs/z"}},
                "$defs": {"z": INTEGER},
            },
            "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, STRING]},
        },
        "definitions": {"a/b~c": INTEGER},
    }
    assert published(schema, **root) == expected


def test_siblings_of_a_draft_07_reference_are_ignored():
    root = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"A": STRING}}
    schema = {"$ref": "#/definitions/A", "minLength": 5, "description": "d"}
    assert published(schema, **root) == {**STRING, "description": "d"}


def test_recursion_is_cut_with_a_described_object():
    tree = {
        "type": "object",
        "properties": {
            "value": INTEGER,
            "children": {
                "type": "array",
                "items": {"type": "object", "description": "nests the same again: value, children"},
                "default": [],
            },
        },
        "required": ["value"],
    }
    assert portable(Tree.model_json_schema()) == tree

    def grow(tree: Tree, forest: dict[str, Tree]): ...

    properties = {"tree": tree, "forest": {"type": "object", "additionalProperties": tree}}
    assert portable(exact(grow)) == {
        "type": "object",
        "properties": properties,
        "required": ["tree", "forest"],
    }


def test_recursion_through_other_types_than_objects_keeps_those_types():
    nested = {"anyOf": [STRING, {"type": "array", "items": {"$ref": "#/$defs/Nested"}}]}
    again = {
        "anyOf": [
            STRING,
            {"type": "array", "description": "nests the same again", "items": ANY_ITEMS},
        ]
    }
    assert published({"$ref": "#/$defs/Nested"}, **{"$defs": {"Nested": nested}}) == {
        "anyOf": [STRING, {"type": "array", "items": again}]
    }


def test_model_used_twice_is_not_treated_as_recursion():
    root = {
        "$defs": {
            "B": {"properties": {"a": {"$ref": "#/$defs/A"}}},
            "A": {"properties": {"x": STRING}},
        }
    }
    a = {"type": "object", "properties": {"x": STRING}}
    expected = {"anyOf": [a, {"type": "object", "properties": {"a": a}}]}
    assert published({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}, **root) == expected


def test_deep_nesting_is_cut_with_an_object_that_names_its_fields():
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"end": STRING, "list": {"type": "array", "items": STRING}},
    }
    for _ in range(40):
        schema = {"type": "object", "properties": {"n": schema}}
    text = json.dumps(portable(schema))
    assert text.count('"n"') == 12
    assert '{"type": "object", "description": "nested too deep to show: n"}' in text


def test_the_size_stays_bounded_when_inlining_multiplies():
    links = {
        f"D{i}": {
            "type": "object",
            "properties": {f"p{j}": {"$ref": f"#/$defs/D{i + 1}"} for j in range(9)},
        }
        for i in range(15)
    }
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/D0"}, "b": INTEGER},
        "$defs": {**links, "D15": STRING},
    }
    made = portable(schema)
    assert len(json.dumps(made)) < MAX_BYTES
    assert made["properties"]["b"] == INTEGER
    assert_portable(made)


def test_a_large_schema_that_does_not_multiply_is_kept_whole():
    row = {"type": "object", "properties": {f"b{i}": STRING for i in range(20)}}
    schema = {"type": "object", "properties": {f"a{i}": row for i in range(100)}}
    assert len(json.dumps(schema)) > MAX_BYTES
    assert portable(schema) == schema


def test_unions_of_unions_stay_bounded():
    doubled = {f"D{i}": {"anyOf": [{"$ref": f"#/$defs/D{i + 1}"}] * 2} for i in range(14)}
    assert published({"$ref": "#/$defs/D0"}, **{"$defs": {**doubled, "D14": STRING}}) == STRING
    lengths = {"anyOf": [{**STRING, "minLength": i} for i in range(20)]}
    others = {"anyOf": [{**STRING, "maxLength": 100 - i} for i in range(20)]}
    assert published({"allOf": [lengths, others]}) == lengths
    many = {"oneOf": [{"const": f"v{i}"} for i in range(200)]}
    assert published({"type": "string", **many}) == {
        **STRING,
        "enum": [f"v{i}" for i in range(200)],
    }
    assert published({"allOf": [many, lengths]}) == lengths
    long = {"anyOf": [{**STRING, "minLength": i} for i in range(65)]}
    longer = {"anyOf": [{**STRING, "maxLength": 100 - i} for i in range(66)]}
    assert published({"allOf": [longer, long]}) == long


def test_combinators_nested_too_deep_are_published_without_constraints():
    schema: dict[str, Any] = STRING
    for _ in range(100):
        schema = {"allOf": [schema]}
    assert published(schema) == ANY
