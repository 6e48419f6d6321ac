"""The messages of a refusal about keys: wrappers and their correction, the declared fields and
their types.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

from toolbooth.boundary.messages import choices
from toolbooth.errors import Declared
from toolbooth.jsonvalue import (
    JsonPath,
    as_many_as_fit,
    in_quotes,
    listed,
    listed_within,
    path_text,
    quoted,
    shorten,
    write_json,
)
from toolbooth.shape import JsonType, Shape, Temporal

_ADVICE = 200
"""In a message about a wrapper, the list of fields to send has at most this many characters."""

_PATH = 80
"""A path in a message has at most this many characters."""

REQUIRED = ", required"
"""Added to the type of a field that is required."""

_MOST_CHOICES = 8
"""The type of a field lists at most this many choices."""

# --- undeclared keys ----------------------------------------------------------------------------


class Contents(NamedTuple):
    """The keys inside a wrapper, compared with the object that the wrapper is in."""

    unsent: tuple[str, ...] = ()
    """Declared fields that were not sent outside the wrapper."""
    repeated: tuple[str, ...] = ()
    """Declared fields that were sent outside the wrapper too, with the same value."""
    conflicting: tuple[str, ...] = ()
    """Declared fields that were sent outside the wrapper too, but with another value."""
    similar: tuple[tuple[str, str], ...] = ()
    """Undeclared keys, each with the declared name that it is similar to."""
    undeclared: tuple[str, ...] = ()
    """All other undeclared keys."""
    is_open: bool = False
    """True if the outer object is open, so the undeclared keys may be sent there."""

    @property
    def has_fields(self) -> bool:
        """Return True if some key belongs in the outer object. Otherwise the key that was sent is
        an unknown field and not a wrapper.
        """
        declared = self.unsent or self.repeated or self.conflicting or self.similar
        return bool(declared) or self.is_open


def wrapper(key: str, value: Any, path: JsonPath, found: Contents | None) -> str:
    """Report an undeclared key whose value is an object: what is wrong, the likely cause, and the
    correction. `found` is None if the declared fields are not known.
    """
    is_text = isinstance(value, str)
    content = "a nested object as JSON text" if is_text else "a nested object"
    # `{"data": {...}}` around all arguments is common in REST bodies. At a deeper level, or in JSON
    # text, this cause would be a guess.
    cause = "a wrapper" if path or is_text else "a REST-style wrapper"
    level = f"directly in {shorten(path_text(path), _PATH)}" if path else "at the top level"
    name = quoted(key)
    advice = _advice(name, level, found)
    fact = f"{name} is not a declared field and its value is {content}"
    if found is not None and not found.has_fields:
        return f"{fact}. {advice}"
    return f"{fact}. Likely cause: {cause}. {advice}"


def _advice(key: str, level: str, found: Contents | None) -> str:
    if found is None:
        return f"Send its fields {level}, not inside {key}"
    said: list[str] = []
    if found.unsent:
        said.append(f"Send {listed_within(found.unsent, _ADVICE)} {level}, not inside {key}")
    if found.conflicting:
        is_, it = ("is", "it") if len(found.conflicting) == 1 else ("are", "each")
        names = listed(found.conflicting, 4)
        said.append(f"{names} {is_} also sent outside {key}, with another value: send {it} once")
    if found.repeated:
        is_ = "is" if len(found.repeated) == 1 else "are"
        said.append(f"{listed(found.repeated, 4)} {is_} already sent {level}")
    for name, near in found.similar:
        said.append(f"{quoted(name)} is not a declared field; did you mean {quoted(near)}?")
    if found.undeclared:
        said.append(_undeclared(found))
    # Everything in the wrapper was also sent outside it, with the same values.
    if not (found.unsent or found.conflicting or found.similar or found.undeclared):
        said.append(f"Leave {key} out")
    if len(said) == 1:
        return said[0]
    # A semicolon and advice may follow a problem, so it does not end with a full stop.
    return " ".join(map(sentence, said)).removesuffix(".")


def _undeclared(found: Contents) -> str:
    names = listed(found.undeclared, 4)
    if found.is_open:
        return f"{names} can be sent there too"
    if len(found.undeclared) == 1:
        return f"{names} is not a declared field either"
    return f"{names} are not declared fields either"


def sentence(text: str) -> str:
    """Return the text with a full stop at its end, unless it is a question."""
    return text if text.endswith("?") else f"{text}."


def misspelt_object(key: str, near: str) -> str:
    """Report an undeclared key whose value is an object and whose name is similar to a declared
    name.
    """
    return (
        f"{quoted(key)} is not a declared field and holds a nested object; "
        f"did you mean {quoted(near)}?"
    )


def unknown_field(key: str, near: str | None) -> str:
    """Report an undeclared key. Suggest the declared name `near` if there is one."""
    question = f"; did you mean {quoted(near)}?" if near else ""
    return f"there is no field {quoted(key)}{question}"


def unknown_for_missing(key: str, missing: str) -> str:
    """Report an undeclared key whose value fits the only missing field. Ask if the agent meant that
    field.
    """
    return f"there is no field {quoted(key)}; did you mean {quoted(missing)}, which is missing?"


def unknown_for_items(key: str, missing: str) -> str:
    """Report an undeclared key that belongs inside the items of the only missing array."""
    name = quoted(missing)
    return f"there is no field {quoted(key)}; send it in an item of {name}, which is missing"


def of_another_form(key: str, against: tuple[str, ...], names: tuple[str, ...]) -> str:
    """Report a key of a union that cannot be sent together with the keys in `against`, because they
    belong to another branch. `names` are the keys that may be sent with it.
    """
    others = listed(against, 4) if against else "the other fields that were sent"
    said = f"{quoted(key)} cannot be combined with {others}"
    return f"{said}; it is used with {listed(names, 12)}" if names else said


def of_tagged_form(key: str, tag: str, values: Iterable[Any]) -> str:
    """Report a key of a union that may be sent only if the tag has one of these values."""
    return f"{quoted(key)} is only used if {quoted(tag)} is {choices(values)}"


# --- declared fields ----------------------------------------------------------------------------


def declared_fields(path: str, declared: Declared, room: int = sys.maxsize) -> str:
    """List the fields of the object at a path, as many as there is room for."""
    where = "" if path == "$" else f" of {shorten(path, _PATH)}"
    controls = _controls(declared)
    if not declared.types:
        return f"No fields are declared{where}.{controls}"
    start = f"Declared fields{where}: "
    room -= len(start) + len(controls) + 1
    if len(declared.line) <= room:
        return f"{start}{declared.line}.{controls}"
    # There may be thousands of names. Only as many as can fit, with quotes and commas, are looked
    # at.
    types = declared.types
    parts = [_required_or_name(*each) for each in islice(types.items(), max(1, room // 3))]
    shown = ", ".join(parts)
    if len(shown) > room or len(parts) < len(types):
        shown = as_many_as_fit(parts, room, len(types))
    return f"{start}{shown or listed_within(tuple(declared.types), room)}.{controls}"


def _required_or_name(name: str, words: str) -> str:
    """Return the type of a required field, or only the name of an optional one. Used if there is no
    room for the types of all fields.
    """
    return f"{in_quotes(name)} ({words})" if words.endswith(REQUIRED) else in_quotes(name)


def _controls(declared: Declared) -> str:
    return f"\nThe server also takes: {listed(declared.controls)}." if declared.controls else ""


_TYPES: dict[JsonType, str] = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "array": "array",
    "null": "null",
}
"""The words for each JSON type, in the order in which a message lists them."""

_ARRAYS: dict[JsonType, str] = {
    "string": "array of text",
    "integer": "array of integers",
    "number": "array of numbers",
    "boolean": "array of true or false",
    "object": "array of objects",
    "array": "array of arrays",
}
_TIMES: dict[Temporal, str] = {
    "date": "ISO 8601 date",
    "date-time": "ISO 8601 date and time",
    "time": "ISO 8601 time",
    "duration": "ISO 8601 duration",
    "any": "ISO 8601 date or time",
}
_SCALARS = ("string", "integer", "number", "boolean")


def type_in_words(shape: Shape) -> str:
    """Return the type of a field in words, such as `integer or null`."""
    types = shape.behind if shape.opaque else shape.types
    words = " or ".join(_branches(shape, types)) or "nothing"
    # The type is unknown if only the author's own code checks the value.
    if shape.opaque and not shape.behind:
        words = "anything"
    return f"JSON text of {words}" if shape.json_text else words


def _branches(shape: Shape, types: frozenset[JsonType]) -> list[str]:
    """Return words for each JSON type that a field accepts. If there are choices, they are listed
    instead of their type.
    """
    # null is named at the end, with the types, and not among the choices.
    chosen = [each for each in shape.constants or () if each is not None]
    made = [write_json(each) for each in chosen[:_MOST_CHOICES]]
    if len(chosen) > _MOST_CHOICES:
        made.append(f"{len(chosen) - _MOST_CHOICES} others")
    for kind, word in _TYPES.items():
        is_chosen = shape.constants is not None and kind in _SCALARS
        is_number = kind == "integer" and "number" in types
        if kind in types and not is_chosen and not is_number:
            made.append(_word(shape, kind, word))
    return made


def _word(shape: Shape, kind: JsonType, word: str) -> str:
    if kind == "string" and shape.temporal:
        return _TIMES[shape.temporal]
    if kind != "array" or len(shape.arrays) != 1:
        return word
    # Only a list whose items have one type has a name of its own, such as "array of text".
    items = shape.arrays[0].items
    only = tuple(items.types) if items is not None and not items.opaque else ()
    return _ARRAYS.get(only[0], word) if len(only) == 1 else word
