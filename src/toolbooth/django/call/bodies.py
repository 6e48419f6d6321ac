"""The arguments of the body -> the bytes that the view's parser reads: JSON, or a form where it
takes only forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from secrets import token_hex
from typing import Any, cast
from urllib.parse import urlencode

import orjson
from pydantic_core import to_json

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON by another name."""
    return media_type == JSON or media_type.endswith("+json")


def text(value: Any) -> str:
    """A value as it stands in an address or a form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def body_of(value: Any, media_type: str) -> tuple[bytes, str]:
    """The body and its content type."""
    if is_json(media_type):
        return _json(value), media_type
    pairs = list(_pairs(value))
    if media_type == MULTIPART:
        return _multipart(pairs)
    return urlencode(pairs).encode(), FORM


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str)  # a Decimal: more digits than JSON's readers keep
    except TypeError:  # integers beyond 64 bits
        return to_json(value)


def _pairs(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """A value as REST framework reads it from a form: `address.city`, `lines[0]price`, and scalars
    again and again.
    """
    if isinstance(value, Mapping):
        for key, each in cast("Mapping[str, Any]", value).items():
            joint = "." if name and not name.endswith("]") else ""
            yield from _pairs(each, f"{name}{joint}{key}")
    elif isinstance(value, list):
        for index, each in enumerate(cast("list[Any]", value)):
            yield from _pairs(
                each, f"{name}[{index}]" if isinstance(each, Mapping | list) else name
            )
    else:
        yield name, text(value)


def _multipart(pairs: list[tuple[str, str]]) -> tuple[bytes, str]:
    boundary = token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"\r\n\r\n{value}\r\n'
        for name, value in pairs
    ]
    return "".join([*parts, f"--{boundary}--\r\n"]).encode(), f"{MULTIPART}; boundary={boundary}"


def _quoted(name: str) -> str:
    """A name that cannot end its header."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
