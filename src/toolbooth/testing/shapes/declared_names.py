"""The declared names of a tool, and names that could be taken for one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolbooth.boundary.read import text_as_object
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.jsonvalue import likeness, recased
from toolbooth.shape import ObjectShape

_NEAR = 0.7
"""How much alike two names are, of 1, before one could be a slip for the other."""


def is_near(name: str, names: Iterable[str]) -> bool:
    """Whether one could be a slip for another, so that a correction might take it for that."""
    return any(likeness(recased(name), recased(each)) >= _NEAR for each in names)


def holds_object(value: Any) -> bool:
    """Whether a value is an object, or JSON text of one."""
    return text_as_object(value, DEFAULT_LIMITS) is not None


def undeclared_code(value: Any) -> str:
    """The code of an undeclared key: one that holds an object is always a wrapper."""
    return "nested-wrapper" if holds_object(value) else "unknown-key"


def names_below(form: ObjectShape, depth: int = 8) -> Iterator[str]:
    """The names of a form and of all forms below it."""
    yield from form.fields
    for field in form.fields.values():
        for each in field.shape.objects if depth else ():
            yield from names_below(each, depth - 1)
