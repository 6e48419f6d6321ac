"""Makes validators for the schemas of servers. These validators read no files and send no requests.

A `$ref` to a file or URL raises a `ContractError`. The same happens when such a schema is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
from typing_extensions import TypeIs

from toolbooth.errors import ContractError
from toolbooth.jsonvalue import Schema
from toolbooth.lint.schemas import outside_references


def is_schema(value: Any) -> TypeIs[Schema]:
    """Return True if a schema has keywords. The schemas `true` and `false` have none."""
    return isinstance(value, Mapping)


def offline_validator(schema: Schema, owner: str = "") -> jsonschema_rs.Validator:
    """Return a validator for a schema. `owner` is the name of the tool that has the schema.

    Raises:
        ContractError: if the schema refers to a file or URL, or is not a JSON Schema.
    """
    try:
        return jsonschema_rs.validator_for(dict(schema), offline=True)
    except ValueError as error:
        raise ContractError(_owner(schema, owner), _mistakes(schema, error)) from None


def refuse_outside_references(schema: Schema, owner: str = "") -> None:
    """Check that no reference of a schema leads to a file or URL. Nothing else is checked.

    Raises:
        ContractError: if a reference does.
    """
    if any(outside_references(schema)):
        # A reference to the `$id` of a definition is fine: the validator finds it in the schema.
        offline_validator(schema, owner)


def _owner(schema: Schema, owner: str) -> str:
    return owner or str(schema.get("title") or "schema")


def _mistakes(schema: Schema, error: Any) -> list[str]:
    # The validator's own error names only one reference. This error lists all of them.
    targets = dict.fromkeys(target for _, target in outside_references(schema))
    if targets and error.kind.name == "$ref":
        return [
            f"$ref {target!r} is outside the schema and is not read; copy the definition into $defs"
            for target in targets
        ]
    return [f"not a usable JSON Schema: {str(error).splitlines()[0]}"]
