"""One operation -> the flat arguments of one tool, and where each goes: into the path, the query or the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from django.core.exceptions import FieldDoesNotExist
from django.db.models import NOT_PROVIDED
from rest_framework import serializers
from rest_framework.fields import empty

from toolbooth.django.operations import Operation
from toolbooth.django.relations import relation_of

Schema = dict[str, Any]
Place = Literal["path", "query", "body"]

JSON_TYPES = ["object", "array", "number", "boolean", "null"]
"""What a JSONField takes. Text is left out, so that a document sent as JSON text is read as the document."""

WHOLE_BODY = "objects"
"""The argument that is the body itself, where the body is no object."""


class Unknowable(Exception):
    """What the action takes cannot be known, so it is not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Where one argument goes."""

    place: Place
    name: str
    joined: bool = False
    """A list that goes into the query as one value, with commas."""


@dataclass(slots=True)
class Arguments:
    """The arguments of one tool."""

    properties: dict[str, Schema] = field(default_factory=dict[str, Schema])
    """As they are published."""
    wide: dict[str, Schema] = field(default_factory=dict[str, Schema])
    """As they are taken: relations also by object."""
    required: list[str] = field(default_factory=list[str])
    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])
    relations: dict[str, Any] = field(default_factory=dict[str, Any])
    """Where relations stand among the arguments: a Relation, or the same for what is below."""
    whole: bool = False
    """The body is one argument."""
    left_out: list[str] = field(default_factory=list[str])
    """Fields that cannot be sent, with the reason."""

    def schema(self, properties: dict[str, Schema]) -> Schema:
        """A closed JSON Schema over these properties."""
        return {
            "type": "object",
            "properties": properties,
            "required": self.required,
            "additionalProperties": False,
        }


def arguments_of(operation: Operation) -> Arguments:
    """The arguments of an operation. Raises Unknowable."""
    made = Arguments()
    body = _body_properties(operation)
    for name, schema in operation.path.items():
        called = operation.key if name == "pk" else name
        own = f"{called}_in_path" if called in body else called
        said = "Which one: its place in the address" if own != called else schema.get("description", "")
        made.slots[own] = Slot(place="path", name=name)
        made.properties[own] = made.wide[own] = {**schema, "description": said} if said else schema
        made.required.append(own)
    for name, schema in operation.query.items():
        own = f"{name}_in_query" if name in body or name in made.slots else name
        made.slots[own] = Slot(place="query", name=name, joined=schema.get("explode") is False)
        made.properties[own] = made.wide[own] = schema
        if name in operation.required_query:
            made.required.append(own)
    if operation.body is not None:
        _add_body(made, operation, body)
    return made


def _body_properties(operation: Operation) -> dict[str, Schema]:
    body = operation.body
    if body is None:
        return {}
    if body.get("type") == "object" and "properties" in body:
        return cast("dict[str, Schema]", body["properties"])
    if body.get("type") == "array":
        return {WHOLE_BODY: body}
    raise Unknowable("its body has no known fields; give the action a serializer, or describe it with @extend_schema")


def _add_body(made: Arguments, operation: Operation, body: dict[str, Schema]) -> None:
    serializer: Any = operation.serializer
    assert operation.body is not None
    made.whole = operation.body.get("type") == "array"
    required = [WHOLE_BODY] if made.whole else operation.body.get("required", [])
    fields = _fields(serializer)
    for name, schema in body.items():
        found: Any = serializer if made.whole else fields.get(name)
        try:
            narrow, wide, below = _node(schema, found)
        except Unknowable as reason:
            if name in required:
                raise Unknowable(f"{name!r} is required, and {reason}") from None
            made.left_out.append(f"{name!r} {reason}")
            continue
        made.slots[name] = Slot(place="body", name=name)
        made.properties[name], made.wide[name] = narrow, wide
        if below is not None:
            made.relations[name] = below
        if name in required:
            made.required.append(name)


Node = tuple[Schema, Schema, Any]
"""One value as published, as taken, and where relations stand in it."""


def _node(schema: Schema, found: Any) -> Node:
    """A value of the body, with the serializer's field that reads it."""
    if schema.get("format") == "binary":
        raise Unknowable("takes a file, which is not sent over MCP")
    if isinstance(found, serializers.ListSerializer | serializers.ListField | serializers.ManyRelatedField):
        narrow, wide, below = _node(schema.get("items", {}), _child(found))
        made = _described({**schema, "items": narrow}, found)
        return made, {**made, "items": wide}, None if below is None else [below]
    if isinstance(found, serializers.Serializer) and "properties" in schema:
        return _object(schema, found)
    if isinstance(found, serializers.RelatedField):
        return _related(schema, found)
    made = _described(_plain(schema, found), found)
    return made, made, None


