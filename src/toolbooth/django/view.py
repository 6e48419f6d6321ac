"""The MCP endpoint: one Django view around `respond`. Start here.

It is sync, for WSGI and ASGI alike: Django runs it in its thread for sync code, where the views that it calls belong.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host
from django.views.decorators.csrf import csrf_exempt

from toolbooth.django.access import Access
from toolbooth.django.caller import answering
from toolbooth.django.catalogue import Catalogue, catalogue
from toolbooth.django.conf import Configuration, configuration
from toolbooth.server.respond import Reply, Shows, respond_sync
from toolbooth.server.tools import Tool


@csrf_exempt  # a session cookie is checked where it counts: by the view that is called
def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one MCP message."""
    chosen = configuration()
    refused = _refused_by_http(request, chosen)
    if refused is not None:
        return refused
    found = catalogue()
    with answering(request) as challenges:
        reply = respond_sync(found.registry, request.body, _headers(request), shows=_shows(request, found, chosen))
    return _unauthorized(challenges[0]) if challenges else _sent(reply)


# What the host asks of its own views is not asked of the endpoint itself: each call meets it in the view it is for.
endpoint.login_required = False  # pyright: ignore[reportFunctionMemberAccess]
endpoint.should_append_slash = False  # pyright: ignore[reportFunctionMemberAccess]
endpoint._non_atomic_requests = set(connections.settings)  # pyright: ignore[reportFunctionMemberAccess]


def _refused_by_http(request: HttpRequest, chosen: Configuration) -> HttpResponse | None:
    if request.method != "POST":
        return _plain("send JSON-RPC messages by POST", 405, Allow="POST")
    request.get_host()  # raises where ALLOWED_HOSTS does not name it: Django answers 400
    origin = request.headers.get("Origin")
    if origin and origin not in chosen.origins and not _is_own(origin):
        return _plain("requests from this origin are not taken; name it in TOOLBOOTH['ORIGINS']", 403)
    if request.content_type != "application/json":
        return _plain("send application/json", 415)
    if int(request.META.get("CONTENT_LENGTH") or 0) > chosen.max_body:
        return _plain(f"a request may have {chosen.max_body:,} bytes", 413)
    return None


def _is_own(origin: str) -> bool:
    """Whether a browser's page comes from a host that this project serves."""
    allowed: list[str] = settings.ALLOWED_HOSTS
    if settings.DEBUG and not allowed:
        allowed = [".localhost", "127.0.0.1", "[::1]"]
    host, _ = split_domain_port(urlsplit(origin).netloc.lower())
    return "*" not in allowed and validate_host(host, allowed)


def _headers(request: HttpRequest) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in request.headers.items()}


def _shows(request: HttpRequest, found: Catalogue, chosen: Configuration) -> Shows:
    """Which tools the caller is shown: those that it may call."""
    access = Access(request)

    def shows(tool: Tool) -> bool:
        return tool.name not in found.actions or access.may_call(found.actions[tool.name])

    return shows


def _unauthorized(header: str) -> HttpResponse:
    headers: dict[str, Any] = {"WWW_Authenticate": header} if header else {}
    return _plain("who calls? send credentials as for the REST API", 401, **headers)


def _sent(reply: Reply) -> HttpResponse:
    made = HttpResponse(reply.body, status=reply.status, content_type="application/json")
    if not reply.body:
        del made["Content-Type"]
    return made


def _plain(words: str, status: int, **headers: str) -> HttpResponse:
    made = HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    return made
