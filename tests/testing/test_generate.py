"""Calls generated from schemas: random ones, all of which the schema accepts, and one that is the
same each time.
"""

import json
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import BaseModel, Field, model_validator

from toolbooth import (
    JsonText,
    Unpack,
    compile_function,
    compile_json_schema,
    compile_model,
    input_schema,
)
from toolbooth.testing.shapes.examples import NoExample, example_arguments
from toolbooth.testing.shapes.generate import arguments_for

SAME = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)

NODE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
    "required": ["v"],
}

SCHEMAS: dict[str, Any] = {
    "nothing": {},
    "anything": True,
    "text": {"type": "string"},
    "short text": {"type": "string", "minLength": 2, "maxLength": 4},
    "pattern": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{3}$"},
    "pattern of another dialect": {"type": "string", "pattern": r"^\p{L}*$"},
    "date": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"},
    "address": {"type": "string", "format": "email", "maxLength": 40},
    "unknown format": {"type": "string", "format": "colour"},
    "JSON in text": {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"type": "integer"},
    },
    "integer": {"type": "integer"},
    "bounded integer": {"type": "integer", "minimum": 3, "exclusiveMaximum": 5},
    "steps": {"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 60},
    "number": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
    "half steps": {"type": "number", "multipleOf": 0.5},
    "bounds without a type": {"minimum": 3},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "two types": {"type": ["integer", "null"]},
    "nullable": {"type": "string", "nullable": True},
    "enum": {"enum": ["a", 1, None]},
    "const": {"const": {"a": 1}},
    "typed enum": {"type": "string", "enum": ["a", 1]},
    "list": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
    "set": {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True},
    "tuple": {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "minItems": 2,
        "maxItems": 2,
    },
    "tuple and more": {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    "empty list": {"type": "array", "items": False},
    "containing": {"type": "array", "items": {"type": "integer"}, "contains": {"const": 1}},
    "table": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
    "table by name": {
        "type": "object",
        "propertyNames": {"pattern": "^[a-z]+$"},
        "additionalProperties": True,
    },
    "table by pattern": {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}},
    "closed": {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "additionalProperties": False,
    },
    "union": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
    "one of": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]},
    "all of": {
        "allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"required": ["a"]}]
    },
    "all of the same": {
        "allOf": [{"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"type": "integer"}}}]
    },
    "base and union": {
        "type": "object",
        "required": ["a"],
        "anyOf": [{"properties": {"a": {"type": "integer"}}}],
    },
    "reference": {"$ref": "#/$defs/node"},
    "not": {"type": "integer", "not": {"const": 0}},
    "condition": {"type": "integer", "if": {"minimum": 5}, "then": {"multipleOf": 2}},
}


def holding(schema: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"it": schema},
        "required": ["it"],
        "$defs": {"node": NODE},
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_generated_arguments_are_valid_for_the_schema(name: str):
    schema = holding(SCHEMAS[name])
    admits = jsonschema_rs.validator_for(schema).is_valid
    made: list[str] = []

    @SAME
    @given(arguments_for(schema))
    def check(arguments: dict[str, Any]) -> None:
        assert admits(arguments)
        assert arguments.keys() == {"it"}
        made.append(json.dumps(arguments))

    check()
    assert made


def some(schema: dict[str, Any], **how: Any) -> list[Any]:
    """Return the generated values for the key `it`."""
    found: list[Any] = []

    @settings(SAME, max_examples=100)
    @given(arguments_for(holding(schema), **how))
    def collect(arguments: dict[str, Any]) -> None:
        found.append(arguments["it"])

    collect()
    return found


def test_generated_text_includes_json_like_values():
    assert {"", "5", "null", "true", "[1]", '{"a": 1}'} <= set(some({"type": "string"}))


def test_generated_integers_include_floats_without_fraction():
    assert {type(each) for each in some({"type": "integer"})} == {int, float}


def test_generated_object_has_no_undeclared_keys():
    assert {
        key
        for each in some({"type": "object", "properties": {"a": {"type": "null"}}})
        for key in each
    } == {"a"}
    assert [each for each in some({"type": "object"}) if each]
    assert some({"type": "object", "properties": {}, "additionalProperties": False}) == [{}] * 1


def test_generation_from_a_recursive_schema_ends():
    assert max(json.dumps(each).count("next") for each in some({"$ref": "#/$defs/node"})) in range(
        2, 9
    )


def test_every_field_is_generated_if_all_are_requested():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": True}},
    }
    assert {len(each) for each in some(schema, whole=True)} == {2}


def test_unsatisfiable_schema_generates_nothing():
    assert arguments_for(holding({"type": "integer", "minimum": 5, "maximum": 1})).is_empty
    assert arguments_for(holding({"type": "string", "enum": [1]})).is_empty
    assert arguments_for(holding(False)).is_empty


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    sku: Annotated[str, Field(pattern="^[A-Z]{2}[0-9]$")]
    quantity: int = Field(1, ge=1, le=9)
    price: Annotated[Decimal, Field(gt=0, decimal_places=2)]


