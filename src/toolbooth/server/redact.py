"""Arguments as a record keeps them: JSON text with every digit that was sent, secrets left out
where asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from jiter import LosslessFloat

from toolbooth.jsonvalue import is_array, is_object
from toolbooth.secret_names import is_secret_name
from toolbooth.shape import Shape

HIDDEN = "[redacted]"


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
        return {key: _member(shape, key, each) for key, each in value.items()}
    if is_array(value):
        return [_merged(_items(shape, index), shape, each) for index, each in enumerate(value)]
    if isinstance(value, str) and (shape.json_text or "string" not in shape.types):
        return _inside_text(shape, value)
    is_scalar = bool(shape.types & {"string", "number", "integer"})
    return HIDDEN if shape.has_secret and not is_scalar else value


def _member(shape: Shape, key: str, value: Any) -> Any:
    if is_secret_name(key) and value is not None:
        return HIDDEN
    declared = [form.fields[key].shape for form in shape.objects if key in form.fields]
    return _merged(declared or [form.additional for form in shape.objects], shape, value)


def _items(shape: Shape, index: int) -> Iterable[Shape | None]:
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


_UNKNOWN = Shape(types=frozenset(("string",)))


def _inside_text(shape: Shape, text: str) -> str:
    """JSON text for an object: what is in it is looked at as the object itself would be."""
    try:
        found = json.loads(text)
        kept = without_secrets(shape, found)
        return text if kept == found else as_text(kept)
    except (ValueError, RecursionError):
        return HIDDEN if shape.has_secret else text
