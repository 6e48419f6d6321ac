"""Shape: which JSON may be sent where. Its types, a walk over them, and the compiled check of a
whole value.

A Shape does not know where it came from, so a Python signature, a model and a foreign JSON Schema
are guarded by the same code. Caches are fields that `dataclasses.replace` does not copy: a changed
copy starts without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any, Literal

from jiter import LosslessFloat

from toolbooth.jsonvalue import Json, JsonPath

JsonType = Literal["null", "boolean", "integer", "number", "string", "object", "array"]

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
    """The only scalars that fit, if the type says so. They tell the branches of a union apart."""
    strict: bool = False
    """No number or boolean is read out of text here."""
    secret: bool = False
    has_secret: bool = False
    """There is a secret here or below, so no value from here is echoed."""
    decimal: bool = False
    """A Decimal: every digit counts."""
    integral: bool = False
    """Behind an author's validator: an integer is declared there, and no other number."""
    temporal: bool = False
    """Text of a date or time: a bare number is a guess even as text."""
    json_text: bool = False
    """JSON text is declared here, so reading it is not a repair."""
    ambiguous: bool = False
    """The author's validation chooses a branch of a union: a number is left as it was sent."""
    check: Callable[[Any], bool] | None = field(init=False, default=None, repr=False)
    """The cache of `fits`."""
    branches: tuple[Shape, ...] | None = field(init=False, default=None, repr=False)
    """The cache of `fitting_form`: each form of a union by itself."""
    scalar_types: frozenset[type] | None = field(init=False, default=None, repr=False)
    """The cache of `plain_types`."""

    def extended(self, fields: Mapping[str, Field]) -> Shape:
        """A copy of an object's shape that declares more fields."""
        form = self.objects[0]
        more = replace(form, fields={**form.fields, **fields}, names=(*form.names, *fields))
        return replace(self, objects=(more,))


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
    additional_path: tuple[str, ...] = ()
    """Where the author's model has undeclared keys, if flattening moved them."""
    groups: tuple[Group, ...] = ()
    flattened: bool = False
    """Fields were moved to this level, so their values must be put back in place."""
    flattened_below: bool = False
    """Fields were moved somewhere below this level."""
    names: tuple[str, ...] = ()
    """The published names, in order."""
    exclusive_paths: tuple[tuple[JsonPath, ...], ...] = ()
    """For each field that several paths lead to: those paths, of which only one may be sent."""
    integers: dict[str, Shape] | None = field(init=False, default=None, repr=False)
    """The cache of `integer_fields`."""


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
    """Whether something holds of a shape or of one below it. What is opaque does not count."""
    return any(not shape.opaque and holds(shape) for shape in walk(root))


def shapes_above(root: Shape, holds: Callable[[Shape], bool]) -> set[int]:
    """The ids of all shapes of which something holds, or holds of a shape below them."""
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


def is_integer_only(shape: Shape) -> bool:
    """Whether a number that is sent here must be whole."""
    return "integer" in shape.types and "number" not in shape.types


def integer_fields(form: ObjectShape) -> dict[str, Shape]:
    """The declared keys at or below which there may be an integer but no other number."""
    found = form.integers
    if found is None:
        shapes = ((key, each.shape) for key, each in form.fields.items())
        found = {key: shape for key, shape in shapes if anywhere(shape, is_integer_only)}
        form.integers = found
    return found


# --- the compiled check -------------------------------------------------------------------------


def fits(shape: Shape, value: Any) -> bool:
    """Whether a value passes as it is: neither a repair nor a refusal is due.

    No decides nothing; the boundary then examines the call. Compiled on first use, so that a server
    of a thousand tools starts at once.
    """
    check = shape.check
    if check is None:
        check = shape.check = json_schema().Draft202012Validator(check_schema(shape)).is_valid
    return check(value)


@cache
def json_schema() -> Any:
    """jsonschema-rs, loaded on first use: a tool whose validation proves its shape never needs
    it.
    """
    return import_module("jsonschema_rs")


_SCALARS: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
}


def plain_types(shape: Shape) -> frozenset[type]:
    """The Python types of scalars that need no second look here."""
    found = shape.scalar_types
    if found is None:
        types = () if shape.opaque or shape.temporal or shape.json_text else shape.types
        found = frozenset(each for kind in types for each in _SCALARS.get(kind, ()))
        shape.scalar_types = found
    return found


def fitting_form(shape: Shape, value: Any) -> ObjectShape | ArrayShape | None:
    """The form of object or array that a value has, if the shape has several."""
    forms = shape.objects if isinstance(value, dict) else shape.arrays
    if len(forms) == 1:
        return forms[0]
    if shape.branches is None:
        objects = [Shape(types=frozenset(("object",)), objects=(form,)) for form in shape.objects]
        arrays = [Shape(types=frozenset(("array",)), arrays=(form,)) for form in shape.arrays]
        shape.branches = (*objects, *arrays)
    found = next((branch for branch in shape.branches if fits(branch, value)), None)
    return None if found is None else (*found.objects, *found.arrays)[0]


