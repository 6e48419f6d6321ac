"""Lists the fields of a JSON Schema at every depth, one row for each field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolbooth.jsonvalue import NoSuchPart, is_object
from toolbooth.references import References

_DEEPEST = 8
_MOST_CHOICES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One field, as a row for a person to read."""

    depth: int
    name: str
    type: str
    """The type of the field. It is followed by "required" if the field is required, and by the
    default.
    """
    about: str
    """The first line of the field's description."""


def fields(schema: Any) -> Iterator[Row]:
    """Yield the fields of a tool's `inputSchema`. Each field comes before the fields inside it."""
    yield from _Reader(schema).rows(schema, 0, ())


class _Reader:
    """Reads one document and follows its references."""

    def __init__(self, document: Any) -> None:
        self._references = References(document)

    def rows(self, schema: Any, depth: int, above: tuple[int, ...]) -> Iterator[Row]:
        """Yield the rows of an object's fields. `above` has the ids of the schemas around the
        object, because a schema may contain a reference to itself.
        """
        for node in self._objects(schema):
            # Schemas are compared by identity. Two fields with equal schemas are both shown. Only a
            # schema inside itself is left out.
            if id(node) in above or depth > _DEEPEST:
                continue
            required = node.get("required", ())
            for name, field in node.get("properties", {}).items():
                yield self._row(name, field, depth, name in required)
                yield from self.rows(field, depth + 1, (*above, id(node)))

    def _row(self, name: str, field: Any, depth: int, required: bool) -> Row:
        described = self._resolved(field)
        words = [self.type_of(field)]
        if required:
            words.append("required")
        elif "default" in described:
            words.append(f"default {json.dumps(described['default'], ensure_ascii=False)}")
        about = str(described.get("description", "")).strip().partition("\n")[0]
        return Row(depth=depth, name=name, type=", ".join(words), about=about)

    def type_of(self, schema: Any) -> str:
        """Return the type in words, such as `array of object` or `"a" | "b"`."""
        node = self._resolved(schema)
        if "const" in node:
            return json.dumps(node["const"], ensure_ascii=False)
        if "enum" in node:
            choices = [json.dumps(each, ensure_ascii=False) for each in node["enum"]]
            more = ["…"] if len(choices) > _MOST_CHOICES else []
            return " | ".join([*choices[:_MOST_CHOICES], *more])
        for key in ("anyOf", "oneOf"):
            if key in node:
                return " | ".join(dict.fromkeys(map(self.type_of, node[key])))
        kind: Any = node.get("type", "any")
        if kind == "array" and "items" in node:
            return f"array of {self.type_of(node['items'])}"
        if not isinstance(kind, str):
            return " | ".join(kind)
        return f"{kind} ({node['format']})" if "format" in node else kind

    def _objects(self, schema: Any) -> Iterator[Mapping[str, Any]]:
        """Yield the object schemas in a schema. They may be the schema itself, the schema of its
        items, or branches of its union.
        """
        node = self._resolved(schema)
        if "properties" in node:
            yield node
        for key in ("anyOf", "oneOf", "allOf"):
            for each in node.get(key, ()):
                yield from self._objects(each)
        inside = node.get("items") or node.get("additionalProperties")
        if isinstance(inside, dict):
            yield from self._objects(inside)

    def _resolved(self, schema: Any) -> Mapping[str, Any]:
        """Return the schema that a reference names. Return an empty schema if there is no such
        schema. Return any other schema unchanged.
        """
        seen: set[str] = set()
        while is_object(schema) and isinstance(reference := schema.get("$ref"), str):
            # Two definitions may refer only to each other.
            if reference in seen:
                return {}
            seen.add(reference)
            try:
                schema = self._references.target(schema, reference)
            except NoSuchPart:
                return {}
        return schema if is_object(schema) else {}
