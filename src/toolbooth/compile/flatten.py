"""Flattening: a parameter or field is replaced by the fields of its model.

In: the outer shape and the shape of the model. Out: the outer shape with the keys of the model,
each with its prefix and with its path in the author's model. No second model class is made. Before
the validation, the values are put back at these paths, and the author's own model is validated
once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from toolbooth.shape import Field, Group, ObjectShape, Shape, shapes_above, shapes_in_object, walk

Absent = Literal["empty", "null", "omit"]


def flatten(
    outer: ObjectShape,
    inner: ObjectShape,
    model_path: tuple[str, ...],
    prefix: str,
    absent: Absent,
    owner: str,
) -> list[str]:
    """Add the fields of `inner` to `outer`. Return the author's mistakes, each with its remedy."""
    mistakes: list[str] = []
    moved: dict[int, Field] = {}
    for key, field in inner.fields.items():
        # An alias is another key of the same field. All keys of a field are moved together.
        made = moved.setdefault(id(field), _moved_field(field, key, model_path, prefix, absent))
        taken = outer.fields.setdefault(prefix + key, made)
        if taken is not made:
            mistakes.append(collision(prefix + key, taken, owner))
    # With a prefix, undeclared keys of the model are refused: without the prefix they could not be
    # recognised, and with it they look like misspelt names.
    if inner.additional is not None and not prefix:
        if outer.additional is not None:
            other = _owner_of(outer.additional_path)
            mistakes.append(f"{owner} and {other} both take undeclared keys; unpack only one")
        outer.additional = inner.additional
        outer.additional_path = (*model_path, *inner.additional_path)
    # The paths begin in the model. Here, the first key of each has the prefix.
    for paths in inner.exclusive_paths:
        moved_paths = tuple((prefix + str(path[0]), *path[1:]) for path in paths)
        outer.exclusive_paths = (*outer.exclusive_paths, moved_paths)
    groups = [Group(model_path=model_path, absent=absent)]
    for group in inner.groups:
        # The model may itself contain flattened models, whose fields are now two levels up.
        groups.append(Group(model_path=(*model_path, *group.model_path), absent=group.absent))
    outer.groups = (*outer.groups, *groups)
    outer.flattened = True
    return mistakes


def _moved_field(
    field: Field, key: str, model_path: tuple[str, ...], prefix: str, absent: Absent
) -> Field:
    """Return the field for the outer object. It is optional if the whole model is optional."""
    return replace(
        field,
        name=prefix + field.name,
        required=field.required and absent == "empty",
        model_path=(*model_path, *(field.model_path or (key,))),
    )


def _owner_of(model_path: tuple[str, ...]) -> str:
    return f"{model_path[0]!r}" if model_path else "another parameter"


def collision(key: str, taken: Field, owner: str) -> str:
    """Return the message for two fields with the same published name, with the remedy."""
    first = repr(".".join(taken.model_path[:-1])) if taken.model_path else f"{taken.name!r} itself"
    return f"{key!r} is declared by {first} and by {owner}; tell them apart with Unpack(prefix=...)"


def mark_flattened_below(root: Shape) -> None:
    """Mark every object that has a flattened model at a deeper level. Putting back the fields can
    then skip all other objects.
    """
    flattened = shapes_above(root, _is_flattened)
    for shape in walk(root):
        for form in shape.objects:
            form.flattened_below = any(id(part) in flattened for part in shapes_in_object(form))


def _is_flattened(shape: Shape) -> bool:
    return any(form.flattened for form in shape.objects)
