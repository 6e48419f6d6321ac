"""Derives the corrected call from the declared names alone.

Wrappers are removed. Names in another case are renamed, dotted and bracketed keys are split, and
keys at the wrong level are moved. There is no corrected call, only edits, if a key belongs nowhere
or two keys belong at the same path.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import Any

from toolbooth.boundary import key_paths, refusals, repairs
from toolbooth.boundary.correction import MOST_SOUGHT, Budget, Correction, Hopeless
from toolbooth.boundary.cures.meta_tools import arguments_of, gathered
from toolbooth.boundary.cures.readings import NO_READING
from toolbooth.boundary.keys import wrappers
from toolbooth.boundary.read import text_as_object
from toolbooth.boundary.repairs import NOT_SENT
from toolbooth.contract import Contract
from toolbooth.errors import Edit, LeaveOut, Move, Rename, Rewrite, Split, Unwrap
from toolbooth.jsonvalue import JsonPath, is_array, is_object, same_json
from toolbooth.key_patterns import undeclared_shape
from toolbooth.shape import ArrayShape, Field, ObjectShape, Shape
from toolbooth.shape_check import fits, plain_types


def correct(
    contract: Contract,
    arguments: dict[str, Any],
    wrong: Collection[JsonPath] = (),
    *,
    size: int = sys.maxsize,
) -> tuple[dict[str, Any] | None, list[Edit]]:
    """Return the corrected arguments and the edits. The arguments are None if some key belongs
    nowhere. `wrong` has the paths of values that have the right shape but are not accepted. `size`
    is the number of bytes of the call.
    """
    work = Correction(contract, wrong, Budget(size))
    try:
        # The form is chosen before any key is placed, and the keys inside wrappers count for it.
        form = refusals.possible_forms(contract.shape.objects, arguments)[0]
        made, strays = _object(form, arguments, (), (), work)
    except RecursionError:  # text in text in text: no agent does this by mistake
        return None, []
    except Hopeless:
        return None, work.edits
    if strays:
        work.complete = False
    return (made if work.complete else None), work.edits


Strays = dict[str, tuple[JsonPath, Any]]
"""Keys that belong at another level, with their paths and values."""


def _value(
    shape: Shape,
    value: Any,
    path: JsonPath,
    origin: JsonPath,
    work: Correction,
    field: Field | None = None,
) -> tuple[Any, Strays]:
    """Return the corrected value, or NOT_SENT to leave it out. `origin` is the path at which it was
    sent. Also return the keys inside it that belong elsewhere.
    """
    if shape.opaque or (_passes(shape, value) and not work.has_wrong(origin)):
        return value, {}
    read = _read_text(shape, value, path, work)
    if not _is_container(shape, read):
        meant = work.reading(shape, path, value, field)
        if meant is NOT_SENT:
            work.edit(LeaveOut(origin, value))
            return NOT_SENT, {}
        if meant is NO_READING:
            is_name = bool(shape.named_by) and isinstance(value, str)
            return (_named(shape, value, path, origin, work) if is_name else read), {}
        work.edit(Rewrite(origin, meant))
        read = meant
    if not _is_container(shape, read):
        return read, {}
    # A value may also mean something else inside JSON text, or if another type is declared as well.
    outer, work.unclear = work.unclear, work.unclear or shape.json_text or _has_two_types(shape)
    try:
        if is_object(read):
            form = refusals.possible_forms(shape.objects, read)[0]
            return _object(form, read, path, origin, work)
        return _array(shape.arrays[0], read, path, origin, work)
    finally:
        work.unclear = outer


def _has_two_types(shape: Shape) -> bool:
    return len(shape.types - {"null"}) > 1


def _is_container(shape: Shape, value: Any) -> bool:
    if is_object(value):
        return bool(shape.objects)
    return is_array(value) and bool(shape.arrays)


def _read_text(shape: Shape, value: Any, path: JsonPath, work: Correction) -> Any:
    """Return the JSON value that a text contains. Return any other value unchanged."""
    if not isinstance(value, str):
        return value
    if "string" not in shape.types:
        found = repairs.text(shape, value, work.limits.below(len(path)))
        return value if isinstance(found, repairs.Unrepairable) else found[0]
    inner = text_as_object(value, work.limits) if shape.named_by else None
    return value if inner is None else inner


def _named(shape: Shape, value: str, path: JsonPath, origin: JsonPath, work: Correction) -> Any:
    """Return `{field: text}` if the text can only mean that field. Otherwise return the text."""
    if not shape.has_one_name or not refusals.is_name(value):
        return value
    [name] = shape.named_by
    work.edit(Move(origin, (*path, name)))
    return {name: value}


def _passes(shape: Shape, value: Any) -> bool:
    try:
        return fits(shape, value)
    except ValueError:  # the compiled check cannot read numbers that are kept as written
        return False


def _array(
    form: ArrayShape, value: list[Any], path: JsonPath, origin: JsonPath, work: Correction
) -> tuple[list[Any], Strays]:
    made: list[Any] = []
    left: Strays = {}
    repeated: set[str] = set()
    for index, each in enumerate(value):
        shape = form.prefix[index] if index < len(form.prefix) else form.items
        if shape is None:
            made.append(each)
            continue
        corrected, strays = _value(shape, each, (*path, index), (*origin, index), work)
        for key, stray in strays.items():
            if key in left or key in repeated:
                repeated.add(key)
            else:
                left[key] = stray
        made.append(corrected)
    # Values in several items cannot all belong to the object around them.
    if repeated:
        work.complete = False
    return made, {key: stray for key, stray in left.items() if key not in repeated}


def _object(
    form: ObjectShape, value: dict[str, Any], path: JsonPath, origin: JsonPath, work: Correction
) -> tuple[dict[str, Any], Strays]:
    """Put every key at its right path. Misspelt keys come last, so they replace nothing."""
    made: dict[str, Any] = {}
    strays: Strays = {}
    for key, each in value.items():
        declared = form.fields.get(key)
        if declared is None:
            continue
        place = ((*path, key), (*origin, key))
        # `preview` and `idempotency_key` are never corrected: that could turn a preview into a
        # write. There is no corrected call then.
        if declared.exact:
            is_right = type(each) in plain_types(declared.shape) and place[1] not in work.wrong
            work.complete = work.complete and is_right
            made[key] = each
            continue
        is_plain = declared.shape.constants is None and type(each) in plain_types(declared.shape)
        if is_plain and place[1] not in work.wrong:
            made[key] = each
            continue
        kept, below = _value(declared.shape, each, *place, work, declared)
        strays.update(below)
        if kept is not NOT_SENT:
            made[key] = kept
    for key, each in value.items():
        if key in form.fields or (not path and repairs.is_client_key(key, each, form)):
            continue
        inner = text_as_object(each, work.limits)
        shape = undeclared_shape(form, key)
        # In an open object an undeclared key stays where it is, unless declared names are inside
        # it.
        if shape is not None and not wrappers.is_wrapper(form, key, inner, value):
            made[key], below = _value(shape, each, (*path, key), (*origin, key), work)
            strays.update(below)
        else:
            strays[key] = ((*origin, key), each)
    if len(strays) > MOST_SOUGHT:
        return made, strays
    # A misplaced value may come from a level below or from this one. In both cases, try this level.
    left: Strays = {}
    for key, (sent_at, each) in strays.items():
        if not _place(form, made, key, each, sent_at, path, work):
            left[key] = (sent_at, each)
    # Only the top level can contain arguments for another tool, beside its name.
    moves = None if origin else gathered(form, made, left)
    if moves is None:
        return made, left
    for edit in moves:
        work.edit(edit)
    return made, {}


def _place(
    form: ObjectShape,
    made: dict[str, Any],
    key: str,
    value: Any,
    origin: JsonPath,
    path: JsonPath,
    work: Correction,
) -> bool:
    """Put one misplaced key where it belongs. Return False if it belongs nowhere here or below."""
    if key in form.fields:
        return _set(form, made, key, value, origin, path, work)
    # The key may contain the whole call: `{"{\"url\": \"...\"}": null}`.
    inner = text_as_object(value, work.limits) or key_paths.object_in_key(key, value, work.limits)
    if inner is not None and _place_object(form, made, key, inner, origin, path, work):
        return True
    if value == {} and origin == (*path, key) and _means_nothing(form, key, work):
        work.edit(LeaveOut(origin, value))
        return True
    steps = key_paths.steps_of(key) or key_paths.joined_steps(form, key)
    if len(steps) > 1 and _split(form, made, steps, value, origin, path, work):
        return True
    # Comparing spellings is expensive, so it comes after the cheap checks and has a limit.
    if not work.may_seek(form, key):
        return False
    name = _respelt(form, key, value, work)
    if name is not None and _set(form, made, name, value, origin, path, work):
        return True
    # The key was moved here from another level. Moving it again would take it from one object into
    # another.
    if origin != (*path, key):
        return False
    below = key_paths.places_below(form).get(key)
    return below is not None and _move_down(form, made, below, value, origin, path, work)


def _means_nothing(form: ObjectShape, key: str, work: Correction) -> bool:
    """Return True if an empty object under an undeclared key can be left out. That is so if the key
    cannot mean a declared field at any level, and is not an argument of another tool.
    """
    if key in work.names or arguments_of(form) is not None or not work.may_seek(form, key):
        return False
    return work.budget.may_compare(form) and refusals.nearest(key, form) is None


def _respelt(form: ObjectShape, key: str, value: Any, work: Correction) -> str | None:
    """Return the declared name that a key means. A plural counts only if the value fits."""
    match = refusals.respelt(key, form, work.names) if work.budget.may_compare(form) else None
    if match is None or (match.by_number and not _passes(form.fields[match.name].shape, value)):
        return None
    return match.name


def _place_object(
    form: ObjectShape,
    made: dict[str, Any],
    key: str,
    inner: dict[str, Any],
    origin: JsonPath,
    path: JsonPath,
    work: Correction,
) -> bool:
    """Handle an object under an undeclared key. The key may be a misspelt name, a wrapper, or the
    prefix of flat fields. Return False if it is none of these.
    """
    name = _respelt(form, key, inner, work)
    near = refusals.near_object(key, form) if work.budget.may_compare(form) else None
    if near is not None:
        # A misspelt object is renamed, never unwrapped: its keys belong to the declared object.
        return name == near and _set(form, made, near, inner, origin, path, work)
    if _unwrap(form, made, inner, origin, path, work):
        return True
    # {"address": {"city": ...}} is sent as address_city.
    prefixed = {f"{key}_{name}": each for name, each in inner.items()}
    return prefixed.keys() <= form.fields.keys() and _unwrap(
        form, made, prefixed, origin, path, work
    )


def _set(
    form: ObjectShape,
    made: dict[str, Any],
    key: str,
    value: Any,
    origin: JsonPath,
    path: JsonPath,
    work: Correction,
) -> bool:
    """Put a value under a declared key, unless the field was sent already or it does not fit."""
    declared = form.fields[key]
    # Fields are compared by identity, because an alias is a further key of the same field.
    if any(form.fields[sent] is declared for sent in made if sent in form.fields):
        return False
    if declared.exact and type(value) not in plain_types(declared.shape):
        return False
    # The value may have wrong parts itself. Their edits count only if all of them can be corrected,
    # so they are collected in a trial.
    trial = work.trial()
    if not trial.complete:
        return False
    corrected, strays = _value(declared.shape, value, (*path, key), origin, trial, declared)
    is_left_out = corrected is NOT_SENT
    if strays or not trial.complete or not (is_left_out or _takes(declared.shape, corrected)):
        return False
    if not is_left_out:
        made[key] = corrected
        work.edit(_edit(origin, (*path, key)))
    for edit in trial.edits:
        work.edit(edit)
    return True


def _takes(shape: Shape, value: Any) -> bool:
    """Return True if the value may be put here. A wrong text is accepted, and reported later."""
    return shape.opaque or repairs.admits(shape, value) or isinstance(value, str | None)


def _edit(origin: JsonPath, target: JsonPath) -> Edit:
    if origin[:-1] == target[:-1]:
        return Rename(origin, str(target[-1]))
    return Move(origin, target)


def _unwrap(
    form: ObjectShape,
    made: dict[str, Any],
    inner: dict[str, Any],
    origin: JsonPath,
    path: JsonPath,
    work: Correction,
) -> bool:
    """Move the contents of a wrapper one level up. Return False if some belong elsewhere."""
    trial = work.trial()
    if not trial.complete:
        return False
    flat, strays = _object(form, inner, path, origin, trial)
    # A wrapper is undone completely or not at all: otherwise the rest would be lost.
    if not inner or strays or not trial.complete or not _disjoint(form, flat, made):
        return False
    made.update(flat)
    work.edit(Unwrap(origin, path))
    for edit in trial.edits:
        work.edit(edit)
    return True


def _disjoint(form: ObjectShape, flat: dict[str, Any], made: dict[str, Any]) -> bool:
    """Return False if a field would get two different values."""
    held = {id(field): made[key] for key, field in form.fields.items() if key in made}
    for key, value in flat.items():
        field = form.fields.get(key)
        if field is None and key in made:
            return False
        if field is not None and not same_json(held.get(id(field), value), value):
            return False
    return True


def _split(
    form: ObjectShape,
    made: dict[str, Any],
    steps: Sequence[str],
    value: Any,
    origin: JsonPath,
    path: JsonPath,
    work: Correction,
) -> bool:
    """Put the value of a key such as `address.city` at the path that it spells, if declared."""
    target = key_paths.declared_path(form, steps)
    if target is None or not key_paths.put(made, target, value):
        return False
    work.edit(Split(str(origin[-1]), (*path, *target)))
    return True


def _move_down(
    form: ObjectShape,
    made: dict[str, Any],
    below: tuple[str, ...],
    value: Any,
    origin: JsonPath,
    path: JsonPath,
    work: Correction,
) -> bool:
    target = (*below, str(origin[-1]))
    if not key_paths.put(made, target, value):
        return False
    work.edit(_edit(origin, (*path, *target)))
    return True
