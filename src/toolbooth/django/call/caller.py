"""Identifies the caller of a message. Runs the authentication and permissions of views without
running the views.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, partial
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.handlers.base import BaseHandler
from django.http import Http404, HttpRequest
from rest_framework.exceptions import (
    APIException,
    AuthenticationFailed,
    NotAuthenticated,
    PermissionDenied,
)
from rest_framework.views import APIView

from toolbooth.boundary.read import Unreadable
from toolbooth.django.call.authenticators import answer_alike
from toolbooth.django.call.identities import Identities, Identity, Loans
from toolbooth.django.call.inner_request import inner_request, is_signed, request_at
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.published_models import NO_MODELS, PublishedModels
from toolbooth.django.describe.view_requests import negotiate
from toolbooth.jsonvalue import Json, is_object
from toolbooth.server.envelope import Message

logger = logging.getLogger("toolbooth.django")
_handler = BaseHandler()

REFUSALS = (APIException, Http404, DjangoPermissionDenied)
"""The exceptions by which a view refuses a caller."""


class _Place(NamedTuple):
    """The URL of an action at which its view last ran, or was checked."""

    action: Action
    kwargs: Mapping[str, Any]
    path: str
    ran: Any = None
    """The request of the view that ran at this URL."""


class Caller:
    """The HTTP request of the message, and the checks that views make for it.

    For the checks, a separate instance of the view is made. The instance that runs authenticates
    its request again, but a password is hashed only once for each request.
    """

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.has_failed = False
        """True if a view has raised an exception or returned 500."""
        self.models: PublishedModels = NO_MODELS
        """The models that the API shows."""
        self.challenge: str | None = None
        """The `WWW-Authenticate` of a view that requires authentication."""
        self.login: Callable[[], bool] | None = None
        """A function that returns True if any view recognises the caller. It is set if the call
        requires authentication. After the check it is None.
        """
        self.message: Message | None = None
        self.last_run: tuple[Action, Any, Any] | None = None
        """The action that ran last, its response, and the body that was sent to it. A hand-written
        tool has no body.
        """
        self.bulk: tuple[list[Json], Json | None] | None = None
        """The rows that a call has sent, and their result (None before the rows are created)."""
        self.own_meta: Any = None
        """The gateway's part of `_meta` in the message, or None if there is none."""
        self.has_key = False
        """True if the call has an idempotency key."""
        self.objected: int | None = None
        """The status with which a view refused the caller before it ran."""
        self.loans: Loans = {}
        """The users that views have recognised by a password before they run."""
        self._last_place: _Place | None = None
        """The URL at which a view was last checked."""
        self._template: tuple[HttpRequest, HttpRequest] | None = None
        """The request that is copied for each view of a list, and the outer request that it was
        made from.
        """

    @cached_property
    def sent(self) -> Any:
        """The arguments of the call as they were sent, or None if they cannot be read. For a
        continuation, these are the arguments of the call that it continues.
        """
        reading = None if self.message is None else self.message.reading
        if reading is None or isinstance(reading, Unreadable) or not is_object(reading[0]):
            return None
        params: Any = reading[0].get("params")
        return params.get("arguments") if is_object(params) else None

    # --- for a list ---

    def may_call(self, action: Action) -> bool:
        """Return True if the view lets the caller in, or if only a call can show that. Throttles do
        not count this check. Permissions for single rows are checked in the call.
        """
        view = self._view_of_list(action, action.method)
        try:
            _admit(view, self._for_list)
        except REFUSALS:
            return False
        except Exception:
            # The permission needs the row or the body, which are not known yet: the call decides.
            logger.debug(
                "whether %s may be called cannot be said beforehand", action.path, exc_info=True
            )
            return self._may_be_known(view)
        return True

    def is_known(self, actions: Iterable[Action]) -> bool:
        """Return True if any of these views recognises the caller. Raises AuthenticationFailed if a
        view refuses the credentials and no view recognises the caller.
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

    def _is_known_to(self, action: Action) -> bool:
        """Return True if a view recognises the caller. Raises APIException for bad credentials."""
        try:
            return self._for_list(self._view_of_list(action, action.method))[2] is not None
        except PermissionDenied:  # a session without its CSRF token may still read
            return self._for_list(self._view_of_list(action, "GET"))[2] is not None

    def _may_be_known(self, view: Any) -> bool:
        """Return True if a view recognises the caller, or could do so in a call."""
        try:
            return self._for_list(view)[2] is not None
        except Exception:  # the authenticator needs the URL kwargs: the call decides
            return True

    def _for_list(self, view: Any) -> Identity:
        return self._identities.for_list(self.request, view)

    def _view_of_list(self, action: Action, method: str) -> Any:
        outer = self.request
        if self._template is None or self._template[1] is not outer:
            template = inner_request(outer, "GET", outer.path_info)
            _ = template.headers  # read once for all copies
            self._template = (template, outer)
        path = action.path or outer.path_info
        return self.view(action, {}, request_at(self._template[0], method, path))

    # --- for one call ---

    def objection(
        self,
        action: Action,
        kwargs: Mapping[str, Any] | None = None,
        request: HttpRequest | None = None,
    ) -> Any:
        """Return the response of a view that refuses the caller. Return None if the view lets the
        caller in, or if only the call itself can decide.
        """
        view = self.view(action, kwargs, request)
        self._last_place = _Place(action, view.kwargs, view.request.path_info)
        try:
            _admit(view, partial(self._for_help, action))
            self._must_be_known(partial(self._for_help, action, view))
        except REFUSALS as error:
            # REST framework rolls the current transaction back, so it gets one of its own here.
            answer = _handler.make_view_atomic(partial(_answer, view, error))
            response = answer(view.request)
            self.objected = response.status_code
            return response
        except Exception:  # as in `may_call`
            return None
        return None

    def admitted_view(
        self, action: Action, kwargs: Mapping[str, Any], request: HttpRequest | None = None
    ) -> Any:
        """Return an action's view before it runs. Raises one of REFUSALS for a refused caller."""
        view = self.view(action, kwargs, request)
        try:
            _admit(view, partial(self._for_call, action))
        except REFUSALS:
            raise
        except Exception:  # as in `may_call`
            logger.debug(
                "whether %s may be called cannot be said beforehand", action.path, exc_info=True
            )
        return view

    def reading_view(self, action: Action, asked: Any, request: HttpRequest) -> Any:
        """Return the view that reads the row at the URL of the view `asked`. `asked` has
        authenticated the caller already. Raises one of REFUSALS if the new view refuses the caller.
        """
        view = self.view(action, asked.kwargs, request)
        known: Any = asked.request
        identity = (known.user, known.auth, known.successful_authenticator)
        view.request.user, view.request.auth, view.request._authenticator = identity
        _admit(view, lambda _: identity)
        return view

    def listing_view(self, action: Action, kwargs: Mapping[str, Any], request: HttpRequest) -> Any:
        """Return the view of an action that lists rows, after the same checks as for a list of
        tools. Raises one of REFUSALS if the view refuses the caller.
        """
        view = self.view(action, kwargs, request)
        _admit(view, self._for_list)
        return view

    def may_run(
        self,
        action: Action,
        kwargs: Mapping[str, Any] | None = None,
        request: HttpRequest | None = None,
    ) -> bool:
        """Return False if the call requires authentication, and no view recognises the caller."""
        try:
            view = self.view(action, kwargs, request)
            self._must_be_known(partial(self._for_call, action, view))
        except NotAuthenticated:
            return False
        return True

    def _must_be_known(self, identify: Callable[[], Identity]) -> None:
        """Raise NotAuthenticated if the call requires authentication, and no view recognises the
        caller.
        """
        if self.login is None:
            return
        try:
            is_known = identify()[2] is not None
        except Exception:  # it refuses these credentials: another view may accept them
            is_known = False
        if not is_known and not self.login():
            raise NotAuthenticated
        self.login = None

    def identity(self, action: Action) -> Identity:
        """Return the caller's identity for the view that ran or was checked last. Raises
        APIException if the view refuses the credentials now, even if it accepted them before.
        """
        place = self._place_of(action)
        try:
            ran = place.ran
            if ran is not None and answer_alike(ran.authenticators):
                return ran.user, ran.auth, ran.successful_authenticator
            return self._for_call(action, self._view_at(place))
        except APIException:
            raise
        except Exception as error:  # its authenticator needs the URL kwargs of a call
            raise AuthenticationFailed from error

    def known_as(self, action: Action) -> tuple[Any, Any]:
        """Return the user and the authenticator of the view that ran or was checked last. Return
        `(None, None)` if that view refuses the credentials.
        """
        with suppress(APIException):
            ran = self._place_of(action).ran
            if ran is not None:
                return ran.user, ran.successful_authenticator
            user, _, authenticator = self.identity(action)
            return user, authenticator
        return None, None

    def kwargs_of(self, action: Action) -> Mapping[str, Any]:
        """Return the URL kwargs with which an action's view last ran or was checked."""
        return self._place_of(action).kwargs

    def _for_call(self, action: Action, view: Any) -> Identity:
        return self._identities.for_call(self.request, action.callback, view.kwargs, view)

    def _for_help(self, action: Action, view: Any) -> Identity:
        return self._identities.for_help(self.request, action.callback, view.kwargs, view)

    def recognise(self, action: Action, kwargs: Mapping[str, Any], request: HttpRequest) -> None:
        """Hash the password once, before a view runs many times with this request."""
        with suppress(Exception):  # each run refuses the caller itself
            self._for_call(action, self.view(action, kwargs, request))

    def lets_in(self, action: Action, response: Any) -> bool:
        """Return True if the view that gave a response lets the caller in."""
        context: Mapping[str, Any] | None = getattr(response, "renderer_context", None)
        if context is None:
            return self.may_call(action)
        place = _Place(action, context["kwargs"], context["request"].path_info)
        return self.objection(action, place.kwargs, self._request_at(place)) is None

    def starts(self, action: Action, kwargs: Mapping[str, Any], request: HttpRequest) -> None:
        """Lend a recognised user to a view that is about to run. Call this only if there are
        loans.
        """
        self._identities.lend_to(self.request, action.callback, kwargs, request)

    def _place_of(self, action: Action) -> _Place:
        """Return the place at which a view of the action last ran, or was checked."""
        ran, response, _ = self.last_run or (None, None, None)
        context: Mapping[str, Any] | None = getattr(response, "renderer_context", None)
        if ran is action and context is not None:
            request = context["request"]
            return _Place(action, context["kwargs"], request.path_info, request)
        if self._last_place is not None and self._last_place.action is action:
            return self._last_place
        return _Place(action, {}, action.path or self.request.path_info)

    @cached_property
    def _identities(self) -> Identities:
        """The identities that views have found. Made on first use, because in most calls only the
        view that runs identifies the caller.
        """
        return Identities(self.loans)

    def _view_at(self, place: _Place) -> Any:
        return self.view(place.action, place.kwargs, self._request_at(place))

    def _request_at(self, place: _Place) -> HttpRequest:
        return inner_request(self.request, place.action.method, place.path)

    # --- both ---

    def view(
        self,
        action: Action,
        kwargs: Mapping[str, Any] | None = None,
        request: HttpRequest | None = None,
    ) -> Any:
        """Return a view of the action that has not run yet. `request` is the inner request of a
        call, if there is one. A tool without a URL runs at the URL of the endpoint.
        """
        callback: Any = action.callback
        view = callback.cls(**callback.initkwargs)
        if request is None:
            path = action.path or self.request.path_info
            request = inner_request(self.request, action.method, path)
        view.args, view.kwargs, view.format_kwarg = (), dict(kwargs or {}), None
        if hasattr(callback, "actions"):
            view.action_map = callback.actions
        view.request = request
        view.request = view.initialize_request(request)
        return view

    def sign(self) -> None:
        """Set the user of the outer request for the host's middleware, if no view has set it."""
        if "_identities" not in vars(self) or is_signed(self.request):
            return
        user = self._identities.user
        if user is not None:
            request: Any = self.request
            request.user = user


def _admit(view: APIView, identify: Callable[[Any], Identity]) -> None:
    """Run the checks that a view makes in `initial`, except for throttles."""
    negotiate(view)
    cls: Any = type(view)
    if cls.perform_authentication is APIView.perform_authentication:
        identify(view)
    else:
        view.perform_authentication(view.request)
    view.check_permissions(view.request)


def _answer(view: Any, error: Exception, _: HttpRequest) -> Any:
    return view.handle_exception(error)


_current: ContextVar[Caller] = ContextVar("toolbooth_caller")


@contextmanager
def answering(request: HttpRequest) -> Generator[Caller]:
    """A context in which `caller()` returns the caller of this request."""
    who = Caller(request)
    token = _current.set(who)
    try:
        yield who
        who.sign()
    finally:
        _current.reset(token)


caller = _current.get
"""Returns the caller whose message is being handled."""
