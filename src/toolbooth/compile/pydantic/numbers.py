"""Handles numbers in JSON that Pydantic itself parses: 5.0 for an integer, and numbers with more
digits than a float has.

Pydantic converts every number with a point to a float. So each `Decimal` is first replaced by a
unique float, its placeholder. The nodes for numbers then replace the placeholder by the Decimal
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from decimal import Decimal
from math import inf, isfinite, nextafter
from typing import Any

from pydantic_core import PydanticCustomError

from toolbooth.compile.pydantic.core_schema import AS_SENT, CoreNode
from toolbooth.jsonvalue import is_array, is_object

Digits = dict[float, float | Decimal]
"""Maps each placeholder to its Decimal. The other floats of the call are keys too, so that none of
them is used as a placeholder.
"""

DIGITS: ContextVar[Digits] = ContextVar("digits")
"""The placeholders in the call that is being validated."""


def number_node(node: CoreNode, *, digits: bool) -> CoreNode:
    """Return a node for a number (or text) in JSON. With `digits`, the number may be a placeholder
    for a Decimal.
    """
    if node["type"] != "int":
        return _with_digits(node, node) if digits else node
    if not node.get("strict"):  # below an author's validator, which may return any value
        return node
    whole = _whole_number(node)
    # A placeholder means a Decimal, which a strict integer would refuse.
    return _with_digits({**node, "strict": False}, whole) if digits else whole


def _whole_number(node: CoreNode) -> CoreNode:
    """Return a node for an integer. It accepts 5.0, but not text and not a boolean."""
    # The type that was sent decides. A union would also try the lenient branch on "5" and true.
    choices = {"<pointed>": {**node, "strict": False}, AS_SENT: {**node, "strict": True}}
    return {"type": "tagged-union", "discriminator": _pointed_or_not, "choices": choices}


def _pointed_or_not(value: Any) -> str:
    return "<pointed>" if isinstance(value, float) else AS_SENT


def _with_digits(node: CoreNode, as_sent: CoreNode) -> CoreNode:
    """Return a node that replaces a placeholder by its Decimal and validates this with `node`. Any
    other value is validated with `as_sent`.
    """
    substitute = _SUBSTITUTES[node["type"]]

    def put_back(value: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(substitute(DIGITS.get()[value]))

    function: Any = {"type": "no-info", "function": put_back}
    exact = {"type": "function-wrap", "function": function, "schema": node}
    choices = {"<digits>": exact, AS_SENT: as_sent}
    return {"type": "tagged-union", "discriminator": _digits_or_not, "choices": choices}


def _digits_or_not(value: Any) -> str:
    # An integer is not looked up, because it may be equal to a placeholder.
    known = isinstance(value, float) and isinstance(DIGITS.get().get(value), Decimal)
    return "<digits>" if known else AS_SENT


class _Digits(Decimal):
    """A Decimal that Pydantic treats in a union like a number in JSON. A plain Decimal would count
    as an exact match for a Decimal branch.
    """


def as_float(exact: Decimal) -> float:
    """Return the nearest float. Raises PydanticCustomError if the number is too large or too small
    for a float.
    """
    number = float(exact)
    if not isfinite(number) or (number == 0 and exact != 0):
        raise PydanticCustomError("lossy_number", "holds a number too large or too small to hold")
    return number


def _as_whole(exact: Decimal) -> Decimal:
    as_float(exact)  # converting an integer with a million digits would take minutes
    return exact


_SUBSTITUTES: dict[str, Callable[[Any], Any]] = {
    "decimal": _Digits,
    "float": as_float,
    "int": _as_whole,
    "str": Decimal,
}
"""What is passed to Pydantic instead of a placeholder. The keys are types of nodes."""

NUMBERS = frozenset(_SUBSTITUTES)
"""Types of nodes that may accept a number. `str` accepts one only with a setting of the author."""


def placeholders(value: Any) -> tuple[Any, Digits]:
    """Return two values: the value with a placeholder in place of each Decimal, and a dict of the
    Decimals by placeholder.
    """
    digits: Digits = {number: number for number in _floats(value)}
    return _replaced(value, digits), digits


def _floats(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif is_object(value):
        for each in value.values():
            yield from _floats(each)
    elif is_array(value):
        for each in value:
            yield from _floats(each)


def _replaced(value: Any, digits: Digits) -> Any:
    if isinstance(value, Decimal):
        return _placeholder(value, digits)
    if is_object(value):
        return {key: _replaced(each, digits) for key, each in value.items()}
    if is_array(value):
        return [_replaced(each, digits) for each in value]
    return value


def _placeholder(exact: Decimal, digits: Digits) -> float:
    """Return the float nearest to a Decimal that is not used yet."""
    number = float(exact)
    # The search goes towards smaller numbers, so that it never reaches infinity. Only near zero it
    # goes towards greater ones.
    towards = 0.0 if abs(number) > 1 else inf
    # Compared as text: 1.0 and 1.00 are equal, but an author may count the decimal places.
    while repr(digits.setdefault(number, exact)) != repr(exact):
        number = nextafter(number, towards)
    return number
