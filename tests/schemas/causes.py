"""Why a valid instance is refused: found by changing the schema until it is accepted.

Three causes are part of the law (docs/reference/law.md, "Foreign schemas"). Each has a change that takes it
away from a schema; a change never makes an instance invalid that was valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from suite import DATA, TABLES

Schema = dict[str, Any]
Change = Callable[[Schema], Schema]

OBJECT_KEYS = frozenset(
    {"properties", "required", "additionalProperties", "patternProperties", "minProperties"}
)
ARRAY_KEYS = frozenset({"items", "prefixItems", "minItems", "maxItems"})
EVERY_TYPE = ["null", "boolean", "integer", "number", "string", "object", "array"]
OTHER = "other"


def changed(schema: Any, change: Change) -> Any:
    """Return the schema with a change made to every schema inside it, and to itself."""
    if isinstance(schema, list):
        return [changed(each, change) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _changed_keyword(key, value, change) for key, value in schema.items()}
    return change(made)


def _changed_keyword(key: str, value: Any, change: Change) -> Any:
    if key in DATA:
        return value
    if key in TABLES and isinstance(value, dict):
        return {name: changed(each, change) for name, each in value.items()}
    return changed(value, change)


def opened(schema: Schema) -> Schema:
    """Let every object without a rule for further keys accept them; the root is always an object."""
    return _opened_object(changed(schema, _opened))


def _opened(schema: Schema) -> Schema:
    is_object = "object" in _types(schema) or schema.keys() & OBJECT_KEYS
    return _opened_object(schema) if is_object else schema


def _opened_object(schema: Schema) -> Schema:
    says = schema.keys() & {"additionalProperties", "unevaluatedProperties"}
    return schema if says else {**schema, "additionalProperties": True}


def without_format(schema: Schema) -> Schema:
    return changed(schema, _without_format)


def _without_format(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "format"}


def of_any_type(schema: Schema) -> Schema:
    """Let keywords for objects or arrays imply no type."""
    return changed(schema, _of_any_type)


def _of_any_type(schema: Schema) -> Schema:
    implies = schema.keys() & (OBJECT_KEYS | ARRAY_KEYS)
    says = schema.keys() & {"type", "const", "enum"}
    return {**schema, "type": EVERY_TYPE} if implies and not says else schema


def _types(schema: Schema) -> list[Any]:
    written = schema.get("type", [])
    return written if isinstance(written, list) else [written]


CAUSES: dict[str, Change] = {
    "objects are closed by default": opened,
    "`format` is asserted": without_format,
    "a keyword without `type` is read as that type": of_any_type,
}


def cause_of(schema: Schema, is_accepted: Callable[[Schema], bool]) -> str:
    """Return the cause without which a schema accepts; of several together, the first is named."""
    for causes in _combinations():
        without = schema
        for name in causes:
            without = CAUSES[name](without)
        if is_accepted(without):
            return causes[0]
    return OTHER


def _combinations() -> Iterator[tuple[str, ...]]:
    for count in range(1, len(CAUSES) + 1):
        yield from combinations(CAUSES, count)
