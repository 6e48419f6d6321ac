"""Hints about a wrong value. Its meaning is not certain enough for a corrected call."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from toolbooth.boundary.cures.containers import may_be_one_number
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
"""Matches a number with a unit or a currency."""

_MULTIPLE = re.compile(r"([kKMGTB]|mn?|bn?|thousand|[mb]illion|mil|lakh|crore|dozen|hundred)\b.*")
"""Units that multiply a number. Without the unit, the number would be wrong."""

_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")

_LONGEST_LIST = 100
"""A text with more characters is not shown as an array."""

UNITS = {10: ("seconds", 1), 13: ("milliseconds", 1000)}
"""The unit of a time since 1970. The key is the number of its digits."""


def hint(place: Place, value: Any) -> str:
    """Return the hint for a wrong value. Return empty text if there is none."""
    types = place.types
    if place.shape.opaque:
        return ""
    if place.shape.temporal:
        return _nothing(place, value) or _date(place, value)
    if not isinstance(value, str):
        return ""
    # A Decimal may also be sent as text, so this check comes before the one for text.
    if place.shape.decimal:
        return _nothing(place, value) or _number(place, value.strip())
    # Free text may be "none" on purpose. Only choices or a format exclude that word.
    if "string" in types:
        return _nothing(place, value) if place.shape.constants or place.format else ""
    if types & {"integer", "number"}:
        return _nothing(place, value) or _number(place, value.strip())
    if types & {"array"}:
        return _nothing(place, value) or _list(place, value)
    return _nothing(place, value)


def _nothing(place: Place, value: Any) -> str:
    """Return the hint for a word that means "nothing". Return empty text if null may not be
    sent.
    """
    is_nothing = isinstance(value, str) and value.strip().lower() in _NOTHINGS
    if not is_nothing or "null" not in place.types:
        return ""
    if place.required:
        return messages.NULL_IF_NONE
    default = place.schema.get("default")
    if default is not None:
        return messages.default_or_null(default)
    if place.is_kept_without_it:
        return messages.KEEP_OR_CLEAR
    return messages.UNKNOWN if place.is_null_without_it else messages.UNKNOWN_OR_NONE


def _number(place: Place, value: str) -> str:
    found = _MEASURE.fullmatch(value)
    if found is None or _MULTIPLE.fullmatch(found["unit"] or ""):
        return ""
    if place.shape.decimal and _PLAIN.fullmatch(value):  # the text is accepted
        return ""
    readings = _readings(found["number"])
    # Depending on the field, 15% is sent as 15 or as 0.15, so both are offered.
    if found["unit"] == "%":
        readings += [f"{float(each) / 100:g}" for each in readings]
    accepted = [each for each in readings if _is_accepted(place, each)]
    return messages.if_number(*accepted) if accepted else ""


def _readings(number: str) -> list[str]:
    """Return the numbers that digits with points or commas may mean."""
    plain = number.removeprefix("+")
    if _PLAIN.fullmatch(number):
        return [plain]
    readings: list[str] = []
    # 1,000 is a thousand in English and one in German, so both are returned.
    if _THOUSANDS.fullmatch(number):
        readings.append(plain.replace(",", ""))
    if _DECIMAL_COMMA.fullmatch(number):
        readings.append(str(float(plain.replace(",", "."))))
    return readings


def _is_accepted(place: Place, number: str) -> bool:
    """Return True if the boundary accepts this number here."""
    if "number" not in place.types and "." in number:
        return False
    read = _read(number)
    # A number outside the bounds of the field was not meant.
    bounds = {key: each for key, each in place.schema.items() if key in _BOUNDS}
    return json_schema().is_valid(bounds, read)


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _list(place: Place, value: str) -> str:
    """Return the hint for a text with commas, semicolons or line ends, where an array is declared.
    A separator may also be part of an item, so the hint shows both readings.
    """
    items = place.items()
    if items is None or items.shape.constants or len(value) > _LONGEST_LIST:
        return ""
    if "string" not in items.types:
        return _numbers(items, value.strip())
    if items.format or value.strip()[:1] in ("{", "[", "("):
        return ""
    separator = next((each for each in ("\n", ";", ",") if each in value.strip()), None)
    if separator is None:
        return ""
    parts = [part.strip() for part in value.strip().split(separator)]
    return messages.several_or_one(parts, value) if all(parts) else ""


def _numbers(items: Place, value: str) -> str:
    """Return the hint for a text that may be one number with commas, or several numbers."""
    if not may_be_one_number(items, value):
        return ""
    # `may_be_one_number` has found digits on both sides of every comma.
    parts = [int(part) for part in value.split(",")]
    ones = [_read(each) for each in _readings(value) if _is_accepted(items, each)]
    return messages.several_or_one(parts, *ones)


def _read(number: str) -> int | float:
    return float(number) if "." in number else int(number)


def _date(place: Place, value: Any) -> str:
    """Return the hint for a number of seconds or milliseconds, where a plain date is declared. It
    is only a hint, because the day depends on the time zone.
    """
    digits = str(value) if type(value) in (int, str) else ""
    if place.shape.temporal != "date" or not (digits.isascii() and digits.isdecimal()):
        return ""
    if len(digits) not in UNITS:
        return ""
    unit, share = UNITS[len(digits)]
    moment = datetime.fromtimestamp(int(digits) // share, UTC)
    return messages.if_seconds(f"{moment:%Y-%m-%d}", unit)
