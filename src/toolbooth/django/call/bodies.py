"""Writes the arguments of the body as bytes for the view's parser: JSON, or form data if the parser
does not accept JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from secrets import token_hex
from typing import Any
from urllib.parse import urlencode

import orjson
from django.test.client import encode_multipart
from pydantic_core import to_json

from toolbooth.jsonvalue import is_array, is_object

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

Pairs = list[tuple[str, str]]


def is_json(media_type: str) -> bool:
    """Return True if a media type is JSON, such as `application/vnd.api+json`."""
    return media_type == JSON or media_type.endswith("+json")


def text(value: Any) -> str:
    """Return a value as text for a URL or for form data."""
    # Booleans come before numbers, and are written as in JSON: `str(True)` would send `True`.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():  # 2.0 is the JSON number 2
        return str(int(value))
    # Form data has no null. REST framework reads an empty text as null if the field allows null.
    return "" if value is None else str(value)


def body_of(value: Any, media_type: str) -> tuple[bytes, str]:
    """Return the body and its content type."""
    # The media type is sent as declared: a parser of `application/vnd.api+json` does not take
    # `application/json`.
    if is_json(media_type):
        return _json(value), media_type
    pairs = list(_pairs(value))
    if media_type == MULTIPART:
        return _multipart(pairs)
    return urlencode(pairs).encode(), URLENCODED


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str)  # a Decimal as text: a JSON number loses digits
    except TypeError:  # integers beyond 64 bits
        return to_json(value)


def _pairs(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield a value as pairs of form data. The names are those that REST framework reads, such as
    `address.city` and `lines[0]price`. All scalars of a list get the same name.
    """
    if is_object(value):
        joint = "." if name and not name.endswith("]") else ""
        for key, each in value.items():
            yield from _pairs(each, f"{name}{joint}{key}")
    elif is_array(value):
        for index, each in enumerate(value):
            is_scalar = not isinstance(each, Mapping | list)
            yield from _pairs(each, name if is_scalar else f"{name}[{index}]")
    else:
        yield name, text(value)


def _multipart(pairs: Pairs) -> tuple[bytes, str]:
    """Return the pairs as multipart form data, in the form that Django's test client writes.

    The boundary is new for each body, so that no value that was sent can contain it.
    """
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(_quoted(name), []).append(value)
    boundary = token_hex(16)
    return encode_multipart(boundary, values), f"{MULTIPART}; boundary={boundary}"


def _quoted(name: str) -> str:
    """Return a name with its quotes and line ends escaped, so that the name cannot end its header.
    Django's `encode_multipart` does not escape them.
    """
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
