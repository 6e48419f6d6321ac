"""Relations by key, and by object: `{"site": {"name": "hq-1"}}` is the one site of that name, or a
clear refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from rest_framework import serializers

from toolbooth.django.describe import messages
from toolbooth.errors import Problem
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object
from toolbooth.server.redact import is_secret_name

_TYPES: tuple[tuple[tuple[type[models.Field[Any, Any]], ...], Json], ...] = (
    ((models.UUIDField,), {"type": "string", "format": "uuid"}),
    ((models.BooleanField,), {"type": "boolean"}),
    ((models.IntegerField, models.AutoField), {"type": "integer"}),
)


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation: by which fields of theirs its rows can be found."""

    path: tuple[str, ...]
    """The names that lead to it from the body's serializer."""
    key: str
    by_object: Json
    lookups: tuple[str, ...]


def relation_of(found: Any, path: tuple[str, ...]) -> Relation | None:
    """The relation behind a serializer's field; None where only the field knows what it takes."""
    try:
        model = (found.queryset if found.queryset is not None else found.get_queryset()).model
    except Exception:  # whose rows they are, only a real caller can tell
        return None
    is_slug = isinstance(found, serializers.SlugRelatedField)
    key = str(found.slug_field) if is_slug else model._meta.pk.name
    lookups = _lookups(model)
    properties = {name: _type(_model_field(model, name)) for name in lookups}
    by_object: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return Relation(path, key, by_object, tuple(lookups))


def _model_field(model: Any, name: str) -> Any:
    return model._meta.pk if name == "pk" else model._meta.get_field(name)


def _lookups(model: type[models.Model]) -> list[str]:
    """The fields that can name a row: unique ones, its name, and its key. None is a secret."""
    unique = [each.name for each in model._meta.concrete_fields if each.primary_key or each.unique]
    called = [each.name for each in model._meta.concrete_fields if each.name in ("name", "slug")]
    names = dict.fromkeys([*unique, *called, "pk"])
    return [name for name in names if not is_secret_name(name)]


def _type(field: Any) -> Json:
    # A key that is itself a relation has the type of the key that it points to.
    target: Any = getattr(field, "target_field", field)
    if target is not field:
        return _type(target)
    for kinds, schema in _TYPES:
        if isinstance(field, kinds):
            return dict(schema)
    return {"type": "string"}


# --- in a call ---

FieldOf = Callable[[Relation], Any]
"""Finds the serializer's field of a relation, as it is for this caller."""


def names_rows(value: Any, relations: Any) -> bool:
    """Whether some relation is named by object."""
    if isinstance(relations, Relation):
        return is_object(value)
    if is_array(relations) and is_array(value):
        return any(names_rows(each, relations[0]) for each in value)
    if is_object(relations) and is_object(value):
        return any(names_rows(each, relations.get(key)) for key, each in value.items())
    return False


def with_keys(
    value: Any, relations: Any, field_of: FieldOf, path: JsonPath, problems: list[Problem]
) -> Any:
    """`value` with every object that names a row replaced by that row's key; what names none adds
    to `problems`.
    """
    if isinstance(relations, Relation) and is_object(value):
        return _key(relations, field_of(relations), value, path, problems)
    if is_array(relations) and is_array(value):
        return [
            with_keys(each, relations[0], field_of, (*path, index), problems)
            for index, each in enumerate(value)
        ]
    if is_object(relations) and is_object(value):
        return {
            key: with_keys(each, relations.get(key), field_of, (*path, key), problems)
            for key, each in value.items()
        }
    return value


def field_at(serializer: Any, path: tuple[str, ...]) -> Any:
    """The field at a path of names, through lists."""
    found = _one(serializer)
    for name in path:
        found = _one(found.fields[name])
    return found


def _one(field: Any) -> Any:
    """A list's items, or the field itself."""
    while (child := _child(field)) is not None:
        field = child
    return field


def _child(field: Any) -> Any:
    return getattr(field, "child_relation", None) or getattr(field, "child", None)


def _key(
    relation: Relation, field: Any, sent: Mapping[str, Any], path: JsonPath, problems: list[Problem]
) -> Any:
    """The key of the one row that an object names."""
    if not sent:
        message = messages.names_no_row(relation.lookups)
        problems.append(Problem(code="invalid", path=path, message=message))
        return None
    queryset: Any = field.get_queryset()
    try:
        rows = list(queryset.filter(**sent)[:2])
    except (ValueError, TypeError, ValidationError):  # no such value could be stored
        rows = list[Any]()
    if len(rows) == 1:
        return _key_of_row(field, rows[0])
    kind = str(queryset.model._meta.verbose_name)
    message = messages.several_rows(kind, sent) if rows else messages.no_such_row(kind, sent)
    problems.append(Problem(code="invalid", path=path, message=message))
    return None


def _key_of_row(field: Any, row: Any) -> Any:
    """A row's key, as the field takes it: its primary key, its slug or its URL."""
    if isinstance(field, serializers.HyperlinkedRelatedField):
        return _url_of_row(field, row)
    made: Any = field.to_representation(row)
    return made if isinstance(made, str | int | float) else str(made)


def _url_of_row(field: Any, row: Any) -> Any:
    return field.get_url(row, field.view_name, field.context.get("request"), None)