def _child(found: Any) -> Any:
    return getattr(found, "child_relation", None) or found.child


def _object(schema: Schema, serializer: Any) -> Node:
    fields = _fields(serializer)
    nodes: dict[str, Node] = {}
    for name, each in schema["properties"].items():
        try:
            nodes[name] = _node(each, fields.get(name))
        except Unknowable:
            if name in schema.get("required", ()):
                raise
    closed = {**schema, "additionalProperties": False}
    below = {name: relation for name, (_, _, relation) in nodes.items() if relation is not None}
    return (
        {**closed, "properties": {name: narrow for name, (narrow, _, _) in nodes.items()}},
        {**closed, "properties": {name: wide for name, (_, wide, _) in nodes.items()}},
        below or None,
    )


def _related(schema: Schema, found: Any) -> Node:
    relation = relation_of(found)
    if relation is None:
        return schema, schema, None
    narrow = _described({**schema, **relation.key}, found)
    if found.allow_null:
        narrow = _nullable(narrow)
    return narrow, {"anyOf": [narrow, relation.by_object]}, relation


def _plain(schema: Schema, found: Any) -> Schema:
    """A scalar, in a form that says all that REST takes."""
    if isinstance(found, serializers.JSONField) and not (schema.keys() & {"type", "properties", "anyOf", "oneOf"}):
        return {**schema, "type": JSON_TYPES, "additionalProperties": True, "items": {}}
    if schema.get("format") == "decimal" and schema.get("type") in ("string", ["string", "null"]):
        null = ["null"] if "null" in schema["type"] else []
        return {**_without(schema, "pattern"), "type": ["number", "string", *null]}
    choices = schema.get("oneOf")
    if isinstance(choices, list) and all(_is_text(each) for each in cast("list[Schema]", choices)):
        return _text_or_blank(schema, cast("list[Schema]", choices))
    return schema


def _is_text(schema: Schema) -> bool:
    return schema.get("type") == "string" and "enum" not in schema


def _text_or_blank(schema: Schema, choices: list[Schema]) -> Schema:
    """One text, where drf-spectacular tells the empty one apart."""
    long = next((each for each in choices if each.get("maxLength") != 0), choices[0])
    return {**_without(schema, "oneOf"), **_without(long, "minLength")}


def _nullable(schema: Schema) -> Schema:
    kind = schema.get("type")
    if isinstance(kind, str) and kind != "null":
        return {**schema, "type": [kind, "null"]}
    return schema


def _described(schema: Schema, found: Any) -> Schema:
    """With the default, where the serializer or its model has one that JSON can carry."""
    if "default" in schema or found is None:
        return schema
    default = _default(found)
    return schema if default is None else {**schema, "default": default}


def _default(found: Any) -> Any:
    value = getattr(found, "default", empty)
    parent: Any = found.parent
    if value is empty and isinstance(parent, serializers.ModelSerializer):
        try:
            value = cast("Any", parent).Meta.model._meta.get_field(found.source).default
        except (FieldDoesNotExist, AttributeError):
            return None
    if value is empty or value is NOT_PROVIDED or callable(value) or value == "":
        return None
    return value if isinstance(value, str | int | float | bool) else None


def _fields(serializer: Any) -> Mapping[str, Any]:
    """A serializer's fields, by name."""
    if isinstance(serializer, serializers.Serializer):
        return cast("Mapping[str, Any]", serializer.fields)
    return {}


def _without(schema: Schema, *keys: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keys}
