"""A body, as drf-spectacular describes it and as the serializer's fields read it -> what is
published, what is taken.

The two differ where REST framework takes more than one form: a relation is published by its key,
and taken by key or by object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, cast

from django.core.exceptions import FieldDoesNotExist
from django.db.models import NOT_PROVIDED
from drf_spectacular.drainage import has_override as untyped_has_override
from rest_framework import serializers
from rest_framework.fields import empty

from toolbooth.django.describe.operations import Unknowable
from toolbooth.django.describe.relations import relation_of
from toolbooth.jsonvalue import Json
from toolbooth.server.redact import is_secret_name

has_override: Any = untyped_has_override

JSON_TYPES = ["object", "array", "number", "boolean"]
"""What a JSONField takes, and null where it may be null. A document that is sent as JSON text is
read, so no text.
"""

_ITEMS = {"type": ["object", "string", "number", "boolean"]}
"""What is published of a list in a document; lists of lists are taken too, but cost more words than
they are worth.
"""

_WIDEST = (2**15, 2**31, 2**32, 2**63, 2**64)
"""What a database's integers end at: says nothing about a field."""

_NOISE = frozenset(
    ("title", "readOnly", "writeOnly", "example", "examples", "externalDocs", "discriminator")
)


@dataclass(slots=True)
class Body:
    """The fields of a body."""

    properties: dict[str, Json] = field(default_factory=dict[str, Json])
    wide: dict[str, Json] = field(default_factory=dict[str, Json])
    required: list[str] = field(default_factory=list[str])
    relations: dict[str, Any] = field(default_factory=dict[str, Any])
    left_out: list[str] = field(default_factory=list[str])


Node = tuple[Json, Json, Any]
"""One value as published, as taken, and where relations stand in it."""


def read_body(schema: Json, fields: Mapping[str, Any], method: str) -> Body:
    """The fields of an object. Raises Unknowable."""
    return _Reader(method).fields(schema, fields, ())


def trimmed(schema: Json) -> Json:
    """A schema without what tells nothing."""
    made = {key: each for key, each in schema.items() if key not in _NOISE}
    if made.get("format") in ("int32", "int64", "float", "double"):
        del made["format"]
    for key in ("minimum", "maximum"):
        if isinstance(made.get(key), int) and any(
            abs(made[key]) in (widest, widest - 1) for widest in _WIDEST
        ):
            del made[key]
    if "(?" in str(
        made.get("pattern", "")
    ):  # Python's regular expressions go beyond those of JSON Schema
        del made["pattern"]
    if isinstance(made.get("items"), dict):
        made["items"] = trimmed(made["items"])
    if isinstance(made.get("properties"), dict):
        made["properties"] = {key: trimmed(each) for key, each in made["properties"].items()}
    return made


_MOST_DIGITS = 15
"""Digits that a number of any client keeps."""


