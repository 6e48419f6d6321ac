"""Finds the values that a serializer's field accepts. Its documentation may describe other values.

An object refuses unknown keys only if REST framework's own `Serializer` reads it, because that
class would drop them. Other fields accept any key, or decide themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from toolbooth.django.describe.field_schemas import JSON_TYPES
from toolbooth.django.describe.lenient_schema import fields_of
from toolbooth.django.describe.readers import has_own_code
from toolbooth.jsonvalue import Json, is_array, is_object

LISTS: Any = (
    serializers.ListSerializer,
    serializers.ListField,
    serializers.ManyRelatedField,
)
_READING = ("to_internal_value", "run_validation")
_NOT_OBJECTS = ["string", "number", "boolean", "array", "null"]
_LOOKUP = "__"
"""Part of a key that follows a relation: `site__name`."""


def reads_by_own_code(found: Any) -> bool:
    """Return True if the project's own code reads the value of a field or a serializer."""
    return has_own_code(found.__class__, *_READING)


def item_of(found: Any) -> Any:
    """Return the field that reads one item of a list."""
    return getattr(found, "child_relation", None) or found.child


def taken_by(found: Any, documented: Json, above: tuple[type, ...] = ()) -> Json:
    """Return a schema of all values that a field accepts. `documented` is the schema in the field's
    documentation, which may be different.
    """
    made = _taken_by(found, documented, above)
    if not made or not found.allow_null:
        return made
    kinds = made["type"] if is_array(made["type"]) else [made["type"]]
    return {**made, "type": [*kinds, "null"]}


def _taken_by(found: Any, documented: Json, above: tuple[type, ...]) -> Json:
    cls: type = found.__class__
    # A serializer that is nested in itself is not followed again.
    if reads_by_own_code(found) or cls in above:
        return {}
    if isinstance(found, LISTS):
        items: Any = documented.get("items", {})
        return {"type": "array", "items": taken_by(item_of(found), items, above)}
    if isinstance(found, serializers.Serializer):
        return _object(found, documented, (*above, cls))
    if isinstance(found, serializers.DictField):
        values = taken_by(item_of(found), {}, above)
        return {"type": "object", "additionalProperties": values or True}
    # A document that is sent as JSON text is parsed, unless its author documents text.
    if isinstance(found, serializers.JSONField) and "string" not in _types(documented):
        return {"type": JSON_TYPES, "additionalProperties": True, "items": {}}
    return {}


def _object(found: Any, documented: Json, above: tuple[type, ...]) -> Json:
    known: Json = documented.get("properties", {})
    fields: Mapping[str, Any] = fields_of(found)
    properties = {
        name: taken_by(each, known.get(name, {}), above)
        for name, each in fields.items()
        if not each.read_only
    }
    # Nothing is required here: the serializer itself reports missing fields.
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _types(schema: Json) -> set[str]:
    """Return the types that a documented value may have."""
    kind = schema.get("type", ())
    found = set(kind) if is_array(kind) else {str(kind)}
    for key in ("anyOf", "oneOf"):
        for each in schema.get(key, ()):
            found |= _types(each)
    return found


def opened(schema: Any) -> Any:
    """Return a documented schema whose objects accept unknown keys. An object that explicitly
    forbids unknown keys still refuses them.
    """
    if is_array(schema):
        return [opened(each) for each in schema]
    if not is_object(schema):
        return schema
    made = {key: opened(each) for key, each in schema.items() if key != "properties"}
    if is_object(schema.get("properties")):
        made["properties"] = {key: opened(each) for key, each in schema["properties"].items()}
        made.setdefault("additionalProperties", True)
    return made


_OF_OBJECTS = frozenset(("properties", "additionalProperties", "patternProperties", "$ref"))
_BRANCHES = ("anyOf", "oneOf", "allOf")


def taken_as_documented(schema: Json, *, is_inner: bool = False) -> Json:
    """Return a schema of all accepted values for a documented value that no serializer reads.

    Inside such a value, authors write a mere `{"type": "object"}` for values of any type. So any
    value is accepted there, and the view decides.
    """
    if is_inner and schema.get("type") == "object" and not schema.keys() & _OF_OBJECTS:
        return {}
    made = dict(schema)
    if is_object(schema.get("properties")):
        properties: Json = schema["properties"]
        made["properties"] = {
            name: taken_as_documented(each, is_inner=True) for name, each in properties.items()
        }
    if is_object(schema.get("items")):
        made["items"] = taken_as_documented(schema["items"], is_inner=True)
    for key in _BRANCHES:
        if key in schema:
            made[key] = [taken_as_documented(each, is_inner=is_inner) for each in schema[key]]
    return made


def taken_by_own_serializer(found: Any, closed: Json) -> Json:
    """Return a schema of all values that a nested serializer accepts if its own code reads the
    value. For example, the code may accept a key in place of an object. `closed` is the schema of
    an object with only the serializer's fields.

    Most such code passes objects on to REST framework, which drops unknown keys. So an object may
    have the fields of the serializer, the fields of its model, and lookups through relations. Other
    keys are refused.
    """
    model: Any = getattr(getattr(found, "Meta", None), "model", None)
    anything: dict[str, Json] = {name: {} for name in (*fields_of(found), "pk")}
    if model is not None:
        anything |= {each.name: {} for each in model._meta.concrete_fields}
    by_fields: Json = {
        **closed,
        "properties": {**anything, **closed["properties"]},
        "patternProperties": {_LOOKUP: {}},
        # The code may find a row by any of its fields, and need no others.
        "required": [],
    }
    return {"anyOf": [by_fields, {"type": _NOT_OBJECTS}]}
