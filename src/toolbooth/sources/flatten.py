"""Flattening: the fields of an unpacked model stand at the level of the parameter or field that holds it.

In: the shape around it and the shape of the model. Out: the outer shape, with the inner keys (behind their prefix)
and, for each, the place where the author's model has it. Nothing is copied from one model to another: the call is
put back in place and the author's model itself is validated, once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from toolbooth.contract import Field, Group, ObjectShape, Shape

Absent = Literal["empty", "null", "omit"]


def hoist(
    outer: ObjectShape, inner: ObjectShape, place: tuple[str, ...], prefix: str, absent: Absent, owner: str
) -> list[str]:
    """Add the fields of `inner` to `outer`. Returns the author's mistakes, each with its remedy."""
    mistakes: list[str] = []
    moved: dict[int, Field] = {}
    for key, field in inner.fields.items():
        made = moved.setdefault(id(field), _moved(field, key, place, prefix, absent))
        taken = outer.fields.setdefault(prefix + key, made)
        if taken is not made:
            mistakes.append(_collision(prefix + key, outer, taken, owner))
    if inner.rest is not None and not prefix:
        if outer.rest is not None:
            mistakes.append(f"{owner} and {_owner_of(outer.rest_place)} both take undeclared keys; unpack only one")
        outer.rest, outer.rest_place = inner.rest, (*place, *inner.rest_place)
    outer.groups = (
        *outer.groups,
        Group(place=place, absent=absent),
        *(Group(place=(*place, *group.place), absent=group.absent) for group in inner.groups),
    )
    outer.arranged = True
    return mistakes


def _moved(field: Field, key: str, place: tuple[str, ...], prefix: str, absent: Absent) -> Field:
    """The same field, one level up: optional if the whole model is."""
    return replace(
        field,
        name=prefix + field.name,
        required=field.required and absent == "empty",
        place=(*place, *(field.place or (key,))),
    )


def _owner_of(place: tuple[str, ...]) -> str:
    return f"{place[0]!r}" if place else "another parameter"


def _collision(key: str, outer: ObjectShape, taken: Field, owner: str) -> str:
    first = f"{'.'.join(taken.place[:-1])!r}" if len(taken.place) > 1 else f"parameter {taken.name!r}"
    return f"{key!r} is declared by {first} and by {owner}; give one of them Unpack(prefix=...)"


def mark_deep(shape: Shape) -> None:
    """Mark the objects with something hoisted below them; all others are never walked."""
    seen: set[int] = set()

    def look(each: Shape | None) -> bool:
        if each is None or id(each) in seen:
            return False
        seen.add(id(each))
        found = False
        for form in each.objects:
            below = [look(field.shape) for field in form.fields.values()] + [look(form.rest)]
            form.deep = any(below)
            found = found or form.deep or form.arranged
        parts = [part for form in each.arrays for part in (*form.prefix, form.items)]
        return any([look(part) for part in parts]) or found

    look(shape)
