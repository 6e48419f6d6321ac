"""Reads the schemas of one JSON Schema document as alternatives: one alternative for each JSON
type. References are followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolbooth.jsonvalue import NoSuchPart, Schema, is_array, is_mapping
from toolbooth.references import References

JSON_TEXT = "application/json"

NESTS_AGAIN = "nests the same again"
TOO_DEEP = "nested too deep to show"
"""Two endings of a description, written when the fields of an object are left out. With the first,
the fields were already shown above. With the second, the object is nested too deep.
"""

_IMPLIED_KINDS = (
    ("object", frozenset(("properties", "required", "additionalProperties", "patternProperties"))),
    ("array", frozenset(("items", "prefixItems"))),
)
_ANYTHING = frozenset(("string", "boolean", "object", "array"))

_SCALARS = frozenset(("string", "integer", "number", "boolean", "null"))

_SAID = frozenset(("description", "examples", "example", "default"))
"""The keywords that are annotations. They explain a schema to a reader and restrict nothing."""

_PARTS = frozenset(("$ref", "anyOf", "oneOf", "allOf"))


@dataclass(slots=True)
class Node:
    """The alternatives of a schema, each with one JSON type. References are already followed. The
    annotations of the schema are kept separately.
    """

    branches: list[Schema] = field(default_factory=list[Schema])
    texts: list[str] = field(default_factory=list[str])
    values: list[Any] = field(default_factory=list[Any])

    def note(self, schema: Schema) -> None:
        """Keep the description, the examples and the default of a schema."""
        if isinstance(text := schema.get("description"), str):
            self.texts.append(text)
        self.values += _list_of(schema.get("examples"))
        self.values += [schema[key] for key in ("example", "default") if key in schema]

    @property
    def is_cut(self) -> bool:
        """Return True if the fields are left out, because they were already shown above or are
        nested too deep.
        """
        return any(reason in text for text in self.texts for reason in (NESTS_AGAIN, TOO_DEEP))

    @property
    def is_anything(self) -> bool:
        """Return True if any JSON may be sent."""
        kinds = {kind_of(branch) for branch in self.branches}
        return None in kinds or kinds >= _ANYTHING


class Document:
    """One JSON Schema document, whose parts refer to each other."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        shared: Schema = schema if is_mapping(schema) else {}
        self.definitions = {key: shared[key] for key in ("$defs", "definitions") if key in shared}

    @cached_property
    def _references(self) -> References:
        # Most documents have no reference.
        return References(self.schema)

    def open(self, schema: Any) -> Node:
        """Return the alternatives of a schema."""
        node = Node()
        self._add(node, schema, {}, frozenset())
        return node

    def _add(self, node: Node, schema: Any, around: Schema, above: frozenset[str]) -> None:
        """Add the alternatives of a schema to a node. Each alternative also gets the keywords
        `around` the schema, such as those beside its `anyOf`.
        """
        if not is_mapping(schema):
            # `true` and `false` have no keywords of their own, but those around them still apply.
            node.branches.append(around)
            return
        node.note(schema)
        skipped = _SAID | _PARTS
        own = {**around, **{key: each for key, each in schema.items() if key not in skipped}}
        options = [*_list_of(schema.get("anyOf")), *_list_of(schema.get("oneOf"))]
        ref = schema.get("$ref")
        # A model that contains itself, such as a tree, refers to itself. Its fields are known the
        # first time, and following the reference again would never end.
        if isinstance(ref, str) and ref not in above:
            options.append(self._target(schema, ref))
            above |= {ref}
        for option in options:
            self._add(node, option, own, above)
        parts = Node()
        for part in _list_of(schema.get("allOf")):
            # A part of an `allOf` often repeats no type, such as `{"minLength": 1}`, so it is read
            # with the keywords around it. A part that still has no type only restricts the others.
            # As a separate branch, it would allow any value.
            self._add(parts, part, own, above)
        node.branches += filter(kind_of, parts.branches)
        node.texts += parts.texts
        node.values += parts.values
        if not (options or parts.branches or ref):
            node.branches += _by_type(own)

    def _target(self, schema: Schema, ref: str) -> Any:
        try:
            return self._references.target(schema, ref)
        except NoSuchPart:
            # The target is in another document. It is never fetched, so it counts as any value.
            return {}


# --- one schema ---------------------------------------------------------------------------------


def _by_type(schema: Schema) -> list[Schema]:
    """Return a schema for each type that `schema` lists. Null is left out."""
    kinds = schema.get("type")
    if is_array(kinds):
        return [{**schema, "type": kind} for kind in kinds if kind != "null"]
    return [] if kinds == "null" else [schema]


def kind_of(branch: Schema) -> str | None:
    """Return the type of a branch; None if it may have any type."""
    kind = branch.get("type")
    if isinstance(kind, str):
        return kind
    # An `enum` without a type counts as text with choices. It shows an agent as much, even if its
    # values have other types.
    if "enum" in branch or "const" in branch:
        return "string"
    return next((kind for kind, keys in _IMPLIED_KINDS if branch.keys() & keys), None)


def is_plain(schema: Schema) -> bool:
    """Return True if a schema allows only a plain text, number, boolean or null, and this is clear
    without following references.
    """
    kind = schema.get("type")
    is_scalar = isinstance(kind, str) and kind in _SCALARS
    return is_scalar and "contentMediaType" not in schema and _PARTS.isdisjoint(schema)


def is_json_text(branch: Schema) -> bool:
    return kind_of(branch) == "string" and branch.get("contentMediaType") == JSON_TEXT


def content_of(branch: Schema) -> Any:
    """Return the schema of the JSON that a text contains."""
    return branch.get("contentSchema", {"type": ["object", "array"]})


def items_of(branch: Schema) -> Iterator[Any]:
    """Yield the schemas of the items of an array."""
    for key in ("prefixItems", "items"):
        # Up to draft 2019-09, `items` may be a list of schemas by position. Later drafts call it
        # `prefixItems`. `false` closes the array, so it does not describe an item.
        found = branch.get(key, False)
        if is_array(found):
            yield from found
        elif found is not False:
            yield found


def _list_of(value: Any) -> list[Any]:
    return value if is_array(value) else []
