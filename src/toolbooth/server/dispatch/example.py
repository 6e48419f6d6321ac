"""One value for a JSON Schema: what a person would write as an example. The same each time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbooth.jsonvalue import Json, Schema

_DEEPEST = 8
"""Levels at which what may be left out is; deeper, everything is."""

_LARGEST = 10**9
"""The largest number of an example without a bound."""

_TEXTS = {
    "date": "2026-11-15",
    "date-time": "2026-11-15T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "P1D",
    "uuid": "0c2d8bd6-7a3c-4c57-9d3f-6f0f5c1a2b3d",
    "email": "ann@example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


def example_of(schema: Schema, *, bare: bool = False) -> dict[str, Any]:
    """An object with what is required; where nothing is, with its first field, unless it is to be
    `bare`.
    """
    return {} if bare and not schema.get("required") else _object(schema, schema, 0)


def _object(schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    fields: Schema = schema.get("properties", {})
    names = schema.get("required") or list(fields)[:1]
    return {name: _value(fields.get(name, {}), root, depth + 1) for name in names}


def _value(schema: Any, root: Schema, depth: int) -> Any:
    written = _resolved(schema, root)
    given = [written[key] for key in _GIVEN if key in written]
    for choices in (written.get("examples"), written.get("enum"), given):
        if choices:
            return choices[0]
    kind = _kind(written)
    match kind:
        case "object":
            return {} if depth > _DEEPEST else _object(written, root, depth)
        case "array":
            count = 0 if depth > _DEEPEST else max(1, written.get("minItems", 0))
            return [_value(written.get("items", {}), root, depth + 1) for _ in range(count)]
        case _:
            return scalar(kind, written)


_GIVEN = ("const", "example", "default")


def _kind(schema: Schema) -> str:
    """The type of a schema; of several the first that is not null."""
    kinds: Any = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kinds, str):
        return kinds
    return next((each for each in kinds if each != "null"), "null")


def _resolved(schema: Any, root: Schema) -> Schema:
    """The schema with what it refers to; of alternatives the first that is not null."""
    given: Schema = schema
    written: Json = dict(given) if isinstance(schema, Mapping) else {}
    for _ in range(_DEEPEST):
        if isinstance(ref := written.pop("$ref", None), str):
            written = {**root.get("$defs", {}).get(ref.rpartition("/")[2], {}), **written}
        for key in ("anyOf", "oneOf", "allOf"):
            options = [each for each in written.pop(key, ()) if each != {"type": "null"}]
            if options:
                written = {**options[0], **written}
    return written


def scalar(kind: str, schema: Schema) -> Any:
    """A value of one of the simple types, within its bounds, other than the default."""
    if kind == "boolean":
        return schema.get("default") is not True
    if kind in ("integer", "number"):
        return _number(kind, schema)
    if kind == "null":
        return None
    text = _TEXTS.get(schema.get("format", ""), "text")
    text = text.ljust(schema.get("minLength", 0), "x")
    return text[: schema["maxLength"]] if "maxLength" in schema else text


def _number(kind: str, schema: Schema) -> Any:
    """The default and one more, or a small number; whatever the bounds allow."""
    default = schema.get("default")
    step = schema.get("multipleOf")
    small = 2 if kind == "integer" else 2.5
    wanted = default + 1 if isinstance(default, int) else small
    least, most = _bounds(schema, step or 1)
    if least is None:
        least = wanted
    most = _LARGEST if most is None else max(most, least)
    made = min(max(wanted, least), most)
    return made if not step else -(-made // step) * step


def _bounds(schema: Schema, step: Any) -> tuple[Any, Any]:
    """The least and the most that the bounds allow; None where there is no bound."""
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None and "exclusiveMinimum" in schema:
        least = schema["exclusiveMinimum"] + step
    if most is None and "exclusiveMaximum" in schema:
        most = schema["exclusiveMaximum"] - step
    return least, most
