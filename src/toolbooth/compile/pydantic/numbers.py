"""Handles numbers in JSON that Pydantic parses itself: 5.0 for an integer, and more digits than a
float has.

Pydantic makes a float of every number with a point. So a float is written instead of a `Decimal`,
as its placeholder, and the nodes for numbers put the Decimal back.
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
"""The Decimals by placeholder. The floats of the call are in it too, so that no placeholder is
equal to one.
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
    """Return a node for an integer. It accepts 5.0, but neither text nor a boolean."""
    # The type that was sent decides. A union would also try the lenient branch on "5" and true.
    choices = {"<pointed>": {**node, "strict": False}, AS_SENT: {**node, "strict": True}}
    return {"type": "tagged-union", "discriminator": _pointed_or_not, "choices": choices}


def _pointed_or_not(value: Any) -> str:
    return "<pointed>" if isinstance(value, float) else AS_SENT


def _with_digits(node: CoreNode, as_sent: CoreNode) -> CoreNode:
    """Return a node that replaces a placeholder with its Decimal and validates the Decimal with
    `node`. All other values are validated with `as_sent`.
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
    """A Decimal that Pydantic ranks in a union like a number in JSON, and not as an exact instance
    of Decimal.
    """


def as_float(exact: Decimal) -> float:
    """Return the nearest float. Raises PydanticCustomError if there is none."""
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
"""The type of the value that Pydantic validates instead of a placeholder, by the type of the
node.
"""

NUMBERS = frozenset(_SUBSTITUTES)
"""Nodes that may accept a number; `str` does so only with a setting."""


def placeholders(value: Any) -> tuple[Any, Digits]:
    """Return a value with placeholders for its Decimals, and the Decimals."""
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
    """Return the nearest float that is not used yet."""
    number = float(exact)
    # The search goes towards smaller numbers, so that it never reaches infinity. Only near zero it
    # goes towards greater ones.
    towards = 0.0 if abs(number) > 1 else inf
    # Compared as text: 1.0 and 1.00 are equal, but an author may count the decimal places.
    while repr(digits.setdefault(number, exact)) != repr(exact):
        number = nextafter(number, towards)
    return number
