"""Shape: describes which JSON may be sent at each place. This module has its types, and a walk over
them. `shape_check.py` has the compiled check of a whole value.

A Shape does not know where it came from, so a Python signature, a model and a foreign JSON Schema
are guarded by the same code. Caches are fields that `dataclasses.replace` does not copy: a changed
copy starts without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from jiter import LosslessFloat

from toolbooth.jsonvalue import JsonPath

JsonType = Literal["null", "boolean", "integer", "number", "string", "object", "array"]

Temporal = Literal["", "date", "date-time", "time", "duration", "any"]
"""The kind of date or time in a text. "": none. "any": several kinds."""

Unsent = Literal["", "null", "kept"]
"""How a missing field is treated: it is null, or keeps its stored value. "": as the published
schema states.
"""

EVERY_TYPE: frozenset[JsonType] = frozenset(
    ("null", "boolean", "integer", "number", "string", "object", "array")
)

_TYPES: dict[type, JsonType] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    # jiter's number with all digits that were sent.
    LosslessFloat: "number",
}

NUMBER_AS_TEXT = r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$"
"""Matches a number as text, which may be sent for a date."""


@dataclass(slots=True, kw_only=True, eq=False)
class Shape:
    """The JSON that may be sent at one place. It is changed only while it is built, which recursion
    requires.
    """

    types: frozenset[JsonType] = frozenset()
    objects: tuple[ObjectShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    opaque: bool = False
    """True for `Any`, and for values that the author's own code reads. Nothing from here down is
    repaired or refused.
    """
    constants: tuple[Any, ...] | None = None
    """The only scalars that fit, if the type lists them. They can distinguish the branches of a
    union.
    """
    strict: bool = False
    """True if numbers and booleans are not read out of text here."""
    secret: bool = False
    has_secret: bool = False
    """True if there is a secret here or below. Then messages do not repeat values from here."""
    decimal: bool = False
    """True for a Decimal, of which every digit counts."""
    integral: bool = False
    """True if an author's validator gets this value and only an integer is declared, no other
    number.
    """
    behind: frozenset[JsonType] = frozenset()
    """If an author's validator gets this value: the declared types; empty if any type is
    accepted.
    """
    temporal: Temporal = ""
    """The kind of date or time, if text is one. Reading a bare number would be a guess, even as
    text.
    """
    json_text: bool = False
    """True if JSON text is declared here. Then parsing it is not a repair."""
    ambiguous: bool = False
    """True if the author's validation chooses a branch of a union. Then a number is left as it was
    sent.
    """
    named_by: tuple[str, ...] = ()
    """Fields of this object for which a text may be meant. If text is declared here too, it is a
    UUID.
    """
    has_one_name: bool = False
    """True if text can only be meant for the one field in `named_by`. Then a correction may use
    that field.
    """
    is_row_key: bool = False
    """True for the key of a row. A made-up example could be the key of an existing row."""
    check: Callable[[Any], bool] | None = field(init=False, default=None, repr=False)
    """The cache of `fits`."""
    branches: tuple[Shape, ...] | None = field(init=False, default=None, repr=False)
    """The cache of `fitting_form`: each form of a union by itself."""
    scalar_types: frozenset[type] | None = field(init=False, default=None, repr=False)
    """The cache of `plain_types`."""


@dataclass(slots=True, kw_only=True, eq=False)
class Field:
    """One declared key of an object."""

    name: str
    """The published name; aliases are further keys to the same Field."""
    shape: Shape
    required: bool = True
    verbatim: bool = False
    """True if the value is taken exactly as sent: null and empty text do not mean "not sent", and
    tags in a text are not read as other arguments.
    """
    model_path: tuple[str, ...] = ()
    """The path in the author's model, if flattening moved the field. Empty if it is under its own
    key.
    """
    exact: bool = False
    """True if the value is never repaired or corrected, only accepted or refused. null and empty
    text do not mean "not sent".
    """
    unsent: Unsent = ""
    other_names: frozenset[str] = frozenset()
    """Its names on other servers, in lower case and without separators. A refusal of such a name
    suggests this field.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A model whose fields were flattened: its path, and its value if none of its keys is sent."""

    model_path: tuple[str, ...]
    absent: Literal["empty", "null", "omit"]


@dataclass(slots=True, kw_only=True, eq=False)
class ObjectShape:
    """One form of an object: its declared keys, and the shape of undeclared ones (None if it is
    closed).
    """

    fields: dict[str, Field] = field(default_factory=dict[str, Field])
    additional: Shape | None = None
    patterns: tuple[tuple[str, Shape], ...] = ()
    """The shapes of undeclared keys by regular expression. `additional` is then the union of
    these.
    """
    unmatched: Shape | None = None
    """The shape of keys that match no pattern; None if they may not be sent."""
    is_silent: bool = False
    """True if the object is closed only because its JSON Schema does not state whether other keys
    may be sent. Only the proxy distinguishes it from one that forbids them.
    """
    additional_path: tuple[str, ...] = ()
    """The path of undeclared keys in the author's model, if flattening moved them."""
    groups: tuple[Group, ...] = ()
    flattened: bool = False
    """True if fields were moved to this level. Then their values must be put back."""
    flattened_below: bool = False
    """True if fields were moved somewhere below this level."""
    names: tuple[str, ...] = ()
    """The published names, in order."""
    controls: frozenset[str] = frozenset()
    """The names that are arguments for the server and not for the tool."""
    guarded: frozenset[str] = frozenset()
    """Names in lower case and without separators. A key with such a name is never removed as one
    that the client added, even if this form does not declare it.
    """
    exclusive_paths: tuple[tuple[JsonPath, ...], ...] = ()
    """For each field with several paths: these paths, of which only one may be sent."""
    plain: dict[str, frozenset[type]] | None = field(init=False, default=None, repr=False)
    """The cache of `plain_fields`."""
    integers: dict[str, Shape] | None = field(init=False, default=None, repr=False)
    """The cache of `boundary/integers.py`: the fields that may hold an integer."""


