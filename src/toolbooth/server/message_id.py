"""The ids at the top level of a message that may be no JSON at all.

Whoever sent a message that is refused must learn which one it was. So this reads messages that no
parser does: nested too deep, broken off, with a key twice, with anything after them. It does so
without a loop over their bytes: the most hostile message of 4 MB takes about a second.
"""

from __future__ import annotations

import re
from itertools import accumulate

# Nothing is repeated with backtracking, and a string without an end goes to the end of the message:
# the time for a message grows with its length only.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_UNENDED = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+\\?\Z'
_NUMBER = rb"-?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+(?![\w.+-])"
_KEY = rb'"(?:i|\\u0069)(?:d|\\u0064)"\s*+:'
_ID = _KEY + rb"\s*+(?:" + _STRING + rb"|" + _NUMBER + rb"|)"
_OTHERS = rb"(?:(?!" + _KEY + rb")" + _STRING + rb'[^"\[\]{}]*+)++'

_STRINGS = re.compile(rb"(?s)(" + _ID + rb")|" + _OTHERS + rb"|" + _UNENDED)
"""The key `id` with its value, or other strings with what is between them."""

_IDS = re.compile(rb"(?s)" + _ID)
_MARK = b"\0"
_NOT_COUNTED = bytes(each for each in range(256) if each not in b"\0[]{}")
_STEPS = [0] * 256
_STEPS[ord("[")] = _STEPS[ord("{")] = 1
_STEPS[ord("]")] = _STEPS[ord("}")] = -1


_LAST_MEMBERS = re.compile(
    rb"(?s)" + _KEY + rb"\s*+(" + _STRING + rb"|" + _NUMBER + rb")\s*+"
    rb"(?:,\s*+" + _STRING + rb"\s*+:\s*+(?:" + _STRING + rb"|[\w.+-]++)\s*+)*+\}\s*+\Z"
)


def ids_at_ends(head: bytes, tail: bytes) -> list[bytes]:
    """The same for a message of which only the beginning and the end are kept."""
    last = _LAST_MEMBERS.search(tail)
    return [*top_level_ids(head), *([last[1]] if last else [])]


def top_level_ids(body: bytes) -> list[bytes]:
    """The value of each key `id` at the top level of a message, as it is written there. It is empty
    if it is neither text nor a number.
    """
    first = re.search(rb'[\[{}\]"]', body)
    if first is None or first[0] != b"{":
        return []
    bare = _STRINGS.sub(lambda found: found[1] or b"", body.replace(_MARK, b""))
    # Only the brackets, and a mark for each `id`, in their order.
    places = _IDS.sub(_MARK, bare).translate(None, _NOT_COUNTED)
    depths = list(accumulate(map(_STEPS.__getitem__, places)))
    end = depths.index(0) if 0 in depths else len(depths)  # what comes after it is not the message
    marks = (mark.start() for mark in re.finditer(_MARK, places[:end]))
    at_top = [index for index, place in enumerate(marks) if depths[place] == 1]
    if not at_top:
        return []
    wanted = set(at_top)
    found = (each[0] for index, each in enumerate(_IDS.finditer(bare)) if index in wanted)
    return [each.partition(b":")[2].strip() for each in found]
