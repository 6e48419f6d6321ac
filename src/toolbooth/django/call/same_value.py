"""Compares the value that was sent with the value that is stored. Dates, numbers and keys can be
written in several ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from rest_framework import serializers

from toolbooth.jsonvalue import Json, is_array, is_object, same_json

_SETS: tuple[type, ...] = (serializers.ManyRelatedField, serializers.MultipleChoiceField)
"""Fields whose values have no order."""


def is_same(sent: Any, stored: Any, field: Any) -> bool:
    """Return True if the stored value equals the sent value. `stored` is written as the
    serializer's field shows it.
    """
    if same_json(sent, stored):
        return True
    # In a document `1` and `"1"` are different values, so only equal JSON counts.
    if isinstance(field, serializers.JSONField) or sent is None or stored is None:
        return False
    if is_object(sent) and is_object(stored):
        return _is_same_object(sent, stored, field)
    if is_array(sent) and is_array(stored):
        return _is_same_list(sent, stored, field)
    # In Python `True == 1`; in JSON these are two values.
    if isinstance(sent, dict | list | bool) or isinstance(stored, dict | list | bool):
        return False
    return _is_same_scalar(sent, stored, field)


def is_unchanged(old: Any, new: Any, field: Any) -> bool:
    """Return True if the old and the new value are the same. The serializer's field has written
    both, so only decimals can differ in their digits, such as `1.5` and `1.50`.
    """
    if same_json(old, new):
        return True
    if isinstance(field, serializers.DecimalField):
        return _decimal(old) == _decimal(new)
    child: Any = getattr(field, "child", None)
    if is_object(old) and is_object(new):
        fields: Mapping[str, Any] = getattr(field, "fields", {})
        return old.keys() == new.keys() and all(
            is_unchanged(each, new[name], fields.get(name, child)) for name, each in old.items()
        )
    if is_array(old) and is_array(new):
        is_as_long = len(old) == len(new)
        return is_as_long and all(is_unchanged(*pair, child) for pair in zip(old, new, strict=True))
    return False


def _is_same_scalar(sent: Any, stored: Any, field: Any) -> bool:
    if isinstance(field, serializers.DecimalField):
        return _decimal(sent) == _decimal(stored)
    if isinstance(field, serializers.RelatedField):
        return _key(sent, field) == _key(stored, field)
    # A text field accepts the number 5, and stores `"5"`.
    if isinstance(field, serializers.CharField) or field is None:
        return str(sent) == str(stored)
    # Two texts may be the same time: `10:00Z` and `11:00+01:00`.
    read = _stock_reader(field)
    try:
        return read(field, sent) == read(field, stored)
    except Exception:  # shown in a form that the field cannot read
        return str(sent) == str(stored)


def _stock_reader(field: Any) -> Any:
    """Return REST framework's own method that reads a value of this field. The project's method is
    not used, because it may change the value.
    """
    bases: tuple[Any, ...] = field.__class__.__mro__
    stock = (each for each in bases if each.__module__.startswith("rest_framework."))
    return next(stock).to_internal_value


def _decimal(value: Any) -> Any:
    """Return a text or number as a decimal, so that 1.50 equals 1.5. Return any other value
    unchanged.
    """
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return value


def _key(value: Any, field: Any) -> Any:
    """Return the key of a row in the type of the field. A key may be sent as text or as a
    number.
    """
    queryset: Any = getattr(field, "queryset", None)
    if queryset is None or not isinstance(field, serializers.PrimaryKeyRelatedField):
        return str(value)
    try:
        return queryset.model._meta.pk.to_python(value)
    except Exception:  # not a possible key
        return str(value)


def _is_same_object(sent: Json, stored: Json, field: Any) -> bool:
    # A nested row may show more fields than were sent; a document must have the same keys.
    if not issubclass(field.__class__, serializers.BaseSerializer) and sent.keys() != stored.keys():
        return False
    fields: Mapping[str, Any] = getattr(field, "fields", {})
    for name, each in sent.items():
        inner = fields.get(name, getattr(field, "child", None))
        if name in stored:
            if not is_same(each, stored[name], inner):
                return False
        # The absence of a write-only field proves nothing, because it is never shown.
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
