"""Finds out where a misplaced key belongs. The key may be written as a path (`address.city`,
`address[city]`, `lines[0].sku`), it may contain a whole call, or it may be declared at a deeper
level.
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
"""A key with more characters than this is not searched for joined names."""


def steps_of(key: str) -> Sequence[str]:
    """Return the steps of a key that is written as a path: `("address", "city")` for
    `address.city`. Empty for any other key.
    """
    return _STEPS.findall(key) if "." in key or "[" in key else ()


def joined_steps(form: ObjectShape, key: str) -> Sequence[str]:
    """Return the steps of a key that joins the name of an object and the name of one of its fields.
    Examples are `address_street`, `address-street` and `addressStreet`. Empty for any other key.
    """
    if len(key) > _LONGEST_KEY:
        return ()
    plain = recased(key)
    for name, start in _objects_by_name(form):
        # `recased` has removed the signs of where words begin, so the rest is taken from the key as
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
    """Return the names of the fields that are objects. Each is paired with the same name in lower
    case and without separators.
    """
    fields = islice(form.fields.items(), _MOST_FIELDS)
    return [(name, recased(name)) for name, each in fields if len(each.shape.objects) == 1]


def _after(key: str, letters: int) -> str:
    """Return the part of a key after its first `letters` letters. Return empty text if no new word
    begins there.
    """
    places = [index for index, letter in enumerate(key) if recased(letter)]
    end = places[letters - 1] + 1
    following = key[end : end + 1]
    # `addressee` begins with `address`, but no new word begins there: it is another name.
    begins = following.isupper() or not recased(following)
    return key[places[letters] :] if begins and letters < len(places) else ""


def object_in_key(key: str, value: Any, limits: Limits) -> Json | None:
    """Return a call whose JSON text was sent as a key with the value null
    (docker/hub-feedback#2518). Return None for any other key.
    """
    return text_as_object(key, limits) if value is None and key[:1] == "{" else None


def declared_path(form: ObjectShape, steps: Sequence[str]) -> JsonPath | None:
    """Return the declared path that these steps name. Return None if there is none."""
    shape: Shape | None = Shape(types=frozenset(("object",)), objects=(form,))
    path: list[str | int] = []
    for step in steps:
        # A free value may have any key, so the step stays as written.
        if shape is None or shape.opaque:
            path.append(step)
        elif shape.objects:
            inner = shape.objects[0]
            name = _declared_name(step, inner)
            if name is None and inner.additional is None:
                return None
            path.append(name or step)
            shape = inner.fields[name].shape if name is not None else inner.additional
        # Items have no names, so only an index can follow an array.
        elif shape.arrays and step.isdigit():
            path.append(int(step))
            shape = shape.arrays[0].items
        else:
            return None
    return tuple(path)


def _declared_name(step: str, form: ObjectShape) -> str | None:
    if step in form.fields:
        return step
    # A singular for a plural is certain only if the value fits, and the value is not known here.
    match = refusals.respelt(step, form)
    return None if match is None or match.by_number else match.name


def put(made: Any, path: JsonPath, value: Any) -> bool:
    """Set a value at a path, and create the missing objects and arrays on the way. Return False if
    the path already has a value, or if it goes through a value of another type.
    """
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            # `lines[2]` without `lines[1]` would leave a gap, which JSON does not allow.
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
"""A misplaced key is looked for in this many levels below its object."""

_Level = list[tuple[tuple[str, ...], ObjectShape]]
"""The objects at one level, each with its path."""


@lru_cache(maxsize=256)
def places_below(form: ObjectShape) -> Mapping[str, tuple[str, ...] | None]:
    """Return every name that is declared in an object below this one, with the path to the nearest
    object that declares it. The path is None if several objects are equally near.
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
        # A form that contains itself would otherwise be found at every level.
        seen.update(id(each) for _, each in level)
    return found


def _objects_below(level: _Level, seen: set[int]) -> Iterator[tuple[tuple[str, ...], ObjectShape]]:
    """Yield the object types one level deeper. Types that were found at a higher level are skipped,
    because they add no new names. A type that is used in several places is yielded at most twice,
    which is enough to show that its names are ambiguous.
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
