"""Finds views in the URLconf that do not belong to REST framework. The gateway does not publish
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, get_urlconf
from rest_framework.views import APIView

from toolbooth.django.management.doctor import messages
from toolbooth.django.management.doctor.findings import Cause, Finding

_NINJA = ("ninja.", "ninja_extra.")
_PAGES_OF_NINJA = "ninja.openapi."
"""The module of the views that serve the documentation of Django Ninja itself."""

# Packages bring views of their own, such as the schema page of drf-spectacular. They are not the
# project's to publish.
_NOT_THE_PROJECTS = ("django.", "rest_framework.", "drf_spectacular.", "toolbooth.")

NINJA = Cause("ninja-views", messages.NINJA_VIEWS, messages.WRITE_A_TOOL)
PLAIN = Cause("plain-views", messages.PLAIN_VIEWS, messages.WRITE_A_TOOL)


def uncovered_views() -> Iterator[Finding]:
    """Yield a finding for each view of Django Ninja, and for each plain Django view of the
    project.
    """
    for route, callback in _callbacks(get_resolver(get_urlconf())):
        owner = _owner(callback)
        cause = _cause(callback, owner)
        if cause is NINJA:
            yield Finding("note", messages.ninja_view(route), NINJA.cure, NINJA, route)
        elif cause is PLAIN:
            path = f"{owner.__module__}.{owner.__qualname__}"
            yield Finding("note", messages.plain_view(path), PLAIN.cure, PLAIN, path)


def _callbacks(resolver: Any, above: str = "/") -> Iterator[tuple[str, Any]]:
    """Yield the address and the callback of every pattern. The address is written as in the
    URLconf.
    """
    for pattern in resolver.url_patterns:
        route = f"{above}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _callbacks(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield route, pattern.callback


def _cause(callback: Any, owner: Any) -> Cause | None:
    """Return the reason why the gateway does not publish a view. Return None if the gateway
    publishes the view, or if the view is not part of the project's own code.
    """
    # REST framework's `as_view` stores the class in `cls`. Django's stores it in `view_class`.
    cls = getattr(callback, "cls", None)
    if isinstance(cls, type) and issubclass(cls, APIView):
        return None
    module = owner.__module__ or ""
    if module.startswith(_NINJA):
        return None if module.startswith(_PAGES_OF_NINJA) else NINJA
    # Django's admin sets these attributes on its views.
    is_admin = hasattr(callback, "admin_site") or hasattr(callback, "model_admin")
    return None if is_admin or module.startswith(_NOT_THE_PROJECTS) else PLAIN


def _owner(callback: Any) -> Any:
    """Return the class or the function that defines a callback."""
    if isinstance(callback, partial):
        function: Any = callback.func
        return _owner(function)
    view_class = getattr(callback, "view_class", None)
    if view_class is not None:
        return view_class
    bound_to = getattr(callback, "__self__", None)
    if bound_to is not None:
        return bound_to.__class__
    return callback if hasattr(callback, "__qualname__") else callback.__class__
