"""What is published: portable for every client, never narrower than the exact schema, never longer than FastMCP's."""

import asyncio
import enum
import json
import random
from datetime import date, datetime
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union
from uuid import UUID

import jsonschema_rs
import pytest
from fastmcp import Client, FastMCP
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, Json, SecretStr, StringConstraints, TypeAdapter

from toolbooth.publish import ANY_ITEMS, MAX_BYTES, input_schema, portable
from toolbooth.sources.json_schema import compile_json_schema

ANY = {"anyOf": [*ANY_ITEMS["anyOf"], {"type": "array", "items": ANY_ITEMS}]}
ANY_OR_NULL = {**ANY, "description": "or null"}
STRING, INTEGER, NUMBER, BOOLEAN = ({"type": kind} for kind in ("string", "integer", "number", "boolean"))


def published(schema: Any, **root: Any) -> Any:
    """The portable form of one optional property."""
    return portable({"type": "object", "properties": {"p": schema}, **root})["properties"].get("p")


# --- profiles ---


def test_exact_is_a_copy_and_portable_is_the_default():
    frozen = MappingProxyType({"type": "object", "properties": MappingProxyType({"a": {"type": ["string", "null"]}})})
    contract: Any = SimpleNamespace(schema=frozen, brief=None)
    exact = input_schema(contract, "exact")
    assert exact == {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    assert exact["properties"]["a"] is not frozen["properties"]["a"]
    assert input_schema(contract) == input_schema(contract, profile="portable")
    assert input_schema(contract) == {"type": "object", "properties": {"a": STRING}}


def test_a_brief_schema_is_listed_instead_of_one_that_says_things_twice():
    exact = {"type": "object", "properties": {"a": STRING, "both": {"type": "object", "properties": {"a": STRING}}}}
    brief = {"type": "object", "properties": {"a": STRING, "both": {"type": "object"}}}
    contract: Any = SimpleNamespace(schema=exact, brief=brief)
    assert input_schema(contract) == brief
    assert input_schema(contract, "exact") == exact


# --- one construct each ---


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"type": "string", "title": "T"}, STRING, id="title-dropped"),
        pytest.param({"type": ["string", "null"], "default": None}, STRING, id="nullable-optional-is-plain"),
        pytest.param({"type": "string", "default": ""}, {"type": "string", "default": ""}, id="empty-default-kept"),
        pytest.param({"type": "string", "description": ""}, STRING, id="empty-description-dropped"),
        pytest.param({"type": ["integer", "string"]}, {"anyOf": [INTEGER, STRING]}, id="type-list-is-anyOf"),
        pytest.param({"type": "unheard"}, ANY, id="unknown-type-is-anything"),
        pytest.param({"anyOf": [INTEGER, NUMBER, STRING]}, {"anyOf": [NUMBER, STRING]}, id="integer-within-number"),
        pytest.param({"anyOf": [STRING, {"anyOf": [STRING, INTEGER]}]}, {"anyOf": [STRING, INTEGER]}, id="flattened"),
        pytest.param({"oneOf": [STRING]}, STRING, id="single-branch-folded"),
        pytest.param({"anyOf": []}, ANY, id="empty-anyOf-is-anything"),
        pytest.param(
            {"description": "Where.", "anyOf": [{**STRING, "description": "A city."}, {"type": "null"}]},
            {**STRING, "description": "Where. (A city.)"},
            id="folded-branch-keeps-both-texts",
        ),
        pytest.param(
            {"anyOf": [{"description": "Two ways", "anyOf": [STRING, {**INTEGER, "description": "n"}]}, BOOLEAN]},
            {
                "anyOf": [
                    {**STRING, "description": "Two ways"},
                    {**INTEGER, "description": "Two ways (n)"},
                    BOOLEAN,
                ]
            },
            id="text-of-a-flattened-union-goes-to-its-branches",
        ),
        pytest.param({"const": "a"}, {**STRING, "enum": ["a"]}, id="const-is-enum"),
        pytest.param({"const": 2.5}, {**NUMBER, "enum": [2.5]}, id="const-number"),
        pytest.param({"const": True}, {**BOOLEAN, "enum": [True]}, id="const-boolean"),
        pytest.param({"enum": [True, False]}, BOOLEAN, id="both-booleans-need-no-enum"),
        pytest.param(
            {"enum": ["a", 1, None, 2, "a"]},
            {"anyOf": [{**STRING, "enum": ["a"]}, {**INTEGER, "enum": [1, 2]}]},
            id="mixed-enum",
        ),
        pytest.param({"enum": [1, 2.5]}, {**NUMBER, "enum": [1, 2.5]}, id="enum-of-numbers"),
        pytest.param({"type": "integer", "enum": [1, 2.5, "x"]}, {**INTEGER, "enum": [1]}, id="enum-within-its-type"),
        pytest.param({"type": "number", "enum": [1, 2]}, {**NUMBER, "enum": [1, 2]}, id="declared-number-stays"),
        pytest.param(
            {"enum": [{"a": 1}, [1]]},
            {
                "anyOf": [
                    {"type": "object", "description": 'only {"a": 1}'},
                    {"type": "array", "description": "only [1]", "items": ANY_OR_NULL},
                ]
            },
            id="no-enum-on-objects-and-arrays",
        ),
        pytest.param(
            {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"const": "a"}]},
            {**STRING, "enum": ["a", "b"]},
            id="consts-become-one-enum",
        ),
        pytest.param({}, ANY, id="empty-schema-is-anything"),
        pytest.param(True, ANY, id="true-is-anything"),
        pytest.param({"description": "d"}, {**ANY, "description": "d"}, id="any-with-a-text"),
        pytest.param(
            {"format": "date"},
            {"anyOf": [{**STRING, "format": "date"}, *ANY["anyOf"][1:]]},
            id="untyped-format-is-the-string's",
        ),
        pytest.param({"type": "integer", "format": "int64"}, {**INTEGER, "format": "int64"}, id="format-of-a-number"),
        pytest.param({"type": "array"}, {"type": "array", "items": ANY_OR_NULL}, id="items-always"),
        pytest.param({"type": "array", "items": True}, {"type": "array", "items": ANY_OR_NULL}, id="items-true"),
        pytest.param(
            {"type": "array", "items": False},
            {"type": "array", "items": STRING, "maxItems": 0},
            id="no-items-is-the-empty-array",
        ),
        pytest.param(
            {"type": "array", "items": {"type": ["integer", "null"]}},
            {"type": "array", "items": {**INTEGER, "description": "or null"}},
            id="nullable-items-say-so",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "null"}},
            {"type": "array", "items": {**STRING, "description": "always null"}},
            id="null-items-are-text-that-says-so",
        ),
        pytest.param(
            {"type": "array", "prefixItems": [STRING, NUMBER], "minItems": 2, "maxItems": 2},
            {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": {"anyOf": [STRING, NUMBER]},
                "description": "in order: string, number",
            },
            id="tuple",
        ),
        pytest.param(
            {"items": [STRING, STRING], "additionalItems": False, "maxItems": 5},
            {"type": "array", "maxItems": 2, "items": STRING},
            id="draft-07-tuple-of-one-type-untyped",
        ),
        pytest.param(
            {"type": "array", "prefixItems": [STRING], "items": INTEGER},
            {"type": "array", "items": {"anyOf": [STRING, INTEGER]}},
            id="tuple-with-a-tail",
        ),
        pytest.param(
            {"type": "array", "prefixItems": [STRING]},
            {"type": "array", "items": ANY_OR_NULL},
            id="tuple-with-an-open-end",
        ),
        pytest.param(
            {"type": "array", "items": STRING, "contains": {"const": "a"}},
            {"type": "array", "items": STRING, "description": "contains a"},
            id="contains-in-words",
        ),
        pytest.param({"type": "object", "properties": {}}, {"type": "object"}, id="no-empty-properties-below-the-root"),
        pytest.param(
            {"type": "object", "additionalProperties": True},
            {"type": "object", "description": "any keys"},
            id="open-object-in-words",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {}, "properties": {"a": STRING}, "description": "d"},
            {"type": "object", "properties": {"a": STRING}, "description": "d (more keys allowed)"},
            id="extra-keys-in-words",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
            {"type": "object", "additionalProperties": {**INTEGER, "description": "or null"}},
            id="dict-values-stay",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"not": {}}}, {"type": "object"}, id="never-values-are-closed"
        ),
        pytest.param(
            {"properties": {"a": STRING, "b": False, "c": {"type": "null"}}, "required": ["b", "a", "a"]},
            {"type": "object", "properties": {"a": STRING}, "required": ["a"]},
            id="never-and-optional-null-are-left-out",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]},
            {"type": "object", "properties": {"a": {**STRING, "description": "always null"}}, "required": ["a"]},
            id="required-null-is-text-that-says-so",
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"a": {"type": ["string", "null"], "description": "A"}},
                "required": ["a"],
            },
            {"type": "object", "properties": {"a": {**STRING, "description": "A (or null)"}}, "required": ["a"]},
            id="required-nullable-says-so",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": INTEGER, "required": ["a"]},
            {
                "type": "object",
                "properties": {"a": INTEGER},
                "required": ["a"],
                "additionalProperties": INTEGER,
            },
            id="required-but-undeclared-is-declared",
        ),
        pytest.param(
            {
                "type": "object",
                "patternProperties": {"^x": INTEGER, "^y": {"$ref": "#"}},
                "additionalProperties": False,
            },
            {
                "type": "object",
                "additionalProperties": {
                    "anyOf": [INTEGER, {"type": "object", "description": "nests the same again: p"}]
                },
                "description": "keys matching ^x: integer (keys matching ^y)",
            },
            id="pattern-properties",
        ),
        pytest.param(
            {"type": "object", "propertyNames": {"$ref": "#/$defs/Colour"}, "additionalProperties": INTEGER},
            {"type": "object", "additionalProperties": INTEGER, "description": "keys: red or blue"},
            id="property-names",
        ),
        pytest.param(
            {"type": "object", "propertyNames": True, "properties": {"a": STRING}},
            {"type": "object", "properties": {"a": STRING}},
            id="property-names-that-say-nothing",
        ),
        pytest.param(
            {"properties": {"a": STRING, "b": STRING}, "dependentRequired": {"a": ["b"]}, "dependencies": {"b": ["a"]}},
            {
                "type": "object",
                "properties": {"a": STRING, "b": STRING},
                "description": "a needs b (b needs a)",
            },
            id="dependent-required",
        ),
        pytest.param({"not": True}, None, id="never"),
        pytest.param({**STRING, "not": {"enum": ["a", 1]}}, {**STRING, "description": "not a or 1"}, id="not-in-words"),
        pytest.param(
            {**STRING, "not": {"const": "a", "minLength": 2}},
            {**STRING, "description": 'not {"const": "a", "minLength": 2}'},
            id="not-in-words-says-no-more-than-the-schema",
        ),
        pytest.param({**STRING, "not": {"pattern": "x" * 99}}, STRING, id="a-long-not-is-left-to-validation"),
        pytest.param(
            {**STRING, "contentMediaType": "application/json", "contentSchema": {"type": "array"}},
            {**STRING, "contentMediaType": "application/json", "description": "JSON text: array"},
            id="content-schema",
        ),
        pytest.param({**INTEGER, "nullable": True}, INTEGER, id="openapi-nullable"),
        pytest.param(
            {"minimum": 1, "exclusiveMinimum": True, "type": "integer"}, {**INTEGER, "minimum": 1}, id="draft-04-bounds"
        ),
        pytest.param(
            {**STRING, "$comment": "c", "writeOnly": True, "x-mcp-header": "H", "deprecated": True, "examples": ["a"]},
            {**STRING, "x-mcp-header": "H", "deprecated": True, "examples": ["a"]},
            id="annotations",
        ),
    ],
)
def test_a_property_in_portable_form(schema: Any, expected: Any):
    assert published(schema, **{"$defs": {"Colour": {"enum": ["red", "blue"]}}}) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(
            [{**STRING, "minLength": 2, "maxLength": 9}, {"minLength": 1, "maxLength": 5}],
            {**STRING, "minLength": 2, "maxLength": 5},
            id="tightest-bounds",
        ),
        pytest.param([NUMBER, {"type": ["integer", "string"]}], INTEGER, id="integer-and-number"),
        pytest.param([{"enum": [1, 2.5, "a"]}, INTEGER], {**INTEGER, "enum": [1]}, id="enum-and-type"),
        pytest.param([{"type": "number", "enum": [2.5]}, INTEGER], None, id="enum-left-without-values"),
        pytest.param([{"enum": ["a", "b"]}, {"enum": ["b", "c"]}], {**STRING, "enum": ["b"]}, id="shared-values"),
        pytest.param([{"enum": ["a"]}, {"enum": ["b"]}], None, id="no-shared-value"),
        pytest.param([STRING, INTEGER], None, id="no-shared-type"),
        pytest.param([True, {}], ANY, id="nothing-said"),
        pytest.param(
            [{**STRING, "pattern": "^a", "description": "A"}, {**STRING, "pattern": "b$", "description": "B"}],
            {**STRING, "pattern": "^a", "description": "A (B) (pattern b$)"},
            id="the-second-pattern-in-words",
        ),
        pytest.param(
            [{**STRING, "format": "date", "default": "x"}, {**STRING, "format": "date", "default": "y"}],
            {**STRING, "format": "date", "default": "x"},
            id="the-first-default",
        ),
        pytest.param(
            [
                {"anyOf": [{**STRING, "description": "A", "default": 1}]},
                {"anyOf": [{**STRING, "description": "B", "default": 2}]},
            ],
            {**STRING, "description": "A (B)", "default": 1},
            id="annotations-of-branches",
        ),
        pytest.param(
            [{"type": "array", "items": NUMBER}, {"type": "array", "items": {"minimum": 1}, "uniqueItems": True}],
            {"type": "array", "items": {**NUMBER, "minimum": 1}, "uniqueItems": True},
            id="items",
        ),
        pytest.param(
            [
                {"properties": {"a": STRING, "b": True}, "required": ["a"]},
                {"properties": {"b": INTEGER, "c": STRING}, "required": ["b", "a"], "additionalProperties": False},
            ],
            {"type": "object", "properties": {"b": INTEGER, "c": STRING}, "required": ["b"]},
            id="a-closed-part-admits-only-what-it-lists",
        ),
        pytest.param(
            [
                {"properties": {"a": STRING}, "additionalProperties": {"minimum": 0}},
                {"properties": {"b": INTEGER}, "additionalProperties": {"type": "integer", "maximum": 9}},
            ],
            {
                "type": "object",
                "properties": {"b": {**INTEGER, "minimum": 0}},
                "additionalProperties": {**INTEGER, "maximum": 9, "minimum": 0},
            },
            id="dict-values",
        ),
    ],
)
def test_all_of_is_merged(parts: list[Any], expected: Any):
    assert published({"allOf": parts}) == expected


