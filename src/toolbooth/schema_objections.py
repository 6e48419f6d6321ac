"""Converts the errors of a JSON Schema validator to objects of our own (`Objection`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from toolbooth.contract import Objection
from toolbooth.jsonvalue import is_array, write_json


def schema_objections(errors: Iterable[Any], ignored: Collection[str] = ()) -> Iterable[Objection]:
    """Return the errors of jsonschema-rs as objections with the same paths. Errors of the keywords
    in `ignored` are left out.
    """
    for error in errors:
        path = tuple(error.instance_path)
        if error.kind.name in ignored:
            continue
        is_union = error.kind.name in ("anyOf", "oneOf")
        # "Fits none of the 4 alternatives" does not help an agent, but the errors in the most
        # likely alternative do.
        if is_union and (branch := _nearest(error)):
            yield from schema_objections(branch, ignored)
        # If type errors are ignored, the shape has already checked the alternatives.
        elif is_union and "type" in ignored:
            continue
        elif error.kind.name == "required":
            # These two errors get Pydantic's names, because `boundary/objections.py` has its own
            # messages for them and treats both validators alike.
            yield Objection(model_path=(*path, error.kind.property), kind="missing", message="")
        elif error.kind.name in ("additionalProperties", "unevaluatedProperties"):
            for key in error.kind.unexpected:
                yield Objection(model_path=(*path, key), kind="extra_forbidden", message="")
        else:
            yield Objection(
                model_path=path, kind=f"schema_{error.kind.name}", message=_sentence(error.kind)
            )


def _nearest(error: Any) -> list[Any]:
    """Return the errors of the union's branch that fits best. Only branches with the right type
    count; the one with the fewest errors fits best.
    """
    path = list(error.instance_path)
    branches: list[list[Any]] = getattr(error.kind, "context", [])
    typed = [branch for branch in branches if not _has_wrong_type(branch, path)]
    return min(typed, key=len, default=list[Any]())


def _has_wrong_type(branch: list[Any], path: list[Any]) -> bool:
    return any(error.kind.name == "type" and list(error.instance_path) == path for error in branch)


def _sentence(kind: Any) -> str:
    """Return the broken rule as a sentence, without the value that was sent."""
    wording, attribute = _WORDING.get(kind.name, ("", ""))
    if not wording:
        return _FIXED.get(kind.name, f'does not satisfy "{kind.name}" of the schema')
    value: Any = getattr(kind, attribute)
    # "must have at least 1 item", and not "1 items".
    if value == 1:
        wording = wording.removesuffix("s")
    return wording.format(_words(kind.name, value))


def _words(name: str, value: Any) -> Any:
    """Return the value of a keyword as it is written in a message."""
    if name == "type":
        types: list[str] = value
        return " or ".join(_TYPES.get(each, each) for each in types)
    if is_array(value):
        # null is not named, so that agents do not send it instead.
        named = [each for each in value if each is not None] or value
        return ", ".join(map(write_json, named))
    return write_json(value) if name == "const" else value


_TYPES = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
}


_WORDING = {
    "minimum": ("must be at least {}", "limit"),
    "maximum": ("must be at most {}", "limit"),
    "exclusiveMinimum": ("must be greater than {}", "limit"),
    "exclusiveMaximum": ("must be less than {}", "limit"),
    "multipleOf": ("must be a multiple of {}", "multiple_of"),
    "minLength": ("must have at least {} characters", "limit"),
    "maxLength": ("must have at most {} characters", "limit"),
    "minItems": ("must have at least {} items", "limit"),
    "maxItems": ("must have at most {} items", "limit"),
    "pattern": ("must match the pattern {}", "pattern"),
    "format": ("must be text of the format {}", "format"),
    "minProperties": ("must have at least {} keys", "limit"),
    "maxProperties": ("must have at most {} keys", "limit"),
    "enum": ("must be one of {}", "options"),
    "const": ("must be {}", "expected_value"),
    "type": ("must be {}", "types"),
}


_FIXED = {
    "uniqueItems": "must not have the same item twice",
    "contains": "does not have the items that the schema requires",
    "unevaluatedItems": "has more items than the schema allows",
    "propertyNames": "has a key that the schema does not allow",
    "not": "is a value that the schema excludes",
    "oneOf": "must fit exactly one form of the schema",
    "falseSchema": "must be left out",
}
"""The sentences for keywords without a value that a message could show."""
