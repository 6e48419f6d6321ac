"""Arguments as a record keeps them: JSON text with every digit that was sent, secrets left out
where asked.

A secret is what the contract declares as one, what its name says is one (`secret_names.py`), and
credentials inside text: in URLs, headers, commands, JSON and private keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from jiter import LosslessFloat

from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.secret_names import is_secret_name
from toolbooth.shape import Shape

HIDDEN = "[redacted]"

_UNKNOWN = Shape(types=frozenset(("string",)))

_NAME_KEYS = ("name", "key", "header", "field", "variable")
"""The keys under which lists of headers and variables have a name, beside its `value`."""


def as_text(value: Any) -> str:
    """A JSON value as it was read, numbers as they were written."""
    if is_object(value):
        return "{" + ",".join(f"{_plain(key)}:{as_text(each)}" for key, each in value.items()) + "}"
    if is_array(value):
        return "[" + ",".join(map(as_text, value)) + "]"
    return str(value) if isinstance(value, LosslessFloat) else _plain(value)


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def without_secrets(shape: Shape, value: Any) -> Any:
    """The value with what the contract, or a key's name, calls a secret left out.

    An undeclared key among fields of which one is a secret is left out too: it may be that one,
    misspelt.
    """
    if value is None or isinstance(value, bool):
        return value
    if shape.secret:
        return HIDDEN
    if is_object(value):
        return _object(shape, value)
    if is_array(value):
        return [_item(shape, index, each) for index, each in enumerate(value)]
    may_be_text = "string" in shape.types and not shape.json_text
    if isinstance(value, str):
        return _text(value) if may_be_text else _text_of_json(shape, value)
    is_scalar = bool(shape.types & {"string", "number", "integer"})
    return HIDDEN if shape.has_secret and not is_scalar else value


# --- objects and arrays -------------------------------------------------------------------------


def _object(shape: Shape, value: Json) -> Json:
    kept = {key: _member(shape, key, each) for key, each in value.items()}
    is_named_like_one = any(_names_a_secret(value.get(key)) for key in _NAME_KEYS)
    if is_named_like_one and isinstance(value.get("value"), str):
        kept["value"] = HIDDEN
    return kept


def _member(shape: Shape, key: str, value: Any) -> Any:
    holds_something = value is not None and not isinstance(value, bool)
    if holds_something and is_secret_name(key):
        return HIDDEN
    declared = [form.fields[key].shape for form in shape.objects if key in form.fields]
    return _merged(declared or [form.additional for form in shape.objects], shape, value)


def _item(shape: Shape, index: int, value: Any) -> Any:
    # A list of pairs is how some libraries take headers.
    if is_array(value) and len(value) == 2 and _names_a_secret(value[0]):
        value = [value[0], HIDDEN]
    return _merged(_item_shapes(shape, index), shape, value)


def _names_a_secret(value: Any) -> bool:
    return isinstance(value, str) and is_secret_name(value)


def _item_shapes(shape: Shape, index: int) -> Iterable[Shape | None]:
    for form in shape.arrays:
        yield form.prefix[index] if index < len(form.prefix) else form.items


def _merged(parts: Iterable[Shape | None], outer: Shape, value: Any) -> Any:
    """The value without what any of the shapes that it may have calls a secret; of no shape at all,
    under `outer`.
    """
    known = [part for part in parts if part is not None]
    if not known:
        return HIDDEN if outer.has_secret else without_secrets(_UNKNOWN, value)
    for part in known:
        value = without_secrets(part, value)
    return value


# --- text ---------------------------------------------------------------------------------------


def _text(text: str) -> str:
    """Text without the secrets in it. If it is JSON, it is looked at as what it says would be."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return without_credentials(text)
    try:
        return _json_without_secrets(_UNKNOWN, text)
    except (ValueError, RecursionError):
        return without_credentials(text)


def _text_of_json(shape: Shape, text: str) -> str:
    """Text where something else is declared: JSON text of it."""
    try:
        return _json_without_secrets(shape, text)
    except (ValueError, RecursionError):
        return HIDDEN if shape.has_secret else without_credentials(text)


def _json_without_secrets(shape: Shape, text: str) -> str:
    """Raises ValueError and RecursionError for text that is not JSON, or has a key twice."""
    found = json.loads(text, parse_float=_every_digit, object_pairs_hook=_each_key_once)
    kept = without_secrets(shape, found)
    return text if kept == found else as_text(kept)


def _every_digit(digits: str) -> LosslessFloat:
    return LosslessFloat(digits.encode())


def _each_key_once(pairs: list[tuple[str, Any]]) -> Json:
    made = dict(pairs)
    if len(made) != len(pairs):
        # One of the two values would be looked at, and both be shown.
        raise ValueError("duplicate key")
    return made


# --- credentials inside text --------------------------------------------------------------------

_PRIVATE_KEY = re.compile(
    r"(?s)-----BEGIN\s[A-Z\s]{0,40}PRIVATE\sKEY-----.*?(?:-----END\s[A-Z\s]{0,40}-----|\Z)"
)

_BEFORE_HOST = re.compile(r"""(?<=://)[^\s/?#"'<>]+(?=@)""")
"""The user and password in a URL."""

_BEARER = re.compile(r"(?i)(?<=\bbearer )[\w.~+/=-]{8,}")

_NAMED = re.compile(
    r"(?<![\w.-])(?P<option>--)?(?P<name>[A-Za-z_][\w.-]{0,79})"
    r"""(?:\\{0,8}["']?\s{0,8}(?P<sign>[:=])\s{0,8}"""
    r"|(?(option)[ ]{1,8}(?!-)|(?!)))"
    r"""(?P<quote>\\{0,8}["'])?"""
)
"""A name and the beginning of its value: of a header, a member of JSON, a variable, a parameter of
a URL, an option of a command. Repetitions have limits, so that the time grows with the text only.
"""

_VALUES = {
    # In quotes, in quotes inside of quotes, and in none.
    '"': re.compile(r'(?:[^"\\\n]|\\.)*'),
    "'": re.compile(r"(?:[^'\\\n]|\\.)*"),
    '\\"': re.compile(r'[^"\n]*'),
    "\\'": re.compile(r"[^'\n]*"),
    ":": re.compile(r"""[^"'\n]*"""),
    "=": re.compile(r"""[^\s"'&;<>]*"""),
}

_NO_SECRETS = frozenset(("", "null", "none", "true", "false", "{", "[", "|"))


def without_credentials(text: str) -> str:
    """Text that is no JSON, without the values of names that are a secret's, without the user and
    password of URLs, and without private keys.
    """
    text = _PRIVATE_KEY.sub(HIDDEN, text)
    text = _BEFORE_HOST.sub(HIDDEN, text)
    text = _BEARER.sub(HIDDEN, text)
    pieces: list[str] = []
    done = 0
    for found in _NAMED.finditer(text):
        if found.start() >= done and is_secret_name(found["name"]):
            end = _end_of_value(text, found)
            if text[found.end() : end].strip().lower() not in _NO_SECRETS:
                pieces += [text[done : found.end()], HIDDEN]
                done = end
    return "".join([*pieces, text[done:]])


def _end_of_value(text: str, found: re.Match[str]) -> int:
    quote = found["quote"]
    style = quote[-2:] if quote else found["sign"] or "="
    value = _VALUES[style].match(text, found.end())
    return value.end() if value else found.end()
