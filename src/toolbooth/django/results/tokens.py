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
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace
from typing import Any, cast

from django.conf import settings
from django.core import signing
from django.core.cache import caches
from django.db.models import Model
from django.utils.crypto import salted_hmac

from toolbooth.django.call.caller import Caller, Identity
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.discovery import Action
from toolbooth.jsonvalue import Json
from toolbooth.server.results.pages import Unit

logger = logging.getLogger("toolbooth.django")


_SALT = "toolbooth.django.continuation"


class Refused(Exception):
    """A token that leads nowhere, and what to do instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in a result: what a token stands for."""

    tool: str
    who: str
    at: int = 0
    unit: Unit = "rows"
    digest: str = ""
    """Of the whole result, as the caller has seen it."""
    arguments: Json | None = None
    """Of a query, as the view was sent them."""
    filter_keys: tuple[str, ...] | None = None
    kept: str | None = None
    """The key of what is kept: a result that cannot be asked for again, or the arguments of a
    query.
    """


_FIELDS = tuple(each.name for each in fields(Place))


def seal(place: Place) -> str:
    """The token for a place."""
    return signing.dumps(astuple(place), salt=_SALT, serializer=_Serializer, compress=True)


def instead(tool: str, *, is_query: bool) -> str:
    """What to do where a token leads nowhere: what is no query must never be made twice."""
    if is_query:
        return f"call {tool} again with the arguments of the first call"
    return "the call that it came from was made: look at what it did, do not repeat it"


def unseal(token: str, tool: str, who: tuple[str, ...], age: int, *, is_query: bool) -> Place:
    """The place that a token stands for. Raises Refused."""
    again = instead(tool, is_query=is_query)
    try:
        found = signing.loads(token, salt=_SALT, serializer=_Serializer, max_age=age)
        place = Place(**dict(zip(_FIELDS, found, strict=True)))
    except signing.SignatureExpired:
        raise Refused(f"has expired: a token is good for {_minutes(age)}; {again}") from None
    except (signing.BadSignature, ValueError, TypeError):
        told = f"is no token of this server, or was changed; send it as it came{', or' if is_query else ';'} {again}"
        raise Refused(told) from None
    if place.who not in who:
        raise Refused(f"was given to another caller; {again}")
    if place.tool != tool:
        raise Refused(f"was given by {place.tool}; send it there")
    return place


def bound_to(who: Caller, action: Action) -> tuple[str, ...]:
    """Who calls, in a form that says nothing to others: what a token is bound to, by each of the
    project's keys.

    Raises APIException for credentials that the view does not take.
    """
    told = json.dumps([who.request.get_host(), *_who(who.identity(action), who)])
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return tuple(
        salted_hmac(_SALT, told, secret=key, algorithm="sha256").hexdigest()[:32] for key in keys
    )


def _who(identity: Identity, who: Caller) -> list[str]:
    user, auth, authenticator = identity
    if getattr(user, "pk", None) is not None:
        return [_kind(user), str(user.pk)]
    if authenticator is None:
        return []
    return [_kind(authenticator), str(getattr(user, "username", "")), _credentials(auth, who)]


def _credentials(auth: Any, who: Caller) -> str:
    """What was shown to the authenticator, in a form that is the same whenever it is shown again."""
    if isinstance(auth, Model):
        return f"{_kind(auth)} {auth.pk}"
    if isinstance(auth, str | bytes | int):
        return str(auth)
    if isinstance(auth, Mapping):
        return json.dumps(auth, sort_keys=True, default=str)
    return who.request.headers.get("Authorization", "")


def _kind(thing: Any) -> str:
    meta: Any = getattr(thing, "_meta", None)
    return (
        str(meta.label)
        if meta is not None
        else f"{type(thing).__module__}.{type(thing).__qualname__}"
    )


def digest(text: str) -> str:
    """What tells whether a result is another than it was."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _minutes(age: int) -> str:
    return f"{age // 60} minutes" if age >= 120 else f"{age} second{'s' if age > 1 else ''}"


class _Serializer:
    """Any number with all its digits; what JSON has no form for as its text, which is how an
    address takes it.
    """

    def dumps(self, obj: Any) -> bytes:
        return json.dumps(obj, separators=(",", ":"), default=str).encode()

    def loads(self, data: bytes) -> Any:
        place: list[Any] = json.loads(data)
        return [
            tuple(cast("list[str]", each)) if isinstance(each, list) else each for each in place
        ]


# --- what is kept ---


def keep(text: str, is_json: bool, chosen: Configuration) -> str | None:
    """Keep a result where all workers find it; the key, or None where the cache does not keep it."""
    return _keep(f"toolbooth:{secrets.token_urlsafe(18)}", [is_json, text], chosen)


def keep_query(place: Place, chosen: Configuration) -> Place | None:
    """The place with what was asked for in the cache, once for all of its pages; None where it does
    not keep it.
    """
    text = _Serializer().dumps([place.arguments, place.filter_keys]).decode()
    key = _keep(f"toolbooth:{digest(place.who + text)}", [True, text], chosen)
    return None if key is None else replace(place, arguments=None, filter_keys=None, kept=key)


def kept_query(place: Place, key: str, chosen: Configuration) -> Place:
    """The place with what was asked for. Raises Refused."""
    text, _ = kept(
        key,
        chosen,
        f"goes on with arguments that are no longer kept; {instead(place.tool, is_query=True)}",
    )
    arguments, filter_keys = _Serializer().loads(text.encode())
    return replace(place, arguments=arguments, filter_keys=filter_keys, kept=None)


def _keep(key: str, entry: list[Any], chosen: Configuration) -> str | None:
    try:
        caches[chosen.cache].set(key, entry, chosen.token_age)
        if caches[chosen.cache].get(key) == entry:
            return key
    except Exception:  # what was done is done: the caller gets to see it, whatever the cache says
        logger.warning("the cache %r failed to keep a result", chosen.cache, exc_info=True)
    return None


def kept(key: str, chosen: Configuration, lost: str) -> tuple[str, bool]:
    """What is kept, and whether it is JSON; from now on it is kept as long again. Raises Refused."""
    try:
        entry: Any = caches[chosen.cache].get(key)
        caches[chosen.cache].touch(key, chosen.token_age)
    except Exception:
        logger.warning("the cache %r failed to give a result back", chosen.cache, exc_info=True)
        raise Refused(
            "stands for a result that cannot be reached at the moment; send it again in a while"
        ) from None
    if entry is None:
        raise Refused(lost)
    is_json, text = entry
    return text, is_json
