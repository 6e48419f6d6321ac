"""Finds every schema inside a JSON Schema, and what each one describes. The root comes first.

References are not followed: a definition is visited where it is written. The schema need not be
valid, because the rules check that too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from toolbooth.jsonvalue import (
    Json,
    NoSuchPart,
    is_array,
    is_object,
    path_text,
    resolve_pointer,
)

Role = Literal["root", "property", "items", "values", "option", "definition", "part"]
"""What a schema describes. An `option` is one of several alternatives. A `part` describes a value
only in part (`allOf`, `not`, `if`).
"""

REFERENCES = ("$ref", "$dynamicRef")
_MOST_INLINED = 50_000
"""A schema may have at most this many values after its references are replaced."""
COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else")

_ONE: dict[str, tuple[Role, str]] = {
    "items": ("items", "[]"),
    "additionalProperties": ("values", ".*"),
    "additionalItems": ("items", "[]"),
    "unevaluatedProperties": ("values", ".*"),
    "unevaluatedItems": ("items", "[]"),
    "contains": ("part", "[]"),
    "propertyNames": ("part", " (propertyNames)"),
    "contentSchema": ("part", " (contentSchema)"),
    "not": ("part", " (not)"),
    "if": ("part", " (if)"),
    "then": ("part", " (then)"),
    "else": ("part", " (else)"),
}
_SEVERAL: dict[str, Role] = {
    "anyOf": "option",
    "oneOf": "option",
    "allOf": "part",
    "prefixItems": "items",
    # In drafts before 2020-12, `items` may be a list: a schema for each position. As one schema, it
    # is in `_ONE`.
    "items": "items",
}
_NAMED: dict[str, Role] = {
    "properties": "property",
    "patternProperties": "values",
    "dependentSchemas": "part",
    "dependencies": "part",
    "$defs": "definition",
    "definitions": "definition",
}
# As booleans these only mean "yes" or "no", and are not visited as schemas.
_MAY_BE_BOOLEAN = (
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNode:
    """One schema in a JSON Schema: the root, or a schema inside it. `path` is its location for
    people, `pointer` for programs.
    """

    schema: Any
    keywords: Json
    """The keywords of the schema. Empty if the schema is a boolean, or is not valid."""
    path: str
    pointer: str
    role: Role
    depth: int = 0
    name: str = ""

    @property
    def kind(self) -> str | None:
        """Return the type of the value. None unless the schema has exactly one type."""
        written = self.keywords.get("type")
        return written if isinstance(written, str) else None

    @property
    def kinds(self) -> list[Any]:
        """Return all types that the schema declares."""
        written = self.keywords.get("type")
        return [written] if isinstance(written, str) else as_list(written)

    @property
    def text(self) -> str:
        """Return the description of the schema. Empty if there is none."""
        written = self.keywords.get("description")
        return written if isinstance(written, str) else ""

    @property
    def is_value(self) -> bool:
        """Return True if this schema describes a value of a call completely, and not only in
        part.
        """
        return self.role != "part" and self.role != "root"


def nodes(schema: Any) -> Iterator[SchemaNode]:
    """Yield every node of a schema, in the order in which the schema is written."""
    # A stack instead of recursion, because a schema may be nested deeper than Python's limit.
    waiting = [
        SchemaNode(schema=schema, keywords=as_dict(schema), path="$", pointer="#", role="root")
    ]
    while waiting:
        node = waiting.pop()
        yield node
        # Reversed, because the last node is taken first.
        waiting += reversed(list(_below(node)))


def _below(node: SchemaNode) -> Iterator[SchemaNode]:
    for key, value in node.keywords.items():
        pointer = f"{node.pointer}/{escape_step(key)}"
        if key in _NAMED and is_object(value):
            for name, schema in value.items():
                yield _named_child(node, key, name, schema, f"{pointer}/{escape_step(name)}")
        elif key in _SEVERAL and isinstance(value, list):
            for index, schema in enumerate(as_list(value)):
                step = f"[{index}]" if _SEVERAL[key] == "items" else f" ({key} {index + 1})"
                role = "part" if _refines(node, key, schema) else _SEVERAL[key]
                yield _child(node, schema, role, step, f"{pointer}/{index}")
        elif key in _ONE and not (key in _MAY_BE_BOOLEAN and isinstance(value, bool)):
            yield _child(node, value, *_ONE[key], pointer)


def _refines(node: SchemaNode, key: str, option: Any) -> bool:
    """Return True if an alternative only adds to the surrounding schema, as in `anyOf: [{required:
    [a]}, {required: [b]}]`.
    """
    typed = node.keywords.keys() & {"type", "properties"}
    return (
        bool(typed)
        and _SEVERAL[key] == "option"
        and isinstance(option, dict)
        and "type" not in option
    )


def _named_child(node: SchemaNode, key: str, name: str, schema: Any, pointer: str) -> SchemaNode:
    role = _NAMED[key]
    if key == "dependencies" and isinstance(schema, list):
        schema = True  # the old spelling of `dependentRequired`: names, not a schema
    if role == "property":
        return _child(node, schema, role, path_text((name,), ""), pointer, name)
    step = ".*" if role == "values" else f" ({key} {name})"
    return _child(node, schema, role, step, pointer)


def _child(
    node: SchemaNode, schema: Any, role: Role, step: str, pointer: str, name: str = ""
) -> SchemaNode:
    # A schema below a part is itself a part.
    role = "part" if node.role == "part" else role
    # An alternative, a part or a definition describes the same value as the schema around it, so
    # the value itself is not nested deeper.
    deeper = role not in ("option", "part", "definition")
    return SchemaNode(
        schema=schema,
        keywords=as_dict(schema),
        path=node.path + step,
        pointer=pointer,
        role=role,
        depth=node.depth + deeper,
        name=name,
    )


def inlined(schema: Any) -> Any:
    """Return a schema in which each local `$ref` is replaced by its definition. Recursive
    references are not replaced. If the result would be too large, return the schema unchanged.
    """
    root = as_dict(schema)
    shared = {key: value for key, value in root.items() if key not in ("$defs", "definitions")}
    try:
        return _inlined(shared, root, (), count(1))
    except _TooLarge:
        return schema


class _TooLarge(Exception):
    """Raised if a schema would become too large. Definitions that use each other many times can
    cause that.
    """


def _inlined(value: Any, root: Json, inside: tuple[str, ...], visited: Iterator[int]) -> Any:
    if next(visited) > _MOST_INLINED:
        raise _TooLarge
    if isinstance(value, list):
        return [_inlined(item, root, inside, visited) for item in as_list(value)]
    if not isinstance(value, dict):
        return value
    keywords = as_dict(value)
    made: Json = {}
    target = keywords.get("$ref")
    # A recursive reference is kept, because it could be written out without end.
    if isinstance(target, str) and target not in inside and (found := _pointed_to(root, target)):
        made = dict(as_dict(_inlined(found, root, (*inside, target), visited)))
        # Keywords beside the reference are kept, and replace those of the definition.
        keywords = {key: child for key, child in keywords.items() if key != "$ref"}
    for key, child in keywords.items():
        made[key] = _inlined(child, root, inside, visited)
    return made


def _pointed_to(root: Json, target: str) -> Json:
    try:
        return as_dict(resolve_pointer(root, target))
    except NoSuchPart:
        return {}


def outside_references(schema: Any) -> Iterator[tuple[SchemaNode, str]]:
    """Yield every `$ref` to a file, a URL or another document, with the node that contains it."""
    for node in nodes(schema):
        for key in REFERENCES:
            target = node.keywords.get(key)
            if isinstance(target, str) and not target.startswith("#"):
                yield node, target


def names_old_dialect(dialect: Any) -> bool:
    """Return True if `$schema` names a draft other than 2020-12."""
    return dialect is not None and "2020-12" not in str(dialect)


def escape_step(step: str) -> str:
    """Return a key as it is written in a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1")


def as_dict(value: Any) -> Json:
    """Return the value if it is an object, else an empty object."""
    return value if is_object(value) else {}


def as_list(value: Any) -> list[Any]:
    """Return the value if it is an array, else an empty array."""
    return value if is_array(value) else []
