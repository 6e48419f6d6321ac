"""Makes credentials for an agent: a token of a user. Also finds the kinds of credentials that the
project's views accept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError
from rest_framework.authentication import BasicAuthentication, SessionAuthentication

from toolbooth.django.management import messages
from toolbooth.django.management.authenticators import authenticators

_DRF_TOKEN = "rest_framework.authentication.TokenAuthentication"
_KNOX = "knox.auth.TokenAuthentication"
_JWT = "rest_framework_simplejwt.authentication.JWTAuthentication"
_OAUTH2 = "oauth2_provider.contrib.rest_framework.authentication.OAuth2Authentication"

_JWT_START = "eyJ"
"""The beginning of every JSON Web Token: `{"` in base64."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that was issued to a user."""

    authorization: str
    """The value of the Authorization header."""
    note: str
    """A note for the person who runs the command."""


def token_of(user: Any) -> Issued:
    """Return a token that the project's views accept for this user.

    Raises:
        CommandError: the user is not active, or no token can be made.
    """
    # A token of this user would be created, but no view would accept it.
    if not user.is_active:
        raise CommandError(messages.inactive_user(user.get_username()), returncode=2)
    for authenticator in authenticators():
        issue = _issuer(authenticator)
        if issue is None:
            continue
        try:
            return issue(authenticator, user)
        except DatabaseError as error:
            raise CommandError(messages.token_not_stored(error), returncode=2) from error
    raise CommandError(_no_token(), returncode=2)


def header_of(token: str) -> str:
    """Return the Authorization header for a token, with the prefix that the project's views
    expect.
    """
    # Only a JWT can be recognised by its beginning.
    kinds = (_JWT,) if token.startswith(_JWT_START) else (_DRF_TOKEN, _KNOX, _JWT)
    for authenticator in authenticators():
        if any(_is_a(authenticator, kind) for kind in kinds):
            # The value of WWW-Authenticate, such as `Bearer realm="api"`: its first word is the
            # prefix of tokens. These classes do not use the request.
            challenge: str = authenticator.authenticate_header(None)
            return f"{challenge.split()[0]} {token}"
    # The usual prefix, for a class of authentication that is not known here.
    return f"Bearer {token}"


def makes_tokens() -> bool:
    """Return True if `mcp_config --as` can make a token."""
    return any(_issuer(each) is not None for each in authenticators())


def how_to_add() -> str:
    """Return advice on the command-line option that adds credentials to the output."""
    if makes_tokens():
        return messages.ADD_USER_OR_TOKEN
    return f"{messages.ADD_TOKEN}: {messages.what_views_take(_kinds())}"


# --- tokens ---

_Issue = Callable[[Any, Any], Issued]
"""A function that takes an authenticator and a user, and returns a token."""


def _issuer(authenticator: Any) -> _Issue | None:
    """Return the function that makes tokens for an authenticator. Return None if the authenticator
    is unknown, or its app is not installed.
    """
    if _is_a(authenticator, _KNOX) and apps.is_installed("knox"):
        return _new_knox_token
    has_app = apps.is_installed("rest_framework.authtoken")
    if not has_app or not _is_a(authenticator, _DRF_TOKEN):
        return None
    # A project with tokens of its own has its own way to make them.
    is_stock = authenticator.get_model() is apps.get_model("authtoken.Token")
    return _drf_token if is_stock else None


def _drf_token(authenticator: Any, user: Any) -> Issued:
    model: Any = apps.get_model("authtoken.Token")
    token, is_new = model.objects.get_or_create(user=user)
    note = messages.drf_token(user.get_username(), is_new=is_new)
    return Issued(f"{authenticator.keyword} {token.key}", note)


def _new_knox_token(authenticator: Any, user: Any) -> Issued:
    model: Any = apps.get_model(getattr(settings, "KNOX_TOKEN_MODEL", "knox.AuthToken"))
    # The row has only a hash of the token, so this is the only chance to show it.
    row, token = model.objects.create(user=user)
    note = messages.knox_token(user.get_username(), row.expiry)
    return Issued(f"{authenticator.authenticate_header(None)} {token}", note)


def _no_token() -> str:
    """Return a sentence about why no token can be made."""
    takes = messages.what_views_take(_kinds())
    taken = authenticators()
    for app, path in (("rest_framework.authtoken", _DRF_TOKEN), ("knox", _KNOX)):
        is_taken = any(_is_a(each, path) for each in taken)
        if is_taken and not apps.is_installed(app):
            return messages.token_app_missing(app)
        if apps.is_installed(app) and not is_taken:
            return f"{messages.tokens_not_taken(app, path)}; {takes}"
    return f"{messages.NO_TOKEN_APP} {messages.OR_ADD_TOKEN}: {takes}"


# --- the credentials that views accept ---


def _kinds() -> Iterator[str]:
    for authenticator in authenticators():
        if isinstance(authenticator, BasicAuthentication):
            yield messages.TAKES_PASSWORD
        elif isinstance(authenticator, SessionAuthentication):
            yield messages.TAKES_SESSION
        elif _is_a(authenticator, _JWT):
            yield messages.TAKES_JWT
        elif _is_a(authenticator, _OAUTH2):
            yield messages.TAKES_OAUTH
        else:
            yield type(authenticator).__name__


def _is_a(authenticator: Any, path: str) -> bool:
    """Return True if an authenticator is an instance of the class at this import path, or of a
    subclass.
    """
    # Compared by import path, because packages such as knox may not be installed, and then cannot
    # be imported.
    classes = type(authenticator).__mro__
    return any(f"{each.__module__}.{each.__qualname__}" == path for each in classes)
