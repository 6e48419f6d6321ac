"""Finds items of arrays that a tool does not declare. A schema with two `prefixItems` and without
`items` allows a third item, but most servers never read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolbooth.jsonvalue import JsonPath, is_array, is_object
from toolbooth.shape import ArrayShape, Shape, anywhere, item_shape


def has_silent_arrays(shape: Shape) -> bool:
    """Return True if a tool has an array whose schema does not say whether more items are
    allowed.
    """
    return anywhere(shape, lambda each: any(form.is_silent for form in each.arrays))


def surplus_items(shape: Shape, value: Any) -> list[JsonPath]:
    """Return the paths of the array items that the schema does not declare."""
    return list(_surplus([shape], value, ()))


def _surplus(shapes: Sequence[Shape], value: Any, path: JsonPath) -> Iterator[JsonPath]:
    if is_array(value):
        forms = [form for shape in shapes for form in shape.arrays]
        for index, each in enumerate(value):
            if forms and all(_is_surplus(form, index) for form in forms):
                yield (*path, index)
            else:
                found = [item_shape(form, index) for form in forms]
                below = [shape for shape in found if shape is not None]
                yield from _surplus(below, each, (*path, index))
    elif is_object(value):
        fields = [form.fields for shape in shapes for form in shape.objects]
        for key, each in value.items():
            below = [found[key].shape for found in fields if key in found]
            yield from _surplus(below, each, (*path, key)) if below else ()


def _is_surplus(form: ArrayShape, index: int) -> bool:
    return form.is_silent and index >= len(form.prefix)
