"""Finds the fields that the serializer has for one caller. The published schema may have more
fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework import serializers

from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.declared_bodies import WHOLE_BODY
from toolbooth.django.describe.taken_values import reads_by_own_code
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object


def own_fields(serializer: Any) -> dict[str, Any]:
    """Return the fields that a caller may send. Hidden fields are left out, because they ignore any
    value that is sent.
    """
    fields: Mapping[str, Any] = serializer.fields
    return {
        name: each
        for name, each in fields.items()
        if not each.read_only and not isinstance(each, serializers.HiddenField)
    }


def unread(serializer: Any, value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the paths of sent fields that the serializer does not have and would ignore."""
    if is_array(value):
        child: Any = getattr(serializer, "child", serializer)
        for index, each in enumerate(value):
            yield from unread(child, each, (*path, index))
    if not isinstance(serializer, serializers.Serializer) or not is_object(value):
        return
    # A nested serializer's own code may read fields that it does not declare.
    if path and reads_by_own_code(serializer):
        return
    try:
        fields = own_fields(serializer)
    except Exception:  # they can only be read while the view runs, and are compared then
        return
    for name, each in value.items():
        if name in fields:
            yield from unread(fields[name], each, (*path, name))
        else:
            yield (*path, name)


def schema_for(serializer: Any, arguments: Arguments, *, is_partial: bool) -> Json:
    """Return the input schema of a tool with only the fields of one caller. With `is_partial`, no
    field of the body is required.
    """
    body = arguments.named("body")
    offered = arguments.offered or {name: arguments.properties[name] for name in body}
    if arguments.whole:
        rows = _narrowed(offered[WHOLE_BODY], serializer, is_partial=is_partial)
        own: Json = {"properties": {WHOLE_BODY: rows}, "required": [WHOLE_BODY]}
    else:
        own = _narrowed({"properties": offered}, serializer, is_partial=is_partial)
    in_url: dict[str, Json] = {}
    controls: dict[str, Json] = {}
    for name, each in arguments.properties.items():
        if name not in body:
            # A control argument has no slot, because it is not sent to the view.
            beside = in_url if name in arguments.slots else controls
            beside[name] = each
    required = [name for name in arguments.required if name in in_url]
    schema = arguments.schema({**in_url, **own["properties"], **controls})
    return {**schema, "required": [*required, *own["required"]]}


def _narrowed(schema: Json, found: Any, *, is_partial: bool) -> Json:
    """Return the schema of a value, with only those fields that a caller's serializer has."""
    if is_object(schema.get("items")):
        child: Any = getattr(found, "child", found)
        return {**schema, "items": _narrowed(schema["items"], child, is_partial=is_partial)}
    is_plain = isinstance(found, serializers.Serializer) and is_object(schema.get("properties"))
    if not is_plain:
        return schema
    fields = own_fields(found)
    properties = {
        name: _narrowed(each, fields[name], is_partial=is_partial)
        for name, each in schema["properties"].items()
        if name in fields
    }
    required = [name for name in properties if fields[name].required and not is_partial]
    return {**schema, "properties": properties, "required": required}