def test_a_keyword_is_a_property_where_properties_stand():
    names = [
        "title",
        "properties",
        "$ref",
        "items",
        "default",
        "enum",
        "type",
        "anyOf",
        "$defs",
        "not",
        "$id",
        "required",
    ]
    schema = {"type": "object", "properties": {name: {"type": "string", "title": "T"} for name in names}}
    assert portable(schema) == {"type": "object", "properties": dict.fromkeys(names, STRING)}
    nested = {"type": "object", "properties": {"o": schema, "p": {"$ref": "#/properties/o/properties/$ref"}}}
    assert portable(nested)["properties"] == {"o": portable(schema), "p": STRING}


def test_values_are_not_read_as_schemas():
    value = {"title": "T", "$ref": "#/nowhere", "type": ["string", "null"]}
    schema = {"type": "object", "default": value, "examples": [value], "x-hint": value}
    assert published(schema) == schema


def test_names_and_output_keep_their_order():
    schema = {"type": "object", "properties": {"z": STRING, "a": STRING, "m": STRING}, "required": ["m", "z"]}
    assert json.dumps(portable(schema)) == json.dumps(schema)


# --- references ---


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"$ref": "#/$defs/City"}, {**STRING, "description": "A city."}, id="defs"),
        pytest.param({"$ref": "#/definitions/a~1b~0c"}, INTEGER, id="definitions-and-escapes"),
        pytest.param({"$ref": "#/definitions/a%7E1b~0c"}, INTEGER, id="percent-encoding"),
        pytest.param({"$ref": "#/$defs/Either/anyOf/1"}, INTEGER, id="into-a-list"),
        pytest.param(
            {"$ref": "https://a.example/s#/$defs/City"}, {**STRING, "description": "A city."}, id="own-address"
        ),
        pytest.param(
            {"$ref": "#/$defs/City", "description": "Home.", "minLength": 2},
            {**STRING, "minLength": 2, "description": "Home."},
            id="the-field's-text-wins",
        ),
        pytest.param({"$ref": "https://b.example/s"}, ANY, id="outside"),
        pytest.param({"$ref": "#City"}, ANY, id="anchor"),
        pytest.param({"$ref": "#/$defs/Nowhere/properties/x"}, ANY, id="nowhere"),
        pytest.param({"$ref": "#/$defs/Bundled"}, ANY, id="another-resource"),
        pytest.param({"$ref": "#/$defs/Bundled/properties/x"}, ANY, id="inside-another-resource"),
        pytest.param({"$ref": "#/$defs/Loop"}, ANY, id="loop"),
    ],
)
def test_a_reference_is_inlined(schema: Any, expected: Any):
    root = {
        "$id": "https://a.example/s",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "City": {"type": "string", "description": "A city."},
            "Either": {"anyOf": [STRING, INTEGER]},
            "Bundled": {"$id": "https://c.example/", "properties": {"x": {"$ref": "#/$defs/y"}}},
            "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, STRING]},
        },
        "definitions": {"a/b~c": INTEGER},
    }
    assert published(schema, **root) == expected


