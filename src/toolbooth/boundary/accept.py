"""Converts the bytes of a call to the function's values, or refuses the call. The stages are read,
examine and validate.

A correct call takes the short way: it is read once, checked once by a compiled check, and validated
once. All other calls take the long way, in which they are examined.
"""

from __future__ import annotations

import gc
from typing import Any

from toolbooth.boundary import messages
from toolbooth.boundary.advise import (
    invalid_values,
    refusal_of,
    refusal_of_examination,
    refusal_without_values,
)
from toolbooth.boundary.complexity import is_costly
from toolbooth.boundary.examine import examine
from toolbooth.boundary.integers import whole_integers
from toolbooth.boundary.read import (
    NOTHING,
    Reading,
    Unreadable,
    check_values,
    has_pointed_integers,
    paused_collector,
    read_json,
    settled,
    too_many_values,
)
from toolbooth.boundary.repairs import CLIENT_KEYS, Remark, Repair
from toolbooth.boundary.secrecy import shown_repairs
from toolbooth.boundary.swallowed import NO_TAGS, has_tags, look_for_tags
from toolbooth.boundary.validate import values_of
from toolbooth.boundary.values.blank_form import has_placeholders, placeholder_problems
from toolbooth.contract import LARGE, Contract, InvalidValues
from toolbooth.errors import ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.shape_check import fits

Accepted = tuple[Any, list[Remark]]

_LESS_THAN, _BACKSLASH = b"<\\"
r"""A tag begins with `<`, or with the escape `\u003c` for it. Bytes with neither of these contain
no tag.
"""


_MOST_REPAIRS = 20
"""A refusal reports at most this many repairs."""


def accept_bytes(contract: Contract, body: bytes, from_floats: bool = False) -> Accepted:
    """Return the function's values, the repairs and the notes. Raises ToolInputError.

    `from_floats` is true if a host has parsed the arguments, and the bytes were written from the
    parsed values.
    """
    # MCP lets a client leave `arguments` out. Empty bytes mean that, and are not an error.
    if not body:
        return accept_reading(contract, NOTHING)
    try:
        exact = contract.has_decimals
        reading = read_json(
            body, contract.limits, exact=exact, from_floats=from_floats, may_wait=not from_floats
        )
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    return accept_reading(contract, reading)


def accept_reading(contract: Contract, reading: Reading) -> Accepted:
    """Do the same as `accept_bytes`, for arguments that were read as part of a message. Raises
    ToolInputError.
    """
    value, delicate, body = reading
    # A body of 64 KiB is too short for 100,000 values, so values are counted only in larger ones.
    if len(body) > LARGE:
        _must_be_few(contract, value, body)
        if gc.isenabled():
            # The call below finds the collector disabled, so this recursion ends after one step.
            with paused_collector():
                return accept_reading(contract, reading)
    # In a large call with such unions, the validation may report a million errors.
    if contract.has_recursive_unions and (is_costly(contract, value) or len(body) > LARGE):
        return _long_way(contract, reading, None, costly=True)  # the validation comes last
    # A validation that proves the shape gives a float only to a field for floats.
    if delicate is None and not contract.validation_proves_shape:
        reading = settled(reading, contract.limits, exact=contract.has_decimals)
        value, delicate, body = reading
    has_signs = _LESS_THAN in body or _BACKSLASH in body
    # Placeholders such as `<integer>` are from the form in an earlier refusal. The short way would
    # accept one wherever text is declared.
    if has_signs and has_placeholders(body):
        return _long_way(contract, reading, None)
    # The short way. The long way starts again from the beginning.
    if type(value) is dict and not delicate:
        arguments: Json = reading[0]
        notes: list[Remark] = []
        if has_signs and contract.takes_text and has_tags(arguments):
            tags = look_for_tags(contract.shape, arguments, arguments)
            if tags.problems:
                return _long_way(contract, reading, None)
            notes += tags.notes
        if contract.validation_proves_shape:
            # The validation of this tool refuses everything that the shape refuses, so the compiled
            # check would only cost time.
            try:
                return contract.validate(arguments), notes
            except InvalidValues as error:
                return _long_way(contract, reading, error)
        # The compiled check takes 5.0 for an integer, as JSON Schema does, but the function must
        # get 5. Only the long way changes it.
        elif contract.has_integers and has_pointed_integers(body):
            pass
        # In an open contract, `{"_meta": {...}}` would fit as one more key and reach the function.
        elif (contract.closed or CLIENT_KEYS.isdisjoint(arguments)) and fits(
            contract.shape, arguments
        ):
            try:
                return values_of(contract, arguments), notes
            except InvalidValues as error:
                raise invalid_values(contract, error, arguments) from None
    return _long_way(contract, reading, None)


