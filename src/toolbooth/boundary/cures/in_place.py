"""Corrects a call in which only values are wrong. Each wrong value is replaced at its path.

This is quick, because the paths of the wrong values are known. `correct.py` handles all other
calls. If both modules can correct a call, their results must be the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from toolbooth.boundary.cures.places import Place, place_of
from toolbooth.boundary.cures.readings import NO_READING, only_reading
from toolbooth.boundary.repairs import NOT_SENT
from toolbooth.contract import Contract
from toolbooth.errors import LeaveOut, Rewrite
from toolbooth.jsonvalue import Json, JsonPath, look_up
from toolbooth.shape import Field, Shape, item_shape

_Declared = tuple[Shape, Field | None]
"""The shape at a path, and the field if the path ends in a declared key."""


_MOST_KEPT = 500
"""At most this many paths are cached for one tool."""

_FOR_A_WALK = (dict, list, float)


_CONTAINERS = frozenset((dict, list))


class Cured(NamedTuple):
    """Arguments in which wrong values are replaced."""

    arguments: Json
    edits: list[Rewrite | LeaveOut]
    is_complete: bool
    """True if every wrong value had exactly one possible meaning."""


def cure_in_place(contract: Contract, arguments: Json, wrong: Iterable[JsonPath]) -> Cured | None:
    """Return the arguments with the wrong values replaced by the values that were meant. Return
    None if `correct` must look at the whole call.
    """
    corrected: Any = arguments
    edits: list[Rewrite | LeaveOut] = []
    is_complete = True
    for path in wrong:
        place = _place_at(contract, path)
        value = look_up(arguments, path)
        # Only `correct` looks into containers and knows how a number was written.
        if place is None or type(value) in _FOR_A_WALK:
            return None
        meant = only_reading(place, value, contract.limits)
        # A list or an object may contain wrong values, which only `correct` looks for.
        if type(meant) in _CONTAINERS:
            return None
        if meant is NO_READING:
            is_complete = False
        else:
            edits.append(LeaveOut(path, value) if meant is NOT_SENT else Rewrite(path, meant))
            corrected = _replaced(corrected, path, meant)
    return Cured(corrected, edits, is_complete)


def _place_at(contract: Contract, path: JsonPath) -> Place | None:
    """Return what is declared at a path; None if that is not certain. The result is cached, because
    agents repeat their mistakes.
    """
    place = contract.cached_places.get(path)
    if place is None:
        declared = _declared_at(contract.shape, path)
        if declared is None:
            return None
        place = place_of(declared[0], contract.schema, path, declared[1])
        # A path contains array indexes, so callers could create any number of paths.
        if len(contract.cached_places) < _MOST_KEPT:
            contract.cached_places[path] = place
    return place


def _declared_at(shape: Shape, path: JsonPath) -> _Declared | None:
    """Return the shape and the field at a path. Return None if a value on the path may have several
    types, or if the path goes into JSON text.
    """
    found: _Declared | None = (shape, None)
    for step in path:
        if found is None or len(found[0].types - {"null"}) > 1 or found[0].json_text:
            return None
        found = _declared_below(found[0], step)
    # If a text names an object, it is moved and not replaced. `correct` does that.
    return None if found is None or found[0].named_by else found


def _declared_below(shape: Shape, step: str | int) -> _Declared | None:
    if isinstance(step, int):
        below = item_shape(shape.arrays[0], step) if len(shape.arrays) == 1 else None
        return None if below is None else (below, None)
    field = shape.objects[0].fields.get(step) if len(shape.objects) == 1 else None
    return None if field is None or field.exact else (field.shape, field)


def _replaced(whole: Any, path: JsonPath, value: Any) -> Any:
    """Return a copy with another value at a path. With NOT_SENT, the value is removed. The copy
    shares all values outside the path.
    """
    if not path:
        return value
    made = whole.copy()
    if value is NOT_SENT and len(path) == 1:
        del made[path[0]]
    else:
        made[path[0]] = _replaced(whole[path[0]], path[1:], value)
    return made
