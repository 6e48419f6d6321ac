"""Writes the strict schema of a tool, for OpenAI's strict mode: every field is required, undeclared
keys are forbidden, and null means that an optional field is not sent. With such a schema, OpenAI's
models can only write calls that fit it.
"""

from __future__ import annotations

from typing import Any

from toolbooth.contract import Contract
from toolbooth.jsonvalue import Json, JsonPath, path_text
from toolbooth.publish.nodes import identity
from toolbooth.publish.words import describe
from toolbooth.publish.write import NULL, Profile

_KEPT = frozenset(
    (
        "type",
        "description",
        "enum",
        "const",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    )
)
"""The keywords that are copied to a strict schema."""

_SILENT = frozenset(("default", "deprecated"))


class NoStrictForm(Exception):
    """Raised if the type of a field cannot be written as a strict schema."""

    def __init__(self, path: JsonPath, why: str) -> None:
        self.path = path
        super().__init__(f"{path_text(path)} {why}")


def strict_schema(contract: Contract) -> Json:
    """Return the strict input schema of a tool.

    Raises:
        NoStrictForm: names the first field that cannot be written as a strict schema.
    """
    root = Profile().input_schema(contract)
    if root.get("additionalProperties"):
        raise NoStrictForm((), "takes any keys")
    return _object(root, ())


def _node(node: Json, path: JsonPath) -> Json:
    if "anyOf" in node:
        made = {"anyOf": [_node(each, path) for each in node["anyOf"]]}
        return describe(made, node.get("description"))
    kind = node.get("type")
    if kind == "object" and "properties" in node and not node.get("additionalProperties"):
        return _object(node, path)
    if kind in ("object", None):
        raise NoStrictForm(path, "takes any keys")
    if kind == "array":
        return {**_plain(node), "items": _node(node.get("items", {}), (*path, 0))}
    return _plain(node)


def _object(node: Json, path: JsonPath) -> Json:
    required = node.get("required", ())
    properties: Json = {}
    for name, each in node.get("properties", {}).items():
        below = (*path, name)
        written = _node(each, below)
        properties[name] = written if name in required else _optional(each, written, below)
    return {
        **_plain(node),
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _optional(node: Json, written: Json, path: JsonPath) -> Json:
    options = node.get("anyOf", ())
    default = next((each["default"] for each in (node, *options) if "default" in each), None)
    if NULL in options or node == NULL:
        # Null would have two meanings: the value null, and the default, which is another one.
        if default is not None:
            raise NoStrictForm(path, "may be null, and has another default")
        return written
    words = "null to leave it out" if default is None else f"null for {identity(default)}"
    inner = {key: value for key, value in written.items() if key != "description"}
    outer = describe({"anyOf": [inner, NULL]}, written.get("description"))
    return describe(outer, words)


def _plain(node: Json) -> Json:
    """Return a node without its children. If strict schemas do not have a keyword, it is described
    in words.
    """
    made = {key: value for key, value in node.items() if key in _KEPT}
    for key, value in node.items():
        if key not in _KEPT and key not in _WRITTEN and key not in _SILENT:
            made = describe(made, _words(key, value))
    return made


_WRITTEN = frozenset(("properties", "required", "additionalProperties", "items", "anyOf"))


def _words(key: str, value: Any) -> str:
    return f"e.g. {identity(value)[1:-1]}" if key == "examples" else f"{key}: {identity(value)}"
