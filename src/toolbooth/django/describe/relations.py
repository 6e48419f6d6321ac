"""Relations by key, and by object: `{"site": {"name": "hq-1"}}` is the one site of that name, or a
clear refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.db import models
from rest_framework import serializers

from toolbooth.errors import Problem
from toolbooth.jsonvalue import Json, JsonPath
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
    key = (
        str(found.slug_field)
        if isinstance(found, serializers.SlugRelatedField)
        else model._meta.pk.name
    )
    lookups = _lookups(model)
    properties = {
        name: _type(model._meta.pk if name == "pk" else model._meta.get_field(name))
        for name in lookups
    }
    form: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return Relation(path, key, form, tuple(lookups))


def _lookups(model: type[models.Model]) -> list[str]:
    """By what a row can be named: what is unique, what people call it, and its key. No secret is."""
    unique = [each.name for each in model._meta.concrete_fields if each.primary_key or each.unique]
    called = [each.name for each in model._meta.concrete_fields if each.name in ("name", "slug")]
    names = dict.fromkeys([*unique, *called, "pk"])
    return [name for name in names if not is_secret_name(name)]


def _type(field: Any) -> Json:
    target = field
    while isinstance(
        target, models.ForeignKey
    ):  # a key that is itself a relation has the type of what it points to
        target = cast("Any", target).target_field
    for kinds, schema in _TYPES:
        if isinstance(target, kinds):
            return dict(schema)
    return {"type": "string"}


# --- in a call ---

FieldOf = Callable[[Relation], Any]
"""Finds the serializer's field of a relation, as it is for this caller."""


def names_rows(value: Any, relations: Any) -> bool:
    """Whether some relation is named by object."""
    if isinstance(relations, Relation):
        return isinstance(value, dict)
    if isinstance(relations, list) and isinstance(value, list):
        return any(names_rows(each, relations[0]) for each in cast("list[Any]", value))
    if isinstance(relations, dict) and isinstance(value, dict):
        table = cast("dict[str, Any]", relations)
        return any(
            names_rows(each, table.get(key)) for key, each in cast("dict[str, Any]", value).items()
        )
    return False


def with_keys(
    value: Any, relations: Any, field_of: FieldOf, path: JsonPath, problems: list[Problem]
) -> Any:
    """`value` with every object that names a row replaced by that row's key; what names none adds
    to `problems`.
    """
    if isinstance(relations, Relation) and isinstance(value, dict):
        return _key(relations, field_of(relations), cast("dict[str, Any]", value), path, problems)
    if isinstance(relations, list) and isinstance(value, list):
        below = cast("list[Any]", relations)[0]
        sent = cast("list[Any]", value)
        return [
            with_keys(each, below, field_of, (*path, index), problems)
            for index, each in enumerate(sent)
        ]
    if isinstance(relations, dict) and isinstance(value, dict):
        table = cast("dict[str, Any]", relations)
        return {
            key: with_keys(each, table.get(key), field_of, (*path, key), problems)
            for key, each in cast("dict[str, Any]", value).items()
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
    while (
        child := getattr(field, "child_relation", None) or getattr(field, "child", None)
    ) is not None:
        field = child
    return field


def _key(
    relation: Relation, field: Any, sent: Mapping[str, Any], path: JsonPath, problems: list[Problem]
) -> Any:
    """The key of the one row that an object names."""
    if not sent:
        message = f"names no row; send its key, or one of {', '.join(relation.lookups)}"
        problems.append(Problem(code="invalid", path=path, message=message))
        return None
    queryset: Any = field.get_queryset()
    try:
        rows = list(queryset.filter(**sent)[:2])
    except (ValueError, TypeError, ValidationError):  # no such value could be stored
        rows = list[Any]()
    if len(rows) == 1:
        return _written(field, rows[0])
    kind = str(queryset.model._meta.verbose_name)
    said = " and ".join(f"{name} {each!r}" for name, each in sent.items())
    message = (
        f"more than one {kind} has {said}; send its key"
        if rows
        else f"there is no {kind} with {said}"
    )
    problems.append(Problem(code="invalid", path=path, message=message))
    return None


def _written(field: Any, row: Any) -> Any:
    """A row's key, as the field takes it: its primary key, its slug or its address."""
    if not isinstance(field, serializers.HyperlinkedRelatedField):
        made: Any = field.to_representation(row)
        return made if isinstance(made, str | int | float) else str(made)
    related = cast("Any", field)
    return related.get_url(row, related.view_name, related.context.get("request"), None)
