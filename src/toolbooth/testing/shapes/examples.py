"""Makes one correct call of a tool from its schema. The same schema always gives the same call. The
call has all declared fields.

If possible, values differ from the defaults. Then a lost field changes the result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample, Unsatisfiable

from toolbooth.boundary.accept import accept_bytes
from toolbooth.contract import Contract
from toolbooth.errors import ToolInputError
from toolbooth.jsonvalue import Schema
from toolbooth.sample import json_in, scalar
from toolbooth.testing.offline_schema import is_schema, refuse_outside_references
from toolbooth.testing.shapes.generate import Document, arguments_for, both

_SEARCH = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=300,
    phases=[Phase.generate],
    suppress_health_check=[
        HealthCheck.filter_too_much,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
"""With these settings, Hypothesis makes the same values on every machine, the simplest first."""


class NoExample(LookupError):
    """Raised if no correct call can be made from the schema alone. The message shows the last
    attempt, and how to give an example.
    """


def example_arguments(contract: Contract) -> dict[str, Any]:
    """Return a correct call: the example in the schema, or one made from the schema.

    Raises:
        NoExample: if the author's validation refuses every call that was made. Then the author must
        give an example.
        ContractError: if the schema refers to a file or URL.
    """
    refuse_outside_references(contract.schema, contract.name)
    refused = ""
    for candidate in _candidates(contract):
        refused = refusal_of(contract, candidate)
        if not refused:
            return candidate
    raise NoExample(
        f"{contract.name}: no correct call could be made from the schema; give one: "
        f"examples={{{contract.name!r}: {{...}}}} "
        f"(refused of the last one made: {refused or 'nothing was made'})"
    )


def refusal_of(contract: Contract, arguments: Any) -> str:
    """Return the reason why a call is not correct. The text is empty if the call is correct."""
    try:
        repairs = accept_bytes(contract, json.dumps(arguments).encode())[1]
    except ToolInputError as error:
        return str(error)
    return "; ".join(f"{each.where}: would have to be repaired ({each.code})" for each in repairs)


def _candidates(contract: Contract) -> Iterator[dict[str, Any]]:
    schema = contract.schema
    # The author's examples come first: they may name rows that exist, which no generated value
    # does.
    yield from (each for each in schema.get("examples", ()) if isinstance(each, dict))
    try:
        yield _ExampleMaker(Document(schema)).make({"type": "object", **schema})
    except RecursionError:  # the schema requires itself, so there is no such call
        return
    # More fields give more places for faults. But some validators forbid fields together, for
    # example `since` with `page`, so calls with fewer fields are tried too.
    for whole in (True, False):
        try:
            yield find(
                arguments_for(schema, whole=whole),
                lambda arguments: not refusal_of(contract, arguments),
                settings=_SEARCH,
            )
        except (NoSuchExample, Unsatisfiable):
            continue


class _ExampleMaker:
    """Makes one value for each schema of a document. Optional fields are left out where they would
    repeat a recursive schema.
    """

    def __init__(self, document: Document) -> None:
        self.document = document

    def make(self, schema: Any, above: frozenset[str] = frozenset()) -> Any:
        # The references that were followed so far. An optional field with one of these references
        # is left out. This ends the recursion of a model such as a tree.
        above |= _references(schema)
        written = self._resolve(schema)
        given = written.get("examples") or _fixed_values(written)
        if given:
            return given[0]
        if "enum" in written:
            others = [each for each in written["enum"] if each != written.get("default")]
            return (others or written["enum"])[0]
        kind = _kind(written)
        if kind == "object":
            return self._object(written, above)
        if kind == "array":
            return self._array(written, above)
        if written.get("contentMediaType") == "application/json":
            return self._json(written, above)
        has_pattern = kind == "string" and "pattern" in written
        return _matching_text(written) if has_pattern else scalar(kind, written)

    def _resolve(self, schema: Any) -> dict[str, Any]:
        """Return the schema with its references resolved. If there are several alternatives, the
        first one that is not null is used.
        """
        written = self.document.resolve(schema)
        for key in ("anyOf", "oneOf"):
            options = [each for each in written.pop(key, ()) if each != {"type": "null"}]
            written = both(written, self._resolve(options[0])) if options else written
        return written

    def _object(self, schema: Schema, above: frozenset[str]) -> dict[str, Any]:
        fields, required = schema.get("properties", {}), schema.get("required", ())
        made = {
            key: self.make(each, above)
            for key, each in fields.items()
            if key in required or not _references(each) & above
        }
        further = schema.get("additionalProperties")
        # A `dict[str, int]` gets one entry, so that its values are tested too.
        if isinstance(further, Mapping) and not fields:
            made["key"] = self.make(further, above)
        return made

    def _array(self, schema: Schema, above: frozenset[str]) -> list[Any]:
        items, least = schema.get("items", {}), schema.get("minItems", 0)
        prefix = [self.make(each, above) for each in schema.get("prefixItems", ())]
        if prefix or items is False:
            return prefix
        # An array of the model itself, such as `children`, stays empty if the schema allows it.
        recurs = _references(items) & above
        count = least if recurs else max(least, min(1, schema.get("maxItems", 1)))
        return [self.make(items, above) for _ in range(count)]

    def _json(self, schema: Schema, above: frozenset[str]) -> str:
        """Return JSON text: the example in the description, or else text made from the schema of
        the content.
        """
        for value in json_in(str(schema.get("description", ""))):
            return json.dumps(value)
        return json.dumps(self.make(schema.get("contentSchema", {"type": "object"}), above))


def _fixed_values(schema: Schema) -> list[Any]:
    return [schema[key] for key in ("example", "const") if key in schema]


def _kind(schema: Schema) -> str:
    """Return the type of the value to make: the first type of a schema that is not null."""
    declared: Any = schema.get("type", "string")
    if isinstance(declared, str):
        return declared
    return next((each for each in declared if each != "null"), "null")


def _references(schema: Any) -> frozenset[str]:
    """Return the references in a schema, and in the schema of its items."""
    if not is_schema(schema):
        return frozenset()
    parts = [schema.get("items")]
    for key in ("anyOf", "oneOf", "allOf"):
        parts += schema.get(key, ())
    own = [schema["$ref"]] if "$ref" in schema else []
    return frozenset(own).union(*map(_references, parts))


def _matching_text(schema: Schema) -> str:
    try:
        text = {"type": "string", **schema}
        calls = arguments_for({"properties": {"text": text}, "required": ["text"]})
        found = find(calls, lambda _: True, settings=_SEARCH)
    except (NoSuchExample, Unsatisfiable):
        # Hypothesis could not make a match. The caller tries this text as a call, and reports the
        # refusal if the pattern excludes it.
        return "text"
    return found["text"]