def test_what_stands_beside_a_draft_07_reference_is_ignored():
    root = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"A": STRING}}
    schema = {"$ref": "#/definitions/A", "minLength": 5, "description": "d"}
    assert published(schema, **root) == {**STRING, "description": "d"}


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


def test_recursion_is_cut_with_an_object_that_says_so():
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
    assert portable(exact(grow)) == {"type": "object", "properties": properties, "required": ["tree", "forest"]}


def test_recursion_through_other_types_than_objects_keeps_those_types():
    nested = {"anyOf": [STRING, {"type": "array", "items": {"$ref": "#/$defs/Nested"}}]}
    again = {"anyOf": [STRING, {"type": "array", "description": "nests the same again", "items": ANY_ITEMS}]}
    assert published({"$ref": "#/$defs/Nested"}, **{"$defs": {"Nested": nested}}) == {
        "anyOf": [STRING, {"type": "array", "items": again}]
    }


def test_a_model_used_twice_is_no_recursion():
    root = {"$defs": {"B": {"properties": {"a": {"$ref": "#/$defs/A"}}}, "A": {"properties": {"x": STRING}}}}
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
        f"D{i}": {"type": "object", "properties": {f"p{j}": {"$ref": f"#/$defs/D{i + 1}"} for j in range(9)}}
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
    assert published({"type": "string", **many}) == {**STRING, "enum": [f"v{i}" for i in range(200)]}
    assert published({"allOf": [many, lengths]}) == lengths


