"""Finds an example for a refusal: a value that the boundary accepts at a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolbooth.boundary.cures.places import Place
from toolbooth.contract import Contract
from toolbooth.jsonvalue import write_json
from toolbooth.pattern_text import text_matching
from toolbooth.sample import given_values, sample_value
from toolbooth.shape_check import fits, json_schema

_LONGEST = 100
"""A longer example is not shown. It is not shortened either, because a part of it would be useless.
"""

_TELLING = ("format", "pattern", "minLength", "maxLength")
"""If the author wrote no example for a text, one is made only if the schema has one of these
keywords.
"""


def example_at(contract: Contract, place: Place) -> str:
    """Return an example as JSON text. Return empty text if there is no example to show."""
    shape = place.shape
    if not place.schema or shape.has_secret or shape.constants or shape.types <= {"boolean"}:
        return ""
    for value in _values(contract, place):
        if _is_accepted(contract, place, value):
            text = write_json(value)
            # A refusal must not contain a URL that a reader may open.
            return text if len(text) <= _LONGEST and "://" not in text else ""
    return ""


def _values(contract: Contract, place: Place) -> Iterator[Any]:
    """Yield possible examples. The author's own examples come first."""
    schema = place.schema
    yield from given_values(schema)
    # Any text is valid here, so a made-up one would not help.
    if place.types <= {"string", "null"} and schema.keys().isdisjoint(_TELLING):
        return
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (matching := text_matching(pattern)) is not None:
        yield matching
    yield sample_value(schema, contract.schema)
    yield sample_value(schema, contract.schema, by_type=True)


def _is_accepted(contract: Contract, place: Place, value: Any) -> bool:
    # A `$ref` in this part points into the `$defs` of the whole schema.
    definitions = {key: contract.schema[key] for key in ("$defs",) if key in contract.schema}
    schema = {**place.schema, **definitions}
    library = json_schema()
    try:
        check = library.validator_for(schema, validate_formats=True, offline=True)
    # A reference by an anchor or by a path from the root does not work in a part of the schema.
    except (ValueError, library.ReferencingError):
        return False
    return check.is_valid(value) and (place.shape.json_text or fits(place.shape, value))
