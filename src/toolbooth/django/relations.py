"""Relations by key, and by object: `{"site": {"name": "hq-1"}}` is the one site of that name, or a clear refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.db import models
from rest_framework import serializers

from toolbooth.errors import Problem, ToolInputError

Schema = dict[str, Any]

_TYPES: tuple[tuple[tuple[type[models.Field[Any, Any]], ...], Schema], ...] = (
    ((models.UUIDField,), {"type": "string", "format": "uuid"}),
    ((models.BooleanField,), {"type": "boolean"}),
    ((models.IntegerField, models.AutoField), {"type": "integer"}),
)


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation: how its rows are named by key, and by which fields of theirs they can be found."""

    field: Any
    key: Schema
    by_object: Schema
    lookups: tuple[str, ...]

    def resolved(self, value: Mapping[str, Any], path: str) -> Any:
        """The key of the one row that an object names. Raises ToolInputError."""
        names = {("pk" if name == "pk" else name): each for name, each in value.items()}
        if not names:
            raise _refused(path, f"names nothing; send the key, or one of {', '.join(self.lookups)}")
        queryset: Any = self.field.get_queryset()
        try:
            found = list(queryset.filter(**names)[:2])
        except (ValueError, TypeError, ValidationError):
            found = []
        kind = str(queryset.model._meta.verbose_name)
        said = ", ".join(f"{name} {each!r}" for name, each in names.items())
        if not found:
            raise _refused(path, f"there is no {kind} with {said}")
        if len(found) > 1:
            raise _refused(path, f"more than one {kind} has {said}; name it by its key")
        return self._key(found[0])

    def _key(self, row: Any) -> Any:
        field: Any = self.field
        if isinstance(self.field, serializers.SlugRelatedField):
            return getattr(row, field.slug_field)
        if isinstance(self.field, serializers.HyperlinkedRelatedField):
            return field.get_url(row, field.view_name, field.context.get("request"), None)
        return row.pk


def relation_of(found: Any) -> Relation | None:
    """The relation behind a serializer's field; None where only the field knows what it takes."""
    queryset = getattr(found, "queryset", None)
    model = getattr(queryset, "model", None)
    if model is None:
        return None
    if isinstance(found, serializers.PrimaryKeyRelatedField):
        key = _type(model._meta.pk)
    elif isinstance(found, serializers.SlugRelatedField):
        key = _type(_field(model, found.slug_field))
    elif isinstance(found, serializers.HyperlinkedRelatedField):
        key = {"type": "string", "format": "uri"}
    else:
        return None
    lookups = _lookups(model)
    properties = {name: _type(model._meta.pk if name == "pk" else _field(model, name)) for name in lookups}
    form: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Relation(found, key, form, tuple(lookups))


def _lookups(model: type[models.Model]) -> list[str]:
    """By what a row can be named: its key, what is unique, and what people call it."""
    meta = model._meta
    names = ["pk"]
    for each in meta.concrete_fields:
        if each.primary_key or each.unique or each.name in ("name", "slug"):
            names.append(each.name)
    return names


def _field(model: type[models.Model], name: str) -> Any:
    try:
        return model._meta.get_field(name)
    except LookupError:
        return None


def _type(field: Any) -> Schema:
    target = field
    while isinstance(target, models.ForeignKey):  # a key that is itself a relation has the type of what it points to
        target = cast("Any", target).target_field
    for kinds, schema in _TYPES:
        if isinstance(target, kinds):
            return dict(schema)
    return {"type": "string"}


def with_keys(value: Any, relations: Any, path: str) -> Any:
    """`value` with every object that names a row replaced by that row's key. Raises ToolInputError."""
    if isinstance(relations, Relation):
        return relations.resolved(cast("Mapping[str, Any]", value), path) if isinstance(value, dict) else value
    if isinstance(relations, list) and isinstance(value, list):
        (each,) = cast("list[Any]", relations)
        return [with_keys(item, each, f"{path}[{index}]") for index, item in enumerate(cast("list[Any]", value))]
    if isinstance(relations, dict) and isinstance(value, dict):
        table = cast("dict[str, Any]", relations)
        return {
            key: with_keys(each, table[key], f"{path}.{key}") if key in table else each
            for key, each in cast("dict[str, Any]", value).items()
        }
    return value


def _refused(path: str, message: str) -> ToolInputError:
    return ToolInputError([Problem(code="invalid", path=path, message=message)])
