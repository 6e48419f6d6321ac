"""Makes a template of a call, with placeholders as values. It is shown to a caller who has not seen
the schema.

The boundary refuses every placeholder, even where text is declared. So a template that is sent back
unchanged has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from toolbooth.boundary.refusals import tags_of
from toolbooth.boundary.values import messages
from toolbooth.errors import Problem
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object
from toolbooth.shape import JsonType, ObjectShape, Shape, Temporal

_DEEPEST = 4
"""A template shows at most this many levels."""

_MOST_OPTIONAL = 4
"""If no field is required, a template shows at most this many fields."""

_MOST_PLACEHOLDERS = 40
"""At most this many placeholders are reported one by one."""

_TEXT, _ANYTHING = "<text>", "<anything>"
_SCALARS: dict[JsonType, str] = {
    "string": _TEXT,
    "integer": "<integer>",
    "number": "<number>",
    "boolean": "<true or false>",
}
_TIMES: dict[Temporal, str] = {
    "date": "<date>",
    "date-time": "<date and time>",
    "time": "<time of day>",
    "duration": "<duration>",
    "any": "<date or time>",
}
# Placeholders of choices, such as `<a or b>`, are not needed here: the field refuses them, because
# they are not one of the choices.
_PLACEHOLDERS = frozenset((_ANYTHING, *_SCALARS.values(), *_TIMES.values()))

_ESCAPED = b"\\u003"
"""The beginning of an escaped `<` or `>`. Some JSON writers escape these characters, for example
Go's encoder.
"""

_WRITTEN = re.compile(
    b"(?:<|003[cC])(?:%s)(?:>|..003[eE])" % "|".join(each[1:-1] for each in _PLACEHOLDERS).encode()
)


@lru_cache(maxsize=1024)
def blank_form(form: ObjectShape) -> Json:
    """Return the required fields with placeholders as values. If an object requires no field, its
    first fields are returned. Arguments for the server are left out.
    """
    return _object(form, 0)


def _object(form: ObjectShape, depth: int) -> Json:
    names = [name for name in form.names if name not in form.controls]
    required = [name for name in names if form.fields[name].required]
    # The form `{}` would show nothing.
    shown = required or names[:_MOST_OPTIONAL]
    if not shown and form.additional is not None:
        return {"<key>": _value(form.additional, depth + 1)}
    return {name: _value(form.fields[name].shape, depth + 1) for name in shown}


def _value(shape: Shape, depth: int) -> Any:
    if shape.opaque or shape.json_text:
        return _TEXT if shape.json_text else _ANYTHING
    if shape.constants:
        return f"<{messages.plain_choices(shape.constants)}>"
    if shape.temporal:
        return _TIMES[shape.temporal]
    # The first scalar is enough, because a form shows only one way to write a value.
    for kind, placeholder in _SCALARS.items():
        if kind in shape.types:
            return placeholder
    if depth > _DEEPEST:
        return _ANYTHING
    if shape.objects:
        # The other fields depend on the tag, so they are shown only if the tag is known.
        return _tags(shape) or _object(shape.objects[0], depth)
    if not shape.arrays:
        return _ANYTHING
    array = shape.arrays[0]
    return [_item(each, depth) for each in array.prefix or (array.items,)]


def _tags(shape: Shape) -> Json:
    """Return the tags of a union, each with all values that it may have. Empty if the shape is not
    a union.
    """
    if len(shape.objects) == 1:
        return {}
    made: Json = {}
    for tag in sorted(tags_of(shape.objects)):
        shapes = [form.fields[tag].shape for form in shape.objects]
        values = [each for found in shapes for each in found.constants or ()]
        made[tag] = f"<{messages.plain_choices(values)}>"
    return made


def _item(shape: Shape | None, depth: int) -> Any:
    return _ANYTHING if shape is None else _value(shape, depth + 1)


def has_placeholders(body: bytes) -> bool:
    """Return True if some text of a call may be a placeholder. This check is quick and may be
    wrong.
    """
    # A placeholder is the end of its text, so its last sign is next to a quote, also in JSON text.
    is_plain = b'>"' in body or b'>\\"' in body
    return (is_plain or _ESCAPED in body) and _WRITTEN.search(body) is not None


def placeholder_problems(shape: Shape, arguments: Json) -> list[Problem]:
    """Return a problem for each value that is a placeholder, except in a `Verbatim` field."""
    verbatim = {key for form in shape.objects for key in form.fields if form.fields[key].verbatim}
    sent = {key: each for key, each in arguments.items() if key not in verbatim}
    found = islice(_placeholders(sent, ()), _MOST_PLACEHOLDERS)
    return [Problem(code="invalid", path=path, message=messages.PLACEHOLDER) for path in found]


def _placeholders(value: Any, path: JsonPath) -> Iterator[JsonPath]:
    if is_object(value):
        for key, each in value.items():
            yield from _placeholders(each, (*path, key))
    elif is_array(value):
        for index, each in enumerate(value):
            yield from _placeholders(each, (*path, index))
    # Only the whole text counts: a page about HTML may contain `<text>`.
    elif isinstance(value, str) and value in _PLACEHOLDERS:
        yield path