def test_combinators_nested_too_deep_are_shown_as_anything():
    schema: dict[str, Any] = STRING
    for _ in range(100):
        schema = {"allOf": [schema]}
    assert published(schema) == ANY


# --- one object out of alternatives ---

CIRCLE = {"properties": {"kind": {"const": "circle"}, "radius": NUMBER}, "required": ["kind", "radius"]}
SQUARE = {"properties": {"kind": {"const": "square"}, "side": NUMBER, "tilt": NUMBER}, "required": ["kind", "side"]}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(
            {"oneOf": [CIRCLE, SQUARE], "discriminator": {"propertyName": "kind"}},
            {
                "type": "object",
                "properties": {
                    "kind": {**STRING, "enum": ["circle", "square"]},
                    "radius": NUMBER,
                    "side": NUMBER,
                    "tilt": NUMBER,
                },
                "required": ["kind"],
                "description": "combinations: (kind=circle, radius) or (kind=square, side, tilt?)",
            },
            id="oneOf",
        ),
        pytest.param(
            {
                "description": "Find.",
                "properties": {"id": INTEGER, "name": STRING},
                "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
            },
            {
                "type": "object",
                "properties": {"id": INTEGER, "name": STRING},
                "description": "Find. (combinations: (id, name?) or (id?, name))",
            },
            id="required-alternatives",
        ),
        pytest.param(
            {"properties": {"a": STRING}, "anyOf": [{"required": ["a"]}, {"required": ["a"]}]},
            {"type": "object", "properties": {"a": STRING}, "required": ["a"]},
            id="the-same-twice",
        ),
        pytest.param(
            {"anyOf": [{"properties": {"a": STRING}}, {"properties": {"a": STRING}, "minProperties": 1}]},
            {"type": "object", "properties": {"a": STRING}},
            id="no-combinations-to-tell",
        ),
        pytest.param(
            {"allOf": [{"properties": {"a": STRING}, "required": ["a"]}, {"properties": {"b": STRING}}]},
            {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["a"]},
            id="allOf",
        ),
        pytest.param(
            {
                "properties": {"kind": STRING},
                "required": ["kind"],
                "if": {"properties": {"kind": {"const": "a"}}},
                "then": {"properties": {"x": INTEGER}, "required": ["x"]},
            },
            {
                "type": "object",
                "properties": {"kind": STRING, "x": INTEGER},
                "required": ["kind"],
                "description": "combinations: (kind=a, x) or (kind)",
            },
            id="if-then",
        ),
        pytest.param(
            {"properties": {"a": STRING}, "dependentSchemas": {"a": {"properties": {"b": STRING}, "required": ["b"]}}},
            {
                "type": "object",
                "properties": {"a": STRING, "b": STRING},
                "description": "combinations: (a, b) or (a?)",
            },
            id="dependent-schemas",
        ),
        pytest.param(
            {"properties": {"a": STRING}, "required": ["a"], "dependencies": {"a": {"properties": {"b": STRING}}}},
            {
                "type": "object",
                "properties": {"a": STRING, "b": STRING},
                "required": ["a"],
                "description": "combinations: (b?) or none of these",
            },
            id="draft-07-dependencies",
        ),
        pytest.param(
            {"anyOf": [{"properties": {"a": INTEGER}}, {"type": "object", "additionalProperties": True}]},
            {
                "type": "object",
                "properties": {"a": ANY},
                "description": "combinations: (a?) or none of these (more keys allowed)",
            },
            id="an-open-alternative-admits-anything",
        ),
        pytest.param(
            {
                "anyOf": [
                    {"properties": {"a": INTEGER}, "additionalProperties": False},
                    {"additionalProperties": STRING, "description": "Labels"},
                    {"properties": {"a": False}, "additionalProperties": STRING},
                ]
            },
            {
                "type": "object",
                "properties": {"a": {"anyOf": [INTEGER, STRING]}},
                "additionalProperties": STRING,
                "description": "combinations: (a?) or (Labels) or none of these",
            },
            id="dict-values",
        ),
        pytest.param(
            {"anyOf": [{"required": ["a"]}, STRING]},
            {
                "type": "object",
                "properties": {"a": ANY_OR_NULL},
                "required": ["a"],
            },
            id="only-the-objects-of-a-root",
        ),
        pytest.param({"not": {}}, {"type": "object", "properties": {}}, id="a-root-that-nothing-fits"),
        pytest.param({}, {"type": "object", "properties": {}}, id="no-arguments"),
    ],
)
def test_the_root_is_one_object(schema: Any, expected: Any):
    assert portable({"type": "object", **schema}) == expected


