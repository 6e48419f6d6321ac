"""Who may call what: the view's own permissions, asked without running it and without touching its throttles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from django.http import Http404, HttpRequest
from rest_framework.exceptions import APIException

from toolbooth.django.discovery import Action
from toolbooth.django.requests import inner_request

Identity = tuple[Any, Any, Any]
"""A user, their credentials, and the authenticator that knew them."""


class Access:
    """What one caller may call. Each way of authenticating is tried once, however many views share it."""

    def __init__(self, outer: HttpRequest) -> None:
        self.outer = outer
        self.known: dict[tuple[type, ...], Identity] = {}

    def may_call(self, action: Action) -> bool:
        """Whether the view would let the caller in. Permissions on single rows show themselves only in the call."""
        view = self._view(action)
        try:
            self._identify(view)
            view.check_permissions(view.request)
        except (APIException, Http404):
            return False
        return True

    def identified(self, actions: Iterable[Action]) -> bool:
        """Whether the caller is known to any of these views."""
        for action in actions:
            view = self._view(action)
            try:
                self._identify(view)
            except (APIException, Http404):
                continue
            user = view.request.user
            if user is not None and getattr(user, "is_authenticated", False):
                return True
        return False

    def _view(self, action: Action) -> Any:
        callback = cast("Any", action.callback)
        view = callback.cls(**callback.initkwargs)
        request = inner_request(self.outer, action.method, action.path, "", b"", "application/json")
        view.setup(request)
        view.action_map = getattr(callback, "actions", None)
        view.action = action.name if view.action_map else None
        view.request = view.initialize_request(request)
        view.format_kwarg = None
        return view

    def _identify(self, view: Any) -> None:
        authenticators: tuple[object, ...] = view.request.authenticators
        ways = tuple(map(type, authenticators))
        if ways not in self.known:
            user = view.request.user
            self.known[ways] = (user, view.request.auth, view.request.successful_authenticator)
        view.request.user, view.request.auth, view.request._authenticator = self.known[ways]
