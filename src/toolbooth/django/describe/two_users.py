"""Makes one description of a body whose serializer has different fields for different users.

Such a serializer is described twice: for an anonymous user and for a superuser. The tool lists the
fields that both users have, and accepts all fields that one of them has. In a call, the serializer
of the caller decides which fields may be sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from inspect import getattr_static
from typing import Any

from django.contrib.auth import get_user_model
from django.utils.module_loading import import_string
from rest_framework import serializers
from rest_framework.settings import api_settings

from toolbooth.django.describe.fields import Fields
from toolbooth.django.describe.lenient_schema import fields_of
from toolbooth.django.describe.readers import has_own_code, import_path
from toolbooth.jsonvalue import Json, is_array, is_object

_CHOOSING = (
    "__new__",
    "__init__",
    "get_fields",
    "get_field_names",
    "get_default_field_names",
    "get_extra_kwargs",
    "include_extra_kwargs",
)
"""The methods of a serializer that choose its fields."""

_RIGHTS = ("is_active", "is_staff", "is_superuser")
_DJANGOS_ANONYMOUS_USER = "django.contrib.auth.models.AnonymousUser"
"""Named by its import path, because its module cannot be imported before the apps are ready."""
_ANNOTATIONS = ("description", "default")

_serializer: Any = serializers.Serializer


# --- the two users ---


def anonymous_user() -> Any:
    """Return the user of a request without credentials, as REST framework creates it. If the
    project cannot create this user now, return Django's own anonymous user.
    """
    make: Any = api_settings.UNAUTHENTICATED_USER
    try:
        return make() if make else None
    except Exception:  # it is a row, and there is no database, or no such row yet
        return import_string(_DJANGOS_ANONYMOUS_USER)()


def superuser() -> Any:
    """Return an unsaved superuser of the project's own user model. Return None if the model cannot
    create one.
    """
    try:
        # Not read from the database: no query is possible while views are described.
        user: Any = get_user_model()()
    except Exception:  # no model, or one that needs more
        return None
    for name in _RIGHTS:
        with suppress(Exception):  # the model computes them
            setattr(user, name, True)
    return user


# --- whether a serializer may differ for another user ---


def chooses_fields(serializer: Any) -> bool:
    """Return True if the project's own code chooses the fields of a serializer, or of a serializer
    that is nested in it.
    """
    return any(_has_own_choice(each.__class__) for each in _serializers_in(serializer))


def _has_own_choice(cls: type) -> bool:
    # `fields` is a property, so the module of its function cannot be compared.
    stock = getattr_static(_serializer, "fields")
    return has_own_code(cls, *_CHOOSING) or getattr_static(cls, "fields") is not stock


def _serializers_in(serializer: Any, above: tuple[type, ...] = ()) -> Iterator[Any]:
    """Yield a serializer and all serializers nested in it. If a serializer contains itself, the
    inner one is not followed.
    """
    item = _item(serializer)
    if not isinstance(item, _serializer) or item.__class__ in above:
        return
    yield item
    fields: Mapping[str, Any] = fields_of(item)
    for each in fields.values():
        yield from _serializers_in(each, (*above, item.__class__))


def have_same_fields(one: Any, other: Any, above: tuple[type, ...] = ()) -> bool:
    """Return True if two serializers, or two fields, accept the same values."""
    if _kind(one) != _kind(other):
        return False
    one, other = _item(one), _item(other)
    if not isinstance(one, _serializer) or one.__class__ in above:
        return _kind(one) == _kind(other)
    mine, theirs = _writable(one), _writable(other)
    if mine.keys() != theirs.keys():
        return False
    path = (*above, one.__class__)
    return all(have_same_fields(each, theirs[name], path) for name, each in mine.items())


def _kind(field: Any) -> tuple[Any, ...]:
    # A serializer may offer other choices to administrators.
    choices: Any = field.choices if isinstance(field, serializers.ChoiceField) else ()
    return (import_path(field.__class__), field.required, field.allow_null, tuple(choices))


def _item(field: Any) -> Any:
    """Return the field itself. For a list, return the field of its items."""
    while (child := getattr(field, "child", None)) is not None:
        field = child
    return field


def _writable(serializer: Any) -> dict[str, Any]:
    fields: Mapping[str, Any] = fields_of(serializer)
    return {name: each for name, each in fields.items() if not each.read_only}


# --- both descriptions as one ---


def merged(one: Fields, other: Fields) -> Fields:
    """Make one description from two. It publishes the fields that both have, and accepts all fields
    that one of them has.
    """
    return Fields(
        properties=_shared(one.properties, other.properties),
        wide=united(one.wide, other.wide),
        # The boundary must not ask a caller for a field that the caller may not send.
        required=[name for name in one.required if name in other.required],
        relations=_relations(one.relations, other.relations, one.wide, other.wide),
        left_out=list(dict.fromkeys([*one.left_out, *other.left_out])),
        # `schema_for` narrows these to the fields of one caller, for the help.
        offered=united(one.properties, other.properties),
    )


def _shared(one: dict[str, Json], other: dict[str, Json]) -> dict[str, Json]:
    return {name: _common(each, other[name]) for name, each in one.items() if name in other}


def united(one: dict[str, Json], other: dict[str, Json]) -> dict[str, Json]:
    """Return the schemas of two descriptions, by name. If both descriptions have a name, the result
    accepts the values of both schemas.
    """
    both = {name: _either(one[name], other[name]) for name in one if name in other}
    return {**one, **other, **both}


def _common(one: Json, other: Json) -> Json:
    """Return the schema to publish for a value that both users may send."""
    match _parts_in_common(one, other):
        case "items":
            return {**one, "items": _common(one["items"], other["items"])}
        case "properties":
            properties = _shared(one["properties"], other["properties"])
            return {**one, "properties": properties, "required": _required(one, other)}
        case _:
            return one


def _either(one: Json, other: Json) -> Json:
    """Return the schema of all values that at least one of the users may send."""
    if _without_annotations(one) == _without_annotations(other):
        return one
    match _parts_in_common(one, other):
        case "items":
            return {**one, "items": _either(one["items"], other["items"])}
        case "properties":
            properties = united(one["properties"], other["properties"])
            return {**one, "properties": properties, "required": _required(one, other)}
        case _:
            # An empty schema accepts any value already.
            return {"anyOf": [one, other]} if one and other else {}


def _parts_in_common(one: Json, other: Json) -> str | None:
    """Return `"items"` for two lists, and `"properties"` for two objects with known fields. Return
    None for any other pair.
    """
    if one.get("type") != other.get("type"):
        return None
    for key in ("properties", "items"):
        if is_object(one.get(key)) and is_object(other.get(key)):
            return key
    return None


def _required(one: Json, other: Json) -> list[str]:
    return [name for name in one.get("required", ()) if name in other.get("required", ())]


def _without_annotations(schema: Json) -> Json:
    return {key: each for key, each in schema.items() if key not in _ANNOTATIONS}


def _relations(one: Json, other: Json, mine: Json, theirs: Json) -> Json:
    """Return the relations of a merged body: the relations that both users have, and those in
    fields that only one user has. `mine` and `theirs` are the schemas of the fields.
    """
    found: Json = {}
    for name in {**one, **other}:
        if name in mine and name in theirs:
            each = _relation(one.get(name), other.get(name), mine[name], theirs[name])
        else:
            each = one.get(name, other.get(name))
        if each is not None:
            found[name] = each
    return found


def _relation(one: Any, other: Any, mine: Json, theirs: Json) -> Any:
    """Return the relations in a field that both users have. Return None if the field has no
    relation in common.
    """
    match _parts_in_common(mine, theirs):
        case "items":
            inner = _relation(_first(one), _first(other), mine["items"], theirs["items"])
            return None if inner is None else [inner]
        case "properties":
            inside = (mine["properties"], theirs["properties"])
            return _relations(one or {}, other or {}, *inside) or None
        case _:
            # If the field finds its rows in different ways for the two users, neither way can be
            # offered.
            return one if one == other else None


def _first(found: Any) -> Any:
    return found[0] if is_array(found) else None
