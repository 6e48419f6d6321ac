"""Schemas shared by the tests of publishing."""

import json
from typing import Any

import jsonschema_rs
from pydantic import BaseModel, TypeAdapter

from toolbooth.publish import ANY_ITEMS, portable

ANY = {"anyOf": [*ANY_ITEMS["anyOf"], {"type": "array", "items": ANY_ITEMS}]}
ANY_OR_NULL = {**ANY, "description": "or null"}
STRING, INTEGER, NUMBER, BOOLEAN = (
    {"type": kind} for kind in ("string", "integer", "number", "boolean")
)


def published(schema: Any, **root: Any) -> Any:
    """Return the portable form of one optional property."""
    return portable({"type": "object", "properties": {"p": schema}, **root})["properties"].get("p")


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


def exact(function: Any) -> dict[str, Any]:
    """Return the exact schema of a function's arguments, with objects closed as Toolbooth closes
    them.
    """

    def closed(value: Any) -> Any:
        if isinstance(value, list):
            return [closed(item) for item in value]
        if not isinstance(value, dict):
            return value
        extra = {"additionalProperties": False} if isinstance(value.get("properties"), dict) else {}
        return {**extra, **{key: closed(item) for key, item in value.items()}}

    return closed(TypeAdapter(function).json_schema())


KEYWORDS = {
    "string": {"minLength", "maxLength", "pattern", "format", "contentMediaType", "enum"},
    "number": {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "format",
        "enum",
    },
    "boolean": {"enum"},
    "object": {"properties", "required", "additionalProperties", "minProperties"},
    "array": {"items", "minItems", "maxItems", "uniqueItems"},
}
KEYWORDS["integer"] = KEYWORDS["number"]


def assert_portable(node: Any, path: str = "$", *, branch: bool = False) -> None:
    """Check the rules that clients need."""
    annotations = {"description", "default"}
    if "anyOf" in node and path != "$" and not branch:
        assert node.keys() <= annotations | {"anyOf"}, path
        assert (
            len({json.dumps(option, sort_keys=True) for option in node["anyOf"]})
            == len(node["anyOf"])
            > 1
        ), path
        for index, option in enumerate(node["anyOf"]):
            assert_portable(option, f"{path}|{index}", branch=True)
        return
    assert node.keys() <= annotations | {"type"} | KEYWORDS[node["type"]], path
    assert node.get("default", "") is not None, path
    assert node.get("description", "-"), path
    assert all(
        jsonschema_rs.is_valid({"type": node["type"]}, value) for value in node.get("enum", [])
    ), path
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
