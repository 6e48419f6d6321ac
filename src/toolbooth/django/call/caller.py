"""Who calls, and what they may call: the views' own authentication and permissions, asked without
running them.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.handlers.base import BaseHandler
from django.http import Http404, HttpRequest
from rest_framework.authentication import (
    BasicAuthentication,
    RemoteUserAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.exceptions import APIException, AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from toolbooth.django.call.inner_request import inner_request, is_signed
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.view_requests import negotiate

logger = logging.getLogger("toolbooth.django")
_handler = BaseHandler()

Identity = tuple[Any, Any, Any]
"""A user, their credentials, and the authenticator that knew them (None: nobody in particular)."""

_HEADERS_ONLY = frozenset(
    (BasicAuthentication, RemoteUserAuthentication, SessionAuthentication, TokenAuthentication)
)
"""Authenticators that read headers and the session, never the path, the URL kwargs or the body."""

REFUSALS = (APIException, Http404, DjangoPermissionDenied)
"""How a view says no."""


class Caller:
    """The HTTP request that brought the message, and the questions that can be asked of views on
    its behalf.

    A view that is asked is never the one that runs. The one that runs authenticates its own
    request; nothing that is found out here is handed to it.
    """

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.challenge: str | None = None
        """The `WWW-Authenticate` of a view that wants to know first who calls."""
        self._by_headers: dict[tuple[tuple[type, ...], bool], Identity | APIException] = {}
        """Results of authenticators that answer every view alike, by their types and whether a CSRF
        token is needed.
        """
        self._user: Any = None
        """The first user that an authenticator has recognised."""

    def may_call(self, action: Action) -> bool:
        """Whether the view lets the caller in. Throttles are not touched; single rows show
        themselves in the call.
        """
        view = self.view(action)
        try:
            self._admit(view)
        except REFUSALS:
            return False
        except Exception:
            # The permission needs the row or the body, which are not there yet: the call decides.
            logger.debug(
                "whether %s may be called cannot be said beforehand", action.path, exc_info=True
            )
            return self._may_be_known(view)
        return True

    def objection(self, action: Action) -> Any:
        """What the view answers to a caller that it does not let in; None: it does, or only the
        call can tell.
        """
        view = self.view(action)
        try:
            self._admit(view)
        except REFUSALS as error:
            # REST framework marks the transaction that it finds itself in to be rolled back: here
            # one of its own.
            answer = _handler.make_view_atomic(partial(_answer, view, error))
            return answer(view.request)
        except Exception:  # as in `may_call`
            return None
        return None

    def admitted_view(
        self, action: Action, kwargs: Mapping[str, Any], request: HttpRequest | None = None
    ) -> Any:
        """The view of an action, ready to be asked, with the caller let in. Raises what it says to
        others.
        """
        view = self.view(action, kwargs, request)
        try:
            self._admit(view)
        except REFUSALS:
            raise
        except Exception:  # as in `may_call`
            logger.debug(
                "whether %s may be called cannot be said beforehand", action.path, exc_info=True
            )
        return view

    def sign(self) -> None:
        """Tell the host's middleware who called, where no view did: the call was refused before one
        ran.
        """
        if self._user is not None and not is_signed(self.request):
            request: Any = self.request
            request.user = self._user

    def identity(self, action: Action) -> Identity:
        """Who calls, as far as the view can tell. Raises APIException for credentials that it does
        not take.
        """
        try:
            return self._identity(self.view(action))
        except APIException:
            raise
        except Exception as error:  # its authenticator needs the URL kwargs of a call
            raise AuthenticationFailed from error

    def is_known(self, actions: Iterable[Action]) -> bool:
        """Whether any of these views knows the caller. Raises AuthenticationFailed for credentials
        that none takes.
        """
        failed: AuthenticationFailed | None = None
        for action in actions:
            try:
                if self._is_known_to(action):
                    return True
            except AuthenticationFailed as error:
                failed = failed or error
            except Exception:  # its authenticator needs the URL kwargs of a call
                logger.debug("%s cannot authenticate without a call", action.path, exc_info=True)
        if failed is not None:
            raise failed
        return False

    def view(
        self,
        action: Action,
        kwargs: Mapping[str, Any] | None = None,
        request: HttpRequest | None = None,
    ) -> Any:
        """A view of the action, as it is before it runs. `request` is the inner request of a call,
        if there is one.
        """
        callback: Any = action.callback
        view = callback.cls(**callback.initkwargs)
        request = request or self._request(action, action.method)
        view.args, view.kwargs, view.format_kwarg = (), dict(kwargs or {}), None
        if hasattr(callback, "actions"):
            view.action_map = callback.actions
        view.request = request
        view.request = view.initialize_request(request)
        return view

    def _request(self, action: Action, method: str) -> HttpRequest:
        """The request of a call whose arguments are not known. A tool without a URL runs at the
        endpoint's.
        """
        return inner_request(self.request, method, action.path or self.request.path_info)

    def _admit(self, view: Any) -> None:
        """The checks that a view makes in `initial`, except for throttles."""
        negotiate(view)
        self._identity(view)
        view.check_permissions(view.request)

    def _is_known_to(self, action: Action) -> bool:
        """Whether a view recognises the caller. Raises APIException for wrong credentials."""
        try:
            return self._identity(self.view(action))[2] is not None
        except PermissionDenied:  # a session without its CSRF token may still read
            reading = self._request(action, "GET")
            return self._identity(self.view(action, request=reading))[2] is not None

    def _may_be_known(self, view: Any) -> bool:
        """Whether a view recognises the caller, or cannot say so before a call."""
        try:
            return self._identity(view)[2] is not None
        except Exception:  # the authenticator needs the URL kwargs: the call decides
            return True

    def _identity(self, view: Any) -> Identity:
        """Who calls, by the view's own authenticators on its own request."""
        request = view.request
        if not reads_headers_only(request.authenticators):
            return self._authenticated(request)
        types = tuple(map(type, request.authenticators))
        # A session needs a CSRF token for methods that write.
        key = (types, SessionAuthentication in types and request.method not in SAFE_METHODS)
        if key not in self._by_headers:
            try:
                self._by_headers[key] = self._authenticated(request)
            except APIException as error:
                self._by_headers[key] = error
        found = self._by_headers[key]
        if isinstance(found, APIException):
            raise found
        request.user, request.auth, request._authenticator = found
        return found

    def _authenticated(self, request: Any) -> Identity:
        found = (request.user, request.auth, request.successful_authenticator)
        if self._user is None and found[2] is not None:
            self._user = found[0]
        return found


