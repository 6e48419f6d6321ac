"""The published portable schema, one construct at a time."""

import json
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from published_schemas import (
    ANY,
    ANY_OR_NULL,
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    published,
)

from toolbooth.publish import input_schema, portable

# --- profiles ---


def test_exact_is_a_copy_and_portable_is_the_default():
    frozen = MappingProxyType(
        {"type": "object", "properties": MappingProxyType({"a": {"type": ["string", "null"]}})}
    )
    contract: Any = SimpleNamespace(schema=frozen, listing_schema=None)
    exact = input_schema(contract, "exact")
    assert exact == {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    assert exact["properties"]["a"] is not frozen["properties"]["a"]
    assert input_schema(contract) == input_schema(contract, profile="portable")
    assert input_schema(contract) == {"type": "object", "properties": {"a": STRING}}


def test_listing_schema_is_published_instead_of_the_exact_schema():
    exact = {
        "type": "object",
        "properties": {"a": STRING, "both": {"type": "object", "properties": {"a": STRING}}},
    }
    brief = {"type": "object", "properties": {"a": STRING, "both": {"type": "object"}}}
    contract: Any = SimpleNamespace(schema=exact, listing_schema=brief)
    assert input_schema(contract) == brief
    assert input_schema(contract, "exact") == exact


# --- one construct each ---


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"type": "string", "title": "T"}, STRING, id="title-dropped"),
        pytest.param(
            {"type": ["string", "null"], "default": None}, STRING, id="nullable-optional-is-plain"
        ),
        pytest.param(
            {"type": "string", "default": ""},
            {"type": "string", "default": ""},
            id="empty-default-kept",
        ),
        pytest.param({"type": "string", "description": ""}, STRING, id="empty-description-dropped"),
        pytest.param(
            {"type": ["integer", "string"]}, {"anyOf": [INTEGER, STRING]}, id="type-list-is-anyOf"
        ),
        pytest.param({"type": "unheard"}, ANY, id="unknown-type-is-anything"),
        pytest.param(
            {"anyOf": [INTEGER, NUMBER, STRING]},
            {"anyOf": [NUMBER, STRING]},
            id="integer-within-number",
        ),
        pytest.param(
            {"anyOf": [STRING, {"anyOf": [STRING, INTEGER]}]},
            {"anyOf": [STRING, INTEGER]},
            id="flattened",
        ),
        pytest.param({"oneOf": [STRING]}, STRING, id="single-branch-folded"),
        pytest.param({"anyOf": []}, ANY, id="empty-anyOf-is-anything"),
        pytest.param(
            {
                "description": "Where.",
                "anyOf": [{**STRING, "description": "A city."}, {"type": "null"}],
            },
            {**STRING, "description": "Where. (A city.)"},
            id="folded-branch-keeps-both-texts",
        ),
        pytest.param(
            {
                "anyOf": [
                    {"description": "Two ways", "anyOf": [STRING, {**INTEGER, "description": "n"}]},
                    BOOLEAN,
                ]
            },
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
        pytest.param(
            {"type": "integer", "enum": [1, 2.5, "x"]},
            {**INTEGER, "enum": [1]},
            id="enum-within-its-type",
        ),
        pytest.param(
            {"type": "number", "enum": [1, 2]},
            {**NUMBER, "enum": [1, 2]},
            id="declared-number-stays",
        ),
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
            {"anyOf": [{**STRING, "description": "YYYY-MM-DD"}, *ANY["anyOf"][1:]]},
            id="untyped-format-is-the-string's",
        ),
        pytest.param(
            {"type": "string", "format": "uuid", "description": "Whose"},
            {**STRING, "description": "Whose (UUID)"},
            id="format-in-words",
        ),
        pytest.param(
            {"type": "string", "format": "hostname"},
            {**STRING, "description": "hostname"},
            id="another-format-by-its-name",
        ),
        pytest.param(
            {"type": "string", "format": "date-time"},
            {**STRING, "format": "date-time"},
            id="the-format-that-every-client-takes",
        ),
        pytest.param(
            {"type": "integer", "format": "int64"},
            {**INTEGER, "format": "int64"},
            id="format-of-a-number",
        ),
        pytest.param({"type": "array"}, {"type": "array", "items": ANY_OR_NULL}, id="items-always"),
        pytest.param(
            {"type": "array", "items": True},
            {"type": "array", "items": ANY_OR_NULL},
            id="items-true",
        ),
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
        pytest.param(
            {"type": "object", "properties": {}},
            {"type": "object"},
            id="no-empty-properties-below-the-root",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": True},
            {"type": "object", "description": "any keys"},
            id="open-object-in-words",
        ),
        pytest.param(
            {
                "type": "object",
                "additionalProperties": {},
                "properties": {"a": STRING},
                "description": "d",
            },
            {"type": "object", "properties": {"a": STRING}, "description": "d (more keys allowed)"},
            id="extra-keys-in-words",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
            {"type": "object", "additionalProperties": {**INTEGER, "description": "or null"}},
            id="dict-values-stay",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"not": {}}},
            {"type": "object"},
            id="never-values-are-closed",
        ),
        pytest.param(
            {
                "properties": {"a": STRING, "b": False, "c": {"type": "null"}},
                "required": ["b", "a", "a"],
            },
            {"type": "object", "properties": {"a": STRING}, "required": ["a"]},
            id="never-and-optional-null-are-left-out",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]},
            {
                "type": "object",
                "properties": {"a": {**STRING, "description": "always null"}},
                "required": ["a"],
            },
            id="required-null-is-text-that-says-so",
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"a": {"type": ["string", "null"], "description": "A"}},
                "required": ["a"],
            },
            {
                "type": "object",
                "properties": {"a": {**STRING, "description": "A (or null)"}},
                "required": ["a"],
            },
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
            {
                "type": "object",
                "propertyNames": {"$ref": "#/$defs/Colour"},
                "additionalProperties": INTEGER,
            },
            {"type": "object", "properties": {"red": INTEGER, "blue": INTEGER}},
            id="property-names",
        ),
        pytest.param(
            {
                "type": "object",
                "propertyNames": {"$ref": "#/$defs/Colour"},
                "additionalProperties": True,
            },
            {"type": "object", "properties": {"red": ANY, "blue": ANY}},
            id="property-names-of-any-values",
        ),
        pytest.param(
            {"type": "object", "propertyNames": {"maxLength": 3}, "additionalProperties": INTEGER},
            {
                "type": "object",
                "additionalProperties": INTEGER,
                "description": 'keys: {"maxLength": 3}',
            },
            id="property-names-that-are-no-choices",
        ),
        pytest.param(
            {"type": "object", "propertyNames": True, "properties": {"a": STRING}},
            {"type": "object", "properties": {"a": STRING}},
            id="property-names-that-say-nothing",
        ),
        pytest.param(
            {
                "properties": {"a": STRING, "b": STRING},
                "dependentRequired": {"a": ["b"]},
                "dependencies": {"b": ["a"]},
            },
            {
                "type": "object",
                "properties": {"a": STRING, "b": STRING},
                "description": "a needs b (b needs a)",
            },
            id="dependent-required",
        ),
        pytest.param({"not": True}, None, id="never"),
        pytest.param(
            {**STRING, "not": {"enum": ["a", 1]}},
            {**STRING, "description": "not a or 1"},
            id="not-in-words",
        ),
        pytest.param(
            {**STRING, "not": {"const": "a", "minLength": 2}},
            {**STRING, "description": 'not {"const": "a", "minLength": 2}'},
            id="not-in-words-says-no-more-than-the-schema",
        ),
        pytest.param(
            {**STRING, "not": {"pattern": "x" * 99}}, STRING, id="a-long-not-is-left-to-validation"
        ),
        pytest.param(
            {**STRING, "contentMediaType": "application/json", "contentSchema": {"type": "array"}},
            {**STRING, "contentMediaType": "application/json", "description": "JSON text: array"},
            id="content-schema",
        ),
        pytest.param({**INTEGER, "nullable": True}, INTEGER, id="openapi-nullable"),
        pytest.param(
            {"minimum": 1, "exclusiveMinimum": True, "type": "integer"},
            {**INTEGER, "minimum": 1},
            id="draft-04-bounds",
        ),
        pytest.param(
            {
                **STRING,
                "$comment": "c",
                "writeOnly": True,
                "x-mcp-header": "H",
                "deprecated": True,
                "examples": ["a"],
            },
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
        pytest.param(
            [{"enum": [1, 2.5, "a"]}, INTEGER], {**INTEGER, "enum": [1]}, id="enum-and-type"
        ),
        pytest.param(
            [{"type": "number", "enum": [2.5]}, INTEGER], None, id="enum-left-without-values"
        ),
        pytest.param(
            [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}],
            {**STRING, "enum": ["b"]},
            id="shared-values",
        ),
        pytest.param([{"enum": ["a"]}, {"enum": ["b"]}], None, id="no-shared-value"),
        pytest.param([STRING, INTEGER], None, id="no-shared-type"),
        pytest.param([True, {}], ANY, id="nothing-said"),
        pytest.param(
            [
                {**STRING, "pattern": "^a", "description": "A"},
                {**STRING, "pattern": "b$", "description": "B"},
            ],
            {**STRING, "pattern": "^a", "description": "A (B) (pattern b$)"},
            id="the-second-pattern-in-words",
        ),
        pytest.param(
            [
                {**STRING, "format": "date", "default": "x"},
                {**STRING, "format": "date", "default": "y"},
            ],
            {**STRING, "description": "YYYY-MM-DD", "default": "x"},
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
            [
                {"type": "array", "items": NUMBER},
                {"type": "array", "items": {"minimum": 1}, "uniqueItems": True},
            ],
            {"type": "array", "items": {**NUMBER, "minimum": 1}, "uniqueItems": True},
            id="items",
        ),
        pytest.param(
            [
                {"properties": {"a": STRING, "b": True}, "required": ["a"]},
                {
                    "properties": {"b": INTEGER, "c": STRING},
                    "required": ["b", "a"],
                    "additionalProperties": False,
                },
            ],
            {"type": "object", "properties": {"b": INTEGER, "c": STRING}, "required": ["b"]},
            id="a-closed-part-admits-only-what-it-lists",
        ),
        pytest.param(
            [
                {"properties": {"a": STRING}, "additionalProperties": {"minimum": 0}},
                {
                    "properties": {"b": INTEGER},
                    "additionalProperties": {"type": "integer", "maximum": 9},
                },
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


def test_keywords_as_property_names_are_not_treated_as_keywords():
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
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "title": "T"} for name in names},
    }
    assert portable(schema) == {"type": "object", "properties": dict.fromkeys(names, STRING)}
    nested = {
        "type": "object",
        "properties": {"o": schema, "p": {"$ref": "#/properties/o/properties/$ref"}},
    }
    assert portable(nested)["properties"] == {"o": portable(schema), "p": STRING}


def test_enum_const_and_default_values_are_not_treated_as_schemas():
    value = {"title": "T", "$ref": "#/nowhere", "type": ["string", "null"]}
    schema = {"type": "object", "default": value, "examples": [value], "x-hint": value}
    assert published(schema) == schema


def test_names_and_output_keep_their_order():
    schema = {
        "type": "object",
        "properties": {"z": STRING, "a": STRING, "m": STRING},
        "required": ["m", "z"],
    }
    assert json.dumps(portable(schema)) == json.dumps(schema)
