"""A refusal without anything of a secret: neither its value nor, if it is an object, its keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from toolbooth.boundary import messages
from toolbooth.errors import Edit, LeaveOut, Problem, Rename, Rewrite, Split, ToolInputError
from toolbooth.jsonvalue import JsonPath, is_array, is_object, look_up
from toolbooth.shape import ObjectShape, Shape, item_shape

_SHORTEST = 3
"""A shorter value is in many a sentence by chance."""


def hide_secrets(error: ToolInputError, shape: Shape, arguments: Any) -> ToolInputError:
    """The same refusal, with problems inside a secret reported of the secret as a whole."""
    if not shape.has_secret:
        return error
    problems = [_hidden(each, shape, arguments) for each in error.problems]
    declared = {path: each for path, each in error.declared.items() if not _is_inside(shape, path)}
    edits = [each for each in error.edits if not _edits_inside(shape, each)]
    return error.replaced(problems=dict.fromkeys(problems), declared=declared, edits=edits)


def shown_repairs(
    shape: Shape, repairs: Iterable[tuple[str, JsonPath]]
) -> list[tuple[str, JsonPath]]:
    """The repairs that a refusal may name: none inside a secret, whose keys are secret too."""
    return [each for each in repairs if not (shape.has_secret and _is_inside(shape, each[1]))]


def _hidden(problem: Problem, shape: Shape, arguments: Any) -> Problem:
    secret = _secret_on(shape, problem.path)
    if secret is None:
        return problem
    if secret != problem.path or _repeats(problem.message, look_up(arguments, secret)):
        return replace(problem, path=secret, message=messages.SECRET)
    return problem


def _is_inside(shape: Shape, path: JsonPath) -> bool:
    return _secret_on(shape, path) not in (None, path)


def _edits_inside(shape: Shape, edit: Edit) -> bool:
    if isinstance(edit, Rename | Rewrite | LeaveOut):
        return _is_inside(shape, edit.source)
    if isinstance(edit, Split):
        return _is_inside(shape, edit.target)
    return _is_inside(shape, edit.source) or _is_inside(shape, edit.target)


def _secret_on(shape: Shape, path: JsonPath) -> JsonPath | None:
    """The path of the secret that a path leads to or into; None if there is none."""
    shapes = [shape]
    for end, step in enumerate(path):
        if _has_secret(shapes):
            return path[:end]
        shapes = [part for each in shapes for part in _parts_at(each, step)]
    return path if _has_secret(shapes) else None


def _has_secret(shapes: list[Shape]) -> bool:
    return any(each.secret for each in shapes)


def _parts_at(shape: Shape, step: str | int) -> Iterator[Shape]:
    if isinstance(step, int):
        parts = [item_shape(form, step) for form in shape.arrays]
    else:
        parts = [_part_under(form, step) for form in shape.objects]
    yield from (part for part in parts if part is not None)


def _part_under(form: ObjectShape, key: str) -> Shape | None:
    return form.fields[key].shape if key in form.fields else form.additional


def _repeats(message: str, value: Any) -> bool:
    """Whether a message contains some part of a value."""
    if is_object(value):
        return any(_repeats(message, part) for item in value.items() for part in item)
    if is_array(value):
        return any(_repeats(message, each) for each in value)
    text = str(value)
    return len(text) >= _SHORTEST and text in message
