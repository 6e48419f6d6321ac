"""The URLconf -> every action of every REST framework view in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from django.urls import URLResolver, get_resolver
from drf_spectacular.generators import EndpointEnumerator
from rest_framework.views import APIView

IGNORED = "toolbooth_ignored"
"""The attribute that `@mcp_ignore` sets, on a view or on an action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action of one view, at one place of the URLconf."""

    callback: Callable[..., Any]
    method: str
    name: str
    """The view set's action; for a plain view its method, in small letters."""
    path: str
    """With each URL kwarg in braces: /api/contacts/{pk}/"""
    regex: str
    base: str
    """The router's basename; for a plain view its name in the URLconf, or else its class."""

    @property
    def view(self) -> type[APIView]:
        """The view's class."""
        return getattr(self.callback, "cls")  # noqa: B009  # set by `as_view`, unknown to its type


def actions() -> Iterator[Action]:
    """Every action in the URLconf, in its order, those left out by `@mcp_ignore` and HEAD/OPTIONS excepted."""
    names = dict(_names(get_resolver()))
    endpoints = cast("list[tuple[str, str, str, Any]]", EndpointEnumerator().get_api_endpoints())
    for path, regex, method, callback in endpoints:
        found: dict[str, str] = getattr(callback, "actions", None) or {}
        name = found.get(method.lower(), method.lower())
        cls: Any = callback.cls
        if getattr(cls, IGNORED, False) or getattr(getattr(cls, name, None), IGNORED, False):
            continue
        base = callback.initkwargs.get("basename") or names.get(callback) or _class_name(cls)
        yield Action(callback=callback, method=method, name=name, path=path, regex=regex, base=base)


def _names(resolver: URLResolver) -> Iterator[tuple[Any, str]]:
    """The name of every pattern that has one, by its callback."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from _names(pattern)
        elif pattern.name:
            yield pattern.callback, pattern.name


def _class_name(cls: type) -> str:
    for ending in ("ViewSet", "APIView", "View"):
        if cls.__name__.endswith(ending) and cls.__name__ != ending:
            return cls.__name__.removesuffix(ending)
    return cls.__name__
