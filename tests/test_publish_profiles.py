"""Profiles: how one is chosen, and the parts of a schema that a profile can write in its own way."""

from itertools import pairwise
from typing import Any

import pytest

from toolbooth import compile_function, input_schema
from toolbooth.publish import PROFILES, Exact, Portable, Profile, choose_profile


def order(note: str | None, count: int | None = None) -> str:
    return "ordered"


ORDER = compile_function(order)


# --- choosing one ---


class Terse(Portable):
    def keeps_annotation(self, key: str, value: Any) -> bool:
        return False


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("portable", Portable), ("exact", Exact), (Terse, Terse), (Terse(), Terse)],
    ids=["portable", "exact", "class", "instance"],
)
def test_a_profile_is_chosen_by_name_class_or_instance(choice, expected):
    profile = choose_profile(choice)
    assert type(profile) is expected
    assert input_schema(ORDER, choice) == profile.input_schema(ORDER)


def test_an_instance_is_used_as_it_is():
    mine = Terse()
    assert choose_profile(mine) is mine
    assert choose_profile("exact") is PROFILES["exact"]


@pytest.mark.parametrize(
    "choice",
    ["gemini", "", None, 1, [], str],
    ids=["name", "empty", "none", "number", "list", "class"],
)
def test_an_unknown_profile_is_refused_with_the_known_ones(choice):
    with pytest.raises(ValueError, match="there is no profile") as refused:
        input_schema(ORDER, choice)
    assert str(refused.value) == (
        f"there is no profile {choice!r}; the profiles are 'portable' and 'exact', "
        "and you can pass a subclass of toolbooth.publish.Profile"
    )


# --- the base class ---


ANYTHING = {
    "anyOf": [
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "object"},
        {"type": "array"},
        {"type": "null"},
    ]
}


def test_the_base_class_writes_standard_json_schema_without_references():
    schema = {
        "type": "object",
        "title": "Order",
        "properties": {
            "note": {"type": ["string", "null"], "default": None, "description": "A note."},
            "count": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
            "nothing": {"type": "null"},
            "never": False,
            "line": {"$ref": "#/$defs/Line"},
            "labels": {"type": "object", "properties": {"a": True}, "additionalProperties": True},
            "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
            "list": {"type": "array", "items": {}},
        },
        "required": ["note"],
        "additionalProperties": False,
        "$defs": {
            "Line": {
                "type": "object",
                "properties": {"sku": {"type": "string"}},
                "required": ["sku"],
                "additionalProperties": False,
            }
        },
    }
    assert Profile().write(schema) == {
        "type": "object",
        "properties": {
            "note": {
                "anyOf": [
                    {"type": "string", "default": None, "description": "A note."},
                    {"type": "null"},
                ]
            },
            "count": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
            "nothing": {"type": "null"},
            "line": {
                "type": "object",
                "properties": {"sku": {"type": "string"}},
                "required": ["sku"],
                "additionalProperties": False,
            },
            "labels": {
                "type": "object",
                "properties": {"a": ANYTHING},
                "additionalProperties": True,
            },
            "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
            "list": {"type": "array", "items": ANYTHING},
        },
        "required": ["note"],
        "additionalProperties": False,
    }


# --- one rule each ---


class CapitalTypes(Portable):
    """Gemini's own API has types in capitals."""

    def write_typed(self, node):
        return {**node, "type": node["type"].upper()}


def test_every_typed_node_passes_write_typed():
    schema = {
        "type": "object",
        "properties": {
            "note": {"type": ["string", "null"]},
            "nothing": {"type": "null"},
            "any": {},
            "empty": {"type": "array", "items": False},
        },
        "required": ["note", "nothing"],
    }
    open_items = {"anyOf": [{"type": kind} for kind in ("STRING", "NUMBER", "BOOLEAN", "OBJECT")]}
    assert CapitalTypes().write(schema) == {
        "type": "OBJECT",
        "properties": {
            "note": {"type": "STRING", "description": "or null"},
            "nothing": {"type": "STRING", "description": "always null"},
            "any": {"anyOf": [*open_items["anyOf"], {"type": "ARRAY", "items": open_items}]},
            "empty": {"type": "ARRAY", "items": {"type": "STRING"}, "maxItems": 0},
        },
        "required": ["note", "nothing"],
    }


class FirstOption(Portable):
    def write_union(self, options):
        return options[0]


def test_a_profile_can_write_unions_its_own_way():
    def find(key: int | str) -> str:
        return "found"

    assert input_schema(compile_function(find), FirstOption) == {
        "type": "object",
        "properties": {"key": {"type": "integer"}},
        "required": ["key"],
    }


class Shallow(Portable):
    max_depth = 2


class Small(Portable):
    max_bytes = 60


@pytest.mark.parametrize(
    ("profile", "levels"),
    [(Portable, 7), (Shallow, 2), (Small, 3)],
    ids=["plain", "depth", "bytes"],
)
def test_a_profile_can_show_less_nesting(profile, levels):
    """Small: 12, 6 and 3 levels are tried."""
    definitions: dict[str, Any] = {"h": {"type": "string"}}
    for name, below in pairwise("hgfedcba"):
        child = {"$ref": f"#/$defs/{name}"}
        definitions[below] = {"type": "object", "properties": {"x": child, "y": child}}
    expected: Any = {"type": "object", "description": "nested too deep to show: x, y"}
    if profile is Portable:
        expected = {"type": "string"}
    for _ in range(levels):
        expected = {"type": "object", "properties": {"x": expected, "y": expected}}
    assert profile().write({"$ref": "#/$defs/a", "$defs": definitions}) == expected
