"""Keeps the identities of callers that views have recognised while one message is handled.

A view that runs authenticates its own request. Views also authenticate the caller without running:
all views for a list of tools, and one view for the help or the relations of a call. The results are
kept here until the message is answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

from django.db.models import Model
from django.http import HttpRequest
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS

from toolbooth.django.call.authenticators import answer_alike, checks_csrf, is_lendable
from toolbooth.django.call.inner_request import Loan, lend, user_before

Identity = tuple[Any, Any, Any]
"""A user, their credentials, and the authenticator that recognised them. For an anonymous caller,
the authenticator is None.
"""

Loans = dict[Any, tuple[Mapping[str, Any], Loan]]
"""Loans by a `Question` without its headers. Each value also has the URL kwargs."""

_OF_THE_BODY = frozenset(("CONTENT_LENGTH", "CONTENT_TYPE"))

_READ_BY_BACKEND = ("_perm_cache", "_user_perm_cache", "_group_perm_cache")
"""The attributes in which Django's `ModelBackend` caches the permissions of a user."""


class Question(NamedTuple):
    """Identifies one authentication: the view's callback, and everything in the request except its
    body.
    """

    outer: HttpRequest
    """Middleware may replace this request. Earlier answers are not valid after that."""
    callback: Any
    path: str
    method: str
    headers: frozenset[tuple[str, str]]
    """The headers and the query."""


