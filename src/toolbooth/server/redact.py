"""Arguments as a record keeps them: JSON text with every digit that was sent, secrets left out
where asked.

Secrets are values that the contract declares as secret, values under the name of a secret
(`secret_names.py`), and credentials inside text (`credentials.py`): in URLs, headers, commands,
JSON and private keys.
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
"""The keys under which lists of headers and variables have a name, beside its `value`."""

_OPENING, _CLOSING = frozenset('{["'), frozenset('}]"')

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def as_text(value: Any) -> str:
    """A JSON value as it was read, numbers as they were written."""
    try:
        return _ENCODER.encode(value)
    except TypeError:  # there is a number as it was written, which the encoder does not know
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
    """Return the value without the secrets that the contract, or the name of a key, marks.

    An undeclared key among fields of which one is a secret is left out too: it may be that one,
    misspelt. So is text that would take too much work to look at.
    """
    return _kept(shape, value, Effort())


def _kept(shape: Shape, value: Any, effort: Effort) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if shape.secret:
        return HIDDEN
    if isinstance(value, str):
        # Where the contract declares text, JSON inside it is content. Elsewhere it is the value
        # that the boundary would read out of it.
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
    # `{"name": "Authorization", "value": "..."}`: the name of the secret is a value here.
    if isinstance(value.get("value"), str) and any(
        _names_a_secret(value.get(key), effort) for key in _NAME_KEYS
    ):
        kept["value"] = HIDDEN
    return kept


def _member(shape: Shape, key: str, value: Any, effort: Effort) -> Any:
    # `has_password: true` would hide nothing: yes and no are too few values to be a secret.
    holds_something = value is not None and not isinstance(value, bool)
    if holds_something and effort.is_secret_name(key):
        return HIDDEN
    if not shape.objects:
        return _undeclared(shape, value, effort)
    # The forms of a union may declare the same key in different ways. If one calls it a secret, it
    # is hidden.
    declared = [form.fields[key].shape for form in shape.objects if key in form.fields]
    return _merged(declared or [form.additional for form in shape.objects], shape, value, effort)


def _array(shape: Shape, value: list[Any], effort: Effort) -> list[Any]:
    items = [_without_header(each, effort) for each in value]
    if not shape.arrays:
        return [_undeclared(shape, each, effort) for each in items]
    by_position = max(len(form.prefix) for form in shape.arrays)
    # Further items all have the same shapes, so those are looked up once.
    further = _item_shapes(shape, by_position)
    kept: list[Any] = []
    for index, each in enumerate(items):
        parts = further if index >= by_position else _item_shapes(shape, index)
        kept.append(_merged(parts, shape, each, effort))
    return kept


def _without_header(item: Any, effort: Effort) -> Any:
    """A list of pairs is how some libraries take headers."""
    is_pair = is_array(item) and len(item) == 2
    return [item[0], HIDDEN] if is_pair and _names_a_secret(item[0], effort) else item


def _names_a_secret(value: Any, effort: Effort) -> bool:
    return isinstance(value, str) and effort.is_secret_name(value)


def _item_shapes(shape: Shape, index: int) -> list[Shape | None]:
    return [item_shape(form, index) for form in shape.arrays]


def _merged(parts: Iterable[Shape | None], outer: Shape, value: Any, effort: Effort) -> Any:
    """Return the value without the secrets of any shape that it may have. Without a shape, `outer`
    applies.
    """
    known = [part for part in parts if part is not None]
    # None of the forms describes this place, so only the surrounding object shows whether secrets
    # are near.
    if not known:
        return _undeclared(outer, value, effort)
    for part in known:
        value = _kept(part, value, effort)
    return value


def _undeclared(outer: Shape, value: Any, effort: Effort) -> Any:
    return HIDDEN if outer.has_secret else _kept(_UNKNOWN, value, effort)


# --- text ---------------------------------------------------------------------------------------


def _text(text: str, effort: Effort) -> str:
    """Return the text without the secrets in it. JSON text is read and treated like its value."""
    # Text is parsed only if it can be JSON: a long text would be read for nothing.
    if not _is_in_brackets(text):
        return without_credentials(text, effort)
    try:
        return _json_without_secrets(_UNKNOWN, text, effort)
    except (ValueError, RecursionError):
        return without_credentials(text, effort)


def _text_of_json(shape: Shape, text: str, effort: Effort) -> str:
    """Text where something else is declared: JSON text of it."""
    try:
        if shape.has_secret or _is_in_brackets(text):
            return _json_without_secrets(shape, text, effort)
    except (ValueError, RecursionError):
        pass
    return HIDDEN if shape.has_secret else without_credentials(text, effort)


def _is_in_brackets(text: str) -> bool:
    """Whether text begins and ends as JSON that is no number."""
    bare = text.strip()
    return bare[:1] in _OPENING and bare[-1:] in _CLOSING


def _json_without_secrets(shape: Shape, text: str, effort: Effort) -> str:
    """Raises ValueError and RecursionError for text that is not JSON, or has a key twice."""
    # Each value but the first comes after one of these signs.
    # A text of brackets could hold a million values, and each would be looked at.
    effort.values -= 1 + sum(map(text.count, ",[{"))
    if effort.values < 0:
        return HIDDEN
    found = _DECODER.decode(text)
    kept = _kept(shape, found, effort)
    # If nothing was hidden, the text stays as it was sent, with its own spaces and digits.
    return text if kept == found else as_text(kept)


def _every_digit(digits: str) -> LosslessFloat:
    return LosslessFloat(digits.encode())


def _each_key_once(pairs: list[tuple[str, Any]]) -> Json:
    made = dict(pairs)
    if len(made) != len(pairs):
        # One of the two values would be looked at, and both be shown.
        raise ValueError("duplicate key")
    return made


_DECODER = json.JSONDecoder(parse_float=_every_digit, object_pairs_hook=_each_key_once)
