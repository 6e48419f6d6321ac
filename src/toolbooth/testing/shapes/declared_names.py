"""Finds the declared names of a tool, and checks if a name is similar to one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolbooth.boundary.read import text_as_object
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.jsonvalue import likeness, recased
from toolbooth.shape import ObjectShape

_NEAR = 0.7
"""Two names are similar if their similarity is at least this. 1 means equal."""


def is_near(name: str, names: Iterable[str]) -> bool:
    """Return True if a name is similar to one of the declared names, so that a correction might
    choose that name.
    """
    return any(likeness(recased(name), recased(each)) >= _NEAR for each in names)


def holds_object(value: Any) -> bool:
    """Return True if a value is an object or JSON text of an object."""
    return text_as_object(value, DEFAULT_LIMITS) is not None


def undeclared_code(value: Any) -> str:
    """Return the problem code of an undeclared key. If its value is an object, or JSON text of one,
    the key is a wrapper.
    """
    return "nested-wrapper" if holds_object(value) else "unknown-key"


def names_below(form: ObjectShape, depth: int = 8) -> Iterator[str]:
    """Yield the names of all fields of an object type and of the object types inside it."""
    yield from form.fields
    for field in form.fields.values():
        # The limit of the depth ends this loop for recursive models.
        for each in field.shape.objects if depth else ():
            yield from names_below(each, depth - 1)
