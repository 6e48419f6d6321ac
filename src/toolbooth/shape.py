"""Shape: which JSON may be sent where. Its types, and a walk over them. `shape_check.py` has the
compiled check of a whole value.

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
"""Text of which kind of time; "": none; "any": of several kinds."""

Unsent = Literal["", "null", "kept"]
"""What happens to a field that is not sent: it is null, or keeps the value that is stored; "": what
the published schema says.
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
    # jiter's number with all the digits that were sent.
    LosslessFloat: "number",
}

NUMBER_AS_TEXT = r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$"
"""A number sent for a date, as text."""


@dataclass(slots=True, kw_only=True, eq=False)
class Shape:
    """Which JSON may be sent at one place. It changes only while it is built: recursion needs
    that.
    """

    types: frozenset[JsonType] = frozenset()
    objects: tuple[ObjectShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    opaque: bool = False
    """Any, or the author's own code: nothing from here down is repaired or refused."""
    constants: tuple[Any, ...] | None = None
    """The only scalars that fit, if the type lists them. They distinguish the branches of a union.
    """
    strict: bool = False
    """No number or boolean is read out of text here."""
    secret: bool = False
    has_secret: bool = False
    """There is a secret here or below, so no value from here is echoed."""
    decimal: bool = False
    """A Decimal: every digit counts."""
    integral: bool = False
    """Behind an author's validator: an integer is declared there, and no other number."""
    behind: frozenset[JsonType] = frozenset()
    """Behind an author's validator: the types that are declared there; empty if any."""
    temporal: Temporal = ""
    """Text of a date or time: a bare number is a guess even as text."""
    json_text: bool = False
    """JSON text is declared here, so reading it is not a repair."""
    ambiguous: bool = False
    """The author's validation chooses a branch of a union: a number is left as it was sent."""
    named_by: tuple[str, ...] = ()
    """Fields of the object here that a text can be meant for. Text that is declared too is a UUID.
    """
    has_one_name: bool = False
    """Text can only be meant for the one field in `named_by`, so a correction may use it."""
    is_row_key: bool = False
    """The key of a row: an example that is made up could be the key of a real one."""
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
    """The value is taken as sent: null and empty text do not mean 'not sent', tags in a text do not
    mean other arguments.
    """
    model_path: tuple[str, ...] = ()
    """Where the author's model has it, if flattening moved it; empty: under its own key."""
    exact: bool = False
    """The value is taken as it was sent, or the call is refused: it is neither repaired nor
    corrected, and null and empty text do not mean 'not sent'.
    """
    unsent: Unsent = ""
    other_names: frozenset[str] = frozenset()
    """Its names on other servers, without case and separators. A refusal of such a name mentions
    this field.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A model whose fields were flattened: where it is, and its value if none of its keys is
    sent.
    """

    model_path: tuple[str, ...]
    absent: Literal["empty", "null", "omit"]


@dataclass(slots=True, kw_only=True, eq=False)
class ObjectShape:
    """One form of object: its declared keys, and the shape of undeclared ones (None: it is
    closed).
    """

    fields: dict[str, Field] = field(default_factory=dict[str, Field])
    additional: Shape | None = None
    patterns: tuple[tuple[str, Shape], ...] = ()
    """Shapes of undeclared keys by regular expression. `additional` is then any of them."""
    unmatched: Shape | None = None
    """The shape of keys that match none of the patterns; None: there may be none."""
    is_silent: bool = False
    """It is closed because its JSON Schema does not state whether there may be other keys. Only a
    proxy treats such an object otherwise than one that forbids them.
    """
    additional_path: tuple[str, ...] = ()
    """Where the author's model has undeclared keys, if flattening moved them."""
    groups: tuple[Group, ...] = ()
    flattened: bool = False
    """Fields were moved to this level, so their values must be put back in place."""
    flattened_below: bool = False
    """Fields were moved somewhere below this level."""
    names: tuple[str, ...] = ()
    """The published names, in order."""
    controls: frozenset[str] = frozenset()
    """Those of the names that are arguments for the server, not for the tool."""
    guarded: frozenset[str] = frozenset()
    """Names, without case and separators, that are never removed with a key of the client's, even
    if this form does not declare them.
    """
    exclusive_paths: tuple[tuple[JsonPath, ...], ...] = ()
    """For each field that several paths lead to: those paths, of which only one may be sent."""
    plain: dict[str, frozenset[type]] | None = field(init=False, default=None, repr=False)
    """The cache of `plain_fields`."""
    integers: dict[str, Shape] | None = field(init=False, default=None, repr=False)
    """The cache of `boundary/integers.py`: the fields that may hold an integer."""


@dataclass(slots=True, kw_only=True, eq=False)
class ArrayShape:
    """One form of array: shapes by position, then one for all further items (None: anything)."""

    prefix: tuple[Shape, ...] = ()
    items: Shape | None = None
    closed: bool = False
    """Items between the prefix and the last ones would never be read, so they may not be sent."""
    last: int = 0
    """If the array is closed, this many items are read from its end."""


def item_shape(form: ArrayShape, index: int) -> Shape | None:
    """The shape of the item at a position, counted from the start; None: anything."""
    # Before the start, at a negative index, there is no prefix: Python would count it from the end.
    return form.prefix[index] if 0 <= index < len(form.prefix) else form.items


def json_type(value: Any) -> JsonType:
    """The JSON type of a value as it was read."""
    return _TYPES[type(value)]


# --- walking ------------------------------------------------------------------------------------


def parts_of(shape: Shape) -> Iterator[Shape]:
    """The shapes directly below one."""
    for form in shape.objects:
        yield from shapes_in_object(form)
    for form in shape.arrays:
        yield from form.prefix
        if form.items is not None:
            yield form.items


def shapes_in_object(form: ObjectShape) -> Iterator[Shape]:
    """The shapes of the keys of one form of object."""
    for each in form.fields.values():
        yield each.shape
    yield from (each for _, each in form.patterns)
    yield from (each for each in (form.additional, form.unmatched) if each is not None)


def walk(root: Shape) -> Iterable[Shape]:
    """A shape and all shapes below it, each once."""
    found: dict[int, Shape] = {}
    waiting = [root]
    while waiting:
        shape = waiting.pop()
        if id(shape) not in found:
            found[id(shape)] = shape
            waiting += parts_of(shape)
    return found.values()


def anywhere(root: Shape, holds: Callable[[Shape], bool]) -> bool:
    """Whether `holds` is true of a shape or of one below it. Opaque shapes do not count."""
    return any(not shape.opaque and holds(shape) for shape in walk(root))


def shapes_above(root: Shape, holds: Callable[[Shape], bool]) -> set[int]:
    """The ids of all shapes of which something holds, or holds of a shape below them."""
    # Shapes may contain themselves and have no equality by value, so their ids are collected.
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
    """Whether a place with several forms of objects or arrays may contain that place again."""
    # Only places with several forms multiply the work: with two forms, n levels may be read in 2^n
    # ways.
    unions = [shape for shape in walk(root) if len(shape.objects) + len(shape.arrays) > 1]
    below = ((shape, part) for shape in unions for part in parts_of(shape))
    return any(shape in walk(part) for shape, part in below)


def is_integer_only(shape: Shape) -> bool:
    """Whether a number that is sent here must be whole."""
    return "integer" in shape.types and "number" not in shape.types
