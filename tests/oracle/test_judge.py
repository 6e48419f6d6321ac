"""The oracle's verdicts: decided by values, and no lost constraint is overlooked."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ORACLE = Path(__file__).resolve().parents[2] / "oracle"


def loaded(name: str, folder: Path = ORACLE) -> ModuleType:
    """Import a module of the oracle: its programs are not a package."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


loaded("witnesses")
judge = loaded("judge")
gemini = loaded("gemini", ORACLE / "converters")


def tool(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("keyword", "node", "value"),
    [
        ("type", {"type": "string"}, "tea"),
        ("enum", {"type": "string", "enum": ["tea"]}, "tea"),
        ("enum", {"type": "integer", "enum": [1, 2]}, 1),
        ("const", {"type": "string", "const": "tea"}, "tea"),
        ("pattern", {"type": "string", "pattern": "^[a-z]+$"}, "tea"),
        ("pattern", {"type": "string", "pattern": "^https?://"}, "https://example.org"),
        ("minLength", {"type": "string", "minLength": 1}, "tea"),
        ("minLength", {"type": "string", "minLength": 2}, "tea"),
        ("maxLength", {"type": "string", "maxLength": 8192}, "tea"),
        ("minimum", {"type": "integer", "minimum": 0}, 5),
        ("maximum", {"type": "integer", "maximum": 1_000_000_000}, 5),
        ("exclusiveMinimum", {"type": "number", "exclusiveMinimum": 0}, 0.5),
        ("exclusiveMaximum", {"type": "number", "exclusiveMaximum": 1}, 0.5),
        ("multipleOf", {"type": "integer", "multipleOf": 5}, 5),
        ("items", {"type": "array", "items": {"type": "integer"}}, [1]),
        ("minItems", {"type": "array", "minItems": 1}, [1]),
        ("minItems", {"type": "array", "minItems": 2}, [1, 2]),
        ("maxItems", {"type": "array", "maxItems": 100}, [1]),
        ("uniqueItems", {"type": "array", "uniqueItems": True}, [1]),
        (
            "prefixItems",
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            [1, "a"],
        ),
        ("required", {"type": "object", "required": ["a"]}, {"a": 1}),
        ("properties", {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}),
        (
            "additionalProperties",
            {"type": "object", "additionalProperties": {"type": "integer"}},
            {"a": 1},
        ),
        (
            "additionalProperties",
            {"type": "object", "additionalProperties": False, "properties": {"a": {}}},
            {"a": 1},
        ),
        ("propertyNames", {"type": "object", "propertyNames": {"enum": ["a"]}}, {"a": 1}),
        ("minProperties", {"type": "object", "minProperties": 1}, {"a": 1}),
        ("maxProperties", {"type": "object", "maxProperties": 10}, {"a": 1}),
        ("anyOf", {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, 1),
    ],
)
@pytest.mark.parametrize("depth", [0, 2])
def test_a_keyword_that_is_dropped_is_a_constraint_lost(
    keyword: str, node: Any, value: Any, depth: int
):
    without = {key: each for key, each in node.items() if key != keyword}
    for _ in range(depth):
        node, without = ({"type": "array", "items": tool(inner=each)} for each in (node, without))
        value = [{"inner": value}]
    published = judge.published(tool(p=node), [{"p": value}], [])
    assert list(judge.judge(published, {"made": tool(p=without)})) == ["loses"]
    assert judge.judge(published, {"made": tool(p=node)}) == {}


PUBLISHED = {
    "type": "object",
    "properties": {
        "p": {"type": "string", "maxLength": 3},
        "q": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["p"],
}


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        pytest.param(
            {"$defs": {"P": {"anyOf": [{"type": "string", "maxLength": 3, "title": "P"}]}}}
            | {**PUBLISHED, "properties": {**PUBLISHED["properties"], "p": {"$ref": "#/$defs/P"}}},
            {},
            id="other-words-for-the-same",
        ),
        pytest.param(
            {**PUBLISHED, "required": ["p", "q"]},
            {"rejects": {"p": "tea"}},
            id="an-optional-field-made-required",
        ),
        pytest.param(
            {**PUBLISHED, "properties": {"p": {"type": "string", "description": "maxLength: 3"}}},
            {"loses": {"p": "long"}},
            id="a-constraint-put-in-words",
        ),
        pytest.param(
            tool(p={"type": "string"}, q={"type": "object", "additionalProperties": False}),
            {"loses": {"p": "long", "q": {}}, "rejects": {"p": "tea"}},
            id="both",
        ),
    ],
)
def test_an_outcome_comes_with_the_value_that_shows_it(made: Any, outcome: Any):
    published = judge.published(
        PUBLISHED, [{"p": "tea"}, {"p": "", "q": {"a": 1}}], [{"p": "long"}, {"p": "long", "q": {}}]
    )
    assert judge.judge(published, {"made": made}) == outcome


def test_a_converter_that_raises_is_shown_by_its_error():
    published = judge.published(PUBLISHED, [{"p": "tea"}], [])
    assert judge.judge(published, {"raises": "ValueError: no"}) == {"raises": "ValueError: no"}


def test_correct_call_excluded_by_the_published_schema_is_not_counted():
    published = judge.published(tool(p={"type": "string"}), [{"p": "tea"}, {"p": None}], [])
    assert published.right == [{"p": "tea"}]
    assert judge.judge(published, {"made": tool(p={"type": "string"})}) == {}


@pytest.mark.parametrize(
    "arrived", [[{"p": 1}], [{}], []], ids=["another-type", "swallowed", "not-at-all"]
)
def test_a_call_that_arrives_changed_is_rejected(arrived: Any):
    published = judge.published(tool(p={"type": "boolean"}), [{"p": True}], [])
    assert judge.judge(published, {"made": arrived}) == {"rejects": arrived}
    assert judge.judge(published, {"made": [{"p": True}]}) == {}


def test_the_schema_language_of_gemini_is_read_as_json_schema():
    spoken = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "enum": ["A"], "default": {"type": "A"}},
            "nullable": {"type": "INTEGER", "nullable": True},
            "default": {"anyOf": [{"type": "ARRAY", "items": {"type": "NUMBER"}}]},
        },
    }
    assert gemini.as_json_schema(spoken) == {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["A"], "default": {"type": "A"}},
            "nullable": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "default": {"anyOf": [{"type": "array", "items": {"type": "number"}}]},
        },
    }
