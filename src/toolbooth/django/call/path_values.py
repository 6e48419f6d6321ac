"""The values of the path in a call that the boundary has not let through, and where a path without
values leads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from django.urls import ResolverMatch, URLResolver

from toolbooth.boundary.read import text_as_json
from toolbooth.jsonvalue import Json, is_object

_DEEPEST = 2
"""Objects around the arguments: those of a dispatcher, and a wrapper."""


def path_values(names: Sequence[str], sent: Any) -> Json:
    """The arguments of the path, flat or in the one wrapper that has all of them; nothing if they
    are not there.
    """
    if not names:
        return {}
    for found in _objects(sent, _DEEPEST):
        if all(isinstance(found.get(name), str | int) for name in names):
            return {name: found[name] for name in names}
    return {}


def _objects(sent: Any, depth: int) -> Iterator[Json]:
    """What was sent, and the objects in it, also as JSON text."""
    found = text_as_json(sent)
    if not is_object(found):
        return
    yield found
    for each in found.values() if depth else ():
        yield from _objects(each, depth - 1)


@lru_cache(4096)
def fixed(resolver: URLResolver, language: str | None, path: str) -> ResolverMatch:
    """Where a path without values leads. The language counts: patterns may begin with it."""
    return resolver.resolve(path)
