"""Builds the request and the URL kwargs of a view that is described. There is no call yet, so the
values are made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

from django.core.handlers.wsgi import WSGIRequest
from django.urls import Resolver404, ResolverMatch, get_resolver, get_urlconf
from django.urls.converters import get_converters
from drf_spectacular import plumbing as untyped_plumbing
from rest_framework.test import APIRequestFactory

from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.view_requests import ACCEPT, negotiate, plausible_version
from toolbooth.django.resolve import resolve

plumbing: Any = untyped_plumbing

_CONVERTERS = re.compile(r"<(?:(\w+):)?(\w+)>")
_NAMED_GROUP = re.compile(r"\(\?P<(\w+)>")
_IN_BRACES = re.compile(r"{(\w+)}")
_PLAUSIBLE = ("1", "a", "v1", "en", "2020", str(UUID(int=1)), "2020-01-01", "abcd", "A")
"""Values for parts of a URL. The first one that matches is used."""


class DescribedRequest(WSGIRequest):
    """The request of a view that is described. Its path is resolved only if the view needs that,
    because a project may have thousands of paths.
    """

    toolbooth_path: str

    # Replaces an attribute that Django sets.
    @cached_property
    def resolver_match(  # pyright: ignore[reportIncompatibleVariableOverride]
        self,
    ) -> ResolverMatch | None:
        try:
            return resolve(get_resolver(get_urlconf()), self.toolbooth_path)
        except Resolver404:
            return None


def give_request(view: Any, action: Action, user: Any) -> None:
    """Set the URL kwargs and the request of a view that is about to be described. They have
    everything that a real call by `user` would have.
    """
    view.kwargs = plausible_kwargs(action)
    # Building the mock request may already run code of the view that looks at its request.
    view.request = APIRequestFactory().generic(action.method, action.path)
    view.request = plumbing.build_mock_request(action.method, action.path, view, None)
    request = view.request
    _lead_to_view(request._request, view.kwargs)
    request.META["HTTP_ACCEPT"] = ACCEPT
    request.user = user
    request.auth = request._authenticator = None  # no authentication runs
    request.version = request.versioning_scheme = None  # unless `negotiate` finds them
    with suppress(Exception):  # a version, or a negotiator, that needs a real request
        negotiate(view, force=True)


def _lead_to_view(request: Any, kwargs: dict[str, Any]) -> None:
    """Make Django resolve the path of this request to its view, with these URL kwargs."""
    # Django sets this attribute to None on the request. It would hide the property of
    # `DescribedRequest`.
    del request.resolver_match
    request.__class__ = DescribedRequest
    path: str = request.path_info
    request.toolbooth_path = _IN_BRACES.sub(lambda each: str(kwargs[each[1]]), path)


def plausible_kwargs(action: Action) -> dict[str, Any]:
    """Return plausible URL kwargs for an action that is described before any call."""
    found = dict(_plausible(action.path, action.regex))
    made: Any = action.callback
    versioning: Any = made.initkwargs.get("versioning_class", made.cls.versioning_class)
    versions = plausible_version(versioning)
    return found | {name: each for name, each in versions.items() if name in found}


@lru_cache(1024)
def _plausible(path: str, regex: str) -> tuple[tuple[str, Any], ...]:
    kinds = {name: kind for kind, name in _CONVERTERS.findall(regex)}
    patterns = dict(_named_groups(regex))
    found: list[tuple[str, Any]] = []
    for name in _IN_BRACES.findall(path):
        kind = kinds.get(name)
        value = _value_of_kind(kind) if kind else _text_for(patterns.get(name))
        found.append((name, value))
    return tuple(found)


def _value_of_kind(kind: str) -> Any:
    """Return a plausible value for a path converter, such as `1` for `int`."""
    converter: Any = get_converters().get(kind)
    if converter is None:
        return _PLAUSIBLE[0]
    for each in _PLAUSIBLE:
        try:
            if re.fullmatch(converter.regex, each):
                return converter.to_python(each)
        except Exception:  # it takes other texts, or needs the database
            continue
    return _PLAUSIBLE[0]


def _text_for(pattern: str | None) -> str:
    """Return a text that matches a pattern of a URL."""
    if pattern is None:
        return _PLAUSIBLE[0]
    # For a choice such as `(?:open|closed)`, one of its own words fits.
    words = re.sub(r"[()?:^$]", "", pattern).split("|")
    try:
        fitting = (each for each in (*_PLAUSIBLE, *words) if re.fullmatch(pattern, each))
        return next(fitting, _PLAUSIBLE[0])
    except re.error:
        return _PLAUSIBLE[0]


def _named_groups(regex: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each named group of a pattern, and the pattern inside the group."""
    for found in _NAMED_GROUP.finditer(regex):
        # A group may contain other groups, so its end is found by counting brackets.
        depth = 1
        for end in range(found.end(), len(regex)):
            depth += {"(": 1, ")": -1}.get(regex[end], 0)
            if depth == 0:
                yield found[1], regex[found.end() : end]
                break
