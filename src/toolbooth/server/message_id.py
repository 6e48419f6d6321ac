"""Finds the ids at the top level of a message. The message may not be valid JSON.

If a message is refused, its sender must learn which message it was. So this module also reads
messages that parsers refuse: messages that are nested too deep, cut off, have a repeated key, or
have other bytes after them. There is no Python loop over the bytes. The most hostile message of 4
MB takes half a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, islice

# The expressions do not backtrack, and a string without an end continues to the end of the message.
# So the time is linear in the length of the message.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_UNENDED = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+\\?\Z'
_NUMBER = rb"-?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+(?![\w.+-])"
_KEY = rb'"(?:i|\\u0069)(?:d|\\u0064)"\s*+:'
_ID = _KEY + rb"\s*+(?:" + _STRING + rb"|" + _NUMBER + rb"|)"
_OTHERS = rb"(?:(?!" + _KEY + rb")" + _STRING + rb'[^"\[\]{}]*+)++'

_STRINGS = re.compile(rb"(?s)(" + _ID + rb")|" + _OTHERS + rb"|" + _UNENDED)
"""Matches the key `id` together with its value. Any other strings are matched together with the
text between them.
"""

_MARK = b"\0"
_MARKS = (_MARK, b"")
"""What replaces an id, and what replaces other strings."""

_NOT_COUNTED = bytes(each for each in range(256) if each not in b"\0[]{}")
_STEPS = [0] * 256
_STEPS[ord("[")] = _STEPS[ord("{")] = 1
_STEPS[ord("]")] = _STEPS[ord("}")] = -1


_LAST_MEMBERS = re.compile(
    rb"(?s)" + _KEY + rb"\s*+(" + _STRING + rb"|" + _NUMBER + rb")\s*+"
    rb"(?:,\s*+" + _STRING + rb"\s*+:\s*+(?:" + _STRING + rb"|[\w.+-]++)\s*+)*+\}\s*+\Z"
)


def ids_at_ends(head: bytes, tail: bytes) -> list[bytes]:
    """Return what `top_level_ids` returns, for a message of which only the beginning and the end
    are known.
    """
    last = _LAST_MEMBERS.search(tail)
    return [*top_level_ids(head), *([last[1]] if last else [])]


def top_level_ids(body: bytes) -> list[bytes]:
    """Return the values of the key `id` at the top level of a message, as they are written there.
    At most two values are returned, because a message with two ids has no usable id. If a value is
    neither text nor a number, empty text is returned for it.
    """
    first = re.search(rb'[\[{}\]"]', body)
    if first is None or first[0] != b"{":
        return []
    # The list alternates between text outside of strings and strings. A string is `id`, or None for
    # any other string. Below, a NUL replaces each `id`, so NULs in the message are removed first.
    pieces = _STRINGS.split(body.replace(_MARK, b""))
    strings = pieces[1::2]
    ids = list(filter(None, strings))
    if not ids:
        return []
    pieces[1::2] = [_MARKS[each is None] for each in strings]
    at_top = islice(_at_top(b"".join(pieces)), 2)
    return [ids[index].partition(b":")[2].strip() for index in at_top]


def _at_top(marked: bytes) -> Iterator[int]:
    """Yield the numbers of those marks that are at the top level of the first object. The first
    mark has the number 0.
    """
    # Only the brackets and the marks remain, in their order.
    places = marked.translate(None, _NOT_COUNTED)
    # Brackets after the last mark do not affect the level of any mark.
    places = places[: places.rindex(_MARK) + 1]
    depths = list(accumulate(map(_STEPS.__getitem__, places)))
    end = depths.index(0) if 0 in depths else len(depths)  # the message ends here
    marks = (mark.start() for mark in re.finditer(_MARK, places[:end]))
    return (index for index, place in enumerate(marks) if depths[place] == 1)
