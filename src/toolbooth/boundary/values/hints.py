"""What a wrong value may mean, in words: it has no reading that is certain enough for a corrected
call.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.values import messages
from toolbooth.shape_check import json_schema

_NOTHINGS = frozenset(("", "none", "n/a", "na", "nil", "null", "unknown", "-"))
"""Words for "nothing"."""

_MEASURE = re.compile(
    r"(?P<currency>[€$£¥₹]|[A-Z]{3})?\s*"
    r"(?P<number>[-+]?\d+(?:[.,]\d+)*)"
    r"\s*(?P<unit>[^\W\d_][^\d]{0,30}|[%‰°€$£¥₹][^\d]{0,10})?"
)
"""A number with a unit or a currency."""

_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")

_LONGEST_LIST = 100
"""Characters of a text that is shown as an array."""

_UNITS = {10: ("seconds", 1), 13: ("milliseconds", 1000)}
"""By how many digits a time has that is counted from 1970."""


def hint(place: Place, value: Any) -> str:
    """What the value may mean; empty if there is nothing to say."""
    types = place.types
    if place.shape.opaque:
        return ""
    if place.shape.temporal:
        return _nothing(place, value) or _date(place, value)
    if not isinstance(value, str):
        return ""
    if "string" in types:
        return _nothing(place, value) if place.shape.constants or place.format else ""
    if types & {"integer", "number"}:
        return _nothing(place, value) or _number(place, value.strip())
    if types & {"array"}:
        return _nothing(place, value) or _list(place, value)
    return _nothing(place, value)


def _nothing(place: Place, value: Any) -> str:
    """A word for "nothing", where null is declared."""
    is_nothing = isinstance(value, str) and value.strip().lower() in _NOTHINGS
    if not is_nothing or "null" not in place.types:
        return ""
    if place.required:
        return messages.NULL_IF_NONE
    default = place.schema.get("default")
    return messages.KEEP_OR_CLEAR if default is None else messages.default_or_null(default)


def _number(place: Place, value: str) -> str:
    found = _MEASURE.fullmatch(value)
    if found is None:
        return ""
    readings = _readings(found["number"])
    if found["unit"] == "%":
        readings += [f"{float(each) / 100:g}" for each in readings]
    accepted = [each for each in readings if _is_accepted(place, each)]
    return messages.if_number(*accepted) if accepted else ""


def _readings(number: str) -> list[str]:
    """The numbers that are written with points or commas."""
    plain = number.removeprefix("+")
    if _PLAIN.fullmatch(number):
        return [plain]
    readings: list[str] = []
    if _THOUSANDS.fullmatch(number):
        readings.append(plain.replace(",", ""))
    if _DECIMAL_COMMA.fullmatch(number):
        readings.append(str(float(plain.replace(",", "."))))
    return readings


def _is_accepted(place: Place, number: str) -> bool:
    """Whether the boundary takes a number here."""
    if "number" not in place.types and "." in number:
        return False
    read = float(number) if "." in number else int(number)
    bounds = {key: each for key, each in place.schema.items() if key in _BOUNDS}
    return json_schema().is_valid(bounds, read)


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _list(place: Place, value: str) -> str:
    """Text with commas, where an array of text is declared."""
    items = place.items()
    if items is None or "string" not in items.types or items.shape.constants:
        return ""
    parts = [part.strip() for part in value.split(",")]
    if len(parts) < 2 or not all(parts) or len(value) > _LONGEST_LIST:
        return ""
    return messages.several_or_one(parts, value)


def _date(place: Place, value: Any) -> str:
    """Seconds or milliseconds for a plain date: they are not the same day everywhere."""
    digits = str(value) if type(value) in (int, str) else ""
    if place.shape.temporal != "date" or not (digits.isascii() and digits.isdecimal()):
        return ""
    if len(digits) not in _UNITS:
        return ""
    unit, share = _UNITS[len(digits)]
    moment = datetime.fromtimestamp(int(digits) // share, UTC)
    return messages.if_seconds(f"{moment:%Y-%m-%d}", unit)
