"""The parts of a schema that is being published: nodes, their branches, and their positions.

This module also has a few functions about plain JSON that the whole package uses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from typing_extensions import TypeIs

from toolbooth.jsonvalue import Json, is_array, is_object

KINDS = ("string", "number", "boolean", "object", "array", "null")
"""The JSON types of a value that may be anything. Integers are not listed, because every integer is
a number.
"""

CHILDREN = frozenset({"properties", "required", "additionalProperties", "items"})
"""The keywords of a branch that are about its children."""

NUMERIC_CONSTRAINTS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "format",
)
TEXT_CONSTRAINTS = (
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
)
CONSTRAINTS: Mapping[str, tuple[str, ...]] = {
    "string": TEXT_CONSTRAINTS,
    "number": NUMERIC_CONSTRAINTS,
    "integer": NUMERIC_CONSTRAINTS,
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}
"""The keywords that are kept for each JSON type."""

_PYTHON_TYPES: Mapping[str, type] = {
    "string": str,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One alternative of a node: a JSON type and its keywords. The schemas of its children are not
    read yet.
    """

    kind: str
    keywords: Json = field(default_factory=dict[str, Any])
    refs: frozenset[str] = frozenset()
    """The references that were followed to reach this branch."""
    is_declared: bool = False
    """True if the author declared this type. False if the author declared no type, so that every
    type is allowed.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A schema, as alternatives with one JSON type each. A node without branches allows no
    value.
    """

    branches: tuple[Branch, ...] = ()
    annotations: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The position of a schema: its depth, the references that were followed above it, and the
    references that were followed at the node itself.
    """

    refs_above: frozenset[str] = frozenset({"#"})
    refs_here: frozenset[str] = frozenset()
    depth: int = 0
    combinators: int = 0
    """How many combinators and references have been followed at this node."""

    def inside(self, *refs: str) -> Position:
        """Return the position of the same node, inside a combinator or behind a reference."""
        here = self.refs_here.union(refs)
        return replace(self, refs_here=here, combinators=self.combinators + 1)

    def below(self, branch: Branch) -> Position:
        """Return the position of the children of a branch."""
        return Position(refs_above=self.refs_above | branch.refs, depth=self.depth + 1)


ANY = Node(branches=tuple(Branch(kind=kind) for kind in KINDS))
"""The node that allows anything."""


def object_of(value: Any) -> Json:
    """Return the value if it is a JSON object, otherwise an empty one."""
    return value if is_object(value) else {}


def array_of(value: Any) -> list[Any]:
    """Return the value if it is a JSON array, otherwise an empty one."""
    return value if is_array(value) else []


def has_kind(value: Any, kind: str) -> bool:
    """Return True if a value has a JSON type. 1.0 is an integer; `True` is not."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        # `value // 1` is the value itself for `1.0`, which is an integer in JSON Schema.
        return kind == "number" or (kind == "integer" and value == value // 1)
    return isinstance(value, _PYTHON_TYPES.get(kind, ()))


def values_of(schema: Any) -> list[Any]:
    """Return the values that a schema lists in `const` or `enum`."""
    written = object_of(schema)
    if "const" in written:
        return [written["const"]]
    if "enum" in written:
        return array_of(written["enum"])
    for part in array_of(written.get("allOf")):
        # A list of values in one part of an `allOf` restricts the whole schema to them.
        if values := values_of(part):
            return values
    return []


def identity(value: Any) -> str:
    """Return a text that is the same for equal JSON. 1.0 and 1 are equal; 1 and `true` are not."""
    # This applies only to the value itself: inside arrays and objects, 1.0 and 1 stay different.
    plain = int(value) if isinstance(value, float) and value.is_integer() else value
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, default=str)


def is_same(left: Any, right: Any) -> bool:
    """Return True if two values are the same JSON."""
    return identity(left) == identity(right)


def without_repeats(values: list[Any]) -> list[Any]:
    """Return the values in the same order. Repeated values are removed."""
    return list({identity(value): value for value in values}.values())


def copy_json(value: Any) -> Any:
    """Return a copy in plain dicts and lists."""
    # Most values are texts. To compare them with `Mapping` would take most of the time.
    if isinstance(value, str):
        return value
    if _is_mapping(value):
        return {key: copy_json(item) for key, item in value.items()}
    if _is_sequence(value):
        return [copy_json(item) for item in value]
    return value


def _is_mapping(value: Any) -> TypeIs[Mapping[str, Any]]:
    return isinstance(value, dict | Mapping)


def _is_sequence(value: Any) -> TypeIs[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)
