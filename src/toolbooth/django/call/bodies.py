"""The arguments of the body -> the bytes that the view's parser reads: JSON, or form data if it
takes nothing else.
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
    """Whether a media type is JSON by another name."""
    return media_type == JSON or media_type.endswith("+json")


def text(value: Any) -> str:
    """A value as it is written in a URL or in form data."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():  # 2.0 is the JSON number 2
        return str(int(value))
    return "" if value is None else str(value)


def body_of(value: Any, media_type: str) -> tuple[bytes, str]:
    """The body and its content type."""
    if is_json(media_type):
        return _json(value), media_type
    pairs = list(_pairs(value))
    if media_type == MULTIPART:
        return _multipart(pairs)
    return urlencode(pairs).encode(), URLENCODED


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str)  # a Decimal: more digits than JSON's readers keep
    except TypeError:  # integers beyond 64 bits
        return to_json(value)


def _pairs(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """A value as REST framework reads it from form data: `address.city`, `lines[0]price`; a list of
    scalars is one name with several values.
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
    """The pairs as Django's test client writes them, and as REST framework's own renderer does.

    The boundary is new for each body: no value that was sent can contain it.
    """
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(_quoted(name), []).append(value)
    boundary = token_hex(16)
    return encode_multipart(boundary, values), f"{MULTIPART}; boundary={boundary}"


def _quoted(name: str) -> str:
    """A name that cannot end its header. Django's writer does not quote names."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
