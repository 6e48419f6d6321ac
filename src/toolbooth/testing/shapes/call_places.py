"""Finds the values of a correct call, with what is declared for each. Values for which the declared
types leave a choice are left out.
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
    """One value of a correct call, with the shape that is declared for it."""

    path: JsonPath
    value: Any
    shape: Shape
    field: Field | None = None
    """The declared field. None for the arguments themselves, an array item, or a value in a dict
    such as `dict[str, int]`.
    """
    form: ObjectShape | None = None
    """The declared object type of the value. None if the value is not an object, or if several
    types of a union are possible.
    """
    items: ArrayShape | None = None
    """The declared array type of the value. None if the value is not an array, or if several types
    of a union are possible.
    """
    holder: ObjectShape | None = None
    """The declared type of the object that contains the value, if the value's key is declared."""
    mixed: bool = False
    """True if an object or array that contains the value is declared as a union. The author's
    validation then reports problems for each branch.
    """

    @property
    def is_union(self) -> bool:
        """Return True if a union is declared for the value, or for a value that contains it."""
        return self.mixed or len(self.shape.types - {"null"}) > 1 or len(self.shape.objects) > 1

    @property
    def optional(self) -> bool:
        """Return True if the value may be left out. Then null and "" mean that it is left out."""
        return self.field is not None and not self.field.required and not self.field.verbatim

    @property
    def has_text(self) -> bool:
        """Return True if text is declared here."""
        return "string" in self.shape.types

    def takes(self, *kinds: str) -> bool:
        """Return True if one of these JSON types is declared here."""
        return bool(self.shape.types & set(kinds))


def places(shape: Shape, arguments: Any) -> list[CallPlace]:
    """Return every value whose meaning is clear. The arguments themselves come first. For an array,
    only the first item is returned.
    """
    return list(_places(CallPlace(path=(), value=arguments, shape=shape)))


def _places(place: CallPlace) -> Iterator[CallPlace]:
    shape, value = place.shape, place.value
    # The author's code reads this value, so the outcome of a fault inside it is unknown.
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
        # If the tag itself has a fault, the intended form is unknown. So the law has no single
        # outcome for it.
        if declared is not None and key not in tags:
            yield from _places(_below(place, key, each, declared.shape, declared))
        # A mapping such as `dict[str, int]`: its keys are data, and its values have one shape.
        elif declared is None and not form.fields:
            shape = undeclared_shape(form, key)
            if shape is not None:
                yield from _places(_below(place, key, each, shape))


def form_of(forms: Sequence[ObjectShape], value: dict[str, Any]) -> ObjectShape | None:
    """Return the declared type of an object. In a union, the tag decides. Return None if it is not
    clear which type applies.
    """
    sent = [tag for tag in _tags(forms) if tag in value]
    sent_tags = {tag: value[tag] for tag in sent}
    fitting = [form for form in forms if _has_tags(form, sent_tags)]
    # Without a tag, several models of a union may accept the same object, and the author's
    # validation chooses one of them.
    return fitting[0] if len(fitting) == 1 and (sent or len(forms) == 1) else None


def _has_tags(form: ObjectShape, sent: Mapping[str, Any]) -> bool:
    """Return True if an object type of a union has the tags that were sent."""
    for tag, value in sent.items():
        # Compared as JSON below, because `1 == True` in Python.
        constants = form.fields[tag].shape.constants or ()
        if not any(same_json(value, each) for each in constants):
            return False
    return True


def _tags(forms: Sequence[ObjectShape]) -> set[str]:
    """Return the keys whose values distinguish the types of a union."""
    if len(forms) < 2:
        return set()
    return set[str].intersection(*map(_constant_fields, forms))


def _constant_fields(form: ObjectShape) -> set[str]:
    return {key for key, each in form.fields.items() if each.shape.constants is not None}


# --- paths --------------------------------------------------------------------------------------


def paths_in(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the path of a value and the paths of all values inside it."""
    yield path
    for step, each in children(value):
        yield from paths_in(each, (*path, step))


def children(value: Any) -> Iterable[tuple[str | int, Any]]:
    """Return the parts of a value: the fields of an object with their keys, or the items of an
    array with their positions.
    """
    if is_object(value):
        return value.items()
    return enumerate(value) if is_array(value) else ()


def is_within(path: JsonPath, places: Iterable[JsonPath]) -> bool:
    """Return True if a path is one of `places`, or leads to a value inside one of them."""
    return any(path[: len(place)] == place for place in places)


# --- a call with one thing changed --------------------------------------------------------------


def with_value(arguments: Any, path: JsonPath, value: Any) -> Any:
    """Return the call with another value at one path."""
    if not path:
        return value
    # All shapes are made from the same correct call, which must not change on the way.
    made = copy.deepcopy(arguments)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return made


def without_key(arguments: Any, path: JsonPath) -> Any:
    """Return the call without one key."""
    holder = look_up(arguments, path[:-1])
    return with_value(
        arguments, path[:-1], {key: each for key, each in holder.items() if key != path[-1]}
    )