def reads_headers_only(authenticators: Iterable[Any]) -> bool:
    """Whether these authenticators answer every view alike: REST framework's own classes, without
    parameters.

    A subclass may look at the path, and an instance may hold a key of its own, so each view asks
    those itself.
    """
    return all(type(each) in _HEADERS_ONLY and not vars(each) for each in authenticators)


def authenticating_actions(actions: Iterable[Action]) -> tuple[Action, ...]:
    """The actions to ask whether a caller is known: one for all that authenticate alike, and each
    of the others.
    """
    alike: dict[tuple[type, ...], Action] = {}
    alone: list[Action] = []
    for action in actions:
        callback: Any = action.callback
        view = callback.cls(**callback.initkwargs)
        try:
            authenticators = view.get_authenticators()
        except Exception:  # chosen by the request
            alone.append(action)
            continue
        is_stock = action.view.get_authenticators is APIView.get_authenticators
        if is_stock and reads_headers_only(authenticators):
            alike.setdefault(tuple(map(type, authenticators)), action)
        else:
            alone.append(action)
    return (*alike.values(), *alone)


def _answer(view: Any, error: Exception, _: HttpRequest) -> Any:
    return view.handle_exception(error)


_current: ContextVar[Caller] = ContextVar("toolbooth_caller")


@contextmanager
def answering(request: HttpRequest) -> Generator[Caller]:
    """While this is open, `caller()` is whoever sent the request."""
    who = Caller(request)
    token = _current.set(who)
    try:
        yield who
        who.sign()
    finally:
        _current.reset(token)


caller = _current.get
"""Returns the caller that is being answered."""


def is_open(action: Action) -> bool:
    """Whether an action lets everybody in: by REST framework's own permissions, none of which asks
    who calls.
    """
    view: Any = action.view
    initkwargs: Mapping[str, Any] = getattr(action.callback, "initkwargs", {})
    classes = initkwargs.get("permission_classes", view.permission_classes)
    own = (
        view.check_permissions is APIView.check_permissions
        and view.get_permissions is APIView.get_permissions
    )
    return own and view.initialize_request in _STOCK and all(each is AllowAny for each in classes)


_STOCK = (APIView.initialize_request, ViewSetMixin.initialize_request)
