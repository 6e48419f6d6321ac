"""Finds every action of every REST framework view in the URLconf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLResolver, get_resolver, get_urlconf
from drf_spectacular.generators import EndpointEnumerator
from drf_spectacular.settings import spectacular_settings
from rest_framework.views import APIView

from toolbooth.django.describe import messages
from toolbooth.django.describe.login_views import is_login_view
from toolbooth.django.describe.view_words import ViewWords, view_words

UntypedEnumerator: Any = EndpointEnumerator

IGNORED = "toolbooth_ignored"
"""The attribute that `@mcp_ignore` sets, on a view or on an action."""

BULK = "toolbooth_bulk"
"""The attribute that `@mcp_bulk` sets, on a view or on an action."""

PREVIEW = "toolbooth_preview"
"""The attribute that `@mcp_preview` sets, on a view or on an action."""

IDEMPOTENT = "toolbooth_idempotent"
"""The attribute that `@mcp_idempotent` sets, on a view or on an action."""

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

ACTIONS = {
    "GET": ("list", "retrieve"),
    "POST": ("create",),
    "PUT": ("update",),
    "PATCH": ("partial_update",),
    "DELETE": ("destroy",),
}
"""The names that generic views give to their action for a method."""

STANDARD_ACTIONS = frozenset(name for names in ACTIONS.values() for name in names)
"""The actions of REST framework's own views. They use the serializer of their view."""

_FORMAT_SUFFIX = "<drf_format_suffix"
"""Part of the patterns that routers add for the same views with a suffix such as `.json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action of one view, at one path of the URLconf."""

    callback: Callable[..., Any]
    method: str
    name: str
    """The view set's action; for a generic view one of `ACTIONS`, for a plain view its method in
    lower case.
    """
    path: str
    """The path, with each URL kwarg in braces: /api/contacts/{pk}/"""
    regex: str
    base: str
    """The name of the resource. It is the router's basename. For a view without a router, it is
    made from the name of its URL pattern, or else from the name of its class.
    """
    label: str = ""
    """The action's part of the tool's name, if it differs from `name`."""

    @property
    def view(self) -> type[APIView]:
        """The view's class."""
        callback: Any = self.callback
        return callback.cls


@dataclass(frozen=True, slots=True)
class Found:
    """Every action in the URLconf that may become a tool, and the actions that are hidden."""

    actions: tuple[Action, ...]
    hidden: tuple[tuple[str, str], ...]
    """The address of each hidden action, with the reason."""


def discover(*, login_views: bool = False) -> Found:
    """Find every action in the URLconf. HEAD and OPTIONS are left out. Views that log users in are
    left out unless `login_views` is True.
    """
    urlconf = get_urlconf()
    names = dict(_names(get_resolver(urlconf)))
    enumerator = _Enumerator(urlconf)
    actions: list[Action] = []
    for path, regex, method, callback in enumerator.endpoints():
        reason = _reason_to_hide(callback, method)
        if reason is None and not login_views and is_login_view(callback.cls):
            reason = messages.LOGIN_VIEW
        if reason is not None:
            enumerator.hidden.append((f"{method} {path}", reason))
            continue
        actions.append(_action_at(path, regex, method, callback, names.get(callback, "")))
    # The enumerator's own order depends on settings and, within one path, on the hash of a string.
    actions.sort(key=lambda each: (each.path, METHODS.index(each.method)))
    return Found(tuple(actions), tuple(sorted(enumerator.hidden)))


def full_updates(actions: Iterable[Action]) -> set[Action]:
    """Return the full updates whose view also has a partial update at the same path."""
    every = list(actions)
    partial = {(each.path, each.view) for each in every if each.name == "partial_update"}
    updates = (each for each in every if each.name == "update")
    return {each for each in updates if (each.path, each.view) in partial}


def _reason_to_hide(callback: Any, method: str) -> str | None:
    if _is_marked(callback, method, IGNORED):
        return messages.IGNORED
    return messages.ONLY_HTML if _is_page(callback) else None


