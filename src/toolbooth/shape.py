"""Shape: describes which JSON may be sent at each path. This module has its types, and a walk over
them. `shape_check.py` has the compiled check of a whole value.

A Shape does not know where it came from. So the same code guards a Python signature, a model and a
foreign JSON Schema. Caches are fields that `dataclasses.replace` does not copy, so a changed copy
starts with empty caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from jiter import LosslessFloat

from toolbooth.jsonvalue import JsonPath

JsonType = Literal["null", "boolean", "integer", "number", "string", "object", "array"]

Temporal = Literal["", "date", "date-time", "time", "duration", "any"]
"""The kind of date or time that a text holds. "" means that it holds none; "any" means that several
kinds are allowed.
"""

Unsent = Literal["", "null", "kept"]
"""How a missing field is treated. "null": as null. "kept": the stored value is kept. "": as the
published schema states.
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
    """The JSON that may be sent at one path. A Shape is changed only while it is built, because a
    recursive type contains itself.
    """

    types: frozenset[JsonType] = frozenset()
    objects: tuple[ObjectShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    opaque: bool = False
    """True for `Any`, and for values that the author's own code reads. The value and everything
    inside it are neither repaired nor refused.
    """
    constants: tuple[Any, ...] | None = None
    """The only scalars that fit, if the type lists them, as `Literal` does. They can distinguish
    the branches of a union.
    """
    strict: bool = False
    """True if numbers and booleans may not be sent as text, such as `"5"`."""
    secret: bool = False
    has_secret: bool = False
    """True if this value, or a value inside it, is a secret. Then messages do not repeat the value.
    """
    decimal: bool = False
    """True for a Decimal. All digits that were sent are kept."""
    integral: bool = False
    """True if an author's validator gets this value, and integers are the only declared numbers."""
    behind: frozenset[JsonType] = frozenset()
    """The declared types of a value that an author's validator gets. Empty if any type is accepted,
    or if no validator gets the value.
    """
    temporal: Temporal = ""
    """The kind of date or time that a text here holds. A bare number is not accepted as a date,
    even in quotes, because it would be a guess.
    """
    json_text: bool = False
    """True if the author declared JSON text here. Then parsing the text does not count as a repair.
    """
    ambiguous: bool = False
    """True if the author's validation chooses a branch of a union. Then a number is passed on as it
    was sent.
    """
    named_by: tuple[str, ...] = ()
    """Fields of this object. Text that is sent instead of the object may be meant for one of them:
    `"Acme"` for `{"name": "Acme"}`. If plain text is allowed here too, it must be a UUID.
    """
    has_one_name: bool = False
    """True if text that is sent instead of the object can only be meant for the one field in
    `named_by`. Then a correction may use that field.
    """
    is_row_key: bool = False
    """True for the primary key of a database row. A made-up example could be the key of an existing
    row.
    """
    check: Callable[[Any], bool] | None = field(init=False, default=None, repr=False)
    """The cache of `fits`."""
    branches: tuple[Shape, ...] | None = field(init=False, default=None, repr=False)
    """The cache of `fitting_form`: each branch of a union as a separate shape."""
    scalar_types: frozenset[type] | None = field(init=False, default=None, repr=False)
    """The cache of `plain_types`."""


@dataclass(slots=True, kw_only=True, eq=False)
class Field:
    """One declared key of an object."""

    name: str
    """The published name. Aliases are further keys of the same Field."""
    shape: Shape
    required: bool = True
    verbatim: bool = False
    """True if the value is taken exactly as sent: null and empty text do not mean "not sent", and
    tags in a text are not read as other arguments.
    """
    model_path: tuple[str, ...] = ()
    """The path in the author's model, if the field was moved up because a model was flattened.
    Empty if the field is under its own key.
    """
    exact: bool = False
    """True if the value is accepted or refused, but never repaired or corrected. null and empty
    text do not mean "not sent".
    """
    unsent: Unsent = ""
    other_names: frozenset[str] = frozenset()
    """Names that this field has on other servers, in lower case and without separators. If a call
    has such a name, the refusal suggests this field.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A model whose fields were moved up: its path, and the value that it has if none of its fields
    is sent.
    """

    model_path: tuple[str, ...]
    absent: Literal["empty", "null", "omit"]


@dataclass(slots=True, kw_only=True, eq=False)
class ObjectShape:
    """An object type: its declared keys, and the shape of undeclared keys (None if they may not be
    sent). A union may have several object types.
    """

    fields: dict[str, Field] = field(default_factory=dict[str, Field])
    additional: Shape | None = None
    patterns: tuple[tuple[str, Shape], ...] = ()
    """The shapes of undeclared keys by regular expression. `additional` is then the union of all
    shapes that an undeclared key may have.
    """
    unmatched: Shape | None = None
    """The shape of keys that match no pattern; None if they may not be sent."""
    is_silent: bool = False
    """True if the JSON Schema does not state whether undeclared keys may be sent. The object then
    counts as closed. Only the proxy distinguishes it from an object that forbids such keys.
    """
    additional_path: tuple[str, ...] = ()
    """The path of undeclared keys in the author's model, if they were moved up together with its
    fields.
    """
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
    """Names in lower case and without separators. A key with such a name is never removed as a key
    that the client added, even if this object does not declare it.
    """
    exclusive_paths: tuple[tuple[JsonPath, ...], ...] = ()
    """Each entry lists several paths for the same field. Only one of them may be sent."""
    plain: dict[str, frozenset[type]] | None = field(init=False, default=None, repr=False)
    """The cache of `plain_fields`."""
    integers: dict[str, Shape] | None = field(init=False, default=None, repr=False)
    """The cache of `boundary/integers.py`: the fields that may hold an integer."""


@dataclass(slots=True, kw_only=True, eq=False)
class ArrayShape:
    """An array type: the shapes of the first items by position, and one shape for all other items
    (None for any value). A union may have several array types.
    """

    prefix: tuple[Shape, ...] = ()
    items: Shape | None = None
    closed: bool = False
    """True if the author's model reads only some items: the first ones and the last ones. Items
    between them may not be sent, because they would never be read.
    """
    last: int = 0
    """The number of items that are read from the end, if the array is closed."""
    is_silent: bool = False
    """True if its JSON Schema declares the first items and does not state whether others may
    follow. Only the proxy looks at this.
    """


def item_shape(form: ArrayShape, index: int) -> Shape | None:
    """Return the shape of the item at an index; None for any value."""
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
    """Yield the shapes of the values in an object."""
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
            if shape.objects or shape.arrays:
                waiting += parts_of(shape)
    return found.values()


def anywhere(root: Shape, holds: Callable[[Shape], bool]) -> bool:
    """Return True if `holds` is true for a shape or for any shape inside it. Opaque shapes are
    skipped.
    """
    return any(not shape.opaque and holds(shape) for shape in walk(root))


def shapes_above(root: Shape, holds: Callable[[Shape], bool]) -> set[int]:
    """Return the ids of all shapes for which `holds` is true, and of all shapes that contain such a
    shape.
    """
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
    """Return True if a union with several types of objects or arrays may contain itself."""
    # Only places with several forms multiply the work: with two forms, n levels may be read in 2^n
    # ways.
    unions = [shape for shape in walk(root) if len(shape.objects) + len(shape.arrays) > 1]
    below = ((shape, part) for shape in unions for part in parts_of(shape))
    return any(shape in walk(part) for shape, part in below)


def is_integer_only(shape: Shape) -> bool:
    """Return True if a number here must be whole."""
    return "integer" in shape.types and "number" not in shape.types
