"""Stage 1: bytes -> the JSON object of arguments, or a refusal. Nothing is guessed, nothing is
lost.

Duplicate keys (also via escapes), bad UTF-8, NaN and over-deep nesting end here. Numbers that a
float cannot hold exactly are kept as written (`LosslessFloat`), for `examine` to judge by the
declared type. So a float of 2**53 or more was never read here: a host has made it.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from jiter import from_json

from toolbooth.boundary import messages
from toolbooth.boundary.fault_place import fault_place
from toolbooth.contract import DEFAULT_LIMITS, LARGE, Limits
from toolbooth.errors import Problem, ProblemCode
from toolbooth.jsonvalue import Json, is_array, is_object

_BULK = 4096
"""Above this many bytes, caching every string costs more than it saves."""

_TO_SIGNS = bytes.maketrans(b"0123456789.+-E", b"0000000000000e")
_EXPONENT = b"0e0"
_LONG = b"0" * 16
"""The signs of a number with an exponent, and of one that has more digits than a float always
keeps, with or without a point.
"""

_DELICATE = re.compile(rb"(?:^|[\[:,\s])-?(?:[0-9]+(?:\.[0-9]+)?[eE]|(?=[0-9.]{17})[0-9]+\.[0-9])")
"""A number with an exponent, or with more digits and a point than a float keeps."""

_ROUNDED = re.compile(rb"\.(?:0*|9*)(?<=[0-9.]{16})")
"""The point of a number that may be whole, infinite or zero only because a float rounds it: such a
number has 15 digits up to the end of the zeros or nines behind its point.
"""

_POINTED = re.compile(rb"\.0+(?:[\s,\]}]|$)")
"""The end of a whole number with a point. It begins with a rare character, so a search is quick."""

_WORD = re.compile(rb"NaN|-?Infinity|None|True|False|undefined|'")
"""Words of other languages that JSON does not have."""

_REASONS: tuple[tuple[str, ProblemCode, str], ...] = (
    ("Detected duplicate key", "duplicate-key", messages.DUPLICATE_KEY),
    ("recursion limit exceeded", "too-deep", messages.TOO_DEEP),
    ("number out of range", "lossy-number", messages.TOO_MANY_DIGITS),
)
"""The beginnings of jiter's errors, each with our code and message."""


@contextmanager
def paused_collector() -> Generator[None]:
    """Pause Python's cycle collector. While the values of a large call are made, it would look at
    all of them again and again, which takes longer than reading them. JSON has no cycles.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Unreadable(Exception):
    """The bytes are not one JSON value, or one that the law refuses."""

    def __init__(self, code: ProblemCode, message: str) -> None:
        self.problem = Problem(code=code, path=(), message=message)
        super().__init__(message)


Reading = tuple[Any, bool, bytes]
"""One JSON value as sent; whether it holds numbers kept as written; the bytes it was read from."""

NOTHING: Reading = ({}, False, b"")


def read_json(
    body: bytes, limits: Limits, *, exact: bool = True, from_floats: bool = False
) -> Reading:
    """Read one JSON value. Numbers that may lose digits as floats are kept as written: all of them
    if it is `exact`, else only those that may be integers.

    `from_floats`: the JSON was written from values that a host has read. Their original digits are
    not known.

    Raises:
        Unreadable: if the bytes are not JSON, or exceed a limit.
    """
    lowered = limits.lowered
    # The reader's own limits (200 levels, 4,300 digits) need no check of ours, so a small body is
    # only measured if the author has set lower ones.
    if len(body) > LARGE or lowered:
        if len(body) > limits.max_bytes:
            raise Unreadable("too-large", messages.too_large(len(body), limits.max_bytes))
        if len(body) > LARGE and gc.isenabled():
            with paused_collector():
                return read_json(body, limits, exact=exact, from_floats=from_floats)
    # A cheap look, which is enough for almost every call.
    # All digits look alike in these signs, so one search finds any long number.
    signs = body.translate(_TO_SIGNS)
    delicate = signs.find(_EXPONENT) >= 0 or signs.find(_LONG) >= 0
    if delicate:
        delicate = _is_delicate(body, signs, exact=exact)
    try:
        # `LosslessFloat` makes an object of every number, so it is only used for a body that needs
        # it.
        if delicate and not from_floats:
            value = from_json(
                body, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="lossless-float"
            )
        elif len(body) > _BULK:
            value = from_json(
                body, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys"
            )
        else:
            value = from_json(body, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise _unreadable(str(error), body) from None
    if lowered:
        _check_lowered(value, body, limits)
    return value, delicate, body


def read_as_written(body: bytes) -> Any:
    """JSON that was read before, with every number that has a point or an exponent as written."""
    return from_json(body, float_mode="lossless-float")


def text_as_json(value: Any, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The object or array that JSON text holds, also text of text; the value itself if it is not
    such text.
    """
    found = value
    while isinstance(found, str):
        # Prose is not read: it would fail, and an error costs far more than this look.
        if found.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            found = read_json(found.encode(), limits)[0]
        # A host's parser may let half a surrogate pair through, which cannot be encoded.
        except (Unreadable, UnicodeEncodeError):
            return value
    return found


