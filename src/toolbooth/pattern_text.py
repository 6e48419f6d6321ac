"""Makes a short text that matches a regular expression. The text is used as an example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_QUANTIFIER = re.compile(r"[*+?]|\{(\d*)(,?)(\d*)\}")
_CLASSES = {"d": "1", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_FAVOURITES = "aA1"
"""The preferred characters of a character class."""

_LONGEST = 60


class _Unknown(Exception):
    """Raised for a part of an expression that this module does not support."""


@lru_cache(maxsize=1024)
def text_matching(pattern: str) -> str | None:
    """Return a text that matches, or None if none was found. The same pattern always returns the
    same text.
    """
    try:
        made = "".join(_Reader(pattern).alternatives())
        # The text was made without looking at `^`, `$`, `\b` and flags, so a search must confirm
        # that it matches.
        return made if len(made) <= _LONGEST and re.search(pattern, made) else None
    except (_Unknown, re.error, IndexError):
        return None


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    @property
    def rest(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def alternatives(self) -> list[str]:
        """Return texts for the first of several alternatives. The other alternatives are parsed and
        ignored.
        """
        first = list(self._sequence())
        while self.rest == "|":
            self.take()
            # This is parsed only to find the start of the next part.
            list(self._sequence())
        return first

    def _sequence(self) -> Iterator[str]:
        while self.rest not in ("", "|", ")"):
            part = self._part()
            times = self._times()
            if len(part) * times > _LONGEST:
                raise _Unknown
            yield part * times

    def _times(self) -> int:
        """Return the smallest allowed number of repetitions. Return 1 instead of 0, so that the
        example shows something.
        """
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return 1
        self.at = found.end()
        # `a+?` and `a++` take at least as many as `a+`.
        if self.rest in ("?", "+"):  # not greedy, or possessive
            self.take()
        return max(1, int(found[1] or 0))

    def _part(self) -> str:
        sign = self.take()
        if sign in "^$":
            return ""
        if sign == ".":
            return "a"
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._class()
        return self._escaped() if sign == "\\" else sign

    def _group(self) -> str:
        if self.rest == "?":
            self.take()
            named = re.compile(r"P?<[A-Za-z_]\w*>").match(self.pattern, self.at)
            # `(?:...)` and `(?P<name>...)` are ordinary groups. A lookahead `(?=...)` or an option
            # `(?i)` is not supported.
            if named is not None:
                self.at = named.end()
            elif self.take() != ":":
                raise _Unknown
        made = "".join(self.alternatives())
        self.take()
        return made

    def _escaped(self) -> str:
        sign = self.take()
        if sign in "bB":
            return ""
        # Any other letter or digit has a special meaning: `\1` is a group, `\A` the start, `\x41` a
        # code.
        if sign.isalnum() and sign not in _CLASSES:
            raise _Unknown
        return _CLASSES.get(sign, sign)

    def _class(self) -> str:
        """Return one character of a class."""
        start = self.at
        # A `]` directly after the opening bracket is a character of the class, as in `[]a]` and
        # `[^]a]`.
        self.at += self.rest == "^"
        self.at += self.rest == "]"
        while (sign := self.take()) != "]":  # raises IndexError at the end
            self.at += sign == "\\"
        # Only the end of the class is found here. `re` handles ranges, escapes and `^`.
        matches = re.compile("[" + self.pattern[start : self.at]).fullmatch
        printable = (*_FAVOURITES, *map(chr, range(32, 127)))
        return next(filter(matches, printable), "")
