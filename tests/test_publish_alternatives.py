"""Alternatives at the root of a schema are published as one object."""

from typing import Any

import pytest
from published_schemas import ANY, ANY_OR_NULL, INTEGER, NUMBER, STRING, published

from toolbooth.publish import portable

CIRCLE = {
    "properties": {"kind": {"const": "circle"}, "radius": NUMBER},
    "required": ["kind", "radius"],
}
SQUARE = {
    "properties": {"kind": {"const": "square"}, "side": NUMBER, "tilt": NUMBER},
    "required": ["kind", "side"],
}


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
            {
                "properties": {"p": STRING, "q": STRING},
                "required": ["p"],
                "anyOf": [{"required": ["p"]}, {"required": ["q"]}],
            },
            {
                "type": "object",
                "properties": {"p": STRING, "q": STRING},
                "required": ["p"],
            },
            id="one-alternative-requires-nothing-more",
        ),
        pytest.param(
            {
                "properties": {"p": STRING},
                "anyOf": [{"required": ["p"]}, {"required": ["q"]}, {"required": ["q", "p"]}],
            },
            {
                "type": "object",
                "properties": {"p": STRING, "q": ANY},
                "description": "combinations: (p) or (p?, q)",
            },
            id="required-but-not-listed",
        ),
        pytest.param(
            {"properties": {"a": STRING, "b": STRING}, "dependentRequired": {"a": ["b"]}},
            {
                "type": "object",
                "properties": {"a": STRING, "b": STRING},
                "description": "a needs b",
            },
            id="keys-that-others-need",
        ),
        pytest.param(
            {"properties": {"a": STRING}, "dependentRequired": {"a": ["b"]}},
            {
                "type": "object",
                "properties": {"a": STRING, "b": ANY},
                "description": "a needs b (combinations: (a, b) or (a?))",
            },
            id="keys-that-others-need-but-nothing-lists",
        ),
        pytest.param(
            {"properties": {"a": STRING}, "anyOf": [{"required": ["a"]}, {"required": ["a"]}]},
            {"type": "object", "properties": {"a": STRING}, "required": ["a"]},
            id="the-same-twice",
        ),
        pytest.param(
            {
                "anyOf": [
                    {"properties": {"a": STRING}},
                    {"properties": {"a": STRING}, "minProperties": 1},
                ]
            },
            {"type": "object", "properties": {"a": STRING}},
            id="no-combinations-to-tell",
        ),
        pytest.param(
            {
                "allOf": [
                    {"properties": {"a": STRING}, "required": ["a"]},
                    {"properties": {"b": STRING}},
                ]
            },
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
            {
                "properties": {"a": STRING},
                "dependentSchemas": {"a": {"properties": {"b": STRING}, "required": ["b"]}},
            },
            {
                "type": "object",
                "properties": {"a": STRING, "b": STRING},
                "description": "combinations: (a, b) or (a?)",
            },
            id="dependent-schemas",
        ),
        pytest.param(
            {
                "properties": {"a": STRING},
                "required": ["a"],
                "dependencies": {"a": {"properties": {"b": STRING}}},
            },
            {
                "type": "object",
                "properties": {"a": STRING, "b": STRING},
                "required": ["a"],
                "description": "combinations: (b?) or none of these",
            },
            id="draft-07-dependencies",
        ),
        pytest.param(
            {
                "anyOf": [
                    {"properties": {"a": INTEGER}},
                    {"type": "object", "additionalProperties": True},
                ]
            },
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
        pytest.param(
            {"not": {}}, {"type": "object", "properties": {}}, id="a-root-that-nothing-fits"
        ),
        pytest.param({}, {"type": "object", "properties": {}}, id="no-arguments"),
    ],
)
def test_the_root_is_one_object(schema: Any, expected: Any):
    assert portable({"type": "object", **schema}) == expected


def test_long_combinations_are_clipped():
    options = [{"properties": {f"{'long' * 9}{i}": STRING}} for i in range(20)]
    assert len(portable({"type": "object", "anyOf": options})["description"]) == 401


def test_nested_alternatives_are_kept_unless_they_refine_one_object():
    assert published({"oneOf": [CIRCLE, SQUARE]})["anyOf"][0] == {
        "type": "object",
        "properties": {"kind": {**STRING, "enum": ["circle"]}, "radius": NUMBER},
        "required": ["kind", "radius"],
    }
    refined = {"type": ["object", "string"], "properties": {"a": STRING, "b": STRING}}
    assert published({**refined, "anyOf": [{"required": ["a"]}, {"required": ["b"]}, STRING]})[
        "anyOf"
    ] == [
        {
            "type": "object",
            "properties": {"a": STRING, "b": STRING},
            "description": "combinations: (a, b?) or (a?, b)",
        },
        STRING,
    ]
    assert (
        published({"type": "string", "if": {"minLength": 3}, "then": {"pattern": "^a"}}) == STRING
    )


def test_empty_part_of_a_schema_changes_nothing():
    assert published({**STRING, "allOf": [True, {}], "anyOf": [{}]}) == STRING
