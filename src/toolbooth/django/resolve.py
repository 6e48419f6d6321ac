"""Finds the same match for a path as Django's own `resolve()`, without trying every pattern.

Django tries the patterns of a URLconf in order. With thousands of patterns, that takes longer than
all other parts of a call. Here, a pattern is skipped if the text at the start of its regular
expression is not at the start of the path. Django's own code tries all other patterns in order.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

from django.urls import Resolver404, ResolverMatch, URLPattern, URLResolver
from django.urls.resolvers import RegexPattern, RoutePattern
from django.utils.translation import get_language, override

_LITERAL = frozenset(string.ascii_letters + string.digits + "_-/")
"""Characters that have no meaning of their own in a regular expression."""
_QUANTIFIERS = frozenset("*+?{")


def resolve(resolver: URLResolver, path: str) -> ResolverMatch:
    """Return the same match as `resolver.resolve(path)`. Raises Resolver404 as Django does."""
    if not _is_stock(resolver, URLResolver, "resolve"):
        return resolver.resolve(path)
    language = get_language()
    try:
        match: Any = _root(resolver).resolve(path)
    except Resolver404:
        return resolver.resolve(path)  # whose error names every pattern that was tried
    match.__class__ = _Match
    del match.tried
    match.toolbooth_of = (resolver, path, language)
    return match


class _Match(ResolverMatch):
    """A match that collects the tried patterns only when they are read."""

    toolbooth_of: tuple[URLResolver, str, str | None]

    # Replaces an attribute that Django sets.
    @cached_property
    def tried(self) -> Any:
        """Every pattern that was tried, as Django's debug page for a 404 shows them."""
        resolver, path, language = self.toolbooth_of
        with override(language):
            match: Any = resolver.resolve(path)
        return match.tried


class _Include:
    """Replaces Django's resolver for the patterns of one URLconf or `include()`."""

    def __init__(self, resolver: URLResolver) -> None:
        self._resolver = resolver
        self._index: _Index | None = None

    @property
    def pattern(self) -> Any:
        """The pattern of the include. Django uses it for the `route` of a match."""
        return self._resolver.pattern

    def resolve(self, path: str) -> Any:
        """Return the match for a path, made by Django's own code. Raises Resolver404."""
        patterns: Any = self._resolver.url_patterns
        if type(patterns) not in (list, tuple):
            return self._resolver.resolve(path)
        match: Any = self.pattern.match(path)
        if not match:
            raise Resolver404({"path": path})
        index = self._index
        if index is None or not index.is_of(patterns):
            index = self._index = _Index(patterns)
        narrowed: Any = _Narrowed(self._resolver, match, index.candidates(match[0]))
        return URLResolver.resolve(narrowed, path)


class _Narrowed(URLResolver):
    """Django's resolver for one path. Its own pattern has already matched the path, and it contains
    only those inner patterns that may match the remaining path.
    """

    # Does not call Django's `__init__`, which makes a context variable for each resolver.
    def __init__(self, of: Any, match: Any, candidates: list[Any]) -> None:
        self.pattern: Any = _Matched(match)
        self.url_patterns: Any = candidates
        self.default_kwargs = of.default_kwargs
        self.app_name = of.app_name
        self.namespace = of.namespace


class _Matched:
    """Replaces a pattern that has already matched, so that its converters do not run again."""

    def __init__(self, match: Any) -> None:
        self._found = match

    def match(self, _path: str) -> Any:
        """Return the match that was found before."""
        return self._found


class _Index:
    """Patterns, grouped by the text at the beginning of the paths that they match."""

    def __init__(self, patterns: Sequence[Any]) -> None:
        self._patterns = list(patterns)
        self._entries = [_entry(each) for each in patterns]
        self._by_prefix: dict[str, list[int]] = {}
        for place, each in enumerate(patterns):
            self._by_prefix.setdefault(_prefix(each), []).append(place)
        self._lengths = sorted({len(each) for each in self._by_prefix})

    def is_of(self, patterns: Sequence[Any]) -> bool:
        """Return True if the index was made from exactly these patterns. A project may add patterns
        at run time.
        """
        return self._patterns == (patterns if type(patterns) is list else list(patterns))

    def candidates(self, path: str) -> list[Any]:
        """Return the patterns that may match a path, in the order of the URLconf."""
        places: list[int] = []
        for length in self._lengths:
            if length > len(path):
                break
            places += self._by_prefix.get(path[:length], ())
        places.sort()
        return [self._entries[place] for place in places]


@lru_cache(64)
def _root(resolver: URLResolver) -> _Include:
    return _Include(resolver)


def _entry(pattern: Any) -> Any:
    return _Include(pattern) if _is_stock(pattern, URLResolver, "resolve") else pattern


def _is_stock(value: Any, of: type[Any], method: str) -> bool:
    """Return True if `value` uses Django's own method. Neither a subclass nor the object itself may
    override the method.
    """
    return type(value) is of and method not in vars(value)


def _prefix(pattern: Any) -> str:
    """Return a text with which every path that matches the pattern begins. Return an empty text if
    no such text is certain: for custom classes, for patterns that depend on the language, and for
    unusual regular expressions.
    """
    if not any(_is_stock(pattern, each, "resolve") for each in (URLPattern, URLResolver)):
        return ""
    matcher = pattern.pattern
    if _is_stock(matcher, RoutePattern, "match"):
        text = matcher._route
    elif _is_stock(matcher, RegexPattern, "match"):
        text = matcher._regex
    else:
        return ""
    if not isinstance(text, str):  # it is translated
        return ""
    try:
        regex = matcher.regex
    except Exception:  # a path that leads to it raises this error
        return ""
    return literal_start(regex)


def literal_start(regex: re.Pattern[str]) -> str:
    """Return a text with which every path that matches the regular expression begins. A longer such
    text may exist.
    """
    text = regex.pattern
    # Other flags change the meaning of `^` and of letters. With `|`, another branch may begin
    # differently.
    if regex.flags != re.UNICODE or not text.startswith("^") or "|" in text:
        return ""
    found: list[str] = []
    place = 1
    while place < len(text):
        width = 2 if text[place] == "\\" else 1
        letter = text[place + width - 1 : place + width]
        is_literal = letter in (string.punctuation + " " if width == 2 else _LITERAL)
        if not letter or not is_literal:
            break
        place += width
        # A quantifier such as `*` may also allow the character to be left out.
        if text[place : place + 1] in _QUANTIFIERS:
            break
        found.append(letter)
    return "".join(found)
