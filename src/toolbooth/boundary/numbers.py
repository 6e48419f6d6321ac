"""Numbers with a point or an exponent, as the declared type wants them: with every digit that was
sent, or refused.
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
"""Types that need no look."""

_ANYTHING = ArrayShape()

Refuse = Callable[[ProblemCode, JsonPath, str], None]

_INEXACT = 2**53
"""From here on, a float may equal another integer than the one that was sent."""

_UNDECLARED = Shape(types=EVERY_TYPE, opaque=True, integral=True)


def declared_number(
    shape: Shape, value: Any, path: JsonPath, refuse: Refuse, *, as_sent: bool
) -> Any:
    """A number where the shape declares one. `as_sent`: in a branch of a union that is not known
    yet.
    """
    # The validation chooses the branch, and 5.0 may be meant for another branch than 5.
    if as_sent or shape.ambiguous:
        return _number_of_any_branch(shape, value, path, refuse)
    if is_integer_only(shape) and is_whole(value):
        return _integer(value, path, refuse)
    if isinstance(value, float):
        return value
    # With 16 characters at most and without an exponent, a float is written as the same number
    # again, so no digit of a Decimal gets lost.
    if shape.decimal and refusals.is_delicate(str(value)):
        return _decimal(value, path, refuse)
    number = _float(value, path, refuse)
    # A float or an integer: the one that keeps the digits.
    if "integer" in shape.types and isfinite(number) and _loses_digits(number, value):
        return _integer(value, path, refuse)
    return number


def _number_of_any_branch(shape: Shape, value: Any, path: JsonPath, refuse: Refuse) -> Any:
    """A number whose type the author's validation chooses: it keeps every digit until then."""
    if isinstance(value, float):
        if is_integer_only(shape) and is_whole(value):
            # Called for its refusal alone: the number itself stays as it was sent.
            _integer(value, path, refuse)
        return value
    if refusals.is_delicate(str(value)):
        return _decimal(value, path, refuse)
    return _float(value, path, refuse)


def free_numbers(shape: Shape | None, value: Any, path: JsonPath, refuse: Refuse) -> Any:
    """The numbers in a free value: content is never rewritten, but a number that cannot be held is
    refused.

    `shape` is None if nothing is known of the value. Behind an author's validator the shape marks
    declared integers: the author's code gets them with all digits.
    """
    return _free(shape, value, [*path], refuse)


def _free(shape: Shape | None, value: Any, steps: list[str | int], refuse: Refuse) -> Any:
    """`steps` is the path of the value: one list for all of them, because a tuple for each would
    cost the more, the deeper they are.
    """
    if isinstance(value, float | LosslessFloat):
        return _free_number(shape, value, tuple(steps), refuse)
    if is_object(value):
        # A copy, because refusals and corrections still need the arguments as they were sent.
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
    # Content that only the author knows is not rewritten: 5.0 stays 5.0 in a dict of `Any`.
    if not is_integral or not number.is_integer():
        return number
    if not is_whole(value):
        refuse("lossy-number", path, messages.LOST_FRACTION)
        return number
    return _integer(value, path, refuse) if abs(number) >= _INEXACT else number


def _shape_under(shape: Shape | None, key: str) -> Shape | None:
    """Return the shape of a key behind an author's validator. The author's code may use an
    undeclared key in any way, so its numbers keep all digits.
    """
    if shape is None or not shape.objects:
        return None
    declared = (form.fields[key].shape for form in shape.objects if key in form.fields)
    return next(declared, _UNDECLARED)


def _integer(value: Any, path: JsonPath, refuse: Refuse) -> Any:
    """A whole number as an integer."""
    if isinstance(value, float):
        # A host has read the number, so the digits that were sent are not known.
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
    """Whether a float, written out, is another whole number than the one that was sent."""
    exact = exact_decimal(literal)
    return exact is not None and is_whole(literal) and Decimal(repr(number)) != exact
