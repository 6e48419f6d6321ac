"""Makes continuation tokens, and keeps results for them. A token is signed, expires, and is valid
only for one tool and one caller.

Any worker can continue a result, because the token has all that is needed. For a query, the token
has the arguments, and the query runs again. For any other call, it has the key of a shared cache
entry with the result. Arguments that are too long for a token are stored in the cache too.
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
    """Raised if a token cannot be used. The message is advice for the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The position at which a result is continued. A token is a signed position."""

    tool: str
    who: str
    at: int = 0
    unit: Unit = "rows"
    digest: str = ""
    """The digest of the whole result, as the caller has seen it."""
    arguments: Json | None = None
    """The arguments to continue with. For a query, these are all of the arguments that were sent to
    the view. For any other call, they are only the arguments in the path, because the view may need
    them to authenticate the caller.
    """
    filter_keys: tuple[str, ...] | None = None
    kept: str | None = None
    """The key of an entry in the cache: a result that cannot be computed again, or the arguments of
    a query.
    """
    size: int | None = None
    """The number of rows per page, if the caller has requested pages by number or size."""
    moved: Moved | None = None
    """The changes to the query of the call that select one page of a list. `at` is the index of a
    row in that page.
    """
    before: int = 0
    """The number of rows of the list before that page."""
    count: int | None = None
    """The number of all rows of the list, if its view has counted them."""


_FIELDS = tuple(each.name for each in fields(Position))


def seal(position: Position) -> str:
    """Return the token for a position."""
    # A tuple without field names, to keep the token short: agents have to copy it.
    return signing.dumps(astuple(position), salt=_SALT, serializer=_Serializer, compress=True)


def unseal(token: str, tool: str, age: int, *, is_query: bool) -> Position:
    """Return the position in a token. The owner of the token is not checked. Raises
    RefusedToken.
    """
    instead = messages.instead_of_token(tool, is_query=is_query)
    try:
        found = signing.loads(token, salt=_SALT, serializer=_Serializer, max_age=age)
        # A token of another version of Toolbooth may have another number of fields. That is the
        # ValueError below.
        position = Position(**dict(zip(_FIELDS, found, strict=True)))
    except signing.SignatureExpired:
        raise RefusedToken(messages.token_expired(age, instead)) from None
    except (signing.BadSignature, ValueError, TypeError):
        raise RefusedToken(messages.not_a_token(instead, is_query=is_query)) from None
    return position


def check_owner(position: Position, tool: str, who: tuple[str, ...], *, is_query: bool) -> None:
    """Raise RefusedToken if the token belongs to another caller or another tool."""
    # Checked first, because another caller's token must not reveal the name of its tool.
    if position.who not in who:
        instead = messages.instead_of_token(tool, is_query=is_query)
        raise RefusedToken(messages.token_of_another_caller(instead))
    if position.tool != tool:
        raise RefusedToken(messages.token_of_another_tool(position.tool))


def caller_hashes(who: Caller, action: Action) -> tuple[str, ...]:
    """Return hashes of the caller's identity, one for each secret of the project. A token contains
    one of these hashes.

    Raises:
        APIException: the view refuses the credentials.
    """
    identity = json.dumps(
        # The host is included, because in a project with one tenant per host, the same id may be
        # another user at another host.
        [who.request.get_host(), *identity_parts(who.identity(action), who.request)]
    )
    # With the fallbacks, tokens survive a rotation of SECRET_KEY.
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    hashes = (salted_hmac(_SALT, identity, secret=key, algorithm="sha256") for key in keys)
    # Half of each hash keeps the tokens short, and 128 bits cannot be guessed.
    return tuple(each.hexdigest()[:32] for each in hashes)


def digest(text: str) -> str:
    """Return a digest of a result. Comparing it later shows whether the result has changed."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class _Serializer:
    """Serialises positions as JSON. Values that JSON does not have are written as `str(value)`."""

    def dumps(self, obj: Any) -> bytes:
        return json.dumps(obj, separators=(",", ":"), default=str).encode()

    def loads(self, data: bytes) -> Any:
        values: list[Any] = json.loads(data)
        return [_hashable(each) for each in values]


def _hashable(value: Any) -> Any:
    """Return a list as a tuple, so that a position is hashable. Return any other value
    unchanged.
    """
    return tuple(value) if is_array(value) else value


# --- what is kept ---


def keep(text: str, is_json: bool, chosen: Configuration) -> str | None:
    """Store a result in the cache that all workers share. Return the key of the entry, or None if
    the cache failed.
    """
    return _keep(f"toolbooth:{secrets.token_urlsafe(18)}", [is_json, text], chosen)


def keep_query(position: Position, chosen: Configuration) -> Position | None:
    """Store the arguments of a query in the cache, and return the position with the key of this
    entry in place of the arguments. All pages of the query share one entry. Return None if the
    cache failed.
    """
    text = _Serializer().dumps([position.arguments, position.filter_keys]).decode()
    key = _keep(f"toolbooth:{digest(position.who + text)}", [True, text], chosen)
    return None if key is None else replace(position, arguments=None, filter_keys=None, kept=key)


def kept_query(position: Position, key: str, chosen: Configuration) -> Position:
    """Return the position with the arguments that `keep_query` has stored. Raises RefusedToken."""
    instead = messages.instead_of_token(position.tool, is_query=True)
    text, _ = kept_result(key, chosen, messages.arguments_no_longer_kept(instead))
    arguments, filter_keys = _Serializer().loads(text.encode())
    return replace(position, arguments=arguments, filter_keys=filter_keys, kept=None)


def _keep(key: str, entry: list[Any], chosen: Configuration) -> str | None:
    try:
        caches[chosen.cache].set(key, entry, chosen.token_age)
        # Django's dummy cache stores nothing, and others may refuse large entries without an error.
        if caches[chosen.cache].get(key) == entry:
            return key
    except Exception:  # the call has run: its result is returned even if the cache fails
        logger.warning("the cache %r failed to keep a result", chosen.cache, exc_info=True)
    return None


def kept_result(key: str, chosen: Configuration, lost: str) -> tuple[str, bool]:
    """Return a text from the cache, and True if the text is JSON. Reading an entry restarts its
    time to live. Raises RefusedToken.
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
