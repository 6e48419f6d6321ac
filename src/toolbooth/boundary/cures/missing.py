"""Finds a missing required field elsewhere in the call. An open object may have it under a misspelt
name. Or the whole call may have been sent inside a declared object that accepts any key.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolbooth.boundary import refusals
from toolbooth.boundary.mistakes import mistake_at
from toolbooth.errors import Edit, Move, Problem, Rename, Split, Unwrap
from toolbooth.jsonvalue import Json, JsonPath, is_object, look_up
from toolbooth.key_patterns import matching_shapes
from toolbooth.shape import ObjectShape, Shape

_MOST_MISSING = 20
"""If more than this many fields are missing, none of them is looked for."""


def found_elsewhere(
    root: Shape, arguments: Json, problems: Iterable[Problem]
) -> tuple[Json, list[Edit]]:
    """Return the arguments with the missing fields at the right paths, and the edits. If one of the
    fields is not found, return the arguments as they were sent, and no edits.
    """
    missing = [each.path for each in problems if each.code == "missing" and each.path]
    if not missing or len(missing) > _MOST_MISSING:
        return arguments, []
    # If one field contains the whole call, that explains all missing fields. So this is tried
    # first.
    inside = _inside_a_field(root, arguments, missing)
    if inside is not None:
        return inside
    renamed: Any = arguments
    edits: list[Edit] = []
    for path in missing:
        # This reads the arguments as sent: with the renamed ones, only one candidate might be left,
        # although there were several.
        key = _misspelt(root, arguments, path)
        if key is None:
            return arguments, []
        renamed = _renamed(renamed, path, key)
        edits.append(Rename((*path[:-1], key), str(path[-1])))
    return renamed, edits


def is_filled(problem: Problem, edits: list[Edit], arguments: Any) -> bool:
    """Return True if one of the edits supplies the missing field that the problem is about."""
    if problem.code != "missing":
        return False
    for edit in edits:
        if isinstance(edit, Rename) and _renames(edit, problem.path, arguments):
            return True
        if isinstance(edit, Move | Split) and problem.path == edit.target:
            return True
    return False


def _renames(edit: Rename, missing: JsonPath, arguments: Any) -> bool:
    """Return True if the missing field was sent under the name that the edit corrects. Not every
    item of an array has its own edit, so the edit may be about another item.
    """
    *above, key = edit.source
    target = mistake_at("missing", (*above, edit.name))
    if mistake_at("missing", missing) != target:
        return False
    beside = look_up(arguments, missing[:-1])
    return is_object(beside) and key in beside


# --- a misspelt name ----------------------------------------------------------------------------


def _misspelt(root: Shape, arguments: Json, path: JsonPath) -> str | None:
    """Return the undeclared key of an open object that certainly means the field at this path.
    Return None if there is no such key, or more than one.
    """
    beside = look_up(arguments, path[:-1])
    form = refusals.form_at(root, path[:-1], arguments)
    if form is None or not is_object(beside):
        return None
    names = refusals.names_of_tool(root)
    found: list[str] = []
    for key in beside:
        # A key that matches a pattern of the object counts as declared, so it is not misspelt.
        if key in form.fields or matching_shapes(form, key):
            continue
        match = refusals.respelt(key, form, names)
        if match is not None and match.name == path[-1] and not match.by_number:
            found.append(key)
    return found[0] if len(found) == 1 else None


def _renamed(value: Any, path: JsonPath, key: str) -> Any:
    """Return a copy of the value. In the copy, `key` is renamed to the last step of `path`."""
    step, *rest = path
    if not rest:
        made: Json = {}
        # A new dict keeps the order of the keys.
        for each, item in value.items():
            made[str(step) if each == key else each] = item
        return made
    if isinstance(step, int):
        return [*value[:step], _renamed(value[step], tuple(rest), key), *value[step + 1 :]]
    return {**value, step: _renamed(value[step], tuple(rest), key)}


# --- the whole call in a field ------------------------------------------------------------------


def _inside_a_field(
    root: Shape, arguments: Json, missing: list[JsonPath]
) -> tuple[Json, list[Edit]] | None:
    """Return the call and the edit, if the whole call was sent inside one of its own fields:
    `{"params": {"url": …}}`. Otherwise return None.
    """
    wanted = {path[0] for path in missing}
    form = root.objects[0]
    if any(len(path) > 1 for path in missing) or len(root.objects) > 1:
        return None
    for key, inner in arguments.items():
        others = {name: each for name, each in arguments.items() if name != key}
        if not is_object(inner) or not _takes_any_key(form, key):
            continue
        is_call = wanted <= inner.keys() <= form.fields.keys()
        # A field that was sent both inside and outside could have two values.
        if is_call and others.keys().isdisjoint(inner):
            return {**others, **inner}, [Unwrap((key,), ())]
    return None


def _takes_any_key(form: ObjectShape, key: str) -> bool:
    declared = form.fields.get(key)
    return declared is not None and any(
        each.additional is not None and not each.fields for each in declared.shape.objects
    )