def text_as_object(value: Any, limits: Limits) -> Json | None:
    """The object that a value is, or that it holds as JSON text; None if neither."""
    if isinstance(value, str) and value.lstrip()[:1] not in ("{", '"'):  # not even an array
        return None
    found = text_as_json(value, limits)
    return found if is_object(found) else None


_MOST_DIGITS = 4_300
"""Longer integers are not read by a forgiving parser, either: Python's own limit."""


def read_leniently(body: bytes) -> Any:
    """A message as a forgiving parser sees it: good enough to know whom to answer, never to act on.

    None if even that cannot read it.
    """
    try:
        return json.loads(body.decode(errors="replace"), parse_int=_short_integer)
    except (ValueError, RecursionError):
        return None


def _short_integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def has_pointed_integers(body: bytes) -> bool:
    """Whether an integer may be written as 5.0. A version in quotes is none."""
    return body.find(b".0") >= 0 and _POINTED.search(body) is not None


def _check_lowered(value: Any, body: bytes, limits: Limits) -> None:
    """Check limits that are lower than the reader's own."""
    # A level has two bytes at least, its brackets. So most bodies need no look at their values.
    if len(body) > 2 * limits.max_depth and _depth(value) > limits.max_depth:
        raise Unreadable("too-deep", messages.deeper_than(limits.max_depth))
    if len(body) > limits.max_digits and _longest_number(body) > limits.max_digits:
        raise Unreadable("lossy-number", messages.more_digits_than(limits.max_digits))
    check_values(value, body, limits)


def check_values(value: Any, body: bytes, limits: Limits) -> None:
    """Raise Unreadable if the value read from `body` has more values than the limit."""
    most = limits.max_values
    # A value has two bytes at least, with the sign before it.
    # The cheapest look first: the length, then the separators, and only then every value.
    if len(body) > 2 * most and _may_have_more(body, most) and _has_more(value, most):
        raise Unreadable("too-complex", messages.too_many_values(most))


def too_many_values(limits: Limits) -> Problem:
    """A call that has more values than the limit, those in JSON text included."""
    message = messages.too_many_values(limits.max_values)
    return Problem(code="too-complex", path=(), message=message)


def _may_have_more(body: bytes, most: int) -> bool:
    """A cheap look: each value but the first comes after one of these signs, or it is in text."""
    return sum(map(body.count, (b",", b"[", b"{"))) >= most


def _has_more(value: Any, most: int) -> bool:
    return count_values(value, most) > most


def count_values(value: Any, most: int) -> int:
    """How many values there are at all levels. Past the most, it is not counted further."""
    count, level = 0, [value]
    while level and count <= most:
        count, level = count + len(level), _inside(level)
    return count


def _inside(values: list[Any]) -> list[Any]:
    """The values one level further down."""
    inner: list[Any] = []
    for each in values:
        if is_object(each):
            inner.extend(each.values())
        elif is_array(each):
            inner.extend(each)
    return inner


def _is_delicate(body: bytes, signs: bytes, *, exact: bool) -> bool:
    """Whether some number may not survive as a float. `signs` shows that one may have an exponent,
    or many digits.
    """
    if _EXPONENT in signs and _DELICATE.search(body) is not None:
        return True
    if _LONG not in signs:
        return False
    return (_DELICATE if exact else _ROUNDED).search(body) is not None


def _unreadable(said: str, body: bytes) -> Unreadable:
    """Return our error for a parser's error, with its place in the arguments."""
    reason, _, place = said.rpartition(" at line ")
    # jiter puts the place behind its reason: `trailing comma at line 1 column 4`.
    line, column = map(int, place.split(" column "))
    path = fault_place(body, line, column)
    for start, code, message in _REASONS:
        if reason.startswith(start):
            found = messages.at_place(message, reason.removeprefix(start), path)
            # Only for a duplicate key does the rest of the reason name something: the key itself.
            return Unreadable(code, found if code == "duplicate-key" else message)
    return Unreadable("not-json", messages.not_json(reason, _word_at(body, line, column), path))


def _word_at(body: bytes, line: int, column: int) -> str:
    """The word at which a parser stopped, if it is known: others may be part of a secret."""
    rest = body.split(b"\n", line)[line - 1][max(0, column - 1) :]
    found = _WORD.match(rest)
    return found.group().decode() if found else ""


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth, level = depth + 1, _inside(level)
    return depth - 1


def _longest_number(body: bytes) -> int:
    return max((len(found) for found in re.findall(rb"(?:^|[\[:,\s])-?([0-9]+)", body)), default=0)
