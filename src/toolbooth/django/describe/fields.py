"""Makes two schemas for each field of a body: one to publish, and one that accepts all valid
values. They are made from drf-spectacular's description and the serializer's fields.

The two schemas differ because REST framework accepts more than is published. For example, a decimal
is published as a number, but is also accepted as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple

from django.core.exceptions import FieldDoesNotExist
from django.db.models import NOT_PROVIDED
from django.utils.datastructures import MultiValueDict
from drf_spectacular.drainage import has_override as untyped_has_override
from rest_framework import serializers
from rest_framework.fields import empty

from toolbooth.django.describe import messages
from toolbooth.django.describe.field_schemas import (
    as_number,
    scalar_schema,
    trimmed,
)
from toolbooth.django.describe.lenient_schema import fields_of, is_below_bare
from toolbooth.django.describe.openapi import Unknowable
from toolbooth.django.describe.relations import key_schema, relation_of
from toolbooth.django.describe.taken_values import (
    LISTS,
    item_of,
    opened,
    reads_by_own_code,
    taken_as_documented,
    taken_by,
    taken_by_own_serializer,
)
from toolbooth.jsonvalue import Json, is_array, is_object

has_override: Any = untyped_has_override

MOST_DIGITS = 15
"""The most digits of a number that every client keeps exact."""

_FORMS_KEEP_DICTIONARIES = bool(
    serializers.DictField().to_internal_value(MultiValueDict({"key": ["value"]}))
)
"""Before 3.18, REST framework reads every dictionary in a form as an empty one."""
_FIELDS_OF_NO_KIND = (serializers.Field, serializers.RelatedField)
_SAID_OF_ANYTHING = {"type", "title", "description", "default"}
"""The keywords that drf-spectacular writes for fields that it does not know. If a schema has other
keywords too, its type is not a guess.
"""


@dataclass(slots=True)
class Fields:
    """Named values that can be sent: the fields of a body, or the arguments of a tool."""

    properties: dict[str, Json] = field(default_factory=dict[str, Json])
    """The schemas as they are published."""
    wide: dict[str, Json] = field(default_factory=dict[str, Json])
    """The schemas of all accepted values."""
    required: list[str] = field(default_factory=list[str])
    relations: dict[str, Any] = field(default_factory=dict[str, Any])
    """The relations by field. The value is a `Relation`, or a dict or a list with the relations
    inside the field.
    """
    left_out: list[str] = field(default_factory=list[str])
    """Fields that cannot be sent, each with the reason."""
    offered: dict[str, Json] = field(default_factory=dict[str, Json])
    """The fields of a body as they are published to callers who may send all of them. Empty if all
    callers may send the same fields.
    """


class Described(NamedTuple):
    """The description of one value of a body."""

    published: Json
    wide: Json
    """The schema of all accepted values."""
    relations: Any = None
    """The relations in the value, in the same form as in `Fields`."""


def read_body(
    schema: Json,
    fields: Mapping[str, Any],
    method: str,
    *,
    is_form: bool = False,
    creates: bool = False,
) -> Fields:
    """Return the fields of an object that is sent as JSON or as a form. Set `creates` if the call
    creates rows.

    Raises:
        Unknowable: a required field cannot be described.
    """
    return _BodyReader(method, is_form=is_form, creates=creates).fields(schema, fields, ())


class _BodyReader:
    """Reads the body of one HTTP method. If `objects` is true, relations are accepted both by key
    and as objects.
    """

    def __init__(
        self, method: str, *, is_form: bool, creates: bool = False, objects: bool = True
    ) -> None:
        self.method = method
        self.is_form = is_form
        self.creates = creates
        self.objects = objects

    def fields(self, schema: Json, fields: Mapping[str, Any], above: tuple[str, ...]) -> Fields:
        made = Fields()
        # PATCH requires none of a serializer's fields, at any depth.
        required: list[str] = [] if self.method == "PATCH" else schema.get("required", [])
        for name, each in schema["properties"].items():
            path = (*above, name)
            try:
                found = self.value(each, fields.get(name), path, made)
            except Unknowable as reason:
                if name in required:
                    # Without a required field every call would fail, so the whole tool is left out.
                    words = messages.required_but_unknown(".".join(path), str(reason))
                    raise Unknowable(words) from None
                made.left_out.append(f"{'.'.join(path)!r} {reason}")
                continue
            made.properties[name], made.wide[name] = found.published, found.wide
            if self.creates and name not in required and _is_null_if_left_out(fields.get(name)):
                # Leaving the field out has the same effect as null, so refusals may advise it.
                made.wide[name] = {**found.wide, "default": None}
            if found.relations is not None:
                made.relations[name] = found.relations
            if name in required:
                made.required.append(name)
        return made

    def value(self, schema: Json, found: Any, path: tuple[str, ...], body: Fields) -> Described:
        """Return the description of a value in the body. `found` is the serializer field for this
        value.
        """
        if schema.get("format") == "binary":
            if found is None or not _has_own_code(found):
                raise Unknowable(messages.TAKES_A_FILE)
            schema = _without(schema, "format")  # as text: in base64, or by its URL
        # In OpenAPI 3.1, a component that may be null has two branches: itself, and `{"type":
        # "null"}`.
        branch, takes_null = _without_null(schema)
        if takes_null:
            return _with_null(self.value(branch, found, path, body))
        if found is None:
            # No field of a serializer reads this value: its author has documented it by hand.
            documented = opened(trimmed(schema))
            return Described(documented, taken_as_documented(documented))
        # The author's schema replaces the description, but not the code that reads the value.
        if has_override(found, "field"):
            return Described(opened(trimmed(schema)), taken_by(found, schema))
        if _has_own_code(found):
            return self._of_own_code(schema, found)
        if isinstance(found, LISTS):
            return self._list(schema, found, path, body)
        if isinstance(found, serializers.Serializer) and "properties" in schema:
            made = self._object(schema, found, path, body)
            if not reads_by_own_code(found):
                return made
            return Described(made.published, taken_by_own_serializer(found, made.wide))
        if isinstance(found, serializers.RelatedField):
            return self._related(schema, found, path)
        if isinstance(found, serializers.DictField) and is_object(
            schema.get("additionalProperties")
        ):
            return self._dictionary(schema, found, path, body)
        return self._scalar(schema, found, path)

    def _of_own_code(self, schema: Json, found: Any) -> Described:
        """Return the description of a field that the project's own code reads. drf-spectacular's
        schema is published, and the boundary accepts any value.
        """
        published = self._with_default(trimmed(schema), found)
        if _is_of_no_kind(found) and published.keys() <= _SAID_OF_ANYTHING:
            # drf-spectacular knows nothing about the field, so its type is only a guess.
            published = _without(published, "type")
        return Described(published, {})

    def _list(self, schema: Json, found: Any, path: tuple[str, ...], body: Fields) -> Described:
        item = self.value(schema.get("items", {}), item_of(found), path, body)
        made = self._with_default({**trimmed(schema), "items": item.published}, found)
        relations = None if item.relations is None else [item.relations]
        return Described(made, {**made, "items": item.wide}, relations)

    def _object(self, schema: Json, found: Any, path: tuple[str, ...], body: Fields) -> Described:
        inner = self.fields(schema, fields_of(found), path)
        body.left_out += inner.left_out
        closed: Json = {
            **trimmed(schema),
            "required": inner.required,
            "additionalProperties": False,
        }
        published = {**closed, "properties": inner.properties}
        return Described(published, {**closed, "properties": inner.wide}, inner.relations or None)

    def _related(self, schema: Json, found: Any, path: tuple[str, ...]) -> Described:
        by_key = self._with_default(key_schema(found, trimmed(schema)), found)
        wide = _any_key(by_key) if is_below_bare(found) else by_key
        relation = relation_of(found, path, wide)
        # Only the field itself can find the row, so it checks the value.
        if relation is None:
            return Described(by_key, {})
        if not self.objects:
            return Described(by_key, wide)
        return Described(relation.both_forms(by_key), relation.both_forms(wide), relation)

    def _dictionary(
        self, schema: Json, found: Any, path: tuple[str, ...], body: Fields
    ) -> Described:
        """Describe a dictionary. Relations inside its values are accepted by key only."""
        if self.is_form and not _FORMS_KEEP_DICTIONARIES:
            raise Unknowable(messages.LOST_IN_A_FORM)
        # A relation is found by its path of declared names. The keys of a dictionary are the
        # caller's.
        reader = _BodyReader(self.method, is_form=self.is_form, creates=self.creates, objects=False)
        value = reader.value(schema["additionalProperties"], found.child, path, body)
        made = self._with_default(trimmed(schema), found)
        return Described(
            {**made, "additionalProperties": value.published},
            {**made, "additionalProperties": value.wide},
        )

    def _scalar(self, schema: Json, found: Any, path: tuple[str, ...]) -> Described:
        made = self._with_default(scalar_schema(schema, found, path[-1]), found)
        if isinstance(found, serializers.DecimalField):
            # Without a limit of digits, a client could round the number, so text is published too.
            digits = found.max_digits
            if digits and digits <= MOST_DIGITS:
                return Described(as_number(made), made)
        if isinstance(found, serializers.JSONField):
            return Described(opened(made), taken_by(found, made))
        return _as_published(made)

    def _with_default(self, schema: Json, found: Any) -> Json:
        """Return a schema with the default that applies when the field is not sent."""
        # The default that drf-spectacular writes is the same for every method.
        made = _without(schema, "default")
        default = self._default(found)
        return made if default is None else {**made, "default": default}

    def _default(self, found: Any) -> Any:
        """Return the default of a field. In an update, a field that is not sent keeps its value,
        except if the serializer itself has a default for it.
        """
        if self.method == "PATCH":
            return None
        # A partial update ignores all defaults; a full one applies those of the serializer.
        value: Any = getattr(found, "default", empty)
        # Only a new row gets the defaults of its model.
        if value is empty and self.method == "POST":
            value = _models_default(found)
        if isinstance(value, Enum):
            value = value.value
        elif isinstance(value, Decimal):
            value = str(value)
        # Other defaults, such as functions, have no form in JSON, and an empty text adds nothing.
        return value if isinstance(value, str | int | float) and value != "" else None


def _models_default(found: Any) -> Any:
    options: Any = getattr(found.parent, "Meta", None)
    if not isinstance(found.parent, serializers.ModelSerializer):
        return empty
    try:
        value: Any = options.model._meta.get_field(found.source).default
    except (FieldDoesNotExist, AttributeError):
        return empty
    return empty if value is NOT_PROVIDED or callable(value) else value


def _is_null_if_left_out(found: Any) -> bool:
    """Return True if the new row has null in a field that the call leaves out."""
    if not getattr(found, "allow_null", False):
        return False
    if found.default is not empty:
        return found.default is None
    parent: Any = found.parent
    if not isinstance(parent, serializers.ModelSerializer):
        return False
    try:
        column: Any = parent.Meta.model._meta.get_field(found.source)
    except (FieldDoesNotExist, AttributeError):
        return False
    # A column has `db_default` since Django 5.0.
    defaults = (getattr(column, "default", 0), getattr(column, "db_default", NOT_PROVIDED))
    return all(each is NOT_PROVIDED or each is None for each in defaults)


def _any_key(by_key: Json) -> Json:
    """Return the schema of a relation's key for a field that the project's code may replace for
    each request. A row may then be named by its slug or its URL, and null is accepted.
    """
    made: Json = {"type": ["string", "integer", "null"]}
    return {**made, "default": by_key["default"]} if "default" in by_key else made


# --- null ---


def _as_published(schema: Json) -> Described:
    return Described(schema, schema)


def _without_null(schema: Json) -> tuple[Json, bool]:
    """Remove null from a schema. If the schema has two branches, and one of them is null, return
    the other branch and True. Otherwise return the schema and False.
    """
    for key in ("oneOf", "anyOf"):
        branches: list[Json] = schema.get(key) or []
        others = [each for each in branches if not _is_null(each)]
        if len(others) == 1 and len(branches) == 2:
            return {**_without(schema, key), **others[0]}, True
    return schema, False


def _is_null(schema: Json) -> bool:
    return schema.get("type") == "null" or schema.get("enum") == [None]


def _with_null(found: Described) -> Described:
    return Described(_nullable(found.published), _nullable(found.wide), found.relations)


def _nullable(schema: Json) -> Json:
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    if is_array(kind):
        return schema if "null" in kind else {**schema, "type": [*kind, "null"]}
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {"anyOf": [schema, {"type": "null"}]}


def _without(schema: Json, keyword: str) -> Json:
    return {key: each for key, each in schema.items() if key != keyword}


# --- whose code reads a field ---


def _has_own_code(found: Any) -> bool:
    """Return True if the project's own code reads a field. Return False for serializers."""
    return not isinstance(found, serializers.BaseSerializer) and reads_by_own_code(found)


def _is_of_no_kind(found: Any) -> bool:
    """Return True if the first REST framework class among the bases of a field is a general one,
    such as `Field`. drf-spectacular declares such a field as text, because it does not know the
    type.
    """
    bases: tuple[Any, ...] = found.__class__.__mro__
    # The first of them is the nearest class that REST framework knows.
    kinds = [each for each in bases if each.__module__.startswith("rest_framework.")]
    return kinds[0] in _FIELDS_OF_NO_KIND