def test_long_combinations_are_clipped():
    options = [{"properties": {f"{'long' * 9}{i}": STRING}} for i in range(20)]
    assert len(portable({"type": "object", "anyOf": options})["description"]) == 401


def test_alternatives_below_the_root_stay_alternatives_unless_they_refine_one_object():
    assert published({"oneOf": [CIRCLE, SQUARE]})["anyOf"][0] == {
        "type": "object",
        "properties": {"kind": {**STRING, "enum": ["circle"]}, "radius": NUMBER},
        "required": ["kind", "radius"],
    }
    refined = {"type": ["object", "string"], "properties": {"a": STRING, "b": STRING}}
    assert published({**refined, "anyOf": [{"required": ["a"]}, {"required": ["b"]}, STRING]})["anyOf"] == [
        {
            "type": "object",
            "properties": {"a": STRING, "b": STRING},
            "description": "combinations: (a, b?) or (a?, b)",
        },
        STRING,
    ]
    assert published({"type": "string", "if": {"minLength": 3}, "then": {"pattern": "^a"}}) == STRING


# --- pydantic ---


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: float
    y: float


class Address(BaseModel):
    """A postal address."""

    street: str
    zip: Annotated[str, StringConstraints(pattern=r"^\d{5}$")]
    country: Annotated[str, Field(description="ISO code", min_length=2, max_length=2)] = "DE"
    note: Optional[str] = None