def check_schema(shape: Shape) -> Json:
    """The closed JSON Schema that says exactly what the shape says."""
    writer = _Writer(in_place=_MOST_IN_PLACE)
    try:
        made = writer.shape(shape)
    except _TooManyForms:
        writer = _Writer(in_place=0)
        made = writer.shape(shape)
    return {**made, "$defs": writer.definitions} if writer.definitions else made


_MOST_IN_PLACE = 1_000
"""Forms that are written in place, which checks fastest, before each becomes a definition instead.
"""


class _TooManyForms(Exception):
    """A shape whose forms, written in place, would fill a far larger schema than the author's."""


class _Writer:
    """Writes forms in place; one that contains itself becomes a definition.

    If `in_place` is 0, every form becomes a definition: the schema is as large as the shape, not as
    all ways through it.
    """

    def __init__(self, in_place: int) -> None:
        self.in_place = in_place
        self.form_count = 0
        self.definitions: Json = {}
        self.inside: set[int] = set()

    def shape(self, shape: Shape) -> Json:
        if shape.opaque:
            return {}
        scalars = sorted(shape.types - {"object", "array"})
        choices = [self._scalar(kind, shape) for kind in scalars]
        if shape.constants is not None:
            nothing = [None] if "null" in shape.types else []
            choices = [{"enum": [*shape.constants, *nothing]}]
        choices += [self._form(form) for form in (*shape.objects, *shape.arrays)]
        if len(choices) == 1:
            return choices[0]
        return {"anyOf": choices} if choices else {"not": {}}

    def _scalar(self, kind: str, shape: Shape) -> Json:
        if kind == "string" and shape.temporal:
            return {"type": "string", "not": {"pattern": NUMBER_AS_TEXT}}
        return {"type": kind}

    def _form(self, form: ObjectShape | ArrayShape) -> Json:
        name = f"form{id(form)}"
        reference = {"$ref": f"#/$defs/{name}"}
        if id(form) in self.inside or (not self.in_place and name in self.definitions):
            self.definitions.setdefault(name, None)
            return reference
        self.form_count += 1
        if self.in_place and self.form_count > self.in_place:
            raise _TooManyForms
        self.inside.add(id(form))
        made = self._object(form) if isinstance(form, ObjectShape) else self._array(form)
        self.inside.discard(id(form))
        if name not in self.definitions and self.in_place:
            return made
        self.definitions[name] = made
        return reference

    def _object(self, form: ObjectShape) -> Json:
        made: Json = {
            "type": "object",
            "properties": {key: self.shape(each.shape) for key, each in form.fields.items()},
            "additionalProperties": self._undeclared(form),
        }
        if form.patterns:
            made["patternProperties"] = {key: self.shape(each) for key, each in form.patterns}
        # Two keys for one field: whichever were dropped, something sent would be lost.
        pairs = _exclusive_keys(form)
        if pairs:
            made["allOf"] = [{"not": {"required": list(dict.fromkeys(pair))}} for pair in pairs]
        return made

    def _undeclared(self, form: ObjectShape) -> Json | bool:
        """An undeclared key: none in a closed object; in an open one, anything except a possible
        wrapper of declared names.
        """
        undeclared = form.unmatched if form.patterns else form.additional
        if undeclared is None:
            return False
        additional = self.shape(undeclared)
        if not form.fields:
            return additional
        names = {"enum": list(form.fields)}
        wrapper = {"type": "object", "minProperties": 1, "propertyNames": names}
        text = {"type": "string", "pattern": r'^[\s"]*\{'}
        return {"allOf": [additional, {"not": {"anyOf": [wrapper, text]}}]}

    def _array(self, form: ArrayShape) -> Json:
        made: Json = {"type": "array"}
        if form.prefix:
            made["prefixItems"] = [self.shape(each) for each in form.prefix]
        if form.closed:
            made["maxItems"] = len(form.prefix) + form.last
        elif form.items is not None:
            made["items"] = self.shape(form.items)
        return made


def _exclusive_keys(form: ObjectShape) -> list[tuple[str, str]]:
    """Pairs of keys that lead to the same field."""
    by_field: dict[int, list[str]] = {}
    for key, each in form.fields.items():
        by_field.setdefault(id(each), []).append(key)
    # Of exclusive paths, the check sees only the first steps; the boundary finds out whether both
    # are sent.
    pairs = [pair for keys in by_field.values() for pair in combinations(sorted(keys), 2)]
    for paths in form.exclusive_paths:
        first_keys = [str(path[0]) for path in paths]
        pairs += combinations(first_keys, 2)
    return pairs
