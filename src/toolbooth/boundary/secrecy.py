"""Removes secrets from a refusal. If a secret is an object, its keys are removed too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from toolbooth.boundary import messages
from toolbooth.boundary.refusals import field_at, has_secret_name, may_hold_secret
from toolbooth.errors import Edit, LeaveOut, Problem, Rename, Rewrite, Split, ToolInputError
from toolbooth.jsonvalue import JsonPath, is_array, is_object, look_up
from toolbooth.secret_names import is_secret_name
from toolbooth.shape import ObjectShape, Shape, item_shape

_SHORTEST = 3
"""A shorter value is not searched for in messages, because it may occur there by chance."""


def hide_secrets(error: ToolInputError, shape: Shape, arguments: Any) -> ToolInputError:
    """Return the refusal without secrets. Problems inside a secret are reported for the secret as a
    whole.
    """
    # Most tools have no secret, so their problems need no second look.
    if not may_hold_secret(shape):
        return error
    problems = [_hidden(each, shape, arguments) for each in error.problems]
    declared = {path: each for path, each in error.declared.items() if not _is_inside(shape, path)}
    edits = [each for each in error.edits if not _edits_inside(shape, each)]
    # Several problems inside one secret are equal now, and only one is kept.
    return error.replaced(problems=dict.fromkeys(problems), declared=declared, edits=edits)


def shown_repairs(
    shape: Shape, repairs: Iterable[tuple[str, JsonPath]]
) -> list[tuple[str, JsonPath]]:
    """Return the repairs that a refusal may show. A repair inside a secret is left out, because the
    keys inside a secret are secret too.
    """
    return [each for each in repairs if not (may_hold_secret(shape) and _is_inside(shape, each[1]))]


def _hidden(problem: Problem, shape: Shape, arguments: Any) -> Problem:
    secret = _secret_on(shape, problem.path)
    if secret is None:
        return problem
    value = look_up(arguments, secret)
    # A message such as "is required, but was not sent" contains nothing secret, so it is kept.
    if secret == problem.path and not _repeats(problem.message, value):
        return problem
    found, _ = field_at(shape, secret, arguments)
    is_type = secret == problem.path and problem.code == "wrong-type"
    # `Authorization` in an open object of headers is a secret because of its name. A message may
    # name its declared type, but not its value.
    if is_type and found is not None and not found.has_secret:  # a key of an open object
        return replace(problem, message=messages.wrong_type(found, value, shows=False))
    return replace(problem, path=secret, message=messages.SECRET)


def _is_inside(shape: Shape, path: JsonPath) -> bool:
    return _secret_on(shape, path) not in (None, path)


def _edits_inside(shape: Shape, edit: Edit) -> bool:
    if isinstance(edit, Rewrite | LeaveOut):  # both show a value
        return _is_secret(shape, edit.source) or has_secret_name(edit.value)
    if isinstance(edit, Rename):
        return _is_inside(shape, edit.source)
    if isinstance(edit, Split):
        return _is_inside(shape, edit.target)
    return _is_inside(shape, edit.source) or _is_inside(shape, edit.target)


def _is_secret(shape: Shape, path: JsonPath) -> bool:
    """Return True if the value at a path is a secret. The path may contain undeclared keys."""
    if _secret_on(shape, path) is not None:
        return True
    # An undeclared `api_key` may be refused, but its value is still a secret.
    has_name = any(isinstance(step, str) and is_secret_name(step) for step in path)
    return has_name and field_at(shape, path, {})[1] is None


def _secret_on(shape: Shape, path: JsonPath) -> JsonPath | None:
    """Return the path of a secret that is at this path or contains it. Return None if there is
    none. The name of an undeclared key may also show that its value is a secret.
    """
    shapes = [shape]
    # The outermost secret counts, because the keys inside a secret are secret as well.
    for end, step in enumerate(path):
        if _has_secret(shapes):
            return path[:end]
        if isinstance(step, str) and is_secret_name(step) and _is_open_to(shapes, step):
            return path[: end + 1]
        # A union has several shapes at one place. A secret in one branch is enough.
        shapes = [part for each in shapes for part in _parts_at(each, step)]
    return path if _has_secret(shapes) else None


def _is_open_to(shapes: list[Shape], key: str) -> bool:
    """Return True if an undeclared key may be sent in an object of one of these shapes."""
    forms = [form for shape in shapes for form in shape.objects]
    if any(key in form.fields for form in forms):
        return False
    takes_any = any(shape.opaque for shape in shapes)
    return takes_any or any(form.additional is not None for form in forms)


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
    """Return True if a message contains a part of a value."""
    if is_object(value):
        return any(_repeats(message, part) for item in value.items() for part in item)
    if is_array(value):
        return any(_repeats(message, each) for each in value)
    text = str(value)
    return len(text) >= _SHORTEST and text in message
