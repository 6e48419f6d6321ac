"""Integers that are written with a point: 5.0 is the same JSON number as 5, and becomes 5 before
the validation. Larger ones are in `numbers.py`.
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
"""Types without a point in them; most values have one of these."""


def is_whole(value: Any) -> bool:
    """Whether a number has no fraction, however it is written."""
    # The digits of a float that a host has read are not known, so its value must do.
    if isinstance(value, float):
        return value.is_integer()
    exact = exact_decimal(value)
    # A number that no Decimal holds overflows or vanishes, which is reported as such.
    return exact is None or exact == exact.to_integral_value()


_SHORT = 15
"""Characters of a number of which a float keeps every digit."""

_LARGEST_SHORT = 2**53


def short_integer(value: LosslessFloat) -> int | None:
    """The integer that a short number is, such as 1e3; None for any other number."""
    number = float(value)
    # Zero is not short: 1e-999 becomes 0.0 too, and must be refused.
    is_short = number.is_integer() and 0 < abs(number) < _LARGEST_SHORT
    return int(number) if is_short and len(str(value)) <= _SHORT else None


def whole_integers(shape: Shape | None, value: Any) -> Any:
    """A value with 5 for every 5.0 where only an integer is declared; the value itself if there is
    none.
    """
    # In a union whose branch is not known yet, 5.0 may be meant for a branch with a float.
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
    # The same list, not an equal one: callers see by `is` whether anything has changed.
    return value if all(map(is_, made, value)) else made


def _in_object(form: ObjectShape, value: Json) -> Json:
    """Look only at keys that may hold an integer: most of a large call need not be."""
    parts: Mapping[str, Shape | None] = _integer_fields(form)
    if form.additional is not None:
        others = [key for key in value if key not in form.fields]
        parts = {**parts, **{key: undeclared_shape(form, key) for key in others}}
    changed: Json = {}
    for key, shape in parts.items():
        # A key that was not sent gives None here, and None needs no change either.
        each = value.get(key)
        if type(each) not in _UNCHANGED:
            whole = whole_integers(shape, each)
            if whole is not each:
                changed[key] = whole
    return {**value, **changed} if changed else value


def _integer_fields(form: ObjectShape) -> dict[str, Shape]:
    """The declared keys at or below which there may be an integer but no other number."""
    found = form.integers
    if found is None:
        shapes = ((key, each.shape) for key, each in form.fields.items())
        found = {key: shape for key, shape in shapes if anywhere(shape, is_integer_only)}
        form.integers = found
    return found