class _Enumerator(EndpointEnumerator):
    def __init__(self, urlconf: Any) -> None:
        UntypedEnumerator.__init__(self, urlconf=urlconf)
        self.hidden: list[tuple[str, str]] = []

    def endpoints(self) -> list[Any]:
        """Return all endpoints. An endpoint has a path, its pattern, a method and a view."""
        every: list[Any] = UntypedEnumerator._get_api_endpoints(self, None, "")
        # A project's hooks choose the documented endpoints. An endpoint that they drop is not
        # published; one that they rename keeps its address.
        kept = {(regex, method) for _, regex, method, _ in _hooked([*every])}
        found: dict[tuple[str, str], Any] = {}
        for path, regex, method, callback in every:
            # Routers add a second pattern for `/contacts.json`, which is the same action.
            if method not in METHODS or _FORMAT_SUFFIX in regex:
                continue
            if (regex, method) in kept:
                # Django runs the first view that matches a path, so a later one at the same path is
                # never called.
                found.setdefault((path, method), (path, regex, method, callback))
            else:
                self.hidden.append((f"{method} {path}", messages.LEFT_OUT_BY_HOOK))
        return list(found.values())

    def should_include_endpoint(self, path: str, callback: Any) -> bool:
        included: bool = UntypedEnumerator.should_include_endpoint(self, path, callback)
        cls: Any = getattr(callback, "cls", None)
        is_api = isinstance(cls, type) and issubclass(cls, APIView)
        # The index page that a router makes for people, and the views that serve schemas, are not
        # part of an API.
        is_own = is_api and not cls.__module__.startswith(("rest_framework.", "drf_spectacular."))
        if is_own and not included and not path.rstrip("/").endswith("{format}"):
            self.hidden.append((path, messages.NO_SCHEMA))
        return included


def _hooked(endpoints: list[Any]) -> list[Any]:
    settings: Any = spectacular_settings
    for hook in settings.PREPROCESSING_HOOKS:
        endpoints = hook(endpoints=endpoints)
    return endpoints


def _is_page(callback: Any) -> bool:
    """Return True if a view renders only HTML. The context of such a template is not an API
    result.
    """
    # `as_view(renderer_classes=[...])` replaces the attribute of the class.
    renderers = callback.initkwargs.get("renderer_classes", callback.cls.renderer_classes)
    return bool(renderers) and all(each.media_type == "text/html" for each in renderers)


def is_bulk(action: Action) -> bool:
    """Return True if an action is marked with `@mcp_bulk`."""
    return _is_marked(action.callback, action.method, BULK)


def is_called_idempotent(action: Action) -> bool:
    """Return True if an action is marked with `@mcp_idempotent`."""
    return _is_marked(action.callback, action.method, IDEMPOTENT)


def is_promised(action: Action) -> bool:
    """Return True if an action is marked with `@mcp_preview`. A class does not inherit the mark,
    because a subclass may have other effects.
    """
    functions = (action.callback, *_handlers(action.callback, action.method))
    is_marked = any(getattr(each, PREVIEW, False) for each in functions)
    return is_marked or PREVIEW in vars(action.view)


def _is_marked(callback: Any, method: str, mark: str) -> bool:
    """Return True if a view has a mark, or if one of its methods for this HTTP method has it."""
    marked = (callback, callback.cls, *_handlers(callback, method))
    return any(getattr(each, mark, False) for each in marked)


def _handlers(callback: Any, method: str) -> list[Any]:
    """Return the methods of a view that may run for an HTTP method."""
    names = (method.lower(), _action(callback, method))
    return [getattr(callback.cls, name, None) for name in names]


def _action(callback: Any, method: str) -> str:
    declared: dict[str, str] | None = getattr(callback, "actions", None)
    if declared is not None:
        return declared[method.lower()]
    return next((name for name in ACTIONS[method] if hasattr(callback.cls, name)), method.lower())


def _names(resolver: URLResolver) -> Iterator[tuple[Any, str]]:
    """Yield the callback and the name of every URL pattern that has a name."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from _names(pattern)
        elif pattern.name:
            yield pattern.callback, pattern.name


def _action_at(path: str, regex: str, method: str, callback: Any, route: str) -> Action:
    name = _action(callback, method)
    basename = callback.initkwargs.get("basename")
    if basename:
        base = str(basename)  # it may be lazy text, such as a `verbose_name_plural`
        words = ViewWords(resource=base, action=name)
    else:
        # The methods of a view set have names of their own.
        is_named = name in ACTIONS[method] or bool(getattr(callback, "actions", None))
        does = name if is_named else None
        words = view_words(callback.cls, method=method, does=does, path=path, route=str(route))
    return Action(
        callback=callback,
        method=method,
        name=name,
        path=path,
        regex=regex,
        base=words.resource,
        label=words.action,
    )