class Identities:
    """The answers of the views that authenticate the caller of one message."""

    def __init__(self, loans: Loans) -> None:
        self.user: Any = None
        """The first user that an authenticator has recognised."""
        self._by_headers: dict[Any, Identity | APIException] = {}
        """Answers that are valid for every view. The key has the outer request, the types of the
        authenticators, and True if a session needs a CSRF token.
        """
        self._by_question: dict[Question, tuple[Mapping[str, Any], Identity | APIException]] = {}
        """Answers by question, each with its URL kwargs."""
        self._loans = loans
        self._known: tuple[type, dict[str, Any], Any] | None = None
        """The last user that was recognised for a list: the class, the fields as they were first
        read, and the object with the cached permissions.
        """

    # --- for a list ---

    def for_list(self, outer: HttpRequest, view: Any) -> Identity:
        """Return the caller's identity for a view that is checked for a list of tools.

        Raises:
            APIException: the view refuses the credentials.
        """
        request = view.request
        if not answer_alike(request.authenticators):
            found = self._authenticated(request)
            self._share_permissions(found[0])
            return found
        key = _key(outer, request)
        answer = self._by_headers.get(key)
        if answer is None:
            answer = self._answer(request)
            self._keep_for_all(outer, request, answer)
        return _taken(request, answer)

    def _keep_for_all(
        self, outer: HttpRequest, request: Any, answer: Identity | APIException
    ) -> None:
        """Keep an answer that is valid for every view with the same authenticators."""
        key = _key(outer, request)
        self._by_headers[key] = answer
        # CSRF tokens are only required with a session. Otherwise reading and writing are the same.
        if isinstance(answer, tuple) and not checks_csrf(answer[2]):
            self._by_headers[*key[:2], not key[2]] = answer

    def for_help(
        self, outer: HttpRequest, callback: Any, kwargs: Mapping[str, Any], view: Any
    ) -> Identity:
        """Return the caller's identity for a view that does not run. Use the identity found for a
        list of tools, if there is one. Otherwise authenticate as for a call.

        Raises:
            APIException: the view refuses the credentials.
        """
        request = view.request
        if answer_alike(request.authenticators):
            known = self._by_headers.get(_key(outer, request))
            if known is not None:
                return _taken(request, known)
        return self.for_call(outer, callback, kwargs, view)

    def _share_permissions(self, user: Any) -> None:
        """Copy the permissions that were read for another view to this `user`. Most authenticators
        read the user anew for each view, so the permissions would be read again.
        """
        if not isinstance(user, Model):
            return
        # `_state` is a new object whenever a row is read, so only its database is compared.
        fields = {**vars(user), "_state": user._state.db}
        before, self._known = self._known, (type(user), fields, user)
        # With other fields, the user's permissions may have changed too.
        if before is None or before[:2] != (type(user), fields):
            return
        known: dict[str, Any] = before[2].__dict__
        for name in _READ_BY_BACKEND:
            if name in known:
                setattr(user, name, known[name])

    # --- for one call ---

    def for_call(
        self, outer: HttpRequest, callback: Any, kwargs: Mapping[str, Any], view: Any
    ) -> Identity:
        """Return the caller's identity from the view's own authenticators. They get a request with
        the path, the method and the URL kwargs of the call.

        Raises:
            APIException: the view refuses the credentials.
        """
        request = view.request
        question = _question(outer, callback, request)
        kept = self._by_question.get(question)
        # The kwargs are compared here, because they cannot be part of the key: a mapping has no
        # hash.
        if kept is not None and kept[0] == kwargs:
            return _taken(request, kept[1])
        answer = self._answer(request)
        self._by_question[question] = (kwargs, answer)
        if answer_alike(request.authenticators):
            self._keep_for_all(outer, request, answer)
        if not isinstance(answer, APIException) and is_lendable(view, answer[2]):
            self._keep_loan(question, kwargs, request, answer)
        return _taken(request, answer)

    def _keep_loan(
        self, question: Question, kwargs: Mapping[str, Any], request: Any, identity: Identity
    ) -> None:
        user, auth, authenticator = identity
        loan = Loan(
            authorization=request.META.get("HTTP_AUTHORIZATION"),
            session_user=user_before(question.outer),
            # A copy, because permissions are cached on the object itself.
            identity=(copy(user), auth, authenticator),
        )
        # The key does not contain the headers. `RunningRequest._lent` compares the `Authorization`
        # header.
        self._loans[question[:4]] = (kwargs, loan)

    def lend_to(
        self, outer: HttpRequest, callback: Any, kwargs: Mapping[str, Any], request: HttpRequest
    ) -> None:
        """Lend a user to a view that runs, so that it need not hash the same password again."""
        # The key does not contain headers. The request compares the `Authorization` header when the
        # view asks for the user.
        key = (outer, callback, request.path, request.method)
        kept = self._loans.get(key)
        if kept is not None and kept[0] == kwargs:
            user, *others = kept[1].identity
            lend(request, replace(kept[1], identity=(copy(user), *others)))

    # --- both ---

    def _answer(self, request: Any) -> Identity | APIException:
        try:
            return self._authenticated(request)
        except APIException as error:
            return error

    def _authenticated(self, request: Any) -> Identity:
        found = (request.user, request.auth, request.successful_authenticator)
        if self.user is None and found[2] is not None:
            self.user = found[0]
        return found


def _key(outer: HttpRequest, request: Any) -> tuple[HttpRequest, tuple[type, ...], bool]:
    """Return the parts of a request that decide what the authenticators in `LISTED` answer."""
    needs_csrf_token = request.method not in SAFE_METHODS
    return outer, tuple(map(type, request.authenticators)), needs_csrf_token


def _question(outer: HttpRequest, callback: Any, request: Any) -> Question:
    meta: Mapping[str, Any] = request.META
    headers = frozenset(
        (name, each)
        for name, each in meta.items()
        # The environment also has objects of the server, such as `wsgi.input`.
        if isinstance(each, str) and name not in _OF_THE_BODY
    )
    return Question(outer, callback, request.path, request.method, headers)


def _taken(request: Any, answer: Identity | APIException) -> Identity:
    """Set an identity on the request, as if the request had been authenticated, and return the
    identity. If the answer is an APIException, raise it.
    """
    if isinstance(answer, APIException):
        raise answer
    # REST framework returns `_authenticator` as `successful_authenticator`.
    request.user, request.auth, request._authenticator = answer
    return answer
