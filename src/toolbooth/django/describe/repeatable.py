"""Which writes have the same effect if they are made twice: what `idempotentHint` says."""

from __future__ import annotations

from typing import Any

from toolbooth.django.describe.discovery import Action, is_called_idempotent
from toolbooth.django.describe.operations import BodySerializer

_OF_VIEW = ("update", "partial_update", "perform_update", "get_object")
_OF_SERIALIZER = ("save", "update")
_OWN = "rest_framework."


def is_idempotent(action: Action, body: BodySerializer) -> bool:
    """Whether an action can be made twice: a delete can, an update only if it is REST framework's
    own, and others if their author says so.
    """
    if is_called_idempotent(action):
        return True
    if action.name == "destroy":
        return action.method == "DELETE"
    if action.name not in ("update", "partial_update") or action.method not in ("PUT", "PATCH"):
        return False
    serializers = body.kinds or (body.cls,)
    return _has_own(action.view, (*_OF_VIEW, action.method.lower())) and all(
        each is not None and _has_own(each, _OF_SERIALIZER) for each in serializers
    )


def _has_own(cls: Any, names: tuple[str, ...]) -> bool:
    """Whether the methods of a class that it has of these are REST framework's."""
    methods = (getattr(cls, name, None) for name in names)
    return all(each is None or each.__module__.startswith(_OWN) for each in methods)
