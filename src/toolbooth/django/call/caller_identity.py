"""Who calls, as text that is the same for every request of one caller."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Model
from django.http import HttpRequest

from toolbooth.django.call.identities import Identity


def identity_parts(identity: Identity, request: HttpRequest) -> list[str]:
    """The kind of the user and its key, or else the credentials; empty for an anonymous caller.
    What is secret among it must be hashed.
    """
    user, auth, authenticator = identity
    if getattr(user, "pk", None) is not None:
        return [_kind(user), str(user.pk)]
    if authenticator is None:
        return []
    username = str(getattr(user, "username", ""))
    return [_kind(authenticator), username, _credentials(auth, request)]


def _credentials(auth: Any, request: HttpRequest) -> str:
    """The caller's credentials as text, which is the same for every request with them."""
    if isinstance(auth, Model):
        return f"{_kind(auth)} {auth.pk}"
    if isinstance(auth, str | bytes | int):
        return str(auth)
    if isinstance(auth, Mapping):
        return json.dumps(auth, sort_keys=True, default=str)
    return request.headers.get("Authorization", "")


def _kind(thing: Any) -> str:
    meta: Any = getattr(thing, "_meta", None)
    if meta is not None:
        return str(meta.label)
    return f"{type(thing).__module__}.{type(thing).__qualname__}"
