"""Converts values in receipts so that an agent can send them as arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from toolbooth.jsonvalue import NoSuchPart, is_array, is_object, resolve_pointer

Schema = Mapping[str, Any]


def as_taken(value: Any, schema: Schema, root: Schema) -> Any:
    """Return a value as its argument accepts it. For example, REST framework writes a decimal as
    text, and the argument may be a number. Values in lists and objects are converted too. `root`
    has the definitions to which references in `schema` refer.
    """
    forms = list(_forms(schema, root))
    if isinstance(value, str):
        takes_text = any(form.get("type") == "string" for form in forms)
        takes_number = not takes_text and any(_takes_number(form) for form in forms)
        return _number(value) if takes_number else value
    if is_object(value):
        inner = {name: each for form in forms for name, each in form.get("properties", {}).items()}
        return {name: as_taken(each, inner.get(name, {}), root) for name, each in value.items()}
    if is_array(value):
        items = [form["items"] for form in forms if is_object(form.get("items"))]
        return [as_taken(each, {"anyOf": items}, root) for each in value]
    return value


def _forms(schema: Schema, root: Schema) -> Iterator[Schema]:
    """Yield the branches of a schema's union, or the schema itself if it is not a union. References
    are replaced by their targets.
    """
    reference: Any = schema.get("$ref")
    if isinstance(reference, str):
        try:
            yield from _forms(resolve_pointer(root, reference), root)
        except NoSuchPart:
            return
    else:
        yield schema
    for key in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(key, ()):
            yield from _forms(each, root)


def _takes_number(schema: Schema) -> bool:
    kinds: Any = schema.get("type")
    return kinds == "number" or (is_array(kinds) and "number" in kinds)


def _number(text: str) -> Any:
    """Return the number in a text. Return the text unchanged if it is not a number, or if the
    number would lose digits.
    """
    try:
        number = float(text)
        # A float must not lose digits of the decimal.
        is_same = Decimal(repr(number)) == Decimal(text)
    except (ValueError, InvalidOperation):
        return text
    return number if is_same else text
