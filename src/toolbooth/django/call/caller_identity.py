"""Makes a text that identifies a caller, the same for every request of one caller."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Model
from django.http import HttpRequest

from toolbooth.django.call.identities import Identity


def identity_parts(identity: Identity, request: HttpRequest) -> list[str]:
    """Return the parts of a caller's identity: the kind and the key of the user, or else the
    credentials. The list is empty for a caller who is anonymous or cannot be distinguished from
    others. The credentials are secret, so the parts must be hashed before they are stored.
    """
    user, auth, authenticator = identity
    # The kind is part of the identity: user 5 and service account 5 may be rows of two tables.
    if getattr(user, "pk", None) is not None:
        return [_kind(user), str(user.pk)]
    if authenticator is None:
        return []
    username = str(getattr(user, "username", ""))
    credentials = _credentials(auth, request)
    return [_kind(authenticator), username, credentials] if username or credentials else []


def _credentials(auth: Any, request: HttpRequest) -> str:
    """Return the caller's credentials as text. The text is the same for every request with these
    credentials.
    """
    # The text of a row need not be unique, because the project writes `__str__`.
    if isinstance(auth, Model):
        return f"{_kind(auth)} {auth.pk}"
    if isinstance(auth, str | bytes | int):
        return str(auth)
    if isinstance(auth, Mapping):
        # The claims of a token, whose order may differ from request to request.
        return json.dumps(auth, sort_keys=True, default=str)
    # The text of any other object may be its address in memory, `<Token object at 0x...>`, which is
    # new for each request.
    return request.headers.get("Authorization", "")


def _kind(thing: Any) -> str:
    meta: Any = getattr(thing, "_meta", None)
    if meta is not None:
        return str(meta.label)
    return f"{type(thing).__module__}.{type(thing).__qualname__}"
