"""Who calls, and what they may call: the views' own authentication and permissions, asked without running them."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, cast

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.handlers.base import BaseHandler
from django.http import Http404, HttpRequest
from rest_framework.exceptions import APIException, AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from toolbooth.django.discovery import Action
from toolbooth.django.requests import inner_request, is_signed

logger = logging.getLogger("toolbooth.django")
_handler = BaseHandler()

Identity = tuple[Any, Any, Any]
"""A user, their credentials, and the authenticator that knew them (None: nobody in particular)."""

Ways = tuple[type, ...]
"""The authenticators of a view."""

REFUSALS = (APIException, Http404, DjangoPermissionDenied)
"""How a view says no."""


class Caller:
    """The HTTP request that brought the message. Each way of authenticating is tried once, whatever asks for it."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.challenge: str | None = None
        """The `WWW-Authenticate` of a view that wants to know first who calls."""
        self._tried: dict[tuple[Ways, bool], Identity | APIException] = {}
        self._requests: dict[str, HttpRequest] = {}

    def may_call(self, action: Action) -> bool:
        """Whether the view lets the caller in. Throttles are not touched; single rows show themselves in the call."""
        view = self.view(action)
        try:
            self._admit(view)
        except REFUSALS:
            return False
        except Exception:  # the permission looks at the row or the body, which are not there yet: the call decides
            logger.debug("whether %s may be called cannot be said beforehand", action.path, exc_info=True)
            return self._identity(view)[2] is not None
        return True

    def objection(self, action: Action) -> Any:
        """What the view answers to a caller that it does not let in; None: it does, or only the call can tell."""
        view = self.view(action)
        try:
            self._admit(view)
        except REFUSALS as error:
            # REST framework marks the transaction that it finds itself in to be rolled back: here one of its own.
            answer = _handler.make_view_atomic(partial(_answer, view, error))
            return answer(view.request)
        except Exception:  # as in `may_call`
            return None
        return None

    def admitted(self, action: Action, kwargs: Mapping[str, Any], request: HttpRequest | None = None) -> Any:
        """The view of an action, ready to be asked, with the caller let in. Raises what it says to others."""
        view = self.view(action, kwargs, request)
        try:
            self._admit(view)
        except REFUSALS:
            raise
        except Exception:  # as in `may_call`
            logger.debug("whether %s may be called cannot be said beforehand", action.path, exc_info=True)
        return view

    def introduce(self, request: HttpRequest, action: Action) -> None:
        """Tell a view's request who calls, where that is known already: no password is checked twice."""
        if self._tried:
            view = self.view(action)
            try:
                identity = self._identity(view)
            except APIException:
                return  # the view finds out, and says so in its own way
            # REST framework looks for these here too, and then asks no authenticator.
            vars(request).update(zip(("_user", "_auth", "_authenticator"), identity, strict=True))
            cast("Any", request).user = identity[0]

    def sign(self) -> None:
        """Tell the host's middleware who called, where no view did: the call was refused before one ran."""
        known = [each[0] for each in self._tried.values() if isinstance(each, tuple) and each[2] is not None]
        if known and not is_signed(self.request):
            cast("Any", self.request).user = known[0]

    def identity(self, action: Action) -> Identity:
        """Who calls, as far as the view can tell. Raises APIException for credentials that it does not take."""
        return self._identity(self.view(action))

    def is_known(self, actions: Iterable[Action]) -> bool:
        """Whether any of these views knows the caller. Raises AuthenticationFailed for credentials that none takes."""
        failed: AuthenticationFailed | None = None
        for action in actions:
            try:
                if self._identity(self.view(action), safe=True)[2] is not None:
                    return True
            except AuthenticationFailed as error:
                failed = failed or error
            except APIException:
                continue
        if failed is not None:
            raise failed
        return False

    def view(self, action: Action, kwargs: Mapping[str, Any] | None = None, request: HttpRequest | None = None) -> Any:
        """A view of the action, as it is before it runs."""
        callback = cast("Any", action.callback)
        view = callback.cls(**callback.initkwargs)
        request = request or self._request(action)
        view.args, view.kwargs, view.format_kwarg = (), dict(kwargs or {}), None
        if hasattr(callback, "actions"):
            view.action_map = callback.actions
        view.request = request
        view.request = view.initialize_request(request)
        return view

    def _request(self, action: Action) -> HttpRequest:
        found = self._requests.get(action.method)
        if found is None:
            found = self._requests[action.method] = inner_request(self.request, action.method, action.path)
        found.path = found.path_info = action.path
        return found

    def _admit(self, view: Any) -> None:
        request = view.request
        request.user, request.auth, request._authenticator = self._identity(view)
        request.version, request.versioning_scheme = view.determine_version(request, **view.kwargs)
        view.check_permissions(request)

    def _identity(self, view: Any, *, safe: bool = False) -> Identity:
        """Who calls, as far as a view can tell. Raises what its authenticators raise."""
        found = self._authenticated(view.request, safe=False)
        # A session without its CSRF token may still read.
        if isinstance(found, PermissionDenied) and (safe or view.request.method in SAFE_METHODS):
            found = self._authenticated(view.request, safe=True)
        if isinstance(found, APIException):
            raise found
        return found

    def _authenticated(self, request: Any, *, safe: bool) -> Identity | APIException:
        ways: Ways = tuple(map(type, request.authenticators))
        if (ways, safe) not in self._tried:
            plain = inner_request(self.request, "GET" if safe else "POST", self.request.path_info)
            asked: Any = Request(plain, authenticators=request.authenticators)
            try:
                self._tried[ways, safe] = (asked.user, asked.auth, asked.successful_authenticator)
            except APIException as error:
                self._tried[ways, safe] = error
        return self._tried[ways, safe]


def _answer(view: Any, error: Exception, _: HttpRequest) -> Any:
    return view.handle_exception(error)


_current: ContextVar[Caller] = ContextVar("toolbooth_caller")


@contextmanager
def answering(request: HttpRequest) -> Generator[Caller]:
    """While this is open, `caller()` is whoever sent the request."""
    made = Caller(request)
    token = _current.set(made)
    try:
        yield made
        made.sign()
    finally:
        _current.reset(token)


def caller() -> Caller:
    """Whoever is being answered."""
    return _current.get()


def is_open(action: Action) -> bool:
    """Whether an action lets everybody in: by REST framework's own permissions, none of which asks who calls."""
    view: Any = action.view
    initkwargs: Mapping[str, Any] = getattr(action.callback, "initkwargs", {})
    classes = initkwargs.get("permission_classes", view.permission_classes)
    own = view.check_permissions is APIView.check_permissions and view.get_permissions is APIView.get_permissions
    return own and view.initialize_request in _STOCK and all(each is AllowAny for each in classes)


_STOCK = (APIView.initialize_request, ViewSetMixin.initialize_request)
