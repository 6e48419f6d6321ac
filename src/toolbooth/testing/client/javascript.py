"""What JSON is after a JavaScript program has parsed it and written it again.

Claude Desktop, VS Code, Cursor and everything on the TypeScript SDK do that
(docs/project/evidence/wire.md). Held to a real Node, value by value: tests/testing/test_wire.py.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from toolbooth.jsonvalue import is_array, is_object


class Undefined(Enum):
    """JavaScript's `undefined`: a key that holds it is not sent, in an array it is sent as null."""

    UNDEFINED = "undefined"

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined.UNDEFINED

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2
_DIGITS_END = 1e21
"""From here on, JavaScript writes whole numbers with an exponent."""


def stringify(value: Any) -> Any:
    """`JSON.stringify` of a value, as Python reads it."""
    if is_object(value):
        sent = {key: stringify(each) for key, each in value.items() if each is not UNDEFINED}
        indexes = sorted(filter(_is_index, sent), key=int)
        return {key: sent[key] for key in (*indexes, *sent)}
    if is_array(value):
        return list(map(_stringify_item, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return _number(value)


def _stringify_item(value: Any) -> Any:
    return None if value is UNDEFINED else stringify(value)


def _number(number: float) -> float | None:
    """A double, as the shortest digits that name it."""
    try:
        double = float(number)
    except OverflowError:
        return None
    if not math.isfinite(double):
        return None
    if not double.is_integer() or abs(double) >= _DIGITS_END:
        return double
    return int(Decimal(repr(double)))


def _is_index(key: str) -> bool:
    """Whether a key is the index of an array element, which every JavaScript object keeps first, in
    order.
    """
    return _INDEX.fullmatch(key) is not None and int(key) <= _LAST_INDEX
