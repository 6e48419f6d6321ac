"""JSON text that an author declares (`Json[T]`): Pydantic reads it, after it was checked as
strictly as the call itself.
"""

from __future__ import annotations

import json
from operator import is_
from typing import Any

from jiter import LosslessFloat, from_json
from pydantic_core import PydanticCustomError, core_schema

from toolbooth.compile.pydantic.core_schema import AS_SENT, CoreNode, below
from toolbooth.compile.pydantic.numbers import as_float
from toolbooth.jsonvalue import exact_decimal, is_array, is_object


def checked_text(node: CoreNode) -> CoreNode:
    """A node for JSON text that refuses duplicate keys and numbers that Pydantic would change."""
    whole = _may_hold_integers(node)

    def read(value: Any) -> Any:
        return _read_text(value, whole=whole)

    def branch(value: Any) -> str:
        try:
            text = read(value)
        except PydanticCustomError:
            return "<unreadable>"
        return AS_SENT if text is value else "<rewritten>"

    function = {"type": "no-info", "function": read}
    choices = {
        AS_SENT: node,  # by itself: in a union, a function would change its rank
        "<rewritten>": {"type": "function-before", "function": function, "schema": node},
        "<unreadable>": core_schema.no_info_plain_validator_function(read),
    }
    return {"type": "tagged-union", "discriminator": branch, "choices": choices}


def _may_hold_integers(node: CoreNode) -> bool:
    """Whether an integer is declared in the text, or may be behind a reference."""
    return node["type"] in ("int", "definition-ref") or any(map(_may_hold_integers, below(node)))


def _read_text(value: Any, *, whole: bool) -> Any:
    """The text for Pydantic to read. Raises PydanticCustomError if it cannot be taken as it stands.

    `whole`: integers may be declared in it. Pydantic would make a float of 12345678901234567890.0,
    so it is written without the point.
    """
    if not isinstance(value, str | bytes):
        raise PydanticCustomError("json_type", "must be JSON text")
    body = value.encode() if isinstance(value, str) else value
    try:
        found = from_json(
            body, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="lossless-float"
        )
    except ValueError as error:
        kind = "duplicate_key" if "duplicate key" in str(error) else "json_invalid"
        raise PydanticCustomError(
            kind, "must be valid JSON: {reason}", {"reason": str(error)}
        ) from None
    checked = _checked(found, whole=whole)
    return value if checked is found else json.dumps(checked, default=float)


def _checked(value: Any, *, whole: bool) -> Any:
    """The value with integers for floats that would lose digits; the value itself if there is no
    such float.
    """
    if is_object(value):
        made = {key: _checked(each, whole=whole) for key, each in value.items()}
        is_same = all(map(is_, made.values(), value.values()))
        return value if is_same else made
    if is_array(value):
        items = [_checked(each, whole=whole) for each in value]
        return value if all(map(is_, items, value)) else items
    return _checked_number(value, whole=whole) if isinstance(value, LosslessFloat) else value


def _checked_number(literal: LosslessFloat, *, whole: bool) -> Any:
    exact = exact_decimal(literal)
    if exact is None:
        raise PydanticCustomError("lossy_number", "holds a number too large or too small to hold")
    number = as_float(exact)
    is_small = number == exact and abs(number) < 2**53
    if is_small or not whole or not number.is_integer():
        return literal
    if exact != exact.to_integral_value():
        raise PydanticCustomError("lossy_number", "holds a number with too many digits")
    return int(exact)
