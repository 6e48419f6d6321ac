"""Writes a tool's return value as JSON text. A value is refused if two keys of a dict become the
same key in JSON, because a reader would keep only one of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any

import jiter
from pydantic import BaseModel
from pydantic_core import to_json, to_jsonable_python

from toolbooth.boundary import messages
from toolbooth.jsonvalue import is_array, is_mapping, is_object


class SameKey(ValueError):
    """Two keys of a returned dict are the same key in JSON, such as 1 and "1". The message names
    both.
    """


def as_json(value: Any) -> Any:
    """Convert a value to JSON types. Raises SameKey."""
    write = _writer(value.__class__)
    if write is not None:
        return write(value, mode="json")
    made = to_jsonable_python(value)
    # Pydantic writes both keys of `{1: "a", "1": "b"}` as "1". One of the two values would be lost.
    if is_object(made) or is_array(made):  # two keys may have become one
        checked_json(value)
    return made


def checked_json(value: Any) -> bytes:
    """Write a value with keys of any type as JSON. Raises SameKey."""
    # By default Pydantic writes NaN, which is not JSON. orjson writes null, so Pydantic is set to
    # write null too.
    text = to_json(value, inf_nan_mode="null")
    check_keys(text, value)
    return text


@lru_cache(1024)
def _writer(kind: type) -> Callable[..., Any] | None:
    """Return a function that writes instances of a model. Return None if the model may contain a
    dict, because two keys of a dict may become the same. Most models that tools return contain no
    dict.
    """
    if issubclass(kind, BaseModel) and _is_plain(kind.__pydantic_core_schema__):
        return kind.__pydantic_serializer__.to_python
    return None


def _is_plain(node: Any) -> bool:
    """Return True if all nodes of a core schema are in `_PLAIN`. `node` may be a node, a list of
    nodes or a dict of nodes.
    """
    if is_array(node):
        return all(map(_is_plain, node))
    if not is_object(node):  # a node with a label
        return False
    kind = node.get("type")
    if not isinstance(kind, str):  # a table of nodes
        return all(map(_is_plain, node.values()))
    own = node.get("config", {})
    # A model with `extra="allow"` may contain a dict under any extra key.
    is_open = "allow" in (node.get("extra_behavior"), own.get("extra_fields_behavior"))
    # A serializer or a computed field may return a dict with any keys.
    has_code = "serialization" in node or node.get("computed_fields")
    if kind not in _PLAIN or is_open or has_code or "serialization_alias" in node:
        return False
    return all(_is_plain(node[key]) for key in _BELOW if key in node)


_BELOW = ("schema", "fields", "items_schema", "choices", "definitions")
_PLAIN = frozenset(
    (
        "model",
        "model-fields",
        "model-field",
        "definitions",
        "definition-ref",
        "default",
        "nullable",
        "union",
        "tagged-union",
        "list",
        "set",
        "none",
        "bool",
        "int",
        "float",
        "str",
        "literal",
        "enum",
        "decimal",
        "uuid",
        "date",
        "time",
        "datetime",
        "timedelta",
        "function-after",
        "function-before",
        "function-wrap",
    )
)
"""The types of nodes in Pydantic's core schema that write only a value of their own type."""


def check_keys(text: bytes, value: Any) -> None:
    """Raise SameKey if an object in the JSON text of `value` has the same key twice."""
    try:
        # jiter finds a repeated key faster than `json`, but cannot show the two Python keys. So
        # `json` reads the text only if jiter has failed.
        jiter.from_json(text, catch_duplicate_keys=True)
    except ValueError:  # a key twice, or JSON that is too deep for this reader
        # Python refuses to read integers of more than 4,300 digits. Here only the keys matter, so
        # numbers may stay text.
        json.loads(text, object_pairs_hook=_Names(value), parse_int=str)


class _Names:
    """Checks the keys of each object that is read. Raises SameKey for a repeated key."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                # An author's serializer may have made the keys. Then they are not in the value.
                raise SameKey(messages.same_key(name, next(_written_as(name, self.value), ())))
            seen.add(name)


def _written_as(name: str, value: Any) -> Iterator[list[Any]]:
    """Yield the keys that JSON writes as `name`, for each dict that has several such keys."""
    if is_mapping(value):
        keys = [key for key in value if _written(key) == name]
        if len(keys) > 1:
            yield keys
    for each in _below(value):
        yield from _written_as(name, each)


def _written(key: Any) -> str:
    # Only Pydantic knows how it writes a key: a date or an enum member has its own text.
    return next(iter(json.loads(to_json({key: None}))))


_SEQUENCES: Any = (list, tuple, set, frozenset)


def _below(value: Any) -> Iterable[Any]:
    """Return the values directly inside a value."""
    held: Any = ()
    if is_mapping(value):
        held = value.values()
    elif isinstance(value, _SEQUENCES):
        held = value
    elif isinstance(value, BaseModel):
        held = {**value.__dict__, **(value.model_extra or {})}.values()
    elif is_dataclass(value):
        held = vars(value).values()
    return held