def _must_be_few(contract: Contract, value: Any, body: bytes) -> None:
    try:
        check_values(value, body, contract.limits)
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None


def _long_way(
    contract: Contract, reading: Reading, earlier: InvalidValues | None, *, costly: bool = False
) -> Accepted:
    """Read, examine and validate the arguments. `earlier` is the error of the author's validation,
    if the validation has already run on them. If `costly` is true, the validation runs only if
    nothing else is wrong.
    """
    repairs: list[Remark] = []
    try:
        reading = settled(reading, contract.limits, exact=contract.has_decimals)
        if type(reading[0]) is not dict:
            reading, repairs = _object_of(contract, reading)
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    value, delicate, body = reading
    thorough = delicate or bool(repairs)
    if contract.has_integers and not thorough and has_pointed_integers(body):
        value = whole_integers(contract.shape, value)
        # The earlier errors may have been about 5.0, which has become 5 since.
        earlier = earlier if value is reading[0] else None
    decoded, exam = examine(contract.shape, value, contract.limits, thorough=thorough)
    if exam.has_too_much_text:
        raise ToolInputError([too_many_values(contract.limits)], tool=contract.name)
    # A repair may have made objects out of text, which the first count did not see.
    if repairs or exam.repairs:
        costly = is_costly(contract, decoded)
    made = [*repairs, *exam.repairs]
    tags = NO_TAGS
    if _LESS_THAN in body or _BACKSLASH in body:
        tags = look_for_tags(contract.shape, value, decoded)
        if not tags.problems and has_placeholders(body):
            tags = tags._replace(problems=placeholder_problems(contract.shape, value))
        if tags.problems:
            raise _after_repairs(
                contract, refusal_without_values(contract, decoded, exam, tags), made
            ) from None
    if exam.problems:
        # An exception that is kept in a variable of this function refers to the function's frame,
        # and so to itself. Neither would be freed.
        raise _after_repairs(
            contract,
            refusal_of_examination(contract, decoded, exam)
            if costly or exam.has_stopped
            else refusal_of(contract, (value, delicate, body), decoded, exam, earlier),
            made,
        ) from None
    try:
        return values_of(contract, decoded, costly=costly), [*made, *tags.notes]
    except InvalidValues as error:
        raise _after_repairs(contract, invalid_values(contract, error, decoded), made) from None


def _after_repairs(
    contract: Contract, refusal: ToolInputError, repairs: list[Remark]
) -> ToolInputError:
    """Return the refusal of a call with the repairs that were already made."""
    if not repairs:
        return refusal
    made = [(each.code, each.path) for each in repairs[:_MOST_REPAIRS]]
    return refusal.replaced(repairs=shown_repairs(contract.shape, made))


def _object_of(contract: Contract, reading: Reading) -> tuple[Reading, list[Remark]]:
    """Return the arguments as an object. They may have been sent as null, which means that nothing
    was sent, or as JSON text (PrefectHQ/fastmcp#883, 2025-06-20).
    """
    repairs: list[Remark] = []
    # Some clients encode twice, so text of text is read as well.
    while isinstance(reading[0], str):
        reading = read_json(reading[0].encode(), contract.limits)
        repairs = [Repair(code="json-text", path=())]
    if reading[0] is None and not repairs:
        return NOTHING, repairs
    if type(reading[0]) is not dict:
        raise Unreadable("not-an-object", messages.NOT_AN_OBJECT)
    return reading, repairs
