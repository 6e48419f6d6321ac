"""Corrects a call in the most common cases: all undeclared keys are the same wrapper, or the same
name in another spelling. They are corrected in place.

This is quick, because the examination has noted the undeclared keys. `correct.py` handles all other
calls. If both modules can correct a call, their results must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from toolbooth.boundary import key_paths, refusals
from toolbooth.boundary.correction import MOST_EDITS
from toolbooth.boundary.cures.meta_tools import arguments_of
from toolbooth.boundary.read import text_as_object
from toolbooth.contract import Limits
from toolbooth.errors import Edit, Rename, Unwrap
from toolbooth.jsonvalue import Json, JsonPath, is_object, recased
from toolbooth.shape import ObjectShape, Shape
from toolbooth.shape_check import fits, plain_fields, plain_types

Slip = tuple[Json, ObjectShape, str, Any, JsonPath]
"""An undeclared key: the object that had it, without the key; the declared type of that object; the
key; its value; and the path of the object.
"""


def mend(shape: Shape, slips: Sequence[Slip], limits: Limits) -> list[Edit] | None:
    """Correct the same mistake everywhere in the call, in place.

    Return the edits. Return None if the undeclared keys are different mistakes, or if a result does
    not fit. `shape` is the shape of the whole call. The call may have no other problems.
    """
    names = refusals.names_of_tool(shape)
    # The first slip is the model for the others: in `{"rows": [{"data": {...}}, {"data": {...}}]}`
    # every row has the same wrapper.
    _, first_form, first_key, first_value, first_path = slips[0]
    name = None if is_object(first_value) else _name(first_form, first_key, names)
    meant: list[Json] = []
    for made, form, key, value, path in slips:
        if key != first_key or form is not first_form or len(path) != len(first_path):
            return None
        # This may be a misspelt object and not a wrapper. `correct` decides that.
        if is_object(value) and refusals.near_object(key, form) is not None:
            return None
        fields = _meant(form, name, value, limits)
        # A field that was sent both inside and beside the wrapper may have two values. Only
        # `correct` compares them.
        if fields is None or not made.keys().isdisjoint(fields):
            return None
        meant.append(fields)
    # Nothing has been changed so far: if one slip cannot be undone, the objects must stay as the
    # examination left them.
    if len(slips) == 1:
        slips[0][0].update(meant[0])
        return [_edit(slips[0], meant[0])]
    for slip, fields in zip(slips, meant, strict=True):
        slip[0].update(fields)
    listed = zip(slips[:MOST_EDITS], meant, strict=False)
    return [_edit(slip, fields) for slip, fields in listed]


def is_beyond_correction(shape: Shape, slips: Sequence[Slip], limits: Limits) -> bool:
    """Return True if `correct` would find nothing. That is so if no undeclared key can be a
    wrapper, a path, or another spelling of a declared name at any level.

    The call may have no other problems.
    """
    names = refusals.names_of_tool(shape)
    return all(_has_no_place(form, key, value, names, limits) for _, form, key, value, _ in slips)


def _has_no_place(
    form: ObjectShape, key: str, value: Any, names: frozenset[str], limits: Limits
) -> bool:
    # `address.city` and `lines[0]` may be paths, and a key that begins with a brace may be a whole
    # call as JSON text. Only `correct` reads these.
    if "." in key or "[" in key or key[:1] == "{" or recased(key) in _recased(names):
        return False
    if key_paths.joined_steps(form, key) or arguments_of(form) is not None:
        return False
    is_slip = refusals.respelt(key, form, names) is not None
    return not is_slip and text_as_object(value, limits) is None


@lru_cache(maxsize=1024)
def _recased(names: frozenset[str]) -> frozenset[str]:
    """Return the names in lower case and without separators."""
    return frozenset(map(recased, names))


def _edit(slip: Slip, fields: Json) -> Edit:
    _, _, key, value, path = slip
    if fields is value:
        return Unwrap((*path, key), path)
    return Rename((*path, key), next(iter(fields)))


def _name(form: ObjectShape, key: str, names: frozenset[str]) -> str | None:
    """Return the declared name that an undeclared key is another spelling of. Return None if there
    is none.
    """
    match = None if "." in key or "[" in key else refusals.respelt(key, form, names)
    return None if match is None else match.name


def _meant(form: ObjectShape, name: str | None, value: Any, limits: Limits) -> Json | None:
    """Return the fields to send instead of an undeclared key. Return None if the values would have
    to be changed to fit.
    """
    # Some field has several keys. `correct` checks that it is not sent twice.
    if len(form.fields) > len(form.names):
        return None
    if is_object(value):
        plain = plain_fields(form)
        for key, each in value.items():
            if type(each) not in plain.get(key, ()) and not _fits(form, key, each):
                return None
        # An empty wrapper contains nothing to move, so this module has no edit for it.
        return value or None
    if name is None or not _fits(form, name, value):
        return None
    # Text that contains an object may be a wrapper in JSON text. Renaming its key would be wrong.
    return None if text_as_object(value, limits) is not None else {name: value}


def _fits(form: ObjectShape, name: str, value: Any) -> bool:
    declared = form.fields.get(name)
    if declared is None:
        return False
    return type(value) in plain_types(declared.shape) or fits(declared.shape, value)
