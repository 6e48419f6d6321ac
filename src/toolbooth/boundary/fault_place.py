"""Finds the path at which the JSON of a call is broken."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from toolbooth.jsonvalue import JsonPath

# A string is one token, so a bracket inside it does not open a level. Numbers and words are not
# tokens, because they do not change the path.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)

_MOST_READ = 100_000
"""At most this many bytes are read. If the JSON is broken further on, no path is found."""

_ARGUMENTS = ("params", "arguments")
"""The path of the arguments in a message of the protocol."""


@dataclass(slots=True)
class _Level:
    """One object or array whose end has not been read yet."""

    is_array: bool
    key: str = ""
    index: int = 0

    @property
    def step(self) -> str | int:
        return self.index if self.is_array else self.key


def fault_place(body: bytes, line: int, column: int) -> JsonPath | None:
    """Return the path at a line and column of JSON text. If the text is a whole message, the path
    starts inside its `arguments`. Return None if the position is too far from the start.
    """
    # jiter counts columns in bytes, so the body is never decoded here. Bytes that are not UTF-8 are
    # one of the faults that must be placed.
    starts = [0, *(found.end() for found in re.finditer(rb"\n", body[:_MOST_READ]))]
    end = starts[line - 1] + column - 1 if line <= len(starts) else _MOST_READ
    if end >= _MOST_READ:
        return None
    path = _path_before(body[: max(0, end)])
    # The agent wrote only the arguments, and does not know the outer levels in
    # `$.params.arguments.city`.
    return path[2:] if path[:2] == _ARGUMENTS else path


def _path_before(read: bytes) -> JsonPath:
    """Return the path of the value at which reading stopped."""
    levels: list[_Level] = []
    last = b""
    for found in _TOKEN.finditer(read):
        token = found.group()
        if token in b"{[":
            levels.append(_Level(token == b"["))
        elif token in b"}]":
            del levels[-1:]
        elif levels:
            _step(levels[-1], token, last)
        last = token
    # An object adds no step before its first key was read. In `{"a": {'b': 1}}` the parser stops at
    # the single quote, and the path is `$.a`.
    return tuple(level.step for level in levels if level.is_array or level.key)


def _step(level: _Level, token: bytes, last: bytes) -> None:
    if token == b",":
        level.index += 1
        # The next key is not known yet: `{"a": 1, b: 2}` is wrong at the object itself, not at
        # `$.a`.
        level.key = ""
    elif token == b":" and last[:1] == b'"':
        level.key = str(json.loads(last))  # the parser has read this key