class Contact(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    email: str | None = None
    address: Address
    tags: list[str] = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    breed: str


Pet = Annotated[Union[Cat, Dog], Field(discriminator="kind")]


def exact(function: Any) -> dict[str, Any]:
    """The exact schema of a function's arguments, its objects closed as Toolbooth closes them."""

    def closed(value: Any) -> Any:
        if isinstance(value, list):
            return [closed(item) for item in value]
        if not isinstance(value, dict):
            return value
        extra = {"additionalProperties": False} if isinstance(value.get("properties"), dict) else {}
        return {**extra, **{key: closed(item) for key, item in value.items()}}

    return closed(TypeAdapter(function).json_schema())


def test_a_pydantic_signature_in_portable_form():
    def book(
        who: Annotated[Contact, Field(description="The guest")],
        pet: Pet | None,
        where: Point,
        by_colour: dict[Colour, int],
        payload: Json[list[int]],
        token: SecretStr,
        price: Decimal,
        anything: Any = None,
    ): ...

    address = {
        "type": "object",
        "description": "A postal address.",
        "properties": {
            "street": STRING,
            "zip": {**STRING, "pattern": r"^\d{5}$"},
            "country": {**STRING, "minLength": 2, "maxLength": 2, "description": "ISO code", "default": "DE"},
            "note": STRING,
        },
        "required": ["street", "zip"],
    }
    cat = {"kind": {**STRING, "enum": ["cat"], "default": "cat"}, "lives": {**INTEGER, "default": 9}}
    dog = {"kind": {**STRING, "enum": ["dog"]}, "breed": STRING}
    decimal = TypeAdapter(Decimal).json_schema()["anyOf"]
    assert portable(exact(book)) == {
        "type": "object",
        "properties": {
            "who": {
                "type": "object",
                "description": "The guest",
                "properties": {
                    "name": STRING,
                    "email": STRING,
                    "address": address,
                    "tags": {"type": "array", "items": STRING, "default": []},
                },
                "required": ["name", "address"],
            },
            "pet": {
                "anyOf": [
                    {"type": "object", "properties": cat, "required": ["kind"]},
                    {"type": "object", "properties": dog, "required": ["kind", "breed"]},
                ],
                "description": "or null",
            },
            "where": {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": NUMBER,
                "description": "in order: X, Y",
            },
            "by_colour": {"type": "object", "description": "keys: red or blue", "additionalProperties": INTEGER},
            "payload": {
                **STRING,
                "contentMediaType": "application/json",
                "description": 'JSON text: {"items": {"type": "integer"}, "type": "array"}',
            },
            "token": {**STRING, "format": "password"},
            "price": {"anyOf": decimal},
            "anything": ANY,
        },
        "required": ["who", "pet", "where", "by_colour", "payload", "token", "price"],
    }


# --- bytes ---


def scalars(name: str, age: int, weight: float, member: bool): ...
def no_arguments(): ...
def one_string(q: str): ...
def optionals(name: str | None = None, age: Optional[int] = None, since: date | None = None, limit: int = 10): ...
def required_nullable(name: str | None, age: int | None): ...
def lists(ids: list[int], names: list[str], rows: list[list[float]], unique: set[int]): ...
def nested(contact: Contact, reason: Annotated[str, Field(description="Why")] = ""): ...
def described_twice(
    home: Annotated[Address, Field(description="Home")],
    work: Annotated[Address | None, Field(description="Work")] = None,
): ...
def enums(colour: Colour, size: Literal["s", "m", "l"], only: Literal["x"], level: Literal[1, 2] = 1): ...
def dicts(
    counts: dict[str, int], headers: dict[str, str] | None, contacts: dict[str, Contact], free: dict[str, Any]
): ...
def unions(key: int | str, when: date | datetime | None, pet: Pet, either: Cat | list[Dog], amount: int | float): ...
def twice(sender: Contact, receiver: Contact, copies: list[Contact]): ...
def constraints(
    age: Annotated[int, Field(ge=0, le=150)],
    code: Annotated[str, Field(min_length=2, max_length=8, pattern="^[A-Z]+$")],
    share: Annotated[float, Field(gt=0, lt=1, multiple_of=0.05)],
    ids: Annotated[list[UUID], Field(min_length=1, max_length=20)],
): ...
def tuples(point: Point, pair: tuple[int, str], box: tuple[Point, Point], tail: tuple[int, ...] = ()): ...
def recursive(tree: Tree, note: str = ""): ...
def coded(
    by_colour: dict[Colour, int], payload: Json[dict[str, int]], token: SecretStr, raw: bytes, price: Decimal
): ...


# Not here: `Any`, a bare `list` and an enum of mixed types, where typed branches cost bytes and are worth them (Claude
# Code sends text where no type stands, claude-code#82652, 2026-08-15); and a recursive model used twice, where FastMCP
# keeps the `$ref` that Copilot CLI does not resolve (copilot-cli#1876, 2026-03-06).
@pytest.mark.parametrize(
    "function",
    [
        scalars,
        no_arguments,
        one_string,
        optionals,
        required_nullable,
        lists,
        nested,
        described_twice,
        enums,
        dicts,
        unions,
        twice,
        constraints,
        tuples,
        recursive,
        coded,
    ],
    ids=lambda function: function.__name__,
)
def test_no_more_bytes_than_fastmcp_publishes(function: Any):
    async def listed() -> Any:
        host = FastMCP("host")
        host.tool(function)
        async with Client(host) as client:
            return (await client.list_tools())[0].input_schema

    made = portable(exact(function))
    assert_portable(made)
    assert len(json.dumps(made)) <= len(json.dumps(asyncio.run(listed())))


# --- every schema ---

KEYWORDS = {
    "string": {"minLength", "maxLength", "pattern", "format", "contentMediaType", "enum"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format", "enum"},
    "boolean": {"enum"},
    "object": {"properties", "required", "additionalProperties", "minProperties"},
    "array": {"items", "minItems", "maxItems", "uniqueItems"},
}
KEYWORDS["integer"] = KEYWORDS["number"]


def assert_portable(node: Any, path: str = "$", *, branch: bool = False) -> None:
    """The rules, as each client needs them."""
    annotations = {"description", "default"}
    if "anyOf" in node and path != "$" and not branch:
        assert node.keys() <= annotations | {"anyOf"}, path
        assert len({json.dumps(option, sort_keys=True) for option in node["anyOf"]}) == len(node["anyOf"]) > 1, path
        for index, option in enumerate(node["anyOf"]):
            assert_portable(option, f"{path}|{index}", branch=True)
        return
    assert node.keys() <= annotations | {"type"} | KEYWORDS[node["type"]], path
    assert node.get("default", "") is not None, path
    assert node.get("description", "-"), path
    assert all(jsonschema_rs.is_valid({"type": node["type"]}, value) for value in node.get("enum", [])), path
    assert node.get("enum") != [], path
    if node["type"] == "array":
        assert_portable(node["items"], f"{path}[]")
    if node["type"] == "object":
        assert ("properties" in node) == (path == "$" or bool(node.get("properties"))), path
        required = node.get("required", ["-"])
        assert required, path
        assert len(set(required)) == len(required), path
        assert set(node.get("required", [])) <= set(node.get("properties", {})), path
        for name, child in node.get("properties", {}).items():
            assert_portable(child, f"{path}.{name}")
        if "additionalProperties" in node:
            assert_portable(node["additionalProperties"], f"{path}.*")


NAMES = ["a", "b", "title", "$ref", "properties", "items", "default", "type"]
TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]
Strategy = st.SearchStrategy[Any]
names = st.sampled_from(NAMES)
some_names = st.lists(names, min_size=1, max_size=2, unique=True)
values = st.sampled_from(["", "a", "bb", 0, 1, 1.0, 2.5, -3, True, False, None, [], [1], {"a": 1}])
small = st.integers(0, 3)


def optional(**keywords: Strategy) -> Strategy:
    return st.fixed_dictionaries({}, optional=keywords)


def joined(*parts: Strategy) -> Strategy:
    return st.tuples(*parts).map(lambda dicts: {key: value for each in dicts for key, value in each.items()})


def of_type(kind: str, **keywords: Strategy) -> Strategy:
    return joined(st.just({"type": kind}), optional(**keywords), annotated)


annotated = optional(title=st.just("T"), description=st.sampled_from(["text", "other"]), default=values)
bounds = {
    "minimum": small,
    "maximum": small,
    "exclusiveMinimum": st.integers(-3, 1),
    "multipleOf": st.sampled_from([1, 0.5]),
}
leaves = st.one_of(
    st.booleans(),
    annotated,
    of_type("string", minLength=small, maxLength=small, pattern=st.sampled_from(["^a", "b"]), format=st.just("date")),
    of_type("integer", **bounds),
    of_type("number", **bounds),
    optional(**bounds, minLength=small, nullable=st.just(True)),
    st.sampled_from(TYPES).map(lambda kind: {"type": kind}),
    st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True).map(lambda kinds: {"type": kinds}),
    joined(st.lists(values, min_size=1, max_size=4).map(lambda v: {"enum": v}), optional(type=st.sampled_from(TYPES))),
    values.map(lambda value: {"const": value}),
    values.map(lambda value: {"not": {"const": value}}),
)


