"""Lists the authenticators that give every view the same answer. They run only once for a list of
tools.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from django.contrib.auth import get_user_model
from rest_framework.authentication import (
    BasicAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.permissions import AllowAny
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from toolbooth.django.describe.discovery import Action

_REST_FRAMEWORK = "rest_framework.authentication."
_SIMPLE_JWT = "rest_framework_simplejwt.authentication."
_OAUTH2 = "oauth2_provider.contrib.rest_framework.authentication.OAuth2Authentication"

LISTED = frozenset(
    (
        f"{_REST_FRAMEWORK}BasicAuthentication",
        f"{_REST_FRAMEWORK}RemoteUserAuthentication",
        f"{_REST_FRAMEWORK}SessionAuthentication",
        f"{_REST_FRAMEWORK}TokenAuthentication",
        f"{_SIMPLE_JWT}JWTAuthentication",
        f"{_SIMPLE_JWT}JWTStatelessUserAuthentication",
        "knox.auth.TokenAuthentication",
        _OAUTH2,
    )
)
"""Authenticators that read headers, cookies and the session, never the path, the URL kwargs or the
body. They are listed by import path, because a project need not have these packages.
"""

_MAY_CHECK_CSRF = (f"{_REST_FRAMEWORK}SessionAuthentication", _SIMPLE_JWT)
"""The authenticators that may require a CSRF token for methods that write."""

_READS_CREDENTIALS_ONLY = frozenset(
    (BasicAuthentication, SessionAuthentication, TokenAuthentication)
)
"""Authenticators that read the `Authorization` header and the user of the session, nothing else."""

_GETS_NO_REQUEST = frozenset(
    ("authenticate_credentials", "get_model", "keyword", "model", "www_authenticate_realm")
)
"""The parts of `TokenAuthentication` that get the key, but not the request. Whatever a subclass
makes of them, its answer is the same for every view.
"""

_OF_EVERY_CLASS = frozenset(
    (
        *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__firstlineno__"),
        *("__static_attributes__", "__annotations__", "__annotate__", "__annotate_func__"),
    )
)
"""Names that Python gives to a class."""

_STOCK_METHODS = (
    "dispatch",
    "get_authenticators",
    "initial",
    "perform_authentication",
)


@lru_cache(1024)
def _listed_path(cls: type) -> str:
    """Return the import path of an authenticator's class. Return an empty text if the class is not
    in `LISTED`.
    """
    path = f"{cls.__module__}.{cls.__qualname__}"
    # A class can claim any name and module, so the module must have this class under this name.
    is_real = getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls
    if path not in LISTED or not is_real or (path == _OAUTH2 and _binds_tokens_to_urls()):
        return ""
    return path


def _binds_tokens_to_urls() -> bool:
    """Return True if this oauth2_provider can bind a token to certain URLs (RFC 8707)."""
    # The module is loaded if the authenticator is. An import would make the package a dependency.
    chosen: Any = sys.modules.get("oauth2_provider.settings")
    return "RESOURCE_SERVER_TOKEN_RESOURCE_VALIDATOR" in getattr(chosen, "DEFAULTS", {})


def answer_alike(authenticators: Iterable[Any]) -> bool:
    """Return True if these authenticators give every view the same answer.

    Their classes must be in `LISTED`, or only look up keys: any other subclass may look at the path
    of the request. Their instances must have no attributes, because an attribute may be a key. Any
    other authenticator runs for each view.
    """
    return all(map(_answers_alike, authenticators))


def _answers_alike(authenticator: object) -> bool:
    path = _path_of(authenticator)
    attributes = vars(authenticator)
    if not attributes:
        return bool(path) or _only_looks_up_keys(type(authenticator))
    # All instances of simplejwt's classes have this one.
    return path.startswith(_SIMPLE_JWT) and attributes == {"user_model": get_user_model()}


@lru_cache(1024)
def _only_looks_up_keys(cls: type) -> bool:
    """Return True if a subclass of `TokenAuthentication` decides only which user a key belongs to,
    and whether it has expired.
    """
    if not issubclass(cls, TokenAuthentication):
        return False
    own = cls.__mro__[: cls.__mro__.index(TokenAuthentication)]
    names = {name for each in own for name in vars(each)} - _OF_EVERY_CLASS - _GETS_NO_REQUEST
    # Names that the base does not have are only used by the parts above.
    return not any(hasattr(TokenAuthentication, name) or name.startswith("__") for name in names)


def _path_of(authenticator: object) -> str:
    return _listed_path(type(authenticator))


def checks_csrf(authenticator: Any) -> bool:
    """Return True if an authenticator may require a CSRF token when it recognises a user."""
    return _path_of(authenticator).startswith(_MAY_CHECK_CSRF)


def is_lendable(view: APIView, authenticator: Any) -> bool:
    """Return True if a view can reuse a user when it runs. The view has recognised this user by a
    password before. It must be certain to recognise the same user again, so all the code involved
    must be REST framework's own.
    """
    # Only passwords are slow to check, since their hash is slow by design. Everything else is
    # checked again.
    if type(authenticator) is not BasicAuthentication:
        return False
    cls: Any = type(view)
    is_stock = all(getattr(cls, name) is getattr(APIView, name) for name in _STOCK_METHODS)
    authenticators: Iterable[object] = view.request.authenticators or ()
    return (
        is_stock
        and cls.initialize_request in STOCK_REQUESTS
        # All authenticators must qualify, because an earlier one could recognise another user when
        # the view runs.
        and all(type(each) in _READS_CREDENTIALS_ONLY and not vars(each) for each in authenticators)
    )


STOCK_REQUESTS = (APIView.initialize_request, ViewSetMixin.initialize_request)
"""The methods by which REST framework's own views make their requests."""


def authenticating_actions(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return the actions whose views are used to authenticate the caller. If several actions
    authenticate in the same way, only one of them is returned.
    """
    alike: dict[tuple[type, ...], Action] = {}
    alone: list[Action] = []
    for action in actions:
        callback: Any = action.callback
        # `as_view(authentication_classes=[...])` replaces the attribute of the class.
        view = callback.cls(**callback.initkwargs)
        try:
            authenticators = view.get_authenticators()
        except Exception:  # chosen by the request
            alone.append(action)
            continue
        is_stock = action.view.get_authenticators is APIView.get_authenticators
        if is_stock and answer_alike(authenticators):
            # The order is part of the key: the first authenticator that recognises a caller
            # decides.
            alike.setdefault(tuple(map(type, authenticators)), action)
        else:
            alone.append(action)
    return (*alike.values(), *alone)


def is_open(action: Action) -> bool:
    """Return True if an action is open to everyone: its permissions are REST framework's own, and
    none of them depends on the caller.
    """
    view: Any = action.view
    initkwargs: Mapping[str, Any] = getattr(action.callback, "initkwargs", {})
    classes = initkwargs.get("permission_classes", view.permission_classes)
    own = (
        view.check_permissions is APIView.check_permissions
        and view.get_permissions is APIView.get_permissions
    )
    return (
        own
        and view.initialize_request in STOCK_REQUESTS
        # An empty list of permissions admits everyone too.
        and all(each is AllowAny for each in classes)
    )
