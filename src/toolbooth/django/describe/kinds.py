"""A body of several kinds, told apart by one of its fields -> one flat body.

This is how polymorphic serializers are described: `oneOf`, with a `discriminator` that names the
field and has the schema for each of its values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolbooth.django.describe.openapi import References
from toolbooth.django.describe.readers import class_of
from toolbooth.jsonvalue import Json, is_array, is_mapping, is_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """The fields of each kind."""

    field: str
    """The field whose value is the kind."""
    names: dict[str, frozenset[str]]
    """The fields that each kind has. A field of another kind would be dropped."""

    def unread(self, body: Iterable[str], kind: object) -> list[str]:
        """The fields that are not of this kind; none if it is not a known kind."""
        if not isinstance(kind, str) or kind not in self.names:
            return []
        return [name for name in body if name not in self.names[kind]]

    def in_some_only(self, body: Iterable[str]) -> list[str]:
        """The fields that some kinds have, and others do not."""
        first, *others = self.names.values()
        in_all = first.intersection(*others)
        return [name for name in body if name not in in_all]


def flat_body(body: Json | None, references: References) -> tuple[Json | None, Kinds | None]:
    """The body with the fields of all kinds, of which those are required that each kind requires;
    and the kinds. A body of one kind stays as it is.
    """
    told_apart: Json = (body or {}).get("discriminator", {})
    field, mapping = told_apart.get("propertyName"), told_apart.get("mapping")
    if body is None or not isinstance(field, str) or not is_object(mapping):
        return body, None
    found: dict[str, Json] = {
        kind: _joined(references.inlined({"$ref": each})) for kind, each in mapping.items()
    }
    if not all(each["properties"] for each in found.values()):
        return body, None
    every = dict.fromkeys(name for each in found.values() for name in each["properties"])
    properties: Json = {name: _in_any(name, found) for name in every}
    properties[field] = {"type": "string", "enum": list(found)}
    required = [name for name in properties if _is_in_all(name, found)]
    names = {kind: frozenset((*each["properties"], field)) for kind, each in found.items()}
    flat = {"type": "object", "properties": properties, "required": required}
    return flat, Kinds(field=field, names=names)


def serializers_of_kinds(serializer: Any) -> tuple[type, ...]:
    """The classes that read the kinds of a polymorphic serializer: drf-spectacular's, which only
    describes them, or that of django-rest-polymorphic.
    """
    found: Any = getattr(serializer, "serializers", None)
    if found is None:
        found = getattr(serializer, "model_serializer_mapping", ())
    each_of: Any = found.values() if is_mapping(found) else found
    return tuple(class_of(each) for each in each_of)


def _in_any(name: str, kinds: dict[str, Json]) -> Json:
    """A field as those kinds take it that have it."""
    forms: list[Json] = []
    for each in kinds.values():
        form = each["properties"].get(name)
        if form is not None and form not in forms:
            forms.append(form)
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _is_in_all(name: str, kinds: dict[str, Json]) -> bool:
    return all(name in each["required"] for each in kinds.values())


def _joined(schema: Json) -> Json:
    """An object whose fields may be spread over an `allOf`."""
    properties: Json = dict(schema.get("properties", {}))
    required: list[str] = list(schema.get("required", ()))
    parts = schema.get("allOf")
    for each in parts if is_array(parts) else ():
        part = _joined(each)
        properties |= part["properties"]
        required += part["required"]
    return {"properties": properties, "required": required}
