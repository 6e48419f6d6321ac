"""Continuation tokens: signed, bound to one tool and one caller, good for a while. And results that
are kept for them.

A token holds all that is needed to go on, so any worker can: the arguments of a query, which is run
again, or the key under which the shared cache keeps what only one call could bring about, or
arguments that are too long for a token.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.cache import caches
from django.utils.crypto import salted_hmac

from toolbooth.django.call.caller import Caller
from toolbooth.django.call.caller_identity import identity_parts
from toolbooth.django.call.invocation import Moved
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.discovery import Action
from toolbooth.django.results import messages
from toolbooth.jsonvalue import Json, is_array
from toolbooth.server.results.pages import Unit

logger = logging.getLogger("toolbooth.django")


_SALT = "toolbooth.django.continuation"


class RefusedToken(Exception):
    """A token that cannot be used, and what to do instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A position in a result: what a token stands for."""

    tool: str
    who: str
    at: int = 0
    unit: Unit = "rows"
    digest: str = ""
    """Of the whole result, as the caller has seen it."""
    arguments: Json | None = None
    """Of a query, as the view was sent them; of other calls only those of the path, by which the
    view may know its callers.
    """
    filter_keys: tuple[str, ...] | None = None
    kept: str | None = None
    """The key of what is kept: a result that cannot be asked for again, or the arguments of a
    query.
    """
    size: int | None = None
    """Rows of a page, if the caller has asked for pages by number or size."""
    moved: Moved | None = None
    """What the query of one page of a list has that the arguments do not; `at` is in that page."""
    before: int = 0
    """The rows of the list before that page."""
    count: int | None = None
    """All rows of the list, as far as its view says."""


_FIELDS = tuple(each.name for each in fields(Position))


def seal(position: Position) -> str:
    """The token for a position."""
    return signing.dumps(astuple(position), salt=_SALT, serializer=_Serializer, compress=True)


def unseal(token: str, tool: str, age: int, *, is_query: bool) -> Position:
    """The position that a token stands for; whose it is has still to be checked. Raises
    RefusedToken.
    """
    instead = messages.instead_of_token(tool, is_query=is_query)
    try:
        found = signing.loads(token, salt=_SALT, serializer=_Serializer, max_age=age)
        position = Position(**dict(zip(_FIELDS, found, strict=True)))
    except signing.SignatureExpired:
        raise RefusedToken(messages.token_expired(age, instead)) from None
    except (signing.BadSignature, ValueError, TypeError):
        raise RefusedToken(messages.not_a_token(instead, is_query=is_query)) from None
    return position


def check_owner(position: Position, tool: str, who: tuple[str, ...], *, is_query: bool) -> None:
    """Raises RefusedToken for a token of another caller or another tool."""
    if position.who not in who:
        instead = messages.instead_of_token(tool, is_query=is_query)
        raise RefusedToken(messages.token_of_another_caller(instead))
    if position.tool != tool:
        raise RefusedToken(messages.token_of_another_tool(position.tool))


def caller_hashes(who: Caller, action: Action) -> tuple[str, ...]:
    """Who calls, in a form that says nothing to others: what a token is bound to, by each of the
    project's keys.

    Raises APIException for credentials that the view does not take.
    """
    identity = json.dumps(
        [who.request.get_host(), *identity_parts(who.identity(action), who.request)]
    )
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    hashes = (salted_hmac(_SALT, identity, secret=key, algorithm="sha256") for key in keys)
    return tuple(each.hexdigest()[:32] for each in hashes)


def digest(text: str) -> str:
    """What tells whether a result is another than it was."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class _Serializer:
    """Any number with all its digits; what JSON has no form for as its text, which is how an
    address takes it.
    """

    def dumps(self, obj: Any) -> bytes:
        return json.dumps(obj, separators=(",", ":"), default=str).encode()

    def loads(self, data: bytes) -> Any:
        values: list[Any] = json.loads(data)
        return [_hashable(each) for each in values]


def _hashable(value: Any) -> Any:
    """A list as a tuple, which a position has."""
    return tuple(value) if is_array(value) else value


# --- what is kept ---


def keep(text: str, is_json: bool, chosen: Configuration) -> str | None:
    """Keep a result where all workers find it. Returns the key; None if the cache failed."""
    return _keep(f"toolbooth:{secrets.token_urlsafe(18)}", [is_json, text], chosen)


def keep_query(position: Position, chosen: Configuration) -> Position | None:
    """The position with what was asked for in the cache, once for all of its pages; None if the
    cache failed.
    """
    text = _Serializer().dumps([position.arguments, position.filter_keys]).decode()
    key = _keep(f"toolbooth:{digest(position.who + text)}", [True, text], chosen)
    return None if key is None else replace(position, arguments=None, filter_keys=None, kept=key)


def kept_query(position: Position, key: str, chosen: Configuration) -> Position:
    """The position with what was asked for. Raises RefusedToken."""
    instead = messages.instead_of_token(position.tool, is_query=True)
    text, _ = kept_result(key, chosen, messages.arguments_no_longer_kept(instead))
    arguments, filter_keys = _Serializer().loads(text.encode())
    return replace(position, arguments=arguments, filter_keys=filter_keys, kept=None)


def _keep(key: str, entry: list[Any], chosen: Configuration) -> str | None:
    try:
        caches[chosen.cache].set(key, entry, chosen.token_age)
        if caches[chosen.cache].get(key) == entry:
            return key
    except Exception:  # what was done is done: the caller gets to see it, whatever the cache says
        logger.warning("the cache %r failed to keep a result", chosen.cache, exc_info=True)
    return None


def kept_result(key: str, chosen: Configuration, lost: str) -> tuple[str, bool]:
    """What is kept, and whether it is JSON; from now on it is kept as long again. Raises
    RefusedToken.
    """
    try:
        entry: Any = caches[chosen.cache].get(key)
        caches[chosen.cache].touch(key, chosen.token_age)
    except Exception:
        logger.warning("the cache %r failed to give a result back", chosen.cache, exc_info=True)
        raise RefusedToken(messages.NOT_REACHED_NOW) from None
    if entry is None:
        raise RefusedToken(lost)
    is_json, text = entry
    return text, is_json