class _Reader:
    """Reads one body; what it left out stands in its own list."""

    def __init__(self, method: str) -> None:
        self.method = method

    def fields(self, schema: Json, fields: Mapping[str, Any], above: tuple[str, ...]) -> Body:
        made = Body()
        # A patch needs none of a serializer's fields, at any depth.
        required: list[str] = [] if self.method == "PATCH" else schema.get("required", [])
        for name, each in schema["properties"].items():
            path = (*above, name)
            try:
                narrow, wide, below = self.node(each, fields.get(name), path, made)
            except Unknowable as reason:
                if name in required:
                    raise Unknowable(f"{'.'.join(path)!r} is required, and {reason}") from None
                made.left_out.append(f"{'.'.join(path)!r} {reason}")
                continue
            made.properties[name], made.wide[name] = narrow, wide
            if below is not None:
                made.relations[name] = below
            if name in required:
                made.required.append(name)
        return made

    def node(self, schema: Json, found: Any, path: tuple[str, ...], body: Body) -> Node:
        """A value of the body, with the serializer's field that reads it."""
        if schema.get("format") == "binary":
            if found is None or not _is_authors(found):
                raise Unknowable("takes a file, which is not sent over MCP")
            schema = {
                key: each for key, each in schema.items() if key != "format"
            }  # as text: in base64, by its address
        branch, null = _without_null(schema)
        if null:
            return _with_null(self.node(branch, found, path, body))
        if found is None or has_override(found, "field"):
            return _alone(trimmed(schema))
        if _is_authors(found):
            return self._authors(schema, found)
        if isinstance(
            found, serializers.ListSerializer | serializers.ListField | serializers.ManyRelatedField
        ):
            return self._list(schema, found, path, body)
        if isinstance(found, serializers.Serializer) and "properties" in schema:
            return self._object(schema, found, path, body)
        if isinstance(found, serializers.RelatedField):
            return self._related(schema, found, path)
        if isinstance(found, serializers.DictField) and isinstance(
            schema.get("additionalProperties"), dict
        ):
            narrow, wide, below = self.node(
                schema["additionalProperties"], cast("Any", found).child, path, body
            )
            made = self._described(trimmed(schema), found)
            further = (
                {"additionalProperties": narrow},
                {"additionalProperties": wide if below is None else narrow},
            )
            return {**made, **further[0]}, {**made, **further[1]}, None
        made = self._described(_scalar(schema, found, path[-1]), found)
        if (
            isinstance(found, serializers.DecimalField)
            and (found.max_digits or _MOST_DIGITS + 1) <= _MOST_DIGITS
        ):
            return _as_number(made), made, None
        return (made, {**made, "items": {}}, None) if made.get("items") is _ITEMS else _alone(made)

    def _authors(self, schema: Json, found: Any) -> Node:
        """The author's own code reads it, and alone decides what it takes; what drf-spectacular
        knows is published.
        """
        narrow = self._described(trimmed(schema), found)
        return (_untyped(narrow) if _is_unknown(found) else narrow), {}, None

    def _list(self, schema: Json, found: Any, path: tuple[str, ...], body: Body) -> Node:
        child: Any = getattr(found, "child_relation", None) or found.child
        narrow, wide, below = self.node(schema.get("items", {}), child, path, body)
        made = self._described({**trimmed(schema), "items": narrow}, found)
        return made, {**made, "items": wide}, None if below is None else [below]

    def _object(self, schema: Json, found: Any, path: tuple[str, ...], body: Body) -> Node:
        inner = self.fields(schema, found.fields, path)
        body.left_out += inner.left_out
        closed: Json = {
            **trimmed(schema),
            "required": inner.required,
            "additionalProperties": False,
        }
        narrow = {**closed, "properties": inner.properties}
        return narrow, {**closed, "properties": inner.wide}, inner.relations or None

    def _related(self, schema: Json, found: Any, path: tuple[str, ...]) -> Node:
        relation = relation_of(found, path)
        narrow = self._described(trimmed(schema), found)
        if relation is None:
            return narrow, {}, None
        taken = {"anyOf": [narrow, relation.by_object]}
        names = [name for name in relation.lookups if name not in ("pk", relation.key)]
        return _saying(narrow, f'or {{"{names[0]}": …}}') if names else narrow, taken, relation

    def _described(self, schema: Json, found: Any) -> Json:
        """With the default that applies when the field is not sent."""
        made = {key: each for key, each in schema.items() if key != "default"}
        default = self._default(found)
        return made if default is None else {**made, "default": default}

    def _default(self, found: Any) -> Any:
        """An update leaves what is not sent as it is, unless the serializer itself has a default
        for it.
        """
        if self.method == "PATCH":
            return None
        value: Any = getattr(found, "default", empty)
        if value is empty and self.method == "POST":
            value = _models_default(found)
        value = (
            value.value
            if isinstance(value, Enum)
            else str(value)
            if isinstance(value, Decimal)
            else value
        )
        return value if isinstance(value, str | int | float) and value != "" else None


def _models_default(found: Any) -> Any:
    parent: Any = found.parent
    if not isinstance(parent, serializers.ModelSerializer):
        return empty
    try:
        value: Any = cast("Any", parent).Meta.model._meta.get_field(found.source).default
    except (FieldDoesNotExist, AttributeError):
        return empty
    return empty if value is NOT_PROVIDED or callable(value) else value


def _alone(schema: Json) -> Node:
    return schema, schema, None


def _without_null(schema: Json) -> tuple[Json, bool]:
    """A node that is null or one other thing: that thing."""
    for key in ("oneOf", "anyOf"):
        branches = cast("list[Json]", schema.get(key) or [])
        others = [
            each for each in branches if each.get("type") != "null" and each.get("enum") != [None]
        ]
        if len(others) == 1 and len(branches) == 2:
            return {
                **{name: each for name, each in schema.items() if name != key},
                **others[0],
            }, True
    return schema, False