@dataclass(slots=True, kw_only=True, eq=False)
class ArrayShape:
    """One form of an array: the shapes of the first items by position, then one for all other items
    (None for any value).
    """

    prefix: tuple[Shape, ...] = ()
    items: Shape | None = None
    closed: bool = False
    """True if items between the first and the last ones may not be sent, because they would never
    be read.
    """
    last: int = 0
    """The number of items that are read from the end, if the array is closed."""


def item_shape(form: ArrayShape, index: int) -> Shape | None:
    """Return the shape of the item at a position from the start; None for any value."""
    # A negative index is before the start. Python would count it from the end.
    return form.prefix[index] if 0 <= index < len(form.prefix) else form.items


def json_type(value: Any) -> JsonType:
    """Return the JSON type of a parsed value."""
    return _TYPES[type(value)]


# --- walking ------------------------------------------------------------------------------------


def parts_of(shape: Shape) -> Iterator[Shape]:
    """Yield the shapes directly below a shape."""
    for form in shape.objects:
        yield from shapes_in_object(form)
    for form in shape.arrays:
        yield from form.prefix
        if form.items is not None:
            yield form.items


def shapes_in_object(form: ObjectShape) -> Iterator[Shape]:
    """Yield the shapes of the keys of one form of an object."""
    for each in form.fields.values():
        yield each.shape
    yield from (each for _, each in form.patterns)
    yield from (each for each in (form.additional, form.unmatched) if each is not None)


def walk(root: Shape) -> Iterable[Shape]:
    """Yield a shape and all shapes below it, each once."""
    found: dict[int, Shape] = {}
    waiting = [root]
    while waiting:
        shape = waiting.pop()
        if id(shape) not in found:
            found[id(shape)] = shape
            waiting += parts_of(shape)
    return found.values()


def anywhere(root: Shape, holds: Callable[[Shape], bool]) -> bool:
    """Return True if `holds` is true for a shape or a shape below it. Opaque shapes do not
    count.
    """
    return any(not shape.opaque and holds(shape) for shape in walk(root))


def shapes_above(root: Shape, holds: Callable[[Shape], bool]) -> set[int]:
    """Return the ids of all shapes for which `holds` is true, or is true for a shape below them."""
    # Shapes may contain themselves and are not compared by value, so their ids are collected.
    every = walk(root)
    found = {id(shape) for shape in every if holds(shape)}
    settled = not found
    while not settled:  # shapes may contain themselves, so repeat until nothing changes
        settled = True
        for shape in every:
            if id(shape) not in found and any(id(part) in found for part in parts_of(shape)):
                found.add(id(shape))
                settled = False
    return found


def has_recursive_unions(root: Shape) -> bool:
    """Return True if a place with several forms of objects or arrays may contain itself."""
    # Only places with several forms multiply the work: with two forms, n levels may be read in 2^n
    # ways.
    unions = [shape for shape in walk(root) if len(shape.objects) + len(shape.arrays) > 1]
    below = ((shape, part) for shape in unions for part in parts_of(shape))
    return any(shape in walk(part) for shape, part in below)


def is_integer_only(shape: Shape) -> bool:
    """Return True if a number here must be whole."""
    return "integer" in shape.types and "number" not in shape.types
