"""The compiled check of a whole value against a shape, without repairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.shape import (
    NUMBER_AS_TEXT,
    ArrayShape,
    ObjectShape,
    Shape,
    has_recursive_unions,
)

_UUID = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"


def fits(shape: Shape, value: Any) -> bool:
    """Return True if a value certainly needs neither a repair nor a refusal. False means that the
    boundary must examine the value.

    The check is compiled on first use, so that a server with a thousand tools starts quickly.
    """
    check = shape.check
    if check is None:
        # A compiled check would try every form again at every level. The examination does not.
        if has_recursive_unions(shape):
            check = shape.check = _fits_nothing
        else:
            check = shape.check = json_schema().Draft202012Validator(check_schema(shape)).is_valid
    return check(value)


def _fits_nothing(value: Any) -> bool:
    return False


@cache
def json_schema() -> Any:
    """Return jsonschema-rs. It is loaded on first use, because many tools do not need it."""
    return import_module("jsonschema_rs")


_SCALARS: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
}


def plain_types(shape: Shape) -> frozenset[type]:
    """Return the Python types of the scalars that fit this shape and need no other check."""
    found = shape.scalar_types
    if found is None:
        # These texts need a further check, although text is declared: `"5"` for a date, JSON text,
        # and the name of a row in place of its key.
        looked_at = shape.opaque or shape.temporal or shape.json_text or shape.named_by
        types = () if looked_at else shape.types
        found = frozenset(each for kind in types for each in _SCALARS.get(kind, ()))
        shape.scalar_types = found
    return found


def plain_fields(form: ObjectShape) -> dict[str, frozenset[type]]:
    """Return `plain_types` of every field. If a field has several keys, return an empty dict,
    because that field may be sent twice.
    """
    found = form.plain
    if found is None:
        # The fast path checks each key separately. Only a check of the whole object finds that
        # `firstName` and `first_name` were both sent for one field.
        only_keys = len(form.fields) == len(form.names)
        fields = form.fields.items() if only_keys else ()
        found = form.plain = {key: plain_types(each.shape) for key, each in fields}
    return found


def fitting_form(shape: Shape, value: Any) -> ObjectShape | ArrayShape | None:
    """Return the object type or array type that a value fits. Return None if the value fits no type
    of a union. If there is only one type, return it without a check.
    """
    forms = shape.objects if isinstance(value, dict) else shape.arrays
    if len(forms) == 1:
        return forms[0]
    if shape.branches is None:
        # Each form becomes a separate shape, because the compiled check is cached in a shape.
        objects = [Shape(types=frozenset(("object",)), objects=(form,)) for form in shape.objects]
        arrays = [Shape(types=frozenset(("array",)), arrays=(form,)) for form in shape.arrays]
        shape.branches = (*objects, *arrays)
    found = next((branch for branch in shape.branches if fits(branch, value)), None)
    return None if found is None else (*found.objects, *found.arrays)[0]


def check_schema(shape: Shape) -> Json:
    """Return a closed JSON Schema that accepts the same values as the shape."""
    writer = _Writer(in_place=_MOST_IN_PLACE)
    try:
        # The schema would grow with every path through the shape. The second attempt uses
        # definitions, so the schema is only as large as the shape.
        made = writer.shape(shape)
    except _TooManyForms:
        writer = _Writer(in_place=0)
        made = writer.shape(shape)
    return {**made, "$defs": writer.definitions} if writer.definitions else made


_MOST_IN_PLACE = 1_000
"""At most this many object and array types are written in place, which is fastest. With more, each
becomes a definition.
"""


class _TooManyForms(Exception):
    """Raised if writing every object and array type in place would make the schema far larger than
    the author's.
    """


class _Writer:
    """Writes object and array types in place. A type that contains itself becomes a definition.

    If `in_place` is 0, every type becomes a definition. The schema is then only as large as the
    shape.
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
            # The listed constants replace the types of scalars. Null is a type of its own:
            # `Literal["a"] | None`.
            nothing = [None] if "null" in shape.types else []
            choices = [{"enum": [*shape.constants, *nothing]}]
        choices += [self._form(form) for form in (*shape.objects, *shape.arrays)]
        if len(choices) == 1:
            return choices[0]
        # If there is no type, nothing may be sent here. `{}` would allow everything.
        return {"anyOf": choices} if choices else {"not": {}}

    def _scalar(self, kind: str, shape: Shape) -> Json:
        if kind == "string" and shape.temporal:
            return {"type": "string", "not": {"pattern": NUMBER_AS_TEXT}}
        if kind == "string" and shape.named_by:
            return {"type": "string", "pattern": _UUID}
        return {"type": kind}

    def _form(self, form: ObjectShape | ArrayShape) -> Json:
        name = f"form{id(form)}"
        reference = {"$ref": f"#/$defs/{name}"}
        if id(form) in self.inside or (not self.in_place and name in self.definitions):
            # The form contains itself and is still being written. This entry makes it a definition
            # when it is done.
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
        # Two keys for one field are refused, because one of the values would be lost.
        pairs = _exclusive_keys(form)
        parts: list[Json] = [{"not": {"required": list(dict.fromkeys(pair))}} for pair in pairs]
        # If a required field is missing, an undeclared key of an open object may be a wrapper
        # around it.
        if form.additional is not None:
            parts += _required(form)
        return {**made, "allOf": parts} if parts else made

    def _undeclared(self, form: ObjectShape) -> Json | bool:
        """Return the schema of undeclared keys. A closed object allows none. An open object allows
        any, except an object or text that may be a wrapper around declared fields.
        """
        undeclared = form.unmatched if form.patterns else form.additional
        if undeclared is None:
            return False
        additional = self.shape(undeclared)
        if not form.fields:
            return additional
        names = {"enum": list(form.fields)}
        wrapper = {"type": "object", "minProperties": 1, "propertyNames": names}
        # A wrapper may be JSON text, also encoded twice: `"{\"name\": ...}"` within quotes.
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


def _keys_by_field(form: ObjectShape) -> Iterable[list[str]]:
    by_field: dict[int, list[str]] = {}
    for key, each in form.fields.items():
        by_field.setdefault(id(each), []).append(key)
    return by_field.values()


def _required(form: ObjectShape) -> Iterator[Json]:
    """Yield the rule for each required field: it must be sent under one of its keys."""
    for keys in _keys_by_field(form):
        if form.fields[keys[0]].required:
            yield {"anyOf": [{"required": [key]} for key in keys]}


def _exclusive_keys(form: ObjectShape) -> list[tuple[str, str]]:
    """Return pairs of keys that mean the same field. Only one key of a pair may be sent."""
    # For exclusive paths, this check compares only the first steps. The examination compares the
    # others.
    pairs = [pair for keys in _keys_by_field(form) for pair in combinations(sorted(keys), 2)]
    for paths in form.exclusive_paths:
        first_keys = [str(path[0]) for path in paths]
        pairs += combinations(first_keys, 2)
    return pairs
