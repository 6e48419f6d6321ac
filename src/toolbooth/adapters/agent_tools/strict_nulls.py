"""Removes nulls that stand for optional fields. In a strict schema every field is required, so a
model sends null for an optional field that it does not use.
"""

from __future__ import annotations

from typing import Any

from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.shape import ObjectShape, Shape


def without_nulls(shape: Shape, value: Any) -> Any:
    """Return the arguments without the optional fields that are null."""
    if is_object(value) and shape.objects:
        made: Json = {}
        for key, each in value.items():
            if each is not None or not _may_be_left_out(shape.objects, key):
                made[key] = _below([form.fields[key].shape for form in _with(shape, key)], each)
        return made
    if is_array(value) and shape.arrays:
        items = [form.items for form in shape.arrays if form.items is not None]
        return [_below(items, each) for each in value]
    return value


def _below(shapes: list[Shape], value: Any) -> Any:
    # The branches of a union have different fields. Each branch removes the nulls of its own
    # fields.
    for shape in shapes:
        value = without_nulls(shape, value)
    return value


def _with(shape: Shape, key: str) -> list[ObjectShape]:
    return [form for form in shape.objects if key in form.fields]


def _may_be_left_out(forms: tuple[ObjectShape, ...], key: str) -> bool:
    declared = [form.fields[key] for form in forms if key in form.fields]
    return bool(declared) and not any(field.required for field in declared)
