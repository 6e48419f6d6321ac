"""The address of a call: the path that its arguments make, and the view that Django finds there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from django.urls import Resolver404, ResolverMatch, URLResolver, get_resolver, get_urlconf
from django.utils.translation import get_language

from toolbooth.boundary.read import text_as_json
from toolbooth.django import messages
from toolbooth.django.call.bodies import text
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.view_requests import plausible_kwargs
from toolbooth.errors import Problem
from toolbooth.jsonvalue import is_object


def path_of(action: Action, values: Mapping[str, Any]) -> str:
    """The path of an action with these URL kwargs."""
    return re.sub(r"{(\w+)}", lambda each: text(values[each[1]]), action.path)


def match_of(action: Action, path: str, values: Mapping[str, Any]) -> ResolverMatch | None:
    """The action's view at a path; None if these values lead to another one, or nowhere."""
    resolver = get_resolver(get_urlconf())
    try:
        match = resolver.resolve(path) if values else _fixed(resolver, get_language(), path)
    except Resolver404:
        return None
    is_own = match.func is action.callback and _is_whole(match, values)
    return match if is_own else None


def path_values(names: Iterable[str], sent: Any) -> dict[str, Any]:
    """The arguments of the path in a call that the boundary may not have let through: flat, or in
    the one wrapper that has them.
    """
    names = list(names)
    arguments = text_as_json(sent)
    if not names or not is_object(arguments):
        return {}
    wrapped = [text_as_json(each) for each in arguments.values()]
    for each in (arguments, *wrapped):
        if is_object(each) and all(isinstance(each.get(name), str | int) for name in names):
            return {name: each[name] for name in names}
    return {}


def problems_of_address(
    action: Action, arguments: Arguments, values: Mapping[str, Any]
) -> list[Problem]:
    """What is wrong with values that lead nowhere. Those that fit where all others are plausible
    are not to blame.
    """
    names = arguments.named("path")
    plausible = plausible_kwargs(action.path, action.regex)
    blamed: list[str] = []
    for name in names:
        tried = {**plausible, name: values[name]}
        if match_of(action, path_of(action, tried), tried) is None:
            blamed.append(name)
    problems = [
        Problem(code="invalid", path=(names[each],), message=messages.NOT_IN_AN_ADDRESS)
        for each in blamed or names
    ]
    return problems or [Problem(code="invalid", path=(), message="has no address")]


@lru_cache(4096)
def _fixed(resolver: URLResolver, language: str | None, path: str) -> ResolverMatch:
    """Where a path without values leads. The language counts: patterns may begin with it."""
    return resolver.resolve(path)


def _is_whole(match: ResolverMatch, values: Mapping[str, Any]) -> bool:
    """Whether an address was read as it was written: `5.json` is not row 5 in another format."""
    found: Any = match  # Django's types do not know `extra_kwargs`
    given: Mapping[str, Any] = found.extra_kwargs or {}
    captured = {name: each for name, each in match.kwargs.items() if name not in given}
    if captured.keys() != values.keys():
        return False
    return all(
        not isinstance(each, str) or each == text(values[name]) for name, each in captured.items()
    )