def objects(children: Strategy) -> Strategy:
    """Typed and explicit on further properties: where a schema is silent, the law of the boundary is stricter."""
    fixed = {
        "properties": st.dictionaries(names, children, max_size=3),
        "additionalProperties": st.one_of(st.booleans(), children),
    }
    more = of_type(
        "object",
        required=some_names,
        minProperties=small,
        patternProperties=st.dictionaries(st.sampled_from(["^a", "t"]), children, max_size=2),
        propertyNames=st.sampled_from([{"pattern": "^."}, {"enum": NAMES}]),
        dependentRequired=st.just({"a": ["b"]}),
    )
    return joined(st.fixed_dictionaries(fixed), more)


def arrays(children: Strategy) -> Strategy:
    prefix = st.lists(children, min_size=1, max_size=3)
    return of_type(
        "array",
        items=children,
        prefixItems=prefix,
        minItems=small,
        maxItems=small,
        uniqueItems=st.booleans(),
        contains=children,
    )


def combined(parts: Strategy) -> Strategy:
    options = st.lists(parts, min_size=1, max_size=3)
    return st.one_of(
        options.map(lambda each: {"anyOf": each}),
        options.map(lambda each: {"oneOf": each}),
        options.map(lambda each: {"allOf": each}),
        st.fixed_dictionaries({"if": parts}, optional={"then": parts, "else": parts}),
        parts.map(lambda each: {"dependentSchemas": {"a": each}}),
    )


# A reference that may lead back stands only below a property or an item; in a combinator it would be a loop.
references = st.sampled_from(["#/$defs/Object", "#/$defs/Array", "#/properties/a", "#"]).map(lambda ref: {"$ref": ref})
plain_references = joined(
    st.sampled_from(["#/$defs/Plain", "#/definitions/Plain"]).map(lambda ref: {"$ref": ref}), annotated
)


def grown(inner: Strategy) -> Strategy:
    children = st.one_of(inner, references, plain_references)
    containers = st.one_of(objects(children), arrays(children))
    parts = st.one_of(inner, plain_references, containers)
    return st.one_of(containers, combined(parts), joined(containers, combined(parts)))


