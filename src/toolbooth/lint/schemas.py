"""A JSON Schema goes in; every schema inside it comes out with its role, the root first.

References are not followed: a definition is visited where it is written. Nothing here assumes that
the schema is a sound one, for finding out that it is not is what the rules are for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolbooth.jsonvalue import Json, is_array, is_object, path_text

Role = Literal["root", "property", "items", "values", "option", "definition", "part"]
"""`option`: one of several alternatives. `part`: says only a part of what holds there (`allOf`,
`not`, `if`).
"""

REFERENCES = ("$ref", "$dynamicRef")
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
# As a schema of their own these say nothing beyond "yes" and "no".
_MAY_BE_BOOLEAN = (
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNode:
    """One schema inside a schema. `path` is for people, `pointer` for programs."""

    schema: Any
    keywords: Json
    """What the schema says; nothing if it is a boolean, or no schema at all."""
    path: str
    pointer: str
    role: Role
    depth: int = 0
    name: str = ""

    @property
    def kind(self) -> str | None:
        """The one type that it declares."""
        written = self.keywords.get("type")
        return written if isinstance(written, str) else None

    @property
    def kinds(self) -> list[Any]:
        """Every type that it declares."""
        written = self.keywords.get("type")
        return [written] if isinstance(written, str) else as_list(written)

    @property
    def text(self) -> str:
        """Its description."""
        written = self.keywords.get("description")
        return written if isinstance(written, str) else ""

    @property
    def is_value(self) -> bool:
        """Whether a value of a call stands here, wholly described by this schema."""
        return self.role != "part" and self.role != "root"


def nodes(schema: Any) -> Iterator[SchemaNode]:
    """Every node of a schema, in the order in which it is written."""
    # A stack, not recursion: a schema may nest deeper than Python does.
    waiting = [
        SchemaNode(schema=schema, keywords=as_dict(schema), path="$", pointer="#", role="root")
    ]
    while waiting:
        node = waiting.pop()
        yield node
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
    """Whether an alternative only adds to what stands around it, as in `anyOf: [{required: [a]},
    {required: [b]}]`.
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
    # What stands below a part is a part of something too.
    role = "part" if node.role == "part" else role
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


def outside_references(schema: Any) -> Iterator[tuple[SchemaNode, str]]:
    """Every `$ref` to a file, a URL or another document, with its node."""
    for node in nodes(schema):
        for key in REFERENCES:
            target = node.keywords.get(key)
            if isinstance(target, str) and not target.startswith("#"):
                yield node, target


def escape_step(step: str) -> str:
    """A key as it stands in a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1")


def as_dict(value: Any) -> Json:
    """The value if it is an object, else an empty one."""
    return value if is_object(value) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is an array, else an empty one."""
    return value if is_array(value) else []
