"""One value for a JSON Schema: what a person would write as an example. The same each time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolbooth.jsonvalue import Schema

_DEEPEST = 8
"""Levels at which what may be left out is; deeper, everything is."""

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
    for given in (
        written.get("examples"),
        written.get("enum"),
        [written[key] for key in _GIVEN if key in written],
    ):
        if given:
            return given[0]
    kinds: Any = written.get("type", "object" if "properties" in written else "string")
    kind = (
        kinds
        if isinstance(kinds, str)
        else next((each for each in kinds if each != "null"), "null")
    )
    match kind:
        case "object":
            return {} if depth > _DEEPEST else _object(written, root, depth)
        case "array":
            count = 0 if depth > _DEEPEST else max(1, written.get("minItems", 0))
            return [_value(written.get("items", {}), root, depth + 1) for _ in range(count)]
        case _:
            return scalar(kind, written)


_GIVEN = ("const", "example", "default")


def _resolved(schema: Any, root: Schema) -> Schema:
    """The schema with what it refers to; of alternatives the first that is not null."""
    written: dict[str, Any] = dict(cast("Schema", schema)) if isinstance(schema, Mapping) else {}
    for _ in range(_DEEPEST):
        if isinstance(ref := written.pop("$ref", None), str):
            written = {**root.get("$defs", {}).get(ref.rpartition("/")[2], {}), **written}
        for key in ("anyOf", "oneOf", "allOf"):
            options = [each for each in written.pop(key, ()) if each != {"type": "null"}]
            written = {**(options[0] if options else {}), **written}
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
    wanted = default + 1 if isinstance(default, int) else 2 if kind == "integer" else 2.5
    step = schema.get("multipleOf")
    least = schema.get(
        "minimum",
        schema["exclusiveMinimum"] + (step or 1) if "exclusiveMinimum" in schema else wanted,
    )
    most = schema.get(
        "maximum",
        schema["exclusiveMaximum"] - (step or 1) if "exclusiveMaximum" in schema else wanted,
    )
    made = min(
        max(wanted, least),
        max(most, least) if "maximum" in schema or "exclusiveMaximum" in schema else 10**9,
    )
    return made if not step else -(-made // step) * step
