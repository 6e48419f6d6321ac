"""Converts integers that are written with a point. 5.0 is the same JSON number as 5, so it becomes
5 before the validation. Numbers with many digits are converted in `numbers.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any

from jiter import LosslessFloat

from toolbooth.jsonvalue import Json, exact_decimal, is_array, is_object
from toolbooth.key_patterns import undeclared_shape
from toolbooth.shape import ArrayShape, ObjectShape, Shape, anywhere, is_integer_only, item_shape
from toolbooth.shape_check import fitting_form

_UNCHANGED = (int, str, bool, type(None))
"""Types of values that are never written with a point. Most values have one of these types."""


def is_whole(value: Any) -> bool:
    """Return True if a number has no fraction: 5, 5.0 and 5e0 have none."""
    # If a host has parsed the number, its digits are not known. So the float is used.
    if isinstance(value, float):
        return value.is_integer()
    exact = exact_decimal(value)
    # A number that does not fit in a Decimal is too large, or so small that it becomes zero. Both
    # are reported elsewhere.
    return exact is None or exact == exact.to_integral_value()


_SHORT = 15
"""A float keeps every digit of a number with at most this many characters."""

_LARGEST_SHORT = 2**53


def short_integer(value: LosslessFloat) -> int | None:
    """Return the integer that a short number such as 1e3 is equal to. Return None for any other
    number.
    """
    number = float(value)
    # Zero is not short: 1e-999 becomes 0.0 too, and must be refused.
    is_short = number.is_integer() and 0 < abs(number) < _LARGEST_SHORT
    return int(number) if is_short and len(str(value)) <= _SHORT else None


def whole_integers(shape: Shape | None, value: Any) -> Any:
    """Replace numbers such as 5.0 by 5 wherever only an integer is declared. If there is none,
    return the same object.
    """
    # In a union whose branch is not known yet, 5.0 may be for a branch with a float.
    if shape is None or shape.opaque or shape.ambiguous:
        return value
    if isinstance(value, float):
        return int(value) if is_integer_only(shape) and value.is_integer() else value
    if is_object(value):
        form = fitting_form(shape, value)
        return _in_object(form, value) if isinstance(form, ObjectShape) else value
    if is_array(value):
        form = fitting_form(shape, value)
        return _in_array(form, value) if isinstance(form, ArrayShape) else value
    return value


def _in_array(form: ArrayShape, value: list[Any]) -> list[Any]:
    made = [whole_integers(item_shape(form, index), each) for index, each in enumerate(value)]
    # The same list is returned, and not a copy, because callers use `is` to see if anything has
    # changed.
    return value if all(map(is_, made, value)) else made


def _in_object(form: ObjectShape, value: Json) -> Json:
    """Convert the values of an object. Only keys that may contain an integer are examined."""
    parts: Mapping[str, Shape | None] = _integer_fields(form)
    if form.additional is not None:
        others = [key for key in value if key not in form.fields]
        parts = {**parts, **{key: undeclared_shape(form, key) for key in others}}
    changed: Json = {}
    for key, shape in parts.items():
        # `get` returns None for a key that was not sent. None needs no change either.
        each = value.get(key)
        if type(each) not in _UNCHANGED:
            whole = whole_integers(shape, each)
            if whole is not each:
                changed[key] = whole
    return {**value, **changed} if changed else value


def _integer_fields(form: ObjectShape) -> dict[str, Shape]:
    """Return the declared keys whose value may contain a number that must be an integer."""
    found = form.integers
    if found is None:
        shapes = ((key, each.shape) for key, each in form.fields.items())
        found = {key: shape for key, shape in shapes if anywhere(shape, is_integer_only)}
        form.integers = found
    return found