class Order(BaseModel):
    customer: str = Field(examples=["Ann"])
    lines: list[Line] = Field(min_length=2)
    colour: Colour = Colour.RED
    gift: bool = True
    due: date | None = None
    sizes: dict[str, int] = {}
    parent: "Order | None" = None
    notes: Annotated[dict[str, str], JsonText(example={"door": "left"})] = {}
    kind: Literal["order"] = "order"
    ratio: float = Field(0.5, multiple_of=0.25)


@pytest.mark.parametrize("profile", ["exact", "portable"])
def test_both_published_forms_of_a_model_can_be_made(profile: Any):
    schema = input_schema(compile_model(Order), profile)
    admits = jsonschema_rs.validator_for(schema).is_valid

    @SAME
    @given(arguments_for(schema))
    def check(arguments: dict[str, Any]) -> None:
        assert admits(arguments)

    check()


def test_the_example_has_every_field_and_differs_from_the_defaults():
    assert example_arguments(compile_model(Order)) == snapshot(
        {
            "customer": "Ann",
            "lines": [
                {"sku": "AA0", "quantity": 2, "price": 2.5},
                {"sku": "AA0", "quantity": 2, "price": 2.5},
            ],
            "colour": "blue",
            "gift": False,
            "due": "2026-11-15",
            "sizes": {"key": 2},
            "parent": {
                "customer": "Ann",
                "lines": [
                    {"sku": "AA0", "quantity": 2, "price": 2.5},
                    {"sku": "AA0", "quantity": 2, "price": 2.5},
                ],
                "colour": "blue",
                "gift": False,
                "due": "2026-11-15",
                "sizes": {"key": 2},
                "notes": '{"door": "left"}',
                "kind": "order",
                "ratio": 2.5,
            },
            "notes": '{"door": "left"}',
            "kind": "order",
            "ratio": 2.5,
        }
    )


def test_example_arguments_are_the_same_each_time():
    class Odd(BaseModel):
        size: int

        @model_validator(mode="after")
        def is_odd(self) -> "Odd":
            if self.size % 2 == 0:
                raise ValueError("even")
            return self

    contract = compile_model(Odd)
    first = example_arguments(contract)
    assert first["size"] % 2 == 1
    assert example_arguments(contract) == first


def test_an_example_in_the_schema_is_used():
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "examples": [{"n": "x"}, {"n": 5}],
    }
    assert example_arguments(compile_json_schema(schema)) == {"n": 5}


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"type": "integer", "maximum": -5}, -5),
        ({"type": "integer", "exclusiveMinimum": 9}, 10),
        ({"type": "integer", "multipleOf": 5}, 5),
        ({"type": "number", "exclusiveMaximum": 1}, 0),
        ({"type": "integer", "default": 7}, 8),
        ({"type": "string", "minLength": 6, "maxLength": 7}, "textxx"),
        ({"type": ["null", "boolean"], "default": True}, False),
        ({"enum": ["a", "b"], "default": "a"}, "b"),
        ({"type": "null"}, None),
        ({"type": "array", "prefixItems": [{"type": "boolean"}]}, [True]),
        (
            {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"type": "array"},
            },
            '["text"]',
        ),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"key": 2}),
        ({"allOf": [{"type": "object", "properties": {"a": {"const": 1}}}]}, {"a": 1}),
    ],
    ids=lambda value: json.dumps(value),
)
def test_example_value_is_built_from_the_schema(schema: dict[str, Any], made: Any):
    assert example_arguments(compile_json_schema(holding(schema))) == {"it": made}


def test_unsatisfiable_model_raises_no_example_with_a_remedy():
    class Never(BaseModel):
        name: str

        @model_validator(mode="after")
        def refuses(self) -> "Never":
            raise ValueError("only known names")

    def call(request: Annotated[Never, Unpack()]) -> None: ...

    with pytest.raises(NoExample) as caught:
        example_arguments(compile_function(call))
    assert str(caught.value) == (
        "call: no correct call could be made from the schema; give one: examples={'call': {...}} "
        "(refused of the last one made: $: only known names)"
    )


def test_example_of_an_unsatisfiable_schema_raises():
    with pytest.raises(NoExample, match="must be at"):
        example_arguments(
            compile_json_schema(holding({"type": "integer", "minimum": 5, "maximum": 1}))
        )


def test_random_calls_can_be_searched_for_a_counterexample():
    found = find(
        arguments_for(holding({"type": "integer"})),
        lambda arguments: arguments["it"] > 41,
        settings=SAME,
    )
    assert found == {"it": 42}
    assert isinstance(arguments_for(holding({"type": "integer"})), st.SearchStrategy)
