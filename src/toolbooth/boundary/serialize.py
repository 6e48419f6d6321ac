"""What a tool returned -> JSON text. Two keys of a dict that are one key in JSON are refused: a
reader would keep only one of their values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

import jiter
import orjson
from pydantic import BaseModel
from pydantic_core import to_json

from toolbooth.boundary import messages
from toolbooth.jsonvalue import is_mapping


class SameKey(ValueError):
    """Two keys of what a tool returned are one key in JSON. The message names both."""


def json_of(value: Any) -> bytes:
    """The JSON of what a tool returned: models and dataclasses by field, never a NaN that no client
    can read.

    Raises:
        SameKey: two keys of a dict are the same in JSON, such as 1 and "1".
    """
    try:
        return orjson.dumps(value, default=_fragment)
    except TypeError:  # integers beyond 64 bits, keys that are not text, or an error below
        return _by_pydantic(value)


def _fragment(value: Any) -> Any:
    return orjson.Fragment(_by_pydantic(value))


def _by_pydantic(value: Any) -> bytes:
    text = to_json(value, inf_nan_mode="null")
    check_keys(text, value)
    return text


def check_keys(text: bytes, value: Any) -> None:
    """Check that no object in the JSON of `value` has a key twice. Raises SameKey."""
    try:
        jiter.from_json(text, catch_duplicate_keys=True)
    except ValueError:  # a key twice, or JSON that is too deep for this reader
        json.loads(text, object_pairs_hook=_Names(value), parse_int=str)


class _Names:
    """Looks at the keys of each object that is read. Raises SameKey for a repeated one."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise SameKey(messages.same_key(name, next(_written_as(name, self.value), ())))
            seen.add(name)


def _written_as(name: str, value: Any) -> Iterator[list[Any]]:
    """The keys that JSON writes as `name`, of each dict that has several such keys."""
    if is_mapping(value):
        keys = [key for key in value if _written(key) == name]
        if len(keys) > 1:
            yield keys
    for each in _below(value):
        yield from _written_as(name, each)


def _written(key: Any) -> str:
    return next(iter(json.loads(to_json({key: None}))))


def _below(value: Any) -> Iterable[Any]:
    """The values that are written below a value."""
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if isinstance(value, BaseModel):
        return {**value.__dict__, **(value.model_extra or {})}.values()
    if is_dataclass(value):
        return vars(value).values()
    return ()
