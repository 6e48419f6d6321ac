"""Place: one path in a call, with its shape and its part of the published schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbooth.jsonvalue import JsonPath, NoSuchPart, is_mapping, recased, resolve_pointer
from toolbooth.shape import Field, JsonType, Shape, Unsent

_NOTHING: Mapping[str, Any] = {}
_MOST_REFERENCES = 20


@dataclass(frozen=True)
class Place:
    """A path in a call, with what is declared there."""

    shape: Shape
    root: Mapping[str, Any]
    """The published schema of the whole call."""
    path: JsonPath
    required: bool = True
    unsent: Unsent = ""

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """Return the part of the published schema for this path. Empty if several parts may apply.
        It is looked up on first use, because few values need it.
        """
        return part_at(self.root, self.path)

    @property
    def types(self) -> frozenset[JsonType]:
        return self.shape.types

    @property
    def takes_plain_scalars(self) -> bool:
        """Return True if only scalars may be sent here, and the author did not list choices."""
        shape = self.shape
        return not shape.objects and not shape.arrays and shape.constants is None

    @property
    def has_one_type(self) -> bool:
        """Return True if only one type may be sent here. Null is not counted."""
        # An integer is also a number, so these two count as one type.
        others = self.shape.types - {"null", "integer" if "number" in self.shape.types else "null"}
        is_single = len(self.shape.objects) < 2 and len(self.shape.arrays) < 2
        return len(others) == 1 and is_single and not self.shape.opaque

    @property
    def format(self) -> str:
        return str(self.schema.get("format", ""))

    @property
    def is_null_without_it(self) -> bool:
        """Return True if leaving out the field has the same effect as sending null."""
        schema = self.schema
        # `get` would return None both for a default of null and for no default.
        has_null = "default" in schema and schema["default"] is None
        return not self.required and (has_null or self.unsent == "null")

    @property
    def is_kept_without_it(self) -> bool:
        """Return True if the stored value is kept when the field is left out."""
        return not self.required and self.unsent == "kept"

    @property
    def labels(self) -> Mapping[str, Any]:
        """Return the choices by their titles. The titles are in lower case and without
        separators.
        """
        return {
            recased(str(each["title"])): each["const"]
            for each in self.schema.get("oneOf", ())
            if is_mapping(each) and "const" in each and "title" in each
        }

    def items(self) -> Place | None:
        """Return what is declared for the items of a list. Return None if it depends on their
        position.
        """
        form = self.shape.arrays[0] if len(self.shape.arrays) == 1 else None
        # In a tuple every position has a shape of its own.
        if form is None or form.items is None or form.prefix:
            return None
        return Place(form.items, self.root, (*self.path, 0))

    def is_map_of_text(self) -> bool:
        """Return True if an object with any keys and text as values may be sent here, and no fields
        are declared.
        """
        [form] = self.shape.objects
        texts = frozenset[JsonType](("string",))
        return not form.fields and form.additional is not None and form.additional.types == texts


def place_of(shape: Shape, root: Mapping[str, Any], path: JsonPath, field: Field | None) -> Place:
    """Return the Place for a path. `field` is None if the path does not end in a declared field."""
    if field is None:
        return Place(shape, root, path)
    return Place(shape, root, path, field.required, field.unsent)


def part_at(schema: Mapping[str, Any], path: JsonPath) -> Mapping[str, Any]:
    """Return the part of a schema that describes the value at a path. Empty if several parts may
    apply.
    """
    part = _single(schema, schema)
    for step in path:
        if isinstance(step, int):
            # In a tuple, `items` describes only the values after the prefix.
            part = part.get("items", _NOTHING) if "prefixItems" not in part else _NOTHING
        else:
            declared = part.get("properties", _NOTHING)
            part = declared.get(step, part.get("additionalProperties", _NOTHING))
        part = _single(schema, part)
    return part


def _single(root: Mapping[str, Any], part: Any) -> Mapping[str, Any]:
    """Return this part of the schema with its reference followed. If null is one of its
    alternatives, that is left out.
    """
    # References may refer to each other in a circle.
    for _ in range(_MOST_REFERENCES):
        if not is_mapping(part):
            return _NOTHING
        if "$ref" in part:
            try:
                inner = resolve_pointer(root, str(part["$ref"]))
            except NoSuchPart:
                return _NOTHING
        else:
            choices = part.get("anyOf") or part.get("allOf")
            if not choices:
                return part
            others = [each for each in choices if not _is_null(each)]
            # With several alternatives, only the keywords around them hold for every value.
            if len(others) != 1:
                return part
            inner = others[0]
        # The keywords beside a reference or a choice, such as the default, belong to it.
        beside = {key: part[key] for key in part if key not in ("$ref", "anyOf", "allOf")}
        part = {**inner, **beside} if is_mapping(inner) else inner
    return _NOTHING


def _is_null(part: Any) -> bool:
    return is_mapping(part) and part.get("type") == "null"
