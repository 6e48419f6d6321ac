"""Shape -> one compiled yes or no, so that a correct call is never walked in Python.

Yes means: neither a repair nor a refusal is due. No decides nothing; the boundary then examines the call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any

from toolbooth.contract import ArrayShape, ObjectShape, Shape

NUMBER_AS_TEXT = r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$"
"""A number sent for a date, as text."""


def fits(shape: Shape, value: Any) -> bool:
    """Whether `value` passes as it is. Compiled on first use: a server of a thousand tools starts at once."""
    compiled = shape.compiled
    if compiled is None:
        compiled = shape.compiled = json_schema().Draft202012Validator(gate_schema(shape)).is_valid
    return compiled(value)


@cache
def json_schema() -> Any:
    """jsonschema-rs, loaded on first use: where validation alone proves the shape, no call ever needs it."""
    return import_module("jsonschema_rs")


_SCALARS: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
}


def plain_types(shape: Shape) -> frozenset[type]:
    """The Python types of the scalars that pass at one look, without a second one."""
    found = shape.plain
    if found is None:
        usual = not (shape.free or shape.timelike or shape.json_text)
        found = shape.plain = frozenset(each for kind in shape.types if usual for each in _SCALARS.get(kind, ()))
    return found


def fitting_form(shape: Shape, value: Any) -> ObjectShape | ArrayShape | None:
    """The form of object or array that `value` has, where the shape knows several."""
    forms = shape.objects if isinstance(value, dict) else shape.arrays
    if len(forms) == 1:
        return forms[0]
    if shape.apart is None:
        objects = tuple(Shape(types=frozenset(("object",)), objects=(form,)) for form in shape.objects)
        shape.apart = objects + tuple(Shape(types=frozenset(("array",)), arrays=(form,)) for form in shape.arrays)
    found = next((alone for alone in shape.apart if fits(alone, value)), None)
    return None if found is None else (*found.objects, *found.arrays)[0]


def gate_schema(shape: Shape) -> dict[str, Any]:
    """The closed JSON Schema that says exactly what the shape says."""
    writer = _Writer()
    made = writer.shape(shape)
    return {**made, "$defs": writer.definitions} if writer.definitions else made


class _Writer:
    """Writes forms in place; one that contains itself becomes a definition."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.inside: set[int] = set()

    def shape(self, shape: Shape) -> dict[str, Any]:
        if shape.free:
            return {}
        scalars = sorted(shape.types - {"object", "array"})
        choices = [self._scalar(kind, shape) for kind in scalars]
        if shape.constants is not None:
            nothing = [None] if "null" in shape.types else []
            choices = [{"enum": [*shape.constants, *nothing]}]
        choices += [self._form(form) for form in (*shape.objects, *shape.arrays)]
        return choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {"not": {}}

    def _scalar(self, kind: str, shape: Shape) -> dict[str, Any]:
        if kind == "string" and shape.timelike:
            return {"type": "string", "not": {"pattern": NUMBER_AS_TEXT}}
        return {"type": kind}

    def _form(self, form: ObjectShape | ArrayShape) -> dict[str, Any]:
        name = f"form{id(form)}"
        if id(form) in self.inside:
            self.definitions.setdefault(name, None)
            return {"$ref": f"#/$defs/{name}"}
        self.inside.add(id(form))
        made = self._object(form) if isinstance(form, ObjectShape) else self._array(form)
        self.inside.discard(id(form))
        if name in self.definitions:
            self.definitions[name] = made
            return {"$ref": f"#/$defs/{name}"}
        return made

    def _object(self, form: ObjectShape) -> dict[str, Any]:
        made: dict[str, Any] = {
            "type": "object",
            "properties": {key: self.shape(field.shape) for key, field in form.fields.items()},
            "additionalProperties": False if form.rest is None else self._further(form),
        }
        # Two keys for one field: whichever were dropped, something sent would be lost.
        rivals = _rivals(form)
        if rivals:
            made["allOf"] = [{"not": {"required": list(dict.fromkeys(pair))}} for pair in rivals]
        return made

    def _further(self, form: ObjectShape) -> dict[str, Any]:
        """An undeclared key of an open object: anything but what might be a wrapper around declared names."""
        assert form.rest is not None
        rest = self.shape(form.rest)
        if not form.fields:
            return rest
        wrapper = {"type": "object", "minProperties": 1, "propertyNames": {"enum": list(form.fields)}}
        return {"allOf": [rest, {"not": {"anyOf": [wrapper, {"type": "string", "pattern": r'^[\s"]*\{'}]}}]}

    def _array(self, form: ArrayShape) -> dict[str, Any]:
        made: dict[str, Any] = {"type": "array"}
        if form.prefix:
            made["prefixItems"] = [self.shape(each) for each in form.prefix]
        if form.closed:
            made["maxItems"] = len(form.prefix) + form.last
        elif form.items is not None:
            made["items"] = self.shape(form.items)
        return made


def _rivals(form: ObjectShape) -> list[tuple[str, str]]:
    """Pairs of keys that lead to the same field."""
    by_field: dict[int, list[str]] = {}
    for key, field in form.fields.items():
        by_field.setdefault(id(field), []).append(key)
    # Where paths rival, the gate sees only where they begin; whether both are sent is for the boundary to find out.
    firsts = [[str(path[0]) for path in paths] for paths in form.rivals]
    pairs = [(one, other) for keys in by_field.values() for one in keys for other in keys if one < other]
    return pairs + [(one, other) for keys in firsts for one, other in combinations(keys, 2)]


def integer_fields(form: ObjectShape) -> dict[str, Shape]:
    """The declared keys at or below which an integer may stand but no other number."""
    found = form.whole
    if found is None:
        fields = ((key, field.shape) for key, field in form.fields.items())
        found = form.whole = {key: shape for key, shape in fields if anywhere(shape, is_integer_only)}
    return found


def is_integer_only(shape: Shape) -> bool:
    """Whether a number that stands here must be whole."""
    return "integer" in shape.types and "number" not in shape.types


def anywhere(shape: Shape, holds: Callable[[Shape], bool]) -> bool:
    """Whether something holds of a shape or of any below it, what is free left out."""
    seen: set[int] = set()

    def look(each: Shape) -> bool:
        if each.free or id(each) in seen:
            return False
        seen.add(id(each))
        below = [field.shape for form in each.objects for field in form.fields.values()]
        below += [form.rest for form in each.objects if form.rest]
        below += [part for form in each.arrays for part in (*form.prefix, form.items) if part]
        return holds(each) or any(map(look, below))

    return look(shape)
