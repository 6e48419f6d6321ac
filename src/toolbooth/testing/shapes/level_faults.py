"""Keys at a wrong level: beside the object that declares them, or inside another object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toolbooth.boundary.mistakes import MOST_PROBLEMS
from toolbooth.jsonvalue import Json, is_object, path_text
from toolbooth.shape import Field, ObjectShape
from toolbooth.testing.shapes.call_places import CallPlace, with_value
from toolbooth.testing.shapes.declared_names import holds_object, is_near, names_below
from toolbooth.testing.shapes.expected import AgentShape, Draft, Found


def level_faults(draft: Draft, place: CallPlace, form: ObjectShape) -> Iterator[AgentShape]:
    """Yield calls in which a key is moved out of a nested object, or into one. Objects that are
    declared as a union are skipped.
    """
    inner = {
        key: field.shape.objects[0]
        for key, field in form.fields.items()
        if _is_one_object(key, field)
    }
    for key, below in inner.items():
        held = place.value.get(key)
        if is_object(held) and below.additional is None and not below.exclusive_paths:
            yield from _one_level_up(draft, place, form, inner, key, held)
            yield from _one_level_down(draft, place, form, key, below, held)


def _is_one_object(key: str, field: Field) -> bool:
    """Return True if a field is published under this key, and its value is an object that is not
    declared as a union.
    """
    return field.name == key and len(field.shape.objects) == 1 and not field.shape.opaque


def _one_level_up(
    draft: Draft,
    place: CallPlace,
    form: ObjectShape,
    inner: Mapping[str, ObjectShape],
    key: str,
    held: Json,
) -> Iterator[AgentShape]:
    """Yield two calls. In the first, one field of a nested object is sent beside the object. In the
    second, all its fields are sent in place of the object.
    """

    def movable(name: str) -> bool:
        # If both `billing` and `shipping` declare `city`, a `city` beside them may belong to
        # either. A corrected call would be a guess.
        homes = [other for other in inner.values() if name in other.fields]
        if holds_object(held[name]) or len(homes) != 1:
            return False
        return name not in form.fields and not is_near(name, form.fields)

    names = [name for name in held if movable(name)]
    # One example is enough: the boundary treats all fields of an object in the same way.
    for name in names[:1]:
        rest = _other_fields(held, name)
        sent = with_value(draft.arguments, place.path, {**place.value, key: rest, name: held[name]})
        path, problems = (*place.path, key, name), _unknown_key_problems(place, [name])
        yield draft.refused_shape("one-level-up", path, sent, problems, corrected=draft.corrected)
    if names and len(names) == len(held) <= MOST_PROBLEMS:
        beside = _other_fields(place.value, key)
        sent = with_value(draft.arguments, place.path, {**beside, **held})
        path, problems = (*place.path, key), _unknown_key_problems(place, names)
        yield draft.refused_shape("flattened", path, sent, problems, corrected=draft.corrected)


def _one_level_down(
    draft: Draft,
    place: CallPlace,
    form: ObjectShape,
    key: str,
    below: ObjectShape,
    held: Json,
) -> Iterator[AgentShape]:
    """Yield calls in which a field is sent inside a nested object instead of beside it."""
    declared = set(names_below(below))
    for name, value in place.value.items():
        if name == key or name not in form.fields:
            continue
        if holds_object(value) or is_near(name, declared):
            continue
        moved = {**_other_fields(place.value, name), key: {**held, name: value}}
        sent = with_value(draft.arguments, place.path, moved)
        problem = ("unknown-key", path_text((*place.path, key, name)))
        path = (*place.path, name)
        yield draft.refused_shape(
            "one-level-down", path, sent, [problem], corrected=draft.corrected
        )
        return


def _other_fields(table: Json, name: str) -> Json:
    return {key: each for key, each in table.items() if key != name}


def _unknown_key_problems(place: CallPlace, names: Iterable[str]) -> list[Found]:
    return [("unknown-key", path_text((*place.path, name))) for name in names]
