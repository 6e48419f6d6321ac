"""Finds the shape of a key that is declared by a regular expression (`patternProperties`).

The JSON Schema validator matches the expressions, because regular expressions in Python are a
different dialect.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolbooth.shape import ObjectShape, Shape
from toolbooth.shape_check import json_schema


def undeclared_shape(form: ObjectShape, key: str) -> Shape | None:
    """Return the shape of the value of an undeclared key; None if the key may not be sent."""
    if not form.patterns:
        return form.additional
    found = matching_shapes(form, key)
    if not found:
        return form.unmatched
    # A value must fit all of them. A free shape restricts nothing.
    return next((each for each in found if not each.opaque), found[0])


def matching_shapes(form: ObjectShape, key: str) -> list[Shape]:
    """Return the shapes of all patterns that match a key."""
    return [shape for pattern, shape in form.patterns if _matcher(pattern).is_valid(key)]


@lru_cache(maxsize=1024)
def _matcher(pattern: str) -> Any:
    return json_schema().Draft202012Validator({"pattern": pattern})
