"""A correct call, place by place: which values stand where, and which of them can be read in one
way only.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbooth.jsonvalue import JsonPath, is_array, is_object, look_up, same_json
from toolbooth.key_patterns import undeclared_shape
from toolbooth.shape import ArrayShape, Field, ObjectShape, Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlace:
    """One value of a correct call and what is declared there."""

    path: JsonPath
    value: Any
    shape: Shape
    field: Field | None = None
    """None: the arguments themselves, an item, or further content of an open object."""
    form: ObjectShape | None = None
    """How an object must be read; None for all else, and where there is more than one way."""
    items: ArrayShape | None = None
    """The same for an array."""
    holder: ObjectShape | None = None
    """The form of the object that the value stands in, under a declared key."""
    mixed: bool = False
    """An object or array around it could have been something else: the author's validation speaks
    of that too.
    """

    @property
    def is_union(self) -> bool:
        """Whether what stands here, or something around it, could have been something else."""
        return self.mixed or len(self.shape.types - {"null"}) > 1 or len(self.shape.objects) > 1

    @property
    def optional(self) -> bool:
        """Whether the value may be left out, and null and "" say that it is."""
        return self.field is not None and not self.field.required and not self.field.verbatim

    @property
    def has_text(self) -> bool:
        """Whether text is declared here."""
        return "string" in self.shape.types

    def takes(self, *kinds: str) -> bool:
        """Whether any of these JSON types is declared here."""
        return bool(self.shape.types & set(kinds))


def places(shape: Shape, arguments: Any) -> list[CallPlace]:
    """Every place at which the law leaves one reading, the arguments themselves first; of arrays
    the first item.
    """
    return list(_places(CallPlace(path=(), value=arguments, shape=shape)))


def _places(place: CallPlace) -> Iterator[CallPlace]:
    shape, value = place.shape, place.value
    if shape.opaque:
        return
    if is_object(value):
        form = form_of(shape.objects, value)
        place = replace(place, form=form)
        yield place
        if form is not None and not form.exclusive_paths:
            yield from _fields(place, form, value)
    elif is_array(value) and len(shape.arrays) == 1:
        form = shape.arrays[0]
        place = replace(place, items=form)
        yield place
        first = (*form.prefix, form.items)[0]
        if value and first is not None:
            yield from _places(_below(place, 0, value[0], first))
    else:
        yield place


def _below(
    place: CallPlace, step: str | int, value: Any, shape: Shape, field: Field | None = None
) -> CallPlace:
    path, mixed = (*place.path, step), place.is_union
    return CallPlace(
        path=path, value=value, shape=shape, field=field, holder=place.form, mixed=mixed
    )


def _fields(place: CallPlace, form: ObjectShape, value: dict[str, Any]) -> Iterator[CallPlace]:
    tags = _tags(place.shape.objects)
    for key, each in value.items():
        declared = form.fields.get(key)
        if declared is not None and key not in tags:
            yield from _places(_below(place, key, each, declared.shape, declared))
        elif declared is None and not form.fields:
            shape = undeclared_shape(form, key)
            if shape is not None:
                yield from _places(_below(place, key, each, shape))


def form_of(forms: Sequence[ObjectShape], value: dict[str, Any]) -> ObjectShape | None:
    """The one form that an object has; in a union only a tag can tell."""
    sent = [tag for tag in _tags(forms) if tag in value]
    sent_tags = {tag: value[tag] for tag in sent}
    fitting = [form for form in forms if _has_tags(form, sent_tags)]
    return fitting[0] if len(fitting) == 1 and (sent or len(forms) == 1) else None


def _has_tags(form: ObjectShape, sent: Mapping[str, Any]) -> bool:
    """Whether a form has the tags that were sent."""
    for tag, value in sent.items():
        constants = form.fields[tag].shape.constants or ()
        if not any(same_json(value, each) for each in constants):
            return False
    return True


def _tags(forms: Sequence[ObjectShape]) -> set[str]:
    """The keys that tell the forms of a union apart."""
    if len(forms) < 2:
        return set()
    return set[str].intersection(*map(_constant_fields, forms))


def _constant_fields(form: ObjectShape) -> set[str]:
    return {key for key, each in form.fields.items() if each.shape.constants is not None}


# --- paths --------------------------------------------------------------------------------------


def paths_in(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """The path of a value, and of every value in it."""
    yield path
    for step, each in children(value):
        yield from paths_in(each, (*path, step))


def children(value: Any) -> Iterable[tuple[str | int, Any]]:
    """The fields of an object or the items of an array, each with its key or position."""
    if is_object(value):
        return value.items()
    return enumerate(value) if is_array(value) else ()


def is_within(path: JsonPath, places: Iterable[JsonPath]) -> bool:
    """Whether a path leads to one of these places, or to something below one."""
    return any(path[: len(place)] == place for place in places)


# --- a call with one thing changed --------------------------------------------------------------


def with_value(arguments: Any, path: JsonPath, value: Any) -> Any:
    """The call with another value at one place."""
    if not path:
        return value
    made = copy.deepcopy(arguments)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return made


def without_key(arguments: Any, path: JsonPath) -> Any:
    """The call without one key."""
    holder = look_up(arguments, path[:-1])
    return with_value(
        arguments, path[:-1], {key: each for key, each in holder.items() if key != path[-1]}
    )
