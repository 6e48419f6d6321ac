"""What REST framework finds out about a request before it asks who calls: the media type of the
answer, and the version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

ACCEPT = "application/json, */*"
"""The `Accept` header of every request that a view gets."""

_NEGOTIATING = ("perform_content_negotiation", "get_content_negotiator", "get_renderers")

_CONVERTERS = re.compile(r"<(?:(\w+):)?(\w+)>")
_PLAUSIBLE: Mapping[str, Any] = {"int": 1, "uuid": UUID(int=1)}


def negotiate(view: Any, *, force: bool = False) -> None:
    """Do what a view does in `initial` before it authenticates. Raises what it says to requests
    that it does not take, except for the media type if `force` is set.
    """
    request = view.request
    if _negotiates_as_usual(view) and not request.META.get("QUERY_STRING"):
        chosen = _usual_choice(tuple(view.renderer_classes))
    else:
        chosen = view.perform_content_negotiation(request, force=force)
    request.accepted_renderer, request.accepted_media_type = chosen
    version = view.determine_version(request, *view.args, **view.kwargs)
    request.version, request.versioning_scheme = version


@lru_cache(4096)
def _usual_choice(renderers: tuple[type, ...]) -> tuple[Any, str]:
    """What every request with our header gets of a view that has these renderers. Kept, because a
    list asks a thousand views.
    """
    view: Any = APIView(renderer_classes=renderers)
    view.format_kwarg = None
    view.request = Request(HttpRequest())
    view.request.META["HTTP_ACCEPT"] = ACCEPT
    return view.perform_content_negotiation(view.request, force=True)


def _negotiates_as_usual(view: Any) -> bool:
    """Whether a view chooses its renderer by its class and the header alone."""
    cls: Any = view.__class__
    is_stock = all(getattr(cls, name) is getattr(APIView, name) for name in _NEGOTIATING)
    return is_stock and view.content_negotiation_class is DefaultContentNegotiation


def plausible_kwargs(path: str, regex: str) -> dict[str, Any]:
    """URL kwargs of a view that is described: no call has given them."""
    kinds = {name: kind for kind, name in _CONVERTERS.findall(regex)}
    names: list[str] = re.findall(r"{(\w+)}", path)
    return {name: _PLAUSIBLE.get(kinds.get(name, ""), "1") for name in names}
