"""The readings of a value for which a scalar is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

from jiter import LosslessFloat

from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.repairs import admits
from toolbooth.jsonvalue import Json, is_array, is_object, recased, same_json, write_json

_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+")
_SECONDS, _MILLISECONDS, _CALENDAR_DATE = 10, 13, 8
"""Digits."""


def scalar_readings(place: Place, value: Any) -> Iterator[Any]:
    """What a value may mean where a scalar is declared."""
    if is_array(value):
        if len(value) == 1 and "array" not in place.types and admits(place.shape, value[0]):
            yield value[0]
    elif is_object(value):
        yield from _items(place, value)
    elif place.shape.constants is not None:
        yield from _choices(place, value)
    elif "boolean" in place.types and not admits(place.shape, value):
        yield from _booleans(value)
    elif place.shape.temporal:
        yield from _times(place, value)
    elif "integer" in place.types and "number" not in place.types:
        yield from _integers(value)
    elif "string" in place.types:
        yield from _texts(value)


def is_thousands(value: Any) -> bool:
    """Whether text is a number with commas between the thousands, or several numbers."""
    return isinstance(value, str) and _THOUSANDS.fullmatch(value.strip()) is not None


def _items(place: Place, value: Json) -> Iterator[Any]:
    """`{"item": 14}`, which some clients make of an item of a list
    (NousResearch/hermes-agent#99270). For text it may be the text of this JSON.
    """
    is_scalar = place.types.isdisjoint(("string", "object", "array"))
    if is_scalar and value.keys() == {"item"} and admits(place.shape, value["item"]):
        yield value["item"]


def _booleans(value: Any) -> Iterator[bool]:
    if isinstance(value, str) and value.strip().lower() in _BOOLEANS:
        yield _BOOLEANS[value.strip().lower()]
    elif type(value) is int and value in (0, 1):
        yield bool(value)


def _integers(value: Any) -> Iterator[int]:
    if is_thousands(value):
        yield int(value.replace(",", ""))


def _texts(value: Any) -> Iterator[str]:
    """A number as it was written. Of a float, that is not known."""
    if type(value) in (int, LosslessFloat):
        yield str(value)


def _choices(place: Place, value: Any) -> Iterator[Any]:
    """A choice in another case, in quotes, by its title, or as another JSON type."""
    constants = place.shape.constants or ()
    if not isinstance(value, str):
        text = write_json(value) if isinstance(value, bool) else str(value)
        yield from (each for each in constants if each == text)
        return
    wanted = recased(value.strip().strip("\"'"))
    found = [each for each in constants if isinstance(each, str) and recased(each) == wanted]
    found = found or [each for label, each in place.labels.items() if label == wanted]
    yield from (each for each in found if not same_json(each, value))


def _times(place: Place, value: Any) -> Iterator[str]:
    """Seconds or milliseconds since 1970 for a date with a time, and eight digits for a date."""
    digits = str(value) if type(value) in (int, str) else ""
    if not (digits.isascii() and digits.isdecimal()):
        return
    if place.format == "date-time" and len(digits) in (_SECONDS, _MILLISECONDS):
        is_seconds = len(digits) == _SECONDS
        moment = datetime.fromtimestamp(int(digits) // (1 if is_seconds else 1000), UTC)
        rest = "" if is_seconds or digits.endswith("000") else f".{digits[-3:]}"
        yield f"{moment:%Y-%m-%dT%H:%M:%S}{rest}Z"
    if place.format == "date" and len(digits) == _CALENDAR_DATE:
        try:
            yield date.fromisoformat(digits).isoformat()
        except ValueError:
            return
