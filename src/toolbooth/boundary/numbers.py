"""Converts numbers with a point or an exponent to the declared type. A number that would lose
digits is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any

from jiter import LosslessFloat

from toolbooth.boundary import messages, refusals
from toolbooth.boundary.integers import is_whole
from toolbooth.errors import ProblemCode
from toolbooth.jsonvalue import JsonPath, exact_decimal, is_array, is_object
from toolbooth.shape import EVERY_TYPE, ArrayShape, Shape, is_integer_only, item_shape

_WITHOUT_POINT = frozenset((int, str, bool, type(None)))
"""Types of values that are never written with a point."""

_ANYTHING = ArrayShape()

Refuse = Callable[[ProblemCode, JsonPath, str], None]

_INEXACT = 2**53
"""From this number on, two different integers may become the same float."""

_UNDECLARED = Shape(types=EVERY_TYPE, opaque=True, integral=True)


def declared_number(
    shape: Shape, value: Any, path: JsonPath, refuse: Refuse, *, as_sent: bool
) -> Any:
    """Return a number as the declared type. If `as_sent` is true, the branch of the union is not
    known yet, so all digits are kept.
    """
    # The validation chooses the branch, and may choose different ones for 5.0 and 5.
    if as_sent or shape.ambiguous:
        return _number_of_any_branch(shape, value, path, refuse)
    if is_integer_only(shape) and is_whole(value):
        return _integer(value, path, refuse)
    if isinstance(value, float):
        return value
    # A number with at most 16 characters and without an exponent keeps all its digits as a float,
    # so a Decimal keeps them too.
    if shape.decimal and refusals.is_delicate(str(value)):
        return _decimal(value, path, refuse)
    number = _float(value, path, refuse)
    # Return a float or an integer, whichever keeps all digits.
    if "integer" in shape.types and isfinite(number) and _loses_digits(number, value):
        return _integer(value, path, refuse)
    return number


def _number_of_any_branch(shape: Shape, value: Any, path: JsonPath, refuse: Refuse) -> Any:
    """Return a number with all its digits. The author's validation will choose the branch of the
    union, and with it the type.
    """
    if isinstance(value, float):
        if is_integer_only(shape) and is_whole(value):
            # This call only checks the number. The value stays as it was sent.
            _integer(value, path, refuse)
        return value
    if refusals.is_delicate(str(value)):
        return _decimal(value, path, refuse)
    return _float(value, path, refuse)


def free_numbers(shape: Shape | None, value: Any, path: JsonPath, refuse: Refuse) -> Any:
    """Convert the numbers in a value of any type. The value is never rewritten, but a number that
    is too large or too small for a float is refused.

    `shape` is None if nothing is known about the value. If an author's validator gets the value,
    `shape` shows where integers are declared. These keep all their digits.
    """
    return _free(shape, value, [*path], refuse)


def _free(shape: Shape | None, value: Any, steps: list[str | int], refuse: Refuse) -> Any:
    """Convert one value. `steps` is its path. All values share this one list, because a new tuple
    for each would be slow in deep values.
    """
    if isinstance(value, float | LosslessFloat):
        return _free_number(shape, value, tuple(steps), refuse)
    if is_object(value):
        # This makes a copy, because refusals and corrections still need the arguments as they were
        # sent.
        made = dict(value)
        for key, each in value.items():
            if type(each) not in _WITHOUT_POINT:
                steps.append(key)
                made[key] = _free(_shape_under(shape, key), each, steps, refuse)
                steps.pop()
        return made
    if is_array(value):
        forms = shape.arrays if shape is not None else ()
        form = forms[0] if forms else _ANYTHING
        items = list(value)
        for index, each in enumerate(value):
            if type(each) not in _WITHOUT_POINT:
                steps.append(index)
                items[index] = _free(item_shape(form, index), each, steps, refuse)
                steps.pop()
        return items
    return value


def _free_number(shape: Shape | None, value: Any, path: JsonPath, refuse: Refuse) -> Any:
    number = value if isinstance(value, float) else _float(value, path, refuse)
    is_integral = shape is not None and (shape.integral or is_integer_only(shape))
    # Content without a declared type is not rewritten: 5.0 stays 5.0 in a dict of `Any`.
    if not is_integral or not number.is_integer():
        return number
    if not is_whole(value):
        refuse("lossy-number", path, messages.LOST_FRACTION)
        return number
    return _integer(value, path, refuse) if abs(number) >= _INEXACT else number


def _shape_under(shape: Shape | None, key: str) -> Shape | None:
    """Return the shape of a key in a value that an author's validator gets. For an undeclared key,
    return a shape that keeps all digits, because the author's code may use the key in any way.
    """
    if shape is None or not shape.objects:
        return None
    declared = (form.fields[key].shape for form in shape.objects if key in form.fields)
    return next(declared, _UNDECLARED)


def _integer(value: Any, path: JsonPath, refuse: Refuse) -> Any:
    """Return a whole number as an integer."""
    if isinstance(value, float):
        # A host has parsed the number, so the digits that were sent are not known.
        if abs(value) >= _INEXACT:
            refuse("lossy-number", path, messages.INEXACT_INTEGER)
        return int(value)
    number = _float(value, path, refuse)
    # `_float` has refused a number that is too large, and an infinite one cannot be an integer.
    if not isfinite(number):
        return number
    exact = exact_decimal(value)
    return int(number if exact is None else exact)


def _decimal(value: Any, path: JsonPath, refuse: Refuse) -> Any:
    exact = exact_decimal(value)
    if exact is None:
        refuse("lossy-number", path, messages.LOSSY_NUMBER)
    return exact


def _float(value: Any, path: JsonPath, refuse: Refuse) -> float:
    number = float(value)
    if refusals.is_lossy(number, value):
        refuse("lossy-number", path, messages.LOSSY_NUMBER)
    return number


def _loses_digits(number: float, literal: Any) -> bool:
    """Return True if a whole number has lost digits as a float."""
    exact = exact_decimal(literal)
    return exact is not None and is_whole(literal) and Decimal(repr(number)) != exact
