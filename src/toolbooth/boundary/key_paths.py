"""Where a key belongs: paths that are written as keys (`address.city`, `address[city]`,
`lines[0].sku`), whole calls, and names that are declared further down.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any

from toolbooth.boundary import refusals
from toolbooth.boundary.read import text_as_object
from toolbooth.contract import Limits
from toolbooth.jsonvalue import Json, JsonPath, recased, same_name
from toolbooth.shape import ObjectShape, Shape

_STEPS = re.compile(r"[^.\[\]]+")


_MOST_FIELDS = 400
_LONGEST_KEY = 400
"""Characters of a key in which joined names are looked for."""


def steps_of(key: str) -> Sequence[str]:
    """The steps of a key that is written as a path; empty for any other key."""
    return _STEPS.findall(key) if "." in key or "[" in key else ()


def joined_steps(form: ObjectShape, key: str) -> Sequence[str]:
    """The steps of a key that joins the names of an object and of one of its fields, such as
    `address_street`, `address-street` or `addressStreet`; empty for any other key.
    """
    if len(key) > _LONGEST_KEY:
        return ()
    plain = recased(key)
    for name, start in _objects_by_name(form):
        # `recased` has dropped the places where words begin, so the rest is taken from the key as
        # sent.
        rest = _after(key, len(start)) if plain.startswith(start) else ""
        if not rest:
            continue
        inner = form.fields[name].shape.objects[0]
        last = rest if rest in inner.fields else same_name(rest, inner.fields)
        if last is not None:
            return (name, last)
        if steps := joined_steps(inner, rest):
            return (name, *steps)
    return ()


@lru_cache(maxsize=1024)
def _objects_by_name(form: ObjectShape) -> Sequence[tuple[str, str]]:
    """The fields that are objects, and their names without case and separators."""
    fields = islice(form.fields.items(), _MOST_FIELDS)
    return [(name, recased(name)) for name, each in fields if len(each.shape.objects) == 1]


def _after(key: str, letters: int) -> str:
    """What follows so many letters of a key; empty if no word begins there."""
    places = [index for index, letter in enumerate(key) if recased(letter)]
    end = places[letters - 1] + 1
    following = key[end : end + 1]
    # `addressee` begins with `address`, but no new word begins there: it is another name.
    begins = following.isupper() or not recased(following)
    return key[places[letters] :] if begins and letters < len(places) else ""


def object_in_key(key: str, value: Any, limits: Limits) -> Json | None:
    """The call that was written into a key, as JSON text, with null as its value
    (docker/hub-feedback#2518).
    """
    return text_as_object(key, limits) if value is None and key[:1] == "{" else None


def declared_path(form: ObjectShape, steps: Sequence[str]) -> JsonPath | None:
    """The declared path that the steps name; None if there is none."""
    shape: Shape | None = Shape(types=frozenset(("object",)), objects=(form,))
    path: list[str | int] = []
    for step in steps:
        # In a free value any key may be meant, so the step stays as it is written.
        if shape is None or shape.opaque:
            path.append(step)
        elif shape.objects:
            inner = shape.objects[0]
            name = _declared_name(step, inner)
            if name is None and inner.additional is None:
                return None
            path.append(name or step)
            shape = inner.fields[name].shape if name is not None else inner.additional
        # Items have no names, so only a position can follow an array.
        elif shape.arrays and step.isdigit():
            path.append(int(step))
            shape = shape.arrays[0].items
        else:
            return None
    return tuple(path)


def _declared_name(step: str, form: ObjectShape) -> str | None:
    if step in form.fields:
        return step
    # A singular for a plural is certain only if the value fits, and here no value is known.
    match = refusals.respelt(step, form)
    return None if match is None or match.by_number else match.name


def put(made: Any, path: JsonPath, value: Any) -> bool:
    """Set a value at a path, and create objects and arrays on the way. Returns False if there is a
    value already, or one of another kind on the way.
    """
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            # `lines[2]` before `lines[1]` would leave a hole, and JSON has none.
            if step > len(made):
                return False
            if step == len(made):
                made.append(empty)
            made = made[step]
        else:
            made = made.setdefault(step, empty)
        if type(made) is not type(empty):
            return False
    last = path[-1]
    if isinstance(last, int):
        if last != len(made):
            return False
        made.append(value)
        return True
    # Never over a value that is there: it would be lost.
    if last in made:
        return False
    made[last] = value
    return True


# --- names that are declared further down -------------------------------------------------------

_DEEPEST = 8
"""Levels below an object in which the place of a misplaced key is looked for."""

_Level = list[tuple[tuple[str, ...], ObjectShape]]
"""The objects at one level, with their paths."""


@lru_cache(maxsize=256)
def places_below(form: ObjectShape) -> Mapping[str, tuple[str, ...] | None]:
    """Every name that is declared below an object, through objects alone, with the path to the
    nearest object that declares it; None if several are as near.
    """
    found: dict[str, tuple[str, ...] | None] = {}
    level: _Level = [((), form)]
    seen = {id(form)}
    for _ in range(_DEEPEST):
        level = list(_objects_below(level, seen))
        names: dict[str, tuple[str, ...] | None] = {}
        for path, each in level:
            for name in each.fields.keys() - found.keys():
                names[name] = None if name in names else path
        found |= names
        # A form that contains itself would be found again at every level.
        seen.update(id(each) for _, each in level)
    return found


def _objects_below(level: _Level, seen: set[int]) -> Iterator[tuple[tuple[str, ...], ObjectShape]]:
    """Yield the objects one level further down. Forms that were seen further up have no new names.
    If a form is at several places, two are enough to know that a name is not clear.
    """
    times = Counter[int]()
    for path, form in level:
        for name in form.names:
            shape = form.fields[name].shape
            if len(shape.objects) == 1 and not shape.opaque and id(shape.objects[0]) not in seen:
                below = shape.objects[0]
                times[id(below)] += 1
                if times[id(below)] <= 2:
                    yield (*path, name), below
