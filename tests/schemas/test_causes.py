"""How `make schemas` places a schema, and how it finds the reason why a valid instance is refused."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from foreign_tool import ForeignTool


def _sibling(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


suite, causes = map(_sibling, ("suite", "causes"))
as_property = suite.as_property

STRING = {"type": "string"}
CLOSED = "objects are closed by default"
FORMAT = "`format` is asserted"
TYPELESS = "a keyword without `type` is read as that type"


@pytest.mark.parametrize(
    ("schema", "arguments", "cause"),
    [
        pytest.param({"properties": {"a": STRING}}, {"b": 1}, CLOSED, id="closed"),
        pytest.param({"type": "object"}, {"b": 1}, CLOSED, id="closed-root"),
        pytest.param(
            as_property({"anyOf": [{"required": ["a"], "properties": {"a": {}}}, True]}),
            {"v": {"a": 1}, "w": 2},
            CLOSED,
            id="closed-around",
        ),
        pytest.param(as_property({"format": "date"}), {"v": "today"}, FORMAT, id="format"),
        pytest.param(as_property({"minItems": 1}), {"v": "text"}, TYPELESS, id="typeless"),
        pytest.param(
            as_property({"prefixItems": [{"format": "date"}]}), {"v": 5}, TYPELESS, id="not-format"
        ),
        pytest.param(
            as_property({"allOf": [{"properties": {"a": STRING}}, {"items": {}}]}),
            {"v": {"b": 1}},
            CLOSED,
            id="closed-and-typeless",
        ),
        pytest.param(as_property(STRING), {"v": 5}, "other", id="invalid"),
    ],
)
def test_the_cause_of_a_refusal_is_found(schema: Any, arguments: Any, cause: str):
    def is_accepted(changed: dict[str, Any]) -> bool:
        tool = ForeignTool(changed)
        return tool.outcome(json.dumps(arguments).encode()) == (arguments, [])

    assert not is_accepted(schema)
    assert causes.cause_of(schema, is_accepted) == cause


def test_references_are_moved_with_the_schema_unless_it_has_an_id():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"$ref": {"$ref": "#/$defs/a"}, "b": {"$ref": "#"}, "c": {"$ref": "#here"}},
        "const": {"$ref": "#/data"},
        "allOf": [{"$id": "https://a.example/", "$ref": "#/$defs/a"}],
    }
    assert as_property(schema) == {
        "type": "object",
        "required": ["v"],
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {
            "v": {
                "properties": {
                    "$ref": {"$ref": "#/properties/v/$defs/a"},
                    "b": {"$ref": "#/properties/v"},
                    "c": {"$ref": "#here"},
                },
                "const": {"$ref": "#/data"},
                "allOf": [{"$id": "https://a.example/", "$ref": "#/$defs/a"}],
            }
        },
    }
