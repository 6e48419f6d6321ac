"""Handles fields that the author declares as JSON text (`Json[T]`). Pydantic parses the text.
Before that, the text is checked as strictly as the call itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from operator import is_
from typing import Any

from jiter import LosslessFloat, from_json
from pydantic_core import PydanticCustomError, core_schema

from toolbooth.compile.pydantic.core_schema import AS_SENT, CoreNode, below, each_child
from toolbooth.compile.pydantic.numbers import DIGITS, as_float, placeholders
from toolbooth.jsonvalue import exact_decimal, is_array, is_object

_Check = Callable[[LosslessFloat], Any]

_INEXACT = 2**53
"""From this number on, two different integers may become the same float."""

_MOST_NODES = 2_000
"""The definitions are copied into a node only if the result has at most this many nodes."""


def checked_text(node: CoreNode, exact: CoreNode) -> CoreNode:
    """Return a node for JSON text. The node refuses duplicate keys, and numbers that Pydantic would
    change.

    `exact` is the same node for a text with placeholders. It is used if the text may contain a
    Decimal, and a number in it has more digits than a float can hold.
    """
    has_decimals = _may_hold(node, "decimal")
    read: Callable[[Any], Any] = _read_exact
    # Behind a reference, a placeholder would not be replaced.
    if _may_hold(node, "definition-ref") or not has_decimals:
        whole = _may_hold(node, "int", "definition-ref")
        read = partial(_read_text, partial(_checked_number, whole=whole, exact=has_decimals))

    def branch(value: Any) -> str:
        try:
            text = read(value)
        # This function only chooses the branch. The branch reads the text again and raises the
        # error, because Pydantic would not report the right place for an error from here.
        except PydanticCustomError:
            return "<unreadable>"
        if text is value:
            return AS_SENT
        # `_read_exact` returns a pair if a number needs a placeholder.
        return "<rewritten>" if isinstance(text, str) else "<digits>"

    function = {"type": "no-info", "function": read}
    with_digits = {"type": "no-info", "function": _put_in_digits}
    choices = {
        AS_SENT: node,  # not in a function, which would change its rank in a union
        "<rewritten>": {"type": "function-before", "function": function, "schema": node},
        "<digits>": {"type": "function-wrap", "function": with_digits, "schema": exact},
        "<unreadable>": core_schema.no_info_plain_validator_function(read),
    }
    return {"type": "tagged-union", "discriminator": branch, "choices": choices}


def in_place(node: CoreNode, definitions: Mapping[str, CoreNode]) -> CoreNode:
    """Return a node for JSON text with its definitions copied into it. The copies are needed
    because numbers inside JSON text are validated differently. If there are too many definitions,
    return the node unchanged. A definition that contains itself is not copied.
    """
    try:
        return _in_place(node, definitions, iter(range(_MOST_NODES)), frozenset())
    except StopIteration:
        return node


def _in_place(
    node: CoreNode,
    definitions: Mapping[str, CoreNode],
    budget: Iterator[int],
    around: frozenset[str],
) -> CoreNode:
    next(budget)
    if node["type"] == "definition-ref" and node["schema_ref"] not in around:
        ref = node["schema_ref"]
        return _in_place(definitions[ref], definitions, budget, around | {ref})
    made = each_child(node, lambda child: _in_place(child, definitions, budget, around))
    # The node may be used at several places, and a name must not be defined twice.
    made.pop("ref", None)
    return made


def _may_hold(node: CoreNode, *kinds: str) -> bool:
    """Return True if the declared type inside the text contains one of these kinds of nodes."""
    return node["type"] in kinds or any(_may_hold(each, *kinds) for each in below(node))


def _put_in_digits(value: Any, handler: Callable[[Any], Any]) -> Any:
    """Validate a text in which placeholders stand for the numbers that a float would change."""
    text, digits = _read_exact(value)
    # A context variable is used because one validator may handle several calls at the same time.
    token = DIGITS.set(digits)
    try:
        return handler(text)
    finally:
        DIGITS.reset(token)


def _read_exact(value: Any) -> Any:
    """Return the text with placeholders, and the digits that belong to the placeholders. If no
    placeholders are needed, return the text itself. Raises PydanticCustomError.
    """
    found = _parsed(value)
    plain, digits = placeholders(_with_decimals(found))
    if not any(isinstance(each, Decimal) for each in digits.values()):
        return value
    return json.dumps(plain), digits


def _with_decimals(value: Any) -> Any:
    """Return the value with Decimals in place of the numbers that a float would change."""
    if is_object(value):
        return {key: _with_decimals(each) for key, each in value.items()}
    if is_array(value):
        return [_with_decimals(each) for each in value]
    if not isinstance(value, LosslessFloat):
        return value
    exact, number = _exact_number(value)
    return number if _is_kept(exact, number) else exact


def _read_text(check: _Check, value: Any) -> Any:
    """Return the text that Pydantic should parse. Raises PydanticCustomError if the text is
    refused.
    """
    found = _parsed(value)
    checked = _checked(check, found)
    # The remaining numbers keep all digits as floats. The others were replaced or refused.
    return value if checked is found else json.dumps(checked, default=float)


def _parsed(value: Any) -> Any:
    """Return the parsed text. Numbers keep all their digits. Raises PydanticCustomError if the text
    is not JSON.
    """
    if not isinstance(value, str | bytes):
        raise PydanticCustomError("json_type", "must be JSON text")
    body = value.encode() if isinstance(value, str) else value
    try:
        return from_json(
            body, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="lossless-float"
        )
    except ValueError as error:
        # jiter has one exception for every fault. Only its text shows which fault it is.
        kind = "duplicate_key" if "duplicate key" in str(error) else "json_invalid"
        raise PydanticCustomError(
            kind, "must be valid JSON: {reason}", {"reason": str(error)}
        ) from None


def _checked(check: _Check, value: Any) -> Any:
    """Check the numbers in a value and return the value. If no number changes, return the same
    object.
    """
    if is_object(value):
        made = {key: _checked(check, each) for key, each in value.items()}
        is_same = all(map(is_, made.values(), value.values()))
        return value if is_same else made
    if is_array(value):
        items = [_checked(check, each) for each in value]
        return value if all(map(is_, items, value)) else items
    return check(value) if isinstance(value, LosslessFloat) else value


def _checked_number(literal: LosslessFloat, *, whole: bool, exact: bool) -> Any:
    """Return the number unchanged, or as an integer if it would lose digits as a float.

    `whole` is true if the text may contain integers. Pydantic would convert 12345678901234567890.0
    to a float, so it is written without the point. `exact` is true if the text may contain
    Decimals.
    """
    digits, number = _exact_number(literal)
    is_integer = whole and number.is_integer() and not _is_kept(digits, number)
    if is_integer and digits == digits.to_integral_value():
        return int(digits)
    if is_integer or (exact and Decimal(repr(number)) != digits):
        raise PydanticCustomError("lossy_number", "holds a number with too many digits")
    return literal


def _is_kept(digits: Decimal, number: float) -> bool:
    """Return True if a number keeps all its digits, both as a float and when that float is
    converted to an integer.
    """
    return Decimal(repr(number)) == digits and abs(number) < _INEXACT


def _exact_number(literal: LosslessFloat) -> tuple[Decimal, float]:
    exact = exact_decimal(literal)
    if exact is None:
        raise PydanticCustomError("lossy_number", "holds a number too large or too small to hold")
    return exact, as_float(exact)
