"""Decides which writes have the same effect if they are repeated, for the annotation
`idempotentHint`.
"""

from __future__ import annotations

from typing import Any

from toolbooth.django.describe.discovery import Action, is_called_idempotent
from toolbooth.django.describe.operations import BodySerializer

_OF_VIEW = ("update", "partial_update", "perform_update", "get_object")
_OF_SERIALIZER = ("save", "update")
_OWN = "rest_framework."


def is_idempotent(action: Action, body: BodySerializer) -> bool:
    """Return True if an action has the same effect when it is repeated. This is true of a delete,
    of an update with REST framework's own code, and of any action that its author marks.
    """
    if is_called_idempotent(action):
        return True
    # A second delete is answered with 404, but it changes nothing more.
    if action.name == "destroy":
        return action.method == "DELETE"
    if action.name not in ("update", "partial_update") or action.method not in ("PUT", "PATCH"):
        return False
    # The serializer of a kind writes the row of that kind.
    serializers = body.kinds or (body.cls,)
    return _has_own(action.view, (*_OF_VIEW, action.method.lower())) and all(
        each is not None and _has_own(each, _OF_SERIALIZER) for each in serializers
    )


def _has_own(cls: Any, names: tuple[str, ...]) -> bool:
    """Return True if all of these methods of a class are REST framework's own."""
    methods = (getattr(cls, name, None) for name in names)
    return all(each is None or each.__module__.startswith(_OWN) for each in methods)
