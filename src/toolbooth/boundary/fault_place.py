"""Where JSON cannot be read: the path at which a parser stopped."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from toolbooth.jsonvalue import JsonPath

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)

_MOST_READ = 100_000
"""Bytes that are looked at: a place further on is not searched for."""

_ARGUMENTS = ("params", "arguments")
"""Where a message has the arguments of a call."""


@dataclass(slots=True)
class _Level:
    """One object or array that is not closed yet."""

    is_array: bool
    key: str = ""
    index: int = 0

    @property
    def step(self) -> str | int:
        return self.index if self.is_array else self.key


def fault_place(body: bytes, line: int, column: int) -> JsonPath | None:
    """The path at a line and column of JSON text; inside `arguments`, if the text is a message with
    arguments. None if it is too far on.
    """
    starts = [0, *(found.end() for found in re.finditer(rb"\n", body[:_MOST_READ]))]
    end = starts[line - 1] + column - 1 if line <= len(starts) else _MOST_READ
    if end >= _MOST_READ:
        return None
    path = _path_before(body[: max(0, end)])
    return path[2:] if path[:2] == _ARGUMENTS else path


def _path_before(read: bytes) -> JsonPath:
    """The path of the value at the end of what was read."""
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
    return tuple(level.step for level in levels if level.is_array or level.key)


def _step(level: _Level, token: bytes, last: bytes) -> None:
    if token == b",":
        level.index += 1
        level.key = ""
    elif token == b":" and last[:1] == b'"':
        level.key = str(json.loads(last))  # the parser has read this key
