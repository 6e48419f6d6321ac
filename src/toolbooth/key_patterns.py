"""Finds the shape of a key that a regular expression declares (`patternProperties`).

The validator of JSON Schema matches the expressions, because Python's dialect is different.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolbooth.shape import ObjectShape, Shape
from toolbooth.shape_check import json_schema


def undeclared_shape(form: ObjectShape, key: str) -> Shape | None:
    """Return the shape of an undeclared key; None if it may not be sent."""
    if not form.patterns:
        return form.additional
    found = matching_shapes(form, key)
    if not found:
        return form.unmatched
    # A value must fit all of them. A free shape restricts nothing.
    return next((each for each in found if not each.opaque), found[0])


def matching_shapes(form: ObjectShape, key: str) -> list[Shape]:
    """Return the shapes of the patterns that a key matches."""
    return [shape for pattern, shape in form.patterns if _matcher(pattern).is_valid(key)]


@lru_cache(maxsize=1024)
def _matcher(pattern: str) -> Any:
    return json_schema().Draft202012Validator({"pattern": pattern})