def _with_null(node: Node) -> Node:
    narrow, wide, below = node
    return _nullable(narrow), _nullable(wide), below


def _nullable(schema: Json) -> Json:
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    if isinstance(kind, list):
        return schema if "null" in kind else {**schema, "type": [*cast("list[str]", kind), "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _scalar(schema: Json, found: Any, name: str) -> Json:
    """A scalar, in a form that says all that REST framework takes."""
    made = trimmed(schema)
    if isinstance(found, serializers.JSONField) and not (
        made.keys() & {"type", "properties", "anyOf", "oneOf"}
    ):
        null = ["null"] if found.allow_null else []
        return {**made, "type": [*JSON_TYPES, *null], "additionalProperties": True, "items": _ITEMS}
    if isinstance(found, serializers.DictField) and not isinstance(
        made.get("additionalProperties"), dict
    ):
        return {**made, "additionalProperties": True}
    if isinstance(found, serializers.DecimalField):
        null = ["null"] if found.allow_null else []
        return {key: each for key, each in made.items() if key != "pattern"} | {
            "type": ["number", "string", *null],
            "format": "decimal",
        }
    if isinstance(found, serializers.ChoiceField):
        return _choices(made, found)
    if isinstance(found, serializers.CharField) and found.allow_blank:
        made = _text_or_blank(made)
    if isinstance(found, serializers.CharField) and _is_secret(found, name):
        return {**made, "format": "password"}
    return made


def _as_number(schema: Json) -> Json:
    """A decimal that every client keeps whole as a number: the shorter form to publish. As text it
    is taken too.
    """
    kinds = [kind for kind in schema["type"] if kind != "string"]
    made = {key: each for key, each in schema.items() if key != "format"}
    if isinstance(made.get("default"), str):
        made["default"] = float(made["default"])
    return {**made, "type": kinds[0] if len(kinds) == 1 else kinds}


def _text_or_blank(schema: Json) -> Json:
    """One text, where drf-spectacular tells the empty one apart; of no pattern, which the empty one
    would break.
    """
    long = next((each for each in schema.get("oneOf", ()) if each.get("maxLength") != 0), schema)
    return {
        key: each for key, each in {**schema, **long}.items() if key not in ("oneOf", "pattern")
    }


def _choices(schema: Json, found: Any) -> Json:
    """With the empty choice where it is one, and what the others are called where that says more."""
    place = (
        schema.get("items", schema)
        if isinstance(found, serializers.MultipleChoiceField)
        else schema
    )
    if found.allow_blank and "enum" in place and "" not in place["enum"]:
        place = {**place, "enum": [*place["enum"], ""]}
    labels = {value: str(label) for value, label in found.choices.items()}
    telling = [f"{value} = {label}" for value, label in labels.items() if _tells(value, label)]
    made: Json = {**schema, "items": place} if "items" in schema else place
    return _saying(made, ", ".join(telling)) if telling and len(labels) <= 30 else made


def _saying(schema: Json, more: str) -> Json:
    said = str(schema.get("description") or "").rstrip(". ")
    return {**schema, "description": f"{said}. {more}" if said else more}


def _tells(value: Any, label: str) -> bool:
    plain = str(value).lower().replace("_", "").replace("-", "")
    return plain != label.lower().replace(" ", "").replace("-", "").replace("_", "")


def _is_authors(found: Any) -> bool:
    """Whether a field, not a serializer, reads what is sent by a project's own code."""
    if isinstance(found, serializers.BaseSerializer):
        return False
    cls: Any = found.__class__
    readers: tuple[Any, ...] = (cls.to_internal_value, cls.run_validation)
    return not all(each.__module__.startswith("rest_framework.") for each in readers)


def _is_unknown(found: Any) -> bool:
    """Whether a field is of no kind that REST framework has: drf-spectacular calls it text, knowing
    no better.
    """
    bases: tuple[Any, ...] = found.__class__.__mro__
    kinds = [each for each in bases if each.__module__.startswith("rest_framework.")]
    return kinds[0] in (serializers.Field, serializers.RelatedField)


def _untyped(schema: Json) -> Json:
    return {key: each for key, each in schema.items() if key != "type"}


def _is_secret(found: Any, name: str) -> bool:
    return found.style.get("input_type") == "password" or is_secret_name(name)
