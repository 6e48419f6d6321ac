"""Whether a value was stored as it was sent. Dates, numbers and keys have more than one form."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from rest_framework import serializers

from toolbooth.jsonvalue import Json, is_array, is_object, same_json

_SETS: tuple[type, ...] = (serializers.ManyRelatedField, serializers.MultipleChoiceField)
"""Fields whose values have no order."""


def is_same(sent: Any, stored: Any, field: Any) -> bool:
    """Whether `stored`, as the serializer's field shows it, is the value that was sent."""
    if same_json(sent, stored):
        return True
    if isinstance(field, serializers.JSONField) or sent is None or stored is None:
        return False
    if is_object(sent) and is_object(stored):
        return _is_same_object(sent, stored, field)
    if is_array(sent) and is_array(stored):
        return _is_same_list(sent, stored, field)
    if isinstance(sent, dict | list | bool) or isinstance(stored, dict | list | bool):
        return False
    return _is_same_scalar(sent, stored, field)


def _is_same_scalar(sent: Any, stored: Any, field: Any) -> bool:
    if isinstance(field, serializers.DecimalField):
        return _decimal(sent) == _decimal(stored)
    if isinstance(field, serializers.RelatedField):
        return _key(sent, field) == _key(stored, field)
    if isinstance(field, serializers.CharField) or field is None:
        return str(sent) == str(stored)
    read = _stock_reader(field)
    try:
        return read(field, sent) == read(field, stored)
    except Exception:  # shown in a form that it does not take
        return str(sent) == str(stored)


def _stock_reader(field: Any) -> Any:
    """How REST framework reads a value of this kind. A project's own code may change the value."""
    bases: tuple[Any, ...] = field.__class__.__mro__
    stock = (each for each in bases if each.__module__.startswith("rest_framework."))
    return next(stock).to_internal_value


def _decimal(value: Any) -> Any:
    """A number without regard to zeros at its end: 1.50 is 1.5."""
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return value


def _key(value: Any, field: Any) -> Any:
    """The key of a row, in one form for all that it can be written in."""
    queryset: Any = getattr(field, "queryset", None)
    if queryset is None or not isinstance(field, serializers.PrimaryKeyRelatedField):
        return str(value)
    try:
        return queryset.model._meta.pk.to_python(value)
    except Exception:  # no value that could be a key
        return str(value)


def _is_same_object(sent: Json, stored: Json, field: Any) -> bool:
    # A nested row may show more than was sent; a document may not.
    if not issubclass(field.__class__, serializers.BaseSerializer) and sent.keys() != stored.keys():
        return False
    fields: Mapping[str, Any] = getattr(field, "fields", {})
    for name, each in sent.items():
        inner = fields.get(name, getattr(field, "child", None))
        if name in stored:
            if not is_same(each, stored[name], inner):
                return False
        elif not getattr(inner, "write_only", False):
            return False
    return True


def _is_same_list(sent: list[Any], stored: list[Any], field: Any) -> bool:
    if isinstance(field, _SETS):
        one: Any = getattr(field, "child_relation", None)
        wanted = {_hashable(each, one) for each in sent}
        return wanted == {_hashable(each, one) for each in stored}
    child: Any = getattr(field, "child", None)
    if len(sent) != len(stored):
        return False
    return all(is_same(*pair, child) for pair in zip(sent, stored, strict=True))


def _hashable(value: Any, field: Any) -> Any:
    return str(value) if is_object(value) or is_array(value) else _key(value, field)
