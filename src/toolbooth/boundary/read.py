"""Stage 1: reads bytes and returns the JSON object of arguments, or refuses the call.

Duplicate keys, bad UTF-8, NaN and too deep nesting are refused here. Duplicate keys are found even
if one of them is escaped. Numbers that a float cannot hold exactly are kept as written
(`LosslessFloat`), and `examine` converts them to the declared type. So if `examine` gets a float of
2**53 or more, a host has parsed it.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from jiter import from_json
from orjson import dumps

from toolbooth.boundary import messages
from toolbooth.boundary.fault_place import fault_place
from toolbooth.contract import DEFAULT_LIMITS, LARGE, Limits
from toolbooth.errors import Problem, ProblemCode
from toolbooth.jsonvalue import Json, is_array, is_object

_BULK = 4096
"""If there are more bytes than this, jiter's cache of strings costs more time than it saves."""

_SPACED = b'": '
_FIRST_KEY = 32
"""The first key ends within this many bytes, in almost all calls and messages."""

_TO_SIGNS = bytes.maketrans(b"0123456789.+-E", b"0000000000000e")
_EXPONENT = b"0e0"
_LONG = b"0" * 16
"""Used to find a number with an exponent, or with more digits than a float always keeps."""

_DELICATE = re.compile(rb"(?:^|[\[:,\s])-?(?:[0-9]+(?:\.[0-9]+)?[eE]|(?=[0-9.]{17})[0-9]+\.[0-9])")
"""Matches a number with an exponent, or with a point and more digits than a float keeps."""

_ROUNDED = re.compile(rb"\.(?:0*|9*)(?<=[0-9.]{16})")
"""Finds the point of a number that may become whole, infinite or zero if a float rounds it. Such a
number has at least 15 digits, counted from its beginning to the last of the zeros or nines after
the point.
"""

_POINTED = re.compile(rb"\.0+(?:[\s,\]}]|$)")
"""Matches the end of a number such as `5.0`. The pattern begins with a rare character, so searching
is quick.
"""

_WORD = re.compile(rb"NaN|-?Infinity|None|True|False|undefined|'")
"""Words and quotes of other languages that are not valid in JSON."""

_REASONS: tuple[tuple[str, ProblemCode, str], ...] = (
    ("Detected duplicate key", "duplicate-key", messages.DUPLICATE_KEY),
    ("recursion limit exceeded", "too-deep", messages.TOO_DEEP),
    ("number out of range", "lossy-number", messages.TOO_MANY_DIGITS),
)
"""Our code and message for each error of jiter. The first item is the beginning of jiter's message.
"""


@contextmanager
def paused_collector() -> Generator[None]:
    """Pause Python's garbage collector. While a large call is parsed, the collector would visit all
    its values many times, which takes longer than parsing. Parsed JSON needs no collector, because
    it contains no cycles.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Unreadable(Exception):
    """Raised if the bytes are not one JSON value, or exceed a limit."""

    def __init__(self, code: ProblemCode, message: str) -> None:
        self.problem = Problem(code=code, path=(), message=message)
        super().__init__(message)


Reading = tuple[Any, bool | None, bytes]
"""One JSON value as sent, a flag that is true if some numbers are kept as written, and the bytes
that were read. The flag is None if no number has lost a digit, but large floats were not looked
for.
"""

NOTHING: Reading = ({}, False, b"")


def read_json(
    body: bytes,
    limits: Limits,
    *,
    exact: bool = True,
    from_floats: bool = False,
    may_wait: bool = False,
) -> Reading:
    """Read one JSON value.

    A number that may lose digits as a float is kept as written. With `exact`, this applies to all
    such numbers, otherwise only to those that may be integers. `from_floats` is true if a host has
    parsed the JSON, and the bytes were written from the parsed values. Then the original digits are
    not known. With `may_wait`, large floats are not looked for; the caller does that later, with
    `settled`.

    Raises:
        Unreadable: if the bytes are not JSON, or exceed a limit.
    """
    lowered = limits.lowered
    # jiter itself enforces 200 levels and 4,300 digits. So a small body is only measured if the
    # author has set lower limits.
    if len(body) > LARGE or lowered:
        if len(body) > limits.max_bytes:
            raise Unreadable("too-large", messages.too_large(len(body), limits.max_bytes))
        if len(body) > LARGE and gc.isenabled():
            with paused_collector():
                return read_json(
                    body, limits, exact=exact, from_floats=from_floats, may_wait=may_wait
                )
    # JSON with a space after the first key was not written in the way of orjson, so skip this
    # shortcut.
    if may_wait and body.find(_SPACED, 0, _FIRST_KEY) < 0:
        # Most clients write JSON as orjson does. The same bytes prove that no key is repeated and
        # that no number has lost a digit, and are compared faster than jiter finds repeated keys.
        try:
            value = from_json(body, allow_inf_nan=False)
            if dumps(value) == body:
                if lowered:
                    _check_lowered(value, body, limits)
                return value, None, body
        # The second error is for an integer of more than 64 bits, which orjson does not write.
        except (ValueError, TypeError):
            pass
    value, delicate = _parsed(body, exact=exact, from_floats=from_floats)
    if lowered:
        _check_lowered(value, body, limits)
    return value, delicate, body


def _parsed(body: bytes, *, exact: bool, from_floats: bool) -> tuple[Any, bool]:
    """Return the value, and True if some of its numbers are kept as written. Raises Unreadable."""
    # A cheap check, which is enough for almost every call. All digits are replaced by the same
    # sign, so one search finds any long number.
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
    return value, delicate


def settled(reading: Reading, limits: Limits, *, exact: bool) -> Reading:
    """Return the same value with its large floats as written. The declared type may be an integer,
    and a float of 2**53 or more would become a wrong integer.
    """
    value, delicate, body = reading
    if delicate is not None:
        return reading
    signs = body.translate(_TO_SIGNS)
    if not _is_delicate(body, signs, exact=exact):
        return value, False, body
    # The bytes may be a whole message, of which the value is a part.
    return read_json(dumps(value), limits, exact=exact)


def read_as_written(body: bytes) -> Any:
    """Read JSON again, and keep every number with a point or an exponent as written."""
    return from_json(body, float_mode="lossless-float")


def text_as_json(value: Any, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Return the object or array that a JSON text contains. The text may be encoded twice. Return
    any other value unchanged.
    """
    found = value
    while isinstance(found, str):
        # Prose is not parsed: that would fail, and an exception costs far more than this check.
        if found.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            found = read_json(found.encode(), limits)[0]
        # A host's parser may accept half a surrogate pair, which cannot be encoded.
        except (Unreadable, UnicodeEncodeError):
            return value
    return found


