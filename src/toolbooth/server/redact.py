"""Writes arguments for a record as JSON text, with every digit that was sent. If wanted, secrets
are left out.

These are secrets: values that the contract declares as secret, values under the name of a secret
(`secret_names.py`), and credentials inside text (`credentials.py`), such as in URLs, headers,
commands, JSON and private keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from jiter import LosslessFloat

from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.server.credentials import HIDDEN, Effort, without_credentials
from toolbooth.shape import Shape, item_shape

_UNKNOWN = Shape(types=frozenset(("string",)))

_NAME_KEYS = ("name", "key", "header", "field", "variable")
"""In a list of headers or variables, each item has its name under one of these keys and its value
under `value`.
"""

_OPENING, _CLOSING = frozenset('{["'), frozenset('}]"')

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def as_text(value: Any) -> str:
    """Return a JSON value as text, with numbers as they were sent."""
    try:
        return _ENCODER.encode(value)
    except TypeError:  # the encoder does not know numbers that are kept as written
        return _with_numbers_as_written(value)


def _with_numbers_as_written(value: Any) -> str:
    if is_object(value):
        members = value.items()
        texts = [
            f"{_ENCODER.encode(key)}:{_with_numbers_as_written(each)}" for key, each in members
        ]
        return "{" + ",".join(texts) + "}"
    if is_array(value):
        return "[" + ",".join(map(_with_numbers_as_written, value)) + "]"
    return str(value) if isinstance(value, LosslessFloat) else _ENCODER.encode(value)


def without_secrets(shape: Shape, value: Any) -> Any:
    """Return the value without secrets.

    A value is a secret if the contract declares it as one, or if its key is the name of a secret.
    In an object that declares a secret field, all undeclared keys are hidden too, because one of
    them may be a misspelling of that field. Text that would take too long to examine is also
    hidden.
    """
    return _kept(shape, value, Effort())


def _kept(shape: Shape, value: Any, effort: Effort) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if shape.secret:
        return HIDDEN
    if isinstance(value, str):
        # If the contract declares text, JSON inside it is content. Otherwise the boundary would
        # parse it, so it is treated as a value.
        may_be_text = "string" in shape.types and not shape.json_text
        return _text(value, effort) if may_be_text else _text_of_json(shape, value, effort)
    if is_object(value):
        return _object(shape, value, effort)
    if is_array(value):
        return _array(shape, value, effort)
    is_scalar = not shape.types.isdisjoint(("string", "number", "integer"))
    return HIDDEN if shape.has_secret and not is_scalar else value


# --- objects and arrays -------------------------------------------------------------------------


def _object(shape: Shape, value: Json, effort: Effort) -> Json:
    kept = {key: _member(shape, key, each, effort) for key, each in value.items()}
    # In `{"name": "Authorization", "value": "..."}`, the value under `name` shows that the other
    # value is a secret.
    if isinstance(value.get("value"), str) and any(
        _names_a_secret(value.get(key), effort) for key in _NAME_KEYS
    ):
        kept["value"] = HIDDEN
    return kept


def _member(shape: Shape, key: str, value: Any, effort: Effort) -> Any:
    # A boolean such as `has_password: true` is not hidden, because it cannot be a secret.
    holds_something = value is not None and not isinstance(value, bool)
    if holds_something and effort.is_secret_name(key):
        return HIDDEN
    if not shape.objects:
        return _undeclared(shape, value, effort)
    # The forms of a union may declare the same key in different ways. The value is hidden if one
    # form declares it as a secret.
    declared = [form.fields[key].shape for form in shape.objects if key in form.fields]
    return _merged(declared or [form.additional for form in shape.objects], shape, value, effort)


def _array(shape: Shape, value: list[Any], effort: Effort) -> list[Any]:
    items = [_without_header(each, effort) for each in value]
    if not shape.arrays:
        return [_undeclared(shape, each, effort) for each in items]
    by_position = max(len(form.prefix) for form in shape.arrays)
    # All further items have the same shapes, so these are looked up only once.
    further = _item_shapes(shape, by_position)
    kept: list[Any] = []
    for index, each in enumerate(items):
        parts = further if index >= by_position else _item_shapes(shape, index)
        kept.append(_merged(parts, shape, each, effort))
    return kept


def _without_header(item: Any, effort: Effort) -> Any:
    """Hide the value of a pair such as `["Authorization", "..."]`, if its name is the name of a
    secret. Some libraries use lists of pairs for headers.
    """
    is_pair = is_array(item) and len(item) == 2
    return [item[0], HIDDEN] if is_pair and _names_a_secret(item[0], effort) else item


def _names_a_secret(value: Any, effort: Effort) -> bool:
    return isinstance(value, str) and effort.is_secret_name(value)


def _item_shapes(shape: Shape, index: int) -> list[Shape | None]:
    return [item_shape(form, index) for form in shape.arrays]


def _merged(parts: Iterable[Shape | None], outer: Shape, value: Any, effort: Effort) -> Any:
    """Return the value without the secrets of any of its possible shapes. If there is no shape, use
    that of the surrounding value.
    """
    known = [part for part in parts if part is not None]
    # No form describes this place, so only the surrounding object shows if it may contain a secret.
    if not known:
        return _undeclared(outer, value, effort)
    for part in known:
        value = _kept(part, value, effort)
    return value


def _undeclared(outer: Shape, value: Any, effort: Effort) -> Any:
    return HIDDEN if outer.has_secret else _kept(_UNKNOWN, value, effort)


# --- text ---------------------------------------------------------------------------------------


def _text(text: str, effort: Effort) -> str:
    """Return a text without secrets. JSON in the text is parsed, and secrets inside it are
    hidden.
    """
    # Text is parsed only if it looks like JSON, because parsing a long text is slow.
    if not _is_in_brackets(text):
        return without_credentials(text, effort)
    try:
        return _json_without_secrets(_UNKNOWN, text, effort)
    except (ValueError, RecursionError):
        return without_credentials(text, effort)


def _text_of_json(shape: Shape, text: str, effort: Effort) -> str:
    """Return a text without secrets. The contract declares another type here, so the text is
    JSON.
    """
    try:
        if shape.has_secret or _is_in_brackets(text):
            return _json_without_secrets(shape, text, effort)
    except (ValueError, RecursionError):
        pass
    return HIDDEN if shape.has_secret else without_credentials(text, effort)


def _is_in_brackets(text: str) -> bool:
    """Return True if the text begins and ends like a JSON object, array or string."""
    bare = text.strip()
    return bare[:1] in _OPENING and bare[-1:] in _CLOSING


def _json_without_secrets(shape: Shape, text: str, effort: Effort) -> str:
    """Return JSON text without secrets. Raises ValueError or RecursionError if the text is not
    JSON, or has a repeated key.
    """
    # Each value except the first comes after one of these signs. A text of brackets could contain a
    # million values.
    effort.values -= 1 + sum(map(text.count, ",[{"))
    if effort.values < 0:
        return HIDDEN
    found = _DECODER.decode(text)
    kept = _kept(shape, found, effort)
    # If nothing was hidden, the text is returned as it was sent, with the same spaces and digits.
    return text if kept == found else as_text(kept)


def _every_digit(digits: str) -> LosslessFloat:
    return LosslessFloat(digits.encode())


def _each_key_once(pairs: list[tuple[str, Any]]) -> Json:
    made = dict(pairs)
    if len(made) != len(pairs):
        # Only one of the two values would be examined, but both would be shown.
        raise ValueError("duplicate key")
    return made


_DECODER = json.JSONDecoder(parse_float=_every_digit, object_pairs_hook=_each_key_once)