plain = st.recursive(leaves, lambda inner: st.one_of(objects(inner), arrays(inner), combined(inner)), max_leaves=4)
schemas = st.one_of(grown(leaves), st.recursive(leaves, grown, max_leaves=8), references)
alternatives = st.one_of(plain, objects(schemas), some_names.map(lambda required: {"required": required}))


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    closed = {"type": "object", "additionalProperties": False, "required": ["a"]}
    narrow = schemas.map(lambda schema: {**closed, "properties": {"a": schema}})
    root = draw(st.one_of(narrow, objects(schemas), joined(objects(schemas), combined(alternatives))))
    root["properties"].setdefault("a", {"type": "integer"})
    root["$defs"] = {"Plain": draw(plain), "Object": draw(objects(schemas)), "Array": draw(arrays(schemas))}
    return {**root, "definitions": {"Plain": draw(plain)}}


class Guesser:
    """Makes values that are likely to fit a schema; the validator has the last word."""

    def __init__(self, root: Any, seed: int):
        self.root = root
        self.random = random.Random(seed)

    def anything(self, fuel: int = 2) -> Any:
        nested = (
            []
            if fuel == 0
            else [
                {self.random.choice(NAMES): self.anything(fuel - 1) for _ in range(self.random.randrange(3))},
                [self.anything(fuel - 1) for _ in range(self.random.randrange(3))],
            ]
        )
        return self.random.choice(["", "a", "bb", 0, 1, -3, 2.5, 1.0, True, False, {}, *nested])

    def fitting(self, schema: Any, fuel: int = 6) -> Any:
        if not isinstance(schema, dict) or not schema or fuel < 0 or self.random.random() < 0.03:
            return self.anything()
        parts = [self.fitting(part, fuel - 1) for part in self.parts(schema)]
        made = [*([schema["const"]] if "const" in schema else schema.get("enum", [])), *parts, self.own(schema, fuel)]
        dicts = [each for each in made if isinstance(each, dict)]
        if len(dicts) > 1 and self.random.random() < 0.8:
            return {key: value for each in dicts for key, value in each.items()}
        return self.random.choice(made)

    def parts(self, schema: Any) -> list[Any]:
        found = [
            *schema.get("allOf", []),
            *(self.random.choice(schema[key]) for key in ("anyOf", "oneOf") if key in schema),
        ]
        if "if" in schema:
            found += (
                [schema["if"], schema.get("then", True)] if self.random.random() < 0.5 else [schema.get("else", True)]
            )
        if "$ref" in schema:
            target = self.root
            for step in schema["$ref"].split("/")[1:]:
                target = target[step]
            found.append(target)
        return found

    def own(self, schema: Any, fuel: int) -> Any:
        kind = self.random.choice(schema["type"]) if isinstance(schema.get("type"), list) else schema.get("type")
        if kind == "object":
            return self.object(schema, fuel)
        if kind == "array":
            least = schema.get("minItems", 0)
            length = self.random.randint(least, max(least, schema.get("maxItems", 3)))
            items = [*schema.get("prefixItems", []), *[schema.get("items", True)] * length][:length]
            return [self.fitting(item, fuel - 1) for item in items]
        scalars = {
            "string": ["", "a", "bb", "ab"],
            "integer": [0, 1, 2, 1.0],
            "number": [0, 1, 0.5, 2.5],
            "null": [None],
        }
        return self.random.choice(scalars[kind]) if kind in scalars else self.anything()

    def object(self, schema: Any, fuel: int) -> Any:
        rules = dict(schema.get("properties", {}))
        rest = schema.get("additionalProperties", True)
        for pattern, rule in schema.get("patternProperties", {}).items():
            rules.update({name: rule for name in NAMES if jsonschema_rs.is_valid({"pattern": pattern}, name)})
        required = schema.get("required", [])
        chosen = [*required, *(name for name in rules if self.random.random() < 0.6)]
        if rest is not False and self.random.random() < 0.3:
            chosen.append(self.random.choice(NAMES))
        return {name: self.fitting(rules.get(name, rest), fuel - 1) for name in chosen}


def has_null(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(has_null, inner))


def without_the_limit(schema: Any) -> Any:
    """`ANY_ITEMS` taken as what it stands for: the one place where portable has to end before exact does."""
    if isinstance(schema, list):
        return [without_the_limit(item) for item in schema]
    if not isinstance(schema, dict) or schema == ANY_ITEMS:
        return True if schema == ANY_ITEMS else schema
    return {key: without_the_limit(value) for key, value in schema.items()}


@settings(
    derandomize=True,  # the same examples on every run
    database=None,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(documents(), st.integers(0, 2**32))
def test_every_schema_becomes_portable_and_admits_what_it_admitted(schema: dict[str, Any], seed: int):
    before = json.dumps(schema)
    made = portable(schema)
    assert json.dumps(schema) == before
    assert json.dumps(portable(json.loads(before))) == json.dumps(made)
    note(json.dumps(made))
    assert made["type"] == "object"
    assert_portable(made)
    jsonschema_rs.meta.validate(made)
    assert portable(made) == made
    admits = jsonschema_rs.validator_for(schema)
    still_admits = jsonschema_rs.validator_for(without_the_limit(made))
    guesser = Guesser(schema, seed)
    for call in (guesser.fitting(schema) for _ in range(20)):
        if isinstance(call, dict) and not has_null(call) and admits.is_valid(call):
            still_admits.validate(call)


def test_an_unknown_profile_is_refused_with_the_known_ones():
    contract = compile_json_schema({"type": "object"}, name="tool")
    with pytest.raises(ValueError, match="'portable' and 'exact'"):
        input_schema(contract, "strict")  # pyright: ignore[reportArgumentType]
