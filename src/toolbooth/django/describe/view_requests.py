"""Negotiates the media type of the answer and the API version, as REST framework does before
authentication.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.http import HttpRequest
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.versioning import URLPathVersioning
from rest_framework.views import APIView

ACCEPT = "application/json, */*"
"""The `Accept` header of every request that a view gets."""


def negotiate(view: Any, *, force: bool = False) -> None:
    """Choose the renderer and the API version, as a view does in `initial` before it authenticates.
    If the view refuses the request, its exception is raised. With `force`, no media type is
    refused.
    """
    request = view.request
    # A query may contain `format`, which chooses the renderer.
    if _negotiates_as_usual(view) and not request.META.get("QUERY_STRING"):
        chosen = _usual_choice(tuple(view.renderer_classes))
    else:
        chosen = view.perform_content_negotiation(request, force=force)
    request.accepted_renderer, request.accepted_media_type = chosen
    kwargs = view.kwargs
    if view.versioning_class is not None:
        # A view may be asked without the URL kwargs of a call.
        kwargs = {**plausible_version(view.versioning_class), **kwargs}
    version = view.determine_version(request, *view.args, **kwargs)
    request.version, request.versioning_scheme = version


@lru_cache(4096)
def _usual_choice(renderers: tuple[type, ...]) -> tuple[Any, str]:
    """Return the renderer and the media type that a view with these renderers chooses for `ACCEPT`.
    The result is cached, because a list of tools may need it for a thousand views.
    """
    view: Any = APIView(renderer_classes=renderers)
    view.format_kwarg = None
    view.request = Request(HttpRequest())
    view.request.META["HTTP_ACCEPT"] = ACCEPT
    return view.perform_content_negotiation(view.request, force=True)


def _negotiates_as_usual(view: Any) -> bool:
    """Return True if only the renderer classes of a view and the `Accept` header decide which
    renderer the view uses.
    """
    cls: Any = view.__class__
    return (
        view.content_negotiation_class is DefaultContentNegotiation
        and cls.perform_content_negotiation is APIView.perform_content_negotiation
        and cls.get_content_negotiator is APIView.get_content_negotiator
        and cls.get_renderers is APIView.get_renderers
    )


def plausible_version(versioning_class: Any) -> dict[str, str]:
    """Return the URL kwarg for an API version. Return an empty dict if paths contain no version, or
    if the versions are unknown.
    """
    if not (isinstance(versioning_class, type) and issubclass(versioning_class, URLPathVersioning)):
        return {}
    scheme: Any = versioning_class()
    known = (scheme.default_version, *(scheme.allowed_versions or ()))
    # REST framework's `default_version` is None unless the project sets one.
    versions = [each for each in known if isinstance(each, str)]
    return {scheme.version_param: versions[0]} if versions else {}
