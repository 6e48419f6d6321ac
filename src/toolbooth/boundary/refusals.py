"""Decides which keys, numbers and branches are refused. The sentences are in `messages.py`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from math import isinf
from typing import Any
from uuid import UUID

from toolbooth.boundary.read import text_as_json
from toolbooth.jsonvalue import (
    Json,
    JsonPath,
    is_array,
    is_object,
    look_up,
    near_name,
    recased,
    same_json,
)
from toolbooth.secret_names import is_secret_name
from toolbooth.shape import NUMBER_AS_TEXT, Field, ObjectShape, Shape, item_shape, walk
from toolbooth.spelling import SHORTEST, Match, certain_match, is_one_slip

_MOST_COMPARED = 400
"""Names longer than this are not compared, and at most this many names are compared. With more, a
similar name would not help.
"""

_LEVELS_OF_A_FORM = 4
"""The branches of a union are distinguished by the names in this many levels of the value. Levels
inside wrappers count too.
"""

_OBJECT: type[Any] = dict
_NO_OTHERS: frozenset[str] = frozenset()
_NUMBER_TEXT = re.compile(NUMBER_AS_TEXT)


# --- names --------------------------------------------------------------------------------------


def nearest(name: str, form: ObjectShape) -> str | None:
    """Return the declared name to suggest: the name that is certainly meant, or else a similar
    one.
    """
    return _nearest(name, form) if len(name) <= _MOST_COMPARED else None


@lru_cache(maxsize=1024)  # agents repeat the same slip, so the result is cached
def _nearest(name: str, form: ObjectShape) -> str | None:
    match = _respelt(name, form, _NO_OTHERS)
    if match is not None:
        return match.name
    wanted = recased(name)
    # A field may have a completely different name on other servers. Such names are looked up before
    # similar spellings.
    shown = _names_to_mention(form)
    meant = (each for each in shown if wanted in form.fields[each].other_names)
    return next(meant, None) or near_name(name, islice(shown, _MOST_COMPARED))


@lru_cache(maxsize=1024)
def _names_to_mention(form: ObjectShape) -> tuple[str, ...]:
    """Return the published names and their aliases. A field may have further names that only some
    callers may send. These are left out, because other callers must not see them.
    """
    published = frozenset(form.names)
    return tuple(name for name, field in form.fields.items() if field.name in published)


def to_mention(name: str, form: ObjectShape, beside: Json) -> str | None:
    """Return `nearest` for a key of `beside`. If that field was already sent in `beside`, return
    another similar name, or None.
    """
    near = nearest(name, form)
    if near is None or near not in beside or recased(near) == recased(name):
        return near
    names = islice(_names_to_mention(form), _MOST_COMPARED)
    return near_name(name, [each for each in names if each not in beside])


def near_object(name: str, form: ObjectShape) -> str | None:
    """Return a similar declared name whose field accepts an object. The key is then probably a
    misspelling and not a wrapper.
    """
    return _near_object(name, form) if len(name) <= _MOST_COMPARED else None


@lru_cache(maxsize=1024)
def _near_object(name: str, form: ObjectShape) -> str | None:
    near = _nearest(name, form)
    if near is not None and _may_be_object(name, form.fields[near].shape):
        return near
    # A short name with one slip is no longer similar enough: `laf` for `lag`.
    names = islice(_names_to_mention(form), _MOST_COMPARED)
    objects = (each for each in names if form.fields[each].shape.objects)
    return next((each for each in objects if is_one_slip(name, each)), None)


def _may_be_object(name: str, shape: Shape) -> bool:
    # If the field accepts any value, a similar short name proves little: `args` is similar to
    # `tags`.
    return bool(shape.objects) or (shape.opaque and len(name) >= SHORTEST)


def respelt(name: str, form: ObjectShape, others: frozenset[str] = frozenset()) -> Match | None:
    """Return the declared name that a corrected call may use instead. `others` are all names of the
    tool.
    """
    return _respelt(name, form, others) if len(name) <= _MOST_COMPARED else None


@lru_cache(maxsize=1024)
def _respelt(name: str, form: ObjectShape, others: frozenset[str]) -> Match | None:
    return certain_match(name, _names_to_mention(form)[:_MOST_COMPARED], others)


@lru_cache(maxsize=1024)
def names_of_tool(root: Shape) -> frozenset[str]:
    """Return every declared name of a tool, at any depth."""
    return frozenset(name for shape in walk(root) for form in shape.objects for name in form.fields)


def is_name(value: str) -> bool:
    """Return True if a text may be a name. JSON, numbers and UUIDs are not names."""
    start = value.lstrip()[:1]
    is_json = start in ("", "{", "[", '"') or value.strip() in ("true", "false", "null")
    return not is_json and not is_number_text(value) and not is_uuid(value)


# --- forms of objects --------------------------------------------------------------------------


def form_at(shape: Shape | None, path: JsonPath, arguments: Any) -> ObjectShape | None:
    """Return the declared type of the object at a path, also if an author's validator gets the
    object. Return None if it is not known.
    """
    found, _ = field_at(shape, path, arguments)
    return None if found is None else _likely_form(found, look_up(arguments, path))


def field_at(
    shape: Shape | None, path: JsonPath, arguments: Any
) -> tuple[Shape | None, Field | None]:
    """Return the shape at a path, and the field if the path ends in a declared key. What is not
    known is None.
    """
    field: Field | None = None
    for end, step in enumerate(path):
        if shape is None:
            return None, None
        field = None
        if isinstance(step, int):
            shape = item_shape(shape.arrays[0], step) if shape.arrays else None
            continue
        form = _likely_form(shape, look_up(arguments, path[:end]))
        if form is None:
            return None, None
        field = form.fields.get(step)
        shape = form.additional if field is None else field.shape
    return shape, field


def _likely_form(shape: Shape, value: Any) -> ObjectShape | None:
    if not shape.objects:
        return None
    return possible_forms(shape.objects, value if is_object(value) else {})[0]


def names_inside(inner: Json, levels: int = sys.maxsize) -> set[str]:
    """Return every key inside a wrapper and inside the objects in it, down to `levels` levels."""
    names = set(inner)
    level: list[Json] = [inner]
    while levels > 1 and level:
        level = [each for one in level for each in one.values() if isinstance(each, _OBJECT)]
        names.update(*level)
        levels -= 1
    return names


# --- unions -------------------------------------------------------------------------------------


def possible_forms(forms: Sequence[ObjectShape], value: Json) -> tuple[ObjectShape, ...]:
    """Return the branches of a union that an object may match, the most likely first. If the
    branches have a tag, the tag decides.
    """
    possible = forms_with_tags_of(forms, value, in_any_case=True)
    # An empty object does not show its form, so the author's order is kept.
    if len(possible) == 1 or not value:
        return possible
    telling = _telling_names(possible)
    if not telling:
        return possible
    return _likeliest_first(possible, telling & names_inside(value, _LEVELS_OF_A_FORM))


def forms_with_tags_of(
    forms: Sequence[ObjectShape], value: Json, *, in_any_case: bool = False
) -> tuple[ObjectShape, ...]:
    """Return the branches of a union whose tags have the values that were sent. If there is no such
    branch, return all branches. With `in_any_case`, "Cat" counts as the tag "cat": it is a mistake,
    but shows which branch was meant.
    """
    if len(forms) == 1:
        return tuple(forms)
    sent = [tag for tag in tags_of(forms) if tag in value]
    if not sent:
        return tuple(forms)
    found = tuple(form for form in forms if _has_tags(form, sent, value, same_json))
    if in_any_case and not found:
        found = tuple(form for form in forms if _has_tags(form, sent, value, _same_word))
    # If no form has the tag that was sent, the tag is the mistake, and every form is still
    # possible.
    return found or tuple(forms)


@lru_cache(maxsize=1024)
def _telling_names(forms: tuple[ObjectShape, ...]) -> frozenset[str]:
    """Return the fields that some branches of a union have and others do not."""
    names = [frozenset(form.fields) for form in forms]
    return frozenset[str].union(*names) - frozenset[str].intersection(*names)


@lru_cache(maxsize=1024)  # most objects of a call have the same names
def _likeliest_first(
    forms: tuple[ObjectShape, ...], names: frozenset[str]
) -> tuple[ObjectShape, ...]:
    """Sort branches of a union. Those that have most of these names come first."""
    # `sorted` keeps the author's order of forms with equally many names.
    return tuple(sorted(forms, key=lambda form: -len(names & form.fields.keys())))


def likely_forms(forms: Sequence[ObjectShape], value: Json) -> list[ObjectShape]:
    """Return the most likely branch of a union, or several if they are equally likely."""
    possible = possible_forms(forms, value)
    inside = names_inside(value)
    most = len(inside & possible[0].fields.keys())
    return [form for form in possible if len(inside & form.fields.keys()) == most]


def tags_of(forms: Sequence[ObjectShape]) -> frozenset[str]:
    """Return the fields that distinguish the branches of a union. All branches have such a field,
    each with its own fixed values.
    """
    return _common_tags(tuple(forms))


@lru_cache(maxsize=1024)
def _common_tags(forms: tuple[ObjectShape, ...]) -> frozenset[str]:
    return frozenset[str].intersection(*map(frozenset, map(_tags, forms)))


def _tags(form: ObjectShape) -> set[str]:
    return {key for key, each in form.fields.items() if each.shape.constants}


def _has_tags(
    form: ObjectShape, tags: list[str], value: Json, is_same: Callable[[Any, Any], bool]
) -> bool:
    for tag in tags:
        constants = form.fields[tag].shape.constants or ()
        if not any(is_same(value[tag], each) for each in constants):
            return False
    return True


def _same_word(one: Any, other: Any) -> bool:
    """Return True if two texts are equal apart from case and separators."""
    return isinstance(one, str) and isinstance(other, str) and recased(one) == recased(other)


# --- numbers ------------------------------------------------------------------------------------


def is_number_text(value: str) -> bool:
    """Return True if text contains only a number."""
    return _NUMBER_TEXT.search(value) is not None


def is_uuid(value: str) -> bool:
    """Return True if text is a UUID in any notation that Python accepts."""
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def is_delicate(literal: str) -> bool:
    """Return True if a float may lose digits of a number."""
    # A float keeps any 15 digits, which are 16 characters with the point. With an exponent, a
    # number may have more.
    return "e" in literal.lower() or len(literal.lstrip("-")) > 16


def is_lossy(number: float, literal: Any) -> bool:
    """Return True if a number is too large or too small for a float, so that it became infinite or
    zero.
    """
    if isinf(number):
        return True
    if number != 0:
        return False
    # The exponent is cut off, because in `0e5` only the exponent has a digit above zero.
    digits = str(literal).lower().partition("e")[0]
    return any(digit in digits for digit in "123456789")


# --- secrets ------------------------------------------------------------------------------------


def holds_secret(shape: Shape, value: Any) -> bool:
    """Return True if the value contains a secret. Then the refusal shows only edits, and no
    corrected call.
    """
    if shape.secret:
        # With null, no secret was sent.
        return value is not None
    if not may_hold_secret(shape):
        return False
    if shape.opaque and has_secret_name(value):
        return True
    # The text may contain an object with a secret.
    if shape.json_text and isinstance(value, str):
        return shape.has_secret or has_secret_name(text_as_json(value))
    if is_object(value):
        return any(_object_holds_secret(form, value) for form in shape.objects)
    if is_array(value):
        parts = [part for form in shape.arrays for part in (*form.prefix, form.items)]
        return any(
            part is not None and holds_secret(part, each) for part in parts for each in value
        )
    return False


def _object_holds_secret(form: ObjectShape, value: Json) -> bool:
    for key, each in value.items():
        part = form.fields[key].shape if key in form.fields else form.additional
        if part is not None and holds_secret(part, each):
            return True
        if key not in form.fields and has_secret_name({key: each}):
            return True
    return False


def may_hold_secret(shape: Shape) -> bool:
    """Return True if a secret is declared here or inside, or if undeclared keys are accepted."""
    return shape.has_secret or takes_any_key(shape)


@lru_cache(maxsize=1024)
def takes_any_key(root: Shape) -> bool:
    """Return True if undeclared keys may be sent here or inside."""
    for shape in walk(root):
        if shape.opaque or any(form.additional is not None for form in shape.objects):
            return True
    return False


def has_secret_name(value: Any) -> bool:
    """Return True if a key in a value has the name of a secret, and the value of the key may be a
    secret.
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if is_array(each):
            waiting += each
        elif is_object(each):
            if any(is_secret_name(key) and _may_be_secret(part) for key, part in each.items()):
                return True
            waiting += each.values()
    return False


def _may_be_secret(value: Any) -> bool:
    # `{"password": true}` is a switch, and empty text was not filled in. Neither is a secret.
    return value is not None and value != "" and not isinstance(value, bool)
