"""Judges the effect of a conversion on a schema by the values that the schema admits.

raises   the converter raised.
loses    it made a schema that admits a value that the published one excludes.
rejects  it made a schema that excludes a right call, or the call did not arrive as it was sent.

If none of them applies, the schema counts as unchanged, even if its text differs. `format` does not
count as a constraint, as in JSON Schema itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jsonschema_rs
from witnesses import near

Outcome = Literal["raises", "loses", "rejects"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A schema as published, with calls that it admits and calls that it excludes."""

    schema: dict[str, Any]
    right: Sequence[Any]
    """Right calls that the schema admits."""
    excluded: Sequence[Any]
    """Values that the schema excludes."""


def published(schema: dict[str, Any], valid: Sequence[Any], invalid: Sequence[Any]) -> Published:
    admits = jsonschema_rs.validator_for(schema).is_valid
    excluded = [value for value in (*invalid, *near(valid)) if not admits(value)]
    return Published(
        schema=schema, right=[call for call in valid if admits(call)], excluded=excluded
    )


def judge(before: Published, came: dict[str, Any]) -> dict[Outcome, Any]:
    """The outcomes of a conversion, each with the error or the value that shows it. `came` is a
    result of converters/loop.py.
    """
    if "raises" in came:
        return {"raises": came["raises"]}
    if isinstance(came["made"], list):  # the arguments of the calls that arrived
        return (
            {}
            if json.dumps(came["made"]) == json.dumps(before.right)
            else {"rejects": came["made"]}
        )
    admits = jsonschema_rs.validator_for(came["made"]).is_valid
    lost = [value for value in before.excluded if admits(value)]
    rejected = [call for call in before.right if not admits(call)]
    shown: dict[Outcome, list[Any]] = {"loses": lost, "rejects": rejected}
    return {outcome: values[0] for outcome, values in shown.items() if values}
