"""Decides which undeclared keys are wrappers, such as `data` in `{"data": {...}}`. Finds out what a
wrapper contains and how to correct it. The messages are in `messages.py` of this package.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from toolbooth.boundary.cures.meta_tools import is_spread
from toolbooth.boundary.keys import messages
from toolbooth.boundary.keys.messages import Contents
from toolbooth.boundary.read import text_as_object
from toolbooth.boundary.refusals import near_object, nearest, to_mention
from toolbooth.boundary.repairs import NOT_SENT, admits
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.errors import ProblemCode
from toolbooth.jsonvalue import Json, JsonPath, is_object, same_json
from toolbooth.key_patterns import matching_shapes, undeclared_shape
from toolbooth.shape import Field, ObjectShape

_MOST_RESPELT = 3
"""At most this many undeclared names inside a wrapper are compared with declared names."""

_MOST_BESIDE = 100
"""If a call has several wrappers, the others are looked for among at most this many keys."""

_MOST_WRAPPERS = 8
"""The values of at most this many wrappers are compared, so that hostile input costs little."""


def undeclared_key(
    form: ObjectShape | None,
    key: str,
    inner: Json | None,
    beside: Json,
    path: JsonPath,
    *,
    compares: bool = True,
) -> tuple[ProblemCode, str]:
    """Return the code and the message for an undeclared key of `beside`, the object at `path`.
    `inner` is the value of the key if it is an object, or JSON text of one. `form` is None if the
    declared fields are not known. If `compares` is false, no similar name is looked for.
    """
    if inner is None:
        near = to_mention(key, form, beside) if form is not None and compares else None
        return "unknown-key", messages.unknown_field(key, near)
    # In a call of `call_tool(name, arguments)`, an object beside `arguments` may be an argument of
    # the other tool. Then it is not a wrapper.
    if form is not None and is_spread(form, key, beside):
        return "unknown-key", messages.unknown_field(key, None)
    near = near_object(key, form) if form is not None and compares else None
    # A similar name is a misspelling only if that field is declared as an object. If the field
    # accepts anything, the key may still be a wrapper.
    if form is not None and near is not None and form.fields[near].shape.objects:
        return "nested-wrapper", messages.misspelt_object(key, near)
    found = None if form is None else _contents(form, key, inner, beside)
    return "nested-wrapper", messages.wrapper(key, beside[key], path, found)


def is_wrapper(form: ObjectShape, key: str, inner: Json | None, beside: Json) -> bool:
    """Return True if an undeclared key of an open object is a wrapper. There are two signs: all
    keys inside it are declared, or it contains a required field that was not sent outside. A key
    that matches a declared pattern is not a wrapper.
    """
    if not inner or matching_shapes(form, key):
        return False
    # All keys inside are declared for the outer object, so they were sent one level too deep.
    if all(name in form.fields for name in inner):
        return True
    return _contains_unsent(form, key, inner, beside)


def _contains_unsent(form: ObjectShape, key: str, inner: Json, beside: Json) -> bool:
    """Return True if a wrapper contains a required field that was not sent outside it. Wrappers
    inside the wrapper are searched too.
    """
    names = [name for each in _wrapped_in_turn(form, inner) for name in each]
    # Other keys inside may be declared as objects with a field of the same name.
    shape = undeclared_shape(form, key)
    forms = () if shape is None else shape.objects
    own = {name for each in forms for name in each.fields}
    for name in names:
        field = form.fields.get(name)
        if field is None or not field.required or name in own:
            continue
        if not _is_sent(form, field, beside):
            return True
    return False


def _wrapped_in_turn(form: ObjectShape, inner: Json) -> Iterator[Json]:
    """Yield the contents of a wrapper. If they are one undeclared key with an object, that is a
    wrapper too, and its contents are yielded next.
    """
    yield inner
    while len(inner) == 1:
        key, value = next(iter(inner.items()))
        # A declared object is not a wrapper, so its contents are not yielded.
        if key in form.fields or not is_object(value):
            return
        inner = value
        yield inner


def _is_sent(form: ObjectShape, field: Field, beside: Json) -> bool:
    if field.name in beside:
        return True
    return any(each is field and key in beside for key, each in form.fields.items())


# --- corrections --------------------------------------------------------------------------------


def _contents(form: ObjectShape, key: str, inner: Json, beside: Json) -> Contents:
    fields = form.fields
    # The usual case: everything was sent inside the wrapper, and every key is declared.
    if len(beside) == 1 and inner.keys() <= fields.keys():
        return Contents(tuple(inner))
    if len(inner) == 1:
        inner = _innermost(form, inner)
    is_declared = inner.keys() <= fields.keys()
    if not is_declared and len(inner) <= len(fields):
        # {"address": {"city": …}} was sent, but the flat field is called address_city.
        prefixed = {f"{key}_{name}": each for name, each in inner.items()}
        is_declared = prefixed.keys() <= fields.keys()
        inner = prefixed if is_declared else inner
    is_alone = len(beside) < _MOST_BESIDE and len(beside.keys() - fields.keys()) == 1
    has_aliases = len(fields) > len(form.names)
    if is_declared and is_alone and not has_aliases and inner.keys().isdisjoint(beside):
        return Contents(tuple(inner))
    # Fields are compared by identity, so a value that was sent under an alias is found too.
    flat = {id(field): beside[name] for name, field in fields.items() if name in beside}
    wrapped = {} if is_alone else _in_other_wrappers(form, key, beside)
    unsent: list[str] = []
    repeated: list[str] = []
    conflicting: list[str] = []
    for name in filter(fields.__contains__, inner):
        sent = flat.get(id(fields[name]), NOT_SENT)
        # Two wrappers may contain the field with different values, even if it was not sent outside
        # them.
        other = wrapped.get(name, inner[name]) if sent is NOT_SENT else sent
        if not same_json(other, inner[name]):
            conflicting.append(name)
        elif sent is NOT_SENT:
            unsent.append(name)
        else:
            repeated.append(name)
    found = Contents(tuple(unsent), tuple(repeated), tuple(conflicting))
    return found if is_declared else _with_undeclared(found, form, key, inner, beside)


def _in_other_wrappers(form: ObjectShape, key: str, beside: Json) -> Json:
    """Return the keys and values inside the other wrappers of the same object."""
    made: Json = {}
    others = [name for name in islice(beside, _MOST_BESIDE) if name not in form.fields]
    for other in others[:_MOST_WRAPPERS]:
        if other != key:
            made.update(text_as_object(beside[other], DEFAULT_LIMITS) or {})
    return made


def _with_undeclared(
    found: Contents, form: ObjectShape, key: str, inner: Json, beside: Json
) -> Contents:
    """Add the undeclared keys to the contents. Keys that are similar to a declared name are listed
    apart.
    """
    others = [name for name in inner if name not in form.fields]
    similar: dict[str, str] = {}
    for name in others[:_MOST_RESPELT]:
        near = nearest(name, form)
        # A name is not a misspelling of a field that was sent as well.
        if near is None or near in inner or _is_sent(form, form.fields[near], beside):
            continue
        similar[name] = near
    undeclared = tuple(name for name in others if name not in similar)
    is_open = all(_may_be_sent(form, name, inner[name], beside) for name in undeclared)
    return found._replace(similar=tuple(similar.items()), undeclared=undeclared, is_open=is_open)


def _innermost(form: ObjectShape, inner: Json) -> Json:
    """Return the contents of the innermost wrapper, if all their keys mean fields of this object.
    Otherwise return the contents of the outermost wrapper.
    """
    *_, last = _wrapped_in_turn(form, inner)
    others = [name for name in last if name not in form.fields]
    if not last or len(others) > _MOST_RESPELT:
        return inner
    belongs_here = all(nearest(name, form) for name in others)
    return last if belongs_here else inner


def _may_be_sent(form: ObjectShape, name: str, value: Any, beside: Json) -> bool:
    """Return True if an undeclared key inside a wrapper may be sent directly in the outer
    object.
    """
    shape = undeclared_shape(form, name)
    if shape is None or name in beside:
        return False
    return shape.opaque or admits(shape, value)
