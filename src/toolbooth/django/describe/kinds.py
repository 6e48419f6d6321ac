"""Converts a body that can be of several kinds to one flat body.

drf-spectacular describes polymorphic serializers by `oneOf`, usually with a `discriminator`. The
discriminator names a field, and has the schema for each value of this field. Without a
discriminator, only the view knows the kind. Then the fields of the call are checked while the view
runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer

from toolbooth.django.describe.openapi import References
from toolbooth.django.describe.readers import class_of
from toolbooth.jsonvalue import Json, is_array, is_mapping, is_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """The kinds of a polymorphic body, with the fields of each kind."""

    field: str
    """The field whose value is the kind."""
    names: dict[str, frozenset[str]]
    """The fields of each kind. A field of another kind would be dropped."""

    def unread(self, body: Iterable[str], kind: object) -> list[str]:
        """Return the fields of a body that this kind does not have. Return an empty list if the
        kind is unknown.
        """
        if not isinstance(kind, str) or kind not in self.names:
            return []
        return [name for name in body if name not in self.names[kind]]

    def in_some_only(self, body: Iterable[str]) -> list[str]:
        """Return the fields of a body that only some kinds have."""
        first, *others = self.names.values()
        # A field that all kinds have is read in any case, so the kind need not be known for it.
        in_all = first.intersection(*others)
        return [name for name in body if name not in in_all]


def flat_body(body: Json | None, references: References) -> tuple[Json | None, Kinds | None]:
    """Return a body with the fields of all kinds, and the kinds. A field is required only if each
    kind requires it. If the body is not polymorphic, return it unchanged, and None.
    """
    told_apart: Json = (body or {}).get("discriminator", {})
    field, mapping = told_apart.get("propertyName"), told_apart.get("mapping")
    if body is None or not isinstance(field, str) or not is_object(mapping):
        return body, None
    found: dict[str, Json] = {
        kind: _joined(references.inlined({"$ref": each})) for kind, each in mapping.items()
    }
    # A kind without known fields cannot be checked, so the body stays as it is.
    if not all(each["properties"] for each in found.values()):
        return body, None
    flat = _flat(found)
    # The kinds need not declare this field. Only the mapping has all its values.
    flat["properties"][field] = {"type": "string", "enum": list(found)}
    # The field with the kind is sent with every kind, whether or not the kind declares it.
    names = {kind: frozenset((*each["properties"], field)) for kind, each in found.items()}
    return flat, Kinds(field=field, names=names)


def joined_kinds(
    body: Json, serializer: Any, references: References
) -> tuple[Json, tuple[type, ...]]:
    """Join the kinds of a body that no field distinguishes. Return a body with the fields of all
    kinds, and the serializer classes of the kinds. Return any other body unchanged, and no classes.
    """
    # A project may correct drf-spectacular's `oneOf`, because a value may be of several kinds.
    branches = body.get("oneOf", body.get("anyOf"))
    # Without serializers, a field of another kind could not be refused while the view runs.
    if not is_array(branches) or not isinstance(serializer, PolymorphicProxySerializer):
        return body, ()
    found = {str(at): _joined(references.inlined(each)) for at, each in enumerate(branches)}
    if not all(each["properties"] for each in found.values()):
        return body, ()
    return _flat(found), serializers_of_kinds(serializer)


def serializers_of_kinds(serializer: Any) -> tuple[type, ...]:
    """Return the serializer classes of the kinds of a polymorphic serializer. That serializer may
    be from django-rest-polymorphic, or drf-spectacular's own, which is only for documentation.
    """
    found: Any = getattr(serializer, "serializers", None)
    if found is None:
        found = getattr(serializer, "model_serializer_mapping", ())
    each_of: Any = found.values() if is_mapping(found) else found
    return tuple(class_of(each) for each in each_of)


def _flat(kinds: dict[str, Json]) -> Json:
    """Return an object with the fields of all kinds. A field is required if each kind requires
    it.
    """
    every = dict.fromkeys(name for each in kinds.values() for name in each["properties"])
    properties: Json = {name: _in_any(name, kinds) for name in every}
    required = [name for name in properties if _is_in_all(name, kinds)]
    return {"type": "object", "properties": properties, "required": required}


def _in_any(name: str, kinds: dict[str, Json]) -> Json:
    """Return the schema that accepts a field in any of the kinds that have the field."""
    forms: list[Json] = []
    for each in kinds.values():
        form = each["properties"].get(name)
        if form is not None and form not in forms:
            forms.append(form)
    # A field of one name may have another type in another kind.
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _is_in_all(name: str, kinds: dict[str, Json]) -> bool:
    return all(name in each["required"] for each in kinds.values())


def _joined(schema: Json) -> Json:
    """Return the fields of an object, including those in its `allOf`."""
    properties: Json = dict(schema.get("properties", {}))
    required: list[str] = list(schema.get("required", ()))
    parts = schema.get("allOf")
    for each in parts if is_array(parts) else ():
        part = _joined(each)
        properties |= part["properties"]
        required += part["required"]
    return {"properties": properties, "required": required}
