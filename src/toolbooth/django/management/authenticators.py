"""The authenticators of the project's views."""

from __future__ import annotations

from typing import Any

from django.test import RequestFactory

from toolbooth.django.call.caller import Caller
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.discovery import Action


def authenticators() -> list[Any]:
    """Return one authenticator of each class that the views of the project use."""
    found: dict[type, Any] = {}
    for action in catalogue().authenticating_actions:
        for each in authenticators_of(action) or ():
            found.setdefault(type(each), each)
    return list(found.values())


def authenticators_of(action: Action) -> tuple[object, ...] | None:
    """Return the authenticators of an action. Return `()` if the action has no authenticators, and
    None if only a request can show which ones its view uses.
    """
    # A view may choose them by its request, as `get_authenticators` of REST framework may.
    nobody = Caller(RequestFactory().post("/"))
    try:
        return tuple(nobody.view(action).request.authenticators)
    except Exception:  # it needs the URL kwargs
        return None
