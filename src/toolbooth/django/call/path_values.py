"""Finds the values for the path of the URL in a call that was not validated. Also resolves paths
that contain no values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from django.urls import ResolverMatch, URLResolver

from toolbooth.boundary.read import text_as_json
from toolbooth.django.resolve import resolve
from toolbooth.jsonvalue import Json, is_object

_DEEPEST = 2
"""The most objects around the arguments: the arguments of a dispatcher, and a wrapper."""


def path_values(names: Sequence[str], sent: Any) -> Json:
    """Return the arguments that belong to the path of the URL. All of them must be in the same
    object: at the top level, or in a wrapper. Return an empty dict if an argument is missing.
    """
    if not names:
        return {}
    for found in _objects(sent, _DEEPEST):
        # A malformed call may still name its row. Then the view is checked for that row.
        if all(isinstance(found.get(name), str | int) for name in names):
            return {name: found[name] for name in names}
    return {}


def _objects(sent: Any, depth: int) -> Iterator[Json]:
    """Yield the arguments, and the objects inside them. An object may be sent as JSON text."""
    found = text_as_json(sent)
    if not is_object(found):
        return
    yield found
    for each in found.values() if depth else ():
        yield from _objects(each, depth - 1)


@lru_cache(4096)
def fixed(resolver: URLResolver, language: str | None, path: str) -> ResolverMatch:
    """Resolve a path that contains no values. `language` is only a part of the cache key, because
    URL patterns may begin with the language.
    """
    return resolve(resolver, path)
