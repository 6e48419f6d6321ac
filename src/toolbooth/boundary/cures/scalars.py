"""Finds the possible meanings of a wrong value where a scalar is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

from jiter import LosslessFloat

from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.repairs import Unrepairable, admits
from toolbooth.boundary.repairs import text as read_text
from toolbooth.contract import Limits
from toolbooth.jsonvalue import Json, is_array, is_object, recased, same_json, write_json

_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
"""The texts that Pydantic accepts as a boolean."""

_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_SECONDS, _MILLISECONDS, _CALENDAR_DATE = 10, 13, 8
"""The number of digits of a time in seconds, a time in milliseconds, and a date such as 20260131.
"""


def scalar_readings(place: Place, value: Any, limits: Limits) -> Iterator[Any]:
    """Yield the possible meanings of a wrong value where a scalar is declared."""
    if is_array(value):
        # If an array is declared as well, the list is not the mistake.
        if len(value) == 1 and "array" not in place.types:
            yield from _only_item(place, value[0], limits)
    elif is_object(value):
        yield from _items(place, value)
    elif place.shape.constants is not None:
        yield from _choices(place, value)
    # A value of a declared type has another fault, such as a bound. Another type would not help.
    elif "boolean" in place.types and not admits(place.shape, value):
        yield from _booleans(value)
    elif place.shape.temporal:
        yield from _times(place, value)
    elif "integer" in place.types and "number" not in place.types:
        yield from _integers(value)
    elif "string" in place.types:
        yield from _texts(value)


def _only_item(place: Place, item: Any, limits: Limits) -> Iterator[Any]:
    """Yield the only item of a list. If the item is text, as in `["yes"]`, also yield the meanings
    of the text.
    """
    if admits(place.shape, item):
        yield item
    elif isinstance(item, str):
        read = read_text(place.shape, item, limits)
        if isinstance(read, Unrepairable):
            yield from scalar_readings(place, item, limits)
        else:
            yield read[0]


def is_thousands(value: Any) -> bool:
    """Return True if a text is a number with commas between the thousands. It may then also mean
    several numbers.
    """
    return isinstance(value, str) and _THOUSANDS.fullmatch(value.strip()) is not None


def _items(place: Place, value: Json) -> Iterator[Any]:
    """Yield the value in an object such as `{"item": 14}`. Some clients send one item of a list
    like this (NousResearch/hermes-agent#99270). The object may also be JSON text.
    """
    is_scalar = place.types.isdisjoint(("string", "object", "array"))
    if is_scalar and value.keys() == {"item"} and admits(place.shape, value["item"]):
        yield value["item"]


def _booleans(value: Any) -> Iterator[bool]:
    if isinstance(value, str) and value.strip().lower() in _BOOLEANS:
        yield _BOOLEANS[value.strip().lower()]
    elif type(value) in (int, float, LosslessFloat):  # 1.0 is the number 1
        yield from (_BOOLEANS[each] for each in ("0", "1") if str(value) in (each, f"{each}.0"))


def _integers(value: Any) -> Iterator[int]:
    if is_thousands(value):
        # One integer is declared, so `1,000` cannot be two of them.
        yield int(value.replace(",", ""))


def _texts(value: Any) -> Iterator[str]:
    """Yield the text of a number as it was written. A float has lost it, so nothing is yielded for
    a float.
    """
    if type(value) in (int, LosslessFloat):
        yield str(value)


def _choices(place: Place, value: Any) -> Iterator[Any]:
    """Yield the choice that was meant. It may have been sent in another case, in quotes, by its
    title, or as another JSON type.
    """
    constants = place.shape.constants or ()
    if not isinstance(value, str):
        text = write_json(value) if isinstance(value, bool) else str(value)
        # The number 1 for the choice "1", or true for "true".
        yield from (each for each in constants if each == text)
        return
    yield from (each for each in choices_of(place, value) if not same_json(each, value))


def choices_of(place: Place, value: str) -> list[Any]:
    """Return the choices that equal a text, apart from case, separators and quotes. If no choice
    does, return the choices whose titles equal it.
    """
    wanted = recased(value.strip().strip("\"'"))
    constants = place.shape.constants or ()
    found = [each for each in constants if isinstance(each, str) and recased(each) == wanted]
    # The text of a choice wins over a title, because a title may be the text of another choice.
    return found or [each for label, each in place.labels.items() if label == wanted]


def _times(place: Place, value: Any) -> Iterator[str]:
    """Yield the date and time for a number of seconds or milliseconds since 1970. Where a plain
    date is declared, also read eight digits, or a year followed by a month and a day.
    """
    if isinstance(value, str) and place.format == "date":
        yield from _dates(value.strip())
    digits = str(value) if type(value) in (int, str) else ""
    # `isdecimal` alone is also true for digits in other scripts.
    if not (digits.isascii() and digits.isdecimal()):
        return
    # Between 2001 and 2286, seconds since 1970 have ten digits and milliseconds thirteen.
    if place.format == "date-time" and len(digits) in (_SECONDS, _MILLISECONDS):
        is_seconds = len(digits) == _SECONDS
        moment = datetime.fromtimestamp(int(digits) // (1 if is_seconds else 1000), UTC)
        rest = "" if is_seconds or digits.endswith("000") else f".{digits[-3:]}"
        yield f"{moment:%Y-%m-%dT%H:%M:%S}{rest}Z"
    if place.format == "date" and type(value) is int:
        yield from _dates(digits)


def _dates(text: str) -> Iterator[str]:
    found = _YEAR_FIRST.fullmatch(text)
    if found is None and not (len(text) == _CALENDAR_DATE and text.isascii() and text.isdecimal()):
        return
    parts = found.groups() if found else (text[:4], text[4:6], text[6:])
    try:
        yield date(*map(int, parts)).isoformat()
    # `20261345` has eight digits, but is not a date.
    except ValueError:
        return