def text_as_object(value: Any, limits: Limits) -> Json | None:
    """Return a value as an object. JSON text is parsed. Return None if the value is not an
    object.
    """
    if isinstance(value, str) and value.lstrip()[:1] not in ("{", '"'):  # not an array either
        return None
    found = text_as_json(value, limits)
    return found if is_object(found) else None


_MOST_DIGITS = 4_300
"""Python's own limit for the digits of an integer. It also applies to the lenient parser."""


def read_leniently(body: bytes) -> Any:
    """Parse a message even if it is not strictly valid, only to find the id for the answer.

    Return None if this fails too. Never act on the result.
    """
    try:
        return json.loads(body.decode(errors="replace"), parse_int=_short_integer)
    except (ValueError, RecursionError):
        return None


def _short_integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def has_pointed_integers(body: bytes) -> bool:
    """Return True if an integer may be written as 5.0. Text in quotes, such as a version number, is
    ignored.
    """
    return body.find(b".0") >= 0 and _POINTED.search(body) is not None


def _check_lowered(value: Any, body: bytes, limits: Limits) -> None:
    """Check the limits that are lower than those of jiter."""
    # Each level needs at least two bytes for its brackets. So the depth of most bodies need not be
    # measured.
    if len(body) > 2 * limits.max_depth and _depth(value) > limits.max_depth:
        raise Unreadable("too-deep", messages.deeper_than(limits.max_depth))
    if len(body) > limits.max_digits and _longest_number(body) > limits.max_digits:
        raise Unreadable("lossy-number", messages.more_digits_than(limits.max_digits))
    check_values(value, body, limits)


def check_values(value: Any, body: bytes, limits: Limits) -> None:
    """Raise Unreadable if `body` contains more values than the limit."""
    most = limits.max_values
    # A value and the sign before it have at least two bytes. The cheapest check comes first: the
    # length, then the separators, then every value.
    if len(body) > 2 * most and _may_have_more(body, most) and _has_more(value, most):
        raise Unreadable("too-complex", messages.too_many_values(most))


def too_many_values(limits: Limits) -> Problem:
    """Return the problem for a call with more values than the limit. Values inside JSON text are
    counted too.
    """
    message = messages.too_many_values(limits.max_values)
    return Problem(code="too-complex", path=(), message=message)


def _may_have_more(body: bytes, most: int) -> bool:
    """Return False if the body has too few separators to contain more values than the limit."""
    return sum(map(body.count, (b",", b"[", b"{"))) >= most


def _has_more(value: Any, most: int) -> bool:
    return count_values(value, most) > most


def count_values(value: Any, most: int) -> int:
    """Count the values at all levels. Counting stops above `most`."""
    count, level = 0, [value]
    while level and count <= most:
        count, level = count + len(level), _inside(level)
    return count


def _inside(values: list[Any]) -> list[Any]:
    """Return the values one level deeper."""
    inner: list[Any] = []
    for each in values:
        if is_object(each):
            inner.extend(each.values())
        elif is_array(each):
            inner.extend(each)
    return inner


def _is_delicate(body: bytes, signs: bytes, *, exact: bool) -> bool:
    """Return True if a float may lose digits of some number. `signs` is the body with every digit
    replaced by the same character. It was already searched for exponents and for many digits in a
    row.
    """
    if _EXPONENT in signs and _DELICATE.search(body) is not None:
        return True
    if _LONG not in signs:
        return False
    return (_DELICATE if exact else _ROUNDED).search(body) is not None


def _unreadable(said: str, body: bytes) -> Unreadable:
    """Convert a parser's error to ours, with its path in the arguments."""
    reason, _, place = said.rpartition(" at line ")
    # jiter puts the place after the reason: `trailing comma at line 1 column 4`.
    line, column = map(int, place.split(" column "))
    path = fault_place(body, line, column)
    for start, code, message in _REASONS:
        if reason.startswith(start):
            found = messages.at_place(message, reason.removeprefix(start), path)
            # The rest of the reason is used only for a duplicate key: it is the key itself.
            return Unreadable(code, found if code == "duplicate-key" else message)
    return Unreadable("not-json", messages.not_json(reason, _word_at(body, line, column), path))


def _word_at(body: bytes, line: int, column: int) -> str:
    """Return the word at which a parser stopped, if it is one of `_WORD`. Other words are not
    returned, because they may be part of a secret.
    """
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
