"""Stage 3: Python values, by the author's own validation, in one run.

Hoisted fields are put back where the author's model has them; what the author's code refuses is told in wire names.
"""

from __future__ import annotations

import re
from typing import Any, cast

from toolbooth.boundary import guard
from toolbooth.boundary.paths import Path, at, look_up, quoted
from toolbooth.contract import Contract, InvalidValues, Objection, ObjectShape, Shape
from toolbooth.errors import Problem

_AN_OBJECT = "must be an object"
_AN_ARRAY = "must be an array"
_OTHER_WORDS = {
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"), _AN_OBJECT),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"), _AN_ARRAY),
    "arguments_type": _AN_OBJECT,
    "missing": "is required, but was not sent",
    "none_required": "must be null",
    "is_instance_of": "is not of a form that is taken here",
    "is_subclass_of": "is not of a form that is taken here",
    "callable_type": "is not of a form that is taken here",
}
"""Said in JSON's words where Pydantic's own are Python's."""

_TAGS = {
    "union_tag_invalid": 'must have one of {1} as "{0}"',
    "union_tag_not_found": 'must have "{0}", which tells the forms apart',
}


def values_of(contract: Contract, decoded: dict[str, Any]) -> Any:
    """The function's values. Raises InvalidValues."""
    form = contract.shape.objects[0]
    return contract.validate(_arranged(form, decoded) if form.arranged else _below(form, decoded))


def _below(form: ObjectShape, value: dict[str, Any]) -> dict[str, Any]:
    """Nothing was hoisted to this level; something may have been further down."""
    if not form.deep:
        return value
    return {key: _value(form.fields[key].shape, each) if key in form.fields else each for key, each in value.items()}


def _arranged(form: ObjectShape, value: dict[str, Any]) -> dict[str, Any]:
    """The same values, each at the place where the author's model has it."""
    made: dict[str, Any] = {}
    for group in form.groups:
        if group.absent != "omit":
            _put(made, group.place, {} if group.absent == "empty" else None)
    for key, each in value.items():
        declared = form.fields.get(key)
        if declared is None:
            _put(made, (*form.rest_place, key), each)
        else:
            _put(made, declared.place or (key,), _value(declared.shape, each))
    return made


def _put(made: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    *groups, last = place
    for step in groups:
        inner: Any = made.get(step)
        if inner is None:
            inner = made[step] = {}
        made = inner
    made[last] = value


def _value(shape: Shape, value: Any) -> Any:
    sent: Any = value
    if isinstance(sent, dict):
        table = cast("dict[str, Any]", sent)
        form = next((each for each in shape.objects if all(key in each.fields for key in table)), None)
        if form is None:
            return table
        return _arranged(form, table) if form.arranged else _below(form, table)
    if isinstance(sent, list) and shape.arrays and shape.arrays[0].items is not None:
        items = shape.arrays[0].items
        return [_value(items, each) for each in cast("list[Any]", sent)]
    return cast("Any", sent)


def problems_of(error: InvalidValues, shape: Shape, arguments: Any) -> list[tuple[Path, Problem]]:
    """What the author's validation said, in wire names, one problem a place."""
    by_place: dict[Path, list[tuple[Objection, Shape | None]]] = {}
    for objection in error.objections:
        path, found = locate(shape, objection.place)
        by_place.setdefault(path, []).append((objection, found))
    return [(path, _problem(path, said, arguments)) for path, said in by_place.items()]


def locate(shape: Shape | None, place: tuple[str | int, ...]) -> tuple[Path, Shape | None]:
    """The wire path of a place in the author's model, and the shape there. Labels of union branches fall away."""
    path: list[str | int] = []
    while place:
        step = place[0]
        if shape is None or shape.free:
            path.append(step)
            place = place[1:]
        elif isinstance(step, int):
            form = shape.arrays[0] if shape.arrays else None
            path.append(step)
            shape = None if form is None else form.prefix[step] if step < len(form.prefix) else form.items
            place = place[1:]
        else:
            taken, name, shape = _step(shape, place)
            path += [name] if name is not None else []
            place = place[taken:]
    return tuple(path), shape


def _step(shape: Shape, place: tuple[str | int, ...]) -> tuple[int, str | None, Shape | None]:
    """How many steps lead to the next wire key, that key, and its shape."""
    step = str(place[0])
    for form in shape.objects:
        for key, declared in form.fields.items():
            if declared.place and place[: len(declared.place)] == declared.place:
                return len(declared.place), declared.name or key, declared.shape
        declared = form.fields.get(step)
        if declared is not None and not declared.place:
            return 1, step, declared.shape
    grouped = any(group.place == place[: len(group.place)] for form in shape.objects for group in form.groups)
    opened = next((form.rest for form in shape.objects if form.rest is not None), None)
    if opened is not None and not grouped and step != "[key]":
        return 1, step, opened
    if grouped:
        lengths = [
            len(group.place)
            for form in shape.objects
            for group in form.groups
            if place[: len(group.place)] == group.place
        ]
        return max(lengths), None, shape
    unknown = len(shape.objects) == 1 and len(place) == 1
    return 1, step if unknown else None, shape


def _problem(path: Path, said: list[tuple[Objection, Shape | None]], arguments: Any) -> Problem:
    first, shape = said[0]
    if first.kind == "missing":
        return Problem(code="missing", path=at(path), message=_OTHER_WORDS["missing"])
    if first.kind == "extra_forbidden":
        return Problem(code="unknown-key", path=at(path), message=f"there is no field {quoted(str(path[-1]))}")
    words = list(dict.fromkeys(_words(objection) for objection, _ in said))
    message = words[0] if len(words) == 1 else "fits none of the accepted forms: " + "; ".join(words[:4])
    sent = look_up(arguments, path)
    hidden = shape is None or shape.secret or sent is None or isinstance(sent, dict | list)
    return Problem(code="invalid", path=at(path), message=message if hidden else f"{message}; got {guard.echo(sent)}")


def _words(objection: Objection) -> str:
    if objection.kind in _OTHER_WORDS:
        return _OTHER_WORDS[objection.kind]
    said = objection.message
    if objection.kind in _TAGS:
        tag = re.search(r"'([^']*)'" if objection.kind == "union_tag_not_found" else r"using '?([^']*?)'? does", said)
        return _TAGS[objection.kind].format(tag.group(1) if tag else "the tag", said.rpartition("tags: ")[2])
    for start in ("Value error, ", "Assertion failed, "):
        if said.startswith(start):
            return said.removeprefix(start)
    return said.replace("Input should be", "must be").replace("Input should", "must").replace("a valid string", "text")
