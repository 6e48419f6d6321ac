"""Finds equal JSON values, so that an API with many tools stores and writes equal values only
once.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

_VERSION = 2
"""The last version of the format in which equal values have equal bytes."""


@dataclass(frozen=True, slots=True)
class EqualJson:
    """A JSON value that can be the key of a dict. Two keys are equal if their values are the same,
    including all types and the order of members. So 1, 1.0 and true are three different keys.
    """

    text: bytes
    value: Any = field(compare=False)


def equal_json(value: Any) -> EqualJson | None:
    """Return a value as the key of a dict. Return None if a part of the value has another type than
    those of `json.loads`. A subclass of `dict` is another type too.
    """
    try:
        # JSON text is not used, because it is the same for some values of different types.
        return EqualJson(marshal.dumps(value, _VERSION), value)
    except ValueError:
        return None


def kept_once(value: Any, as_plain: Callable[[Any], Any]) -> Any:
    """Return the same object for all equal values, which saves memory. Do not change this object.
    `as_plain` converts a value with other types into JSON.
    """
    found = equal_json(value)
    if found is not None:
        return _first(found)
    plain = as_plain(value)
    found = equal_json(plain)
    return plain if found is None else _first(found)


@lru_cache(2048)
def _first(found: EqualJson) -> Any:
    return found.value
