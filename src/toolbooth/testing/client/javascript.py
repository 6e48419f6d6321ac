"""Changes JSON values in the same way as a JavaScript program that parses them and writes them
again.

Claude Desktop, VS Code, Cursor and every client that uses the TypeScript SDK do this
(docs/project/evidence/wire.md). tests/testing/test_wire.py compares this module with a real Node.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from toolbooth.jsonvalue import is_array, is_object


class Undefined(Enum):
    """JavaScript's value `undefined`. A key with this value is not sent. In an array, null is sent
    instead.
    """

    UNDEFINED = "undefined"

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined.UNDEFINED

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
# In ECMAScript, the length of an array fits in 32 bits. The last index is one less than the
# greatest length. Greater numbers are ordinary keys and keep the order in which they were inserted.
_LAST_INDEX = 2**32 - 2
_DIGITS_END = 1e21
"""From this number on, JavaScript writes whole numbers with an exponent."""


def stringify(value: Any) -> Any:
    """Return the value that Python reads after JavaScript has written it with `JSON.stringify`."""
    if is_object(value):
        sent = {key: stringify(each) for key, each in value.items() if each is not UNDEFINED}
        indexes = sorted(filter(_is_index, sent), key=int)
        # An index occurs twice here. A dict keeps the position of the first occurrence, so the
        # indexes stay in front.
        return {key: sent[key] for key in (*indexes, *sent)}
    if is_array(value):
        return list(map(_stringify_item, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return _number(value)


def _stringify_item(value: Any) -> Any:
    return None if value is UNDEFINED else stringify(value)


def _number(number: float) -> float | None:
    """Return the number as a double, as JavaScript writes it: with the fewest digits that identify
    it.
    """
    try:
        double = float(number)
    # An integer such as 10**400 has no double. JavaScript reads Infinity, and writes null for it.
    except OverflowError:
        return None
    if not math.isfinite(double):
        return None
    if not double.is_integer() or abs(double) >= _DIGITS_END:
        return double
    # JavaScript pads the shortest digits with zeros: 123456789012345678901 becomes
    # 123456789012345680000. `int(double)` would have the digits of the binary value, ...683968.
    return int(Decimal(repr(double)))


def _is_index(key: str) -> bool:
    """Return True if a key is an array index, such as "2". In JavaScript objects, such keys come
    first, in ascending order.
    """
    return _INDEX.fullmatch(key) is not None and int(key) <= _LAST_INDEX
