"""The MCP endpoint: one Django view around `respond`. Start here.

It is sync, for WSGI and ASGI alike: Django runs it in its thread for sync code, where the views
that it calls belong.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import connections
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.request import split_domain_port, validate_host
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import AuthenticationFailed

from toolbooth.django.call.caller import Caller, answering
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.catalogue import Catalogue, catalogue
from toolbooth.server.respond import Message, Reply, read_message, respond_sync
from toolbooth.server.tool import Tool

_MOST_LET_IN = 64 * 1024 * 1024
"""Bytes of a request that is too long anyway."""


@csrf_exempt  # a session cookie is checked where it counts: by the view that is called
def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one MCP message."""
    found = catalogue()
    refused = _refused_by_http(request, found.configuration)
    if refused is not None:
        return refused
    body = _body(request, found.configuration)
    if isinstance(body, HttpResponse):
        return body
    message = read_message(body)
    with answering(request) as caller:
        stopped = _unauthorized(caller, found, message)
        if stopped is not None:
            return stopped

        everything = (
            found.open and not request.COOKIES
        )  # a session's calls may still want their CSRF token

        def shows(tool: Tool) -> bool:
            return caller.may_call(found.actions[tool.name])

        reply = respond_sync(
            found.registry, message, _headers(request), shows=None if everything else shows
        )
    return _sent(reply) if caller.challenge is None else _who(caller.challenge)


# What the host asks of its own views is not asked of the endpoint itself: each call meets it in the
# view it is for.
_endpoint: Any = endpoint
_endpoint.login_required = False
_endpoint.should_append_slash = False
_endpoint._non_atomic_requests = set(connections.settings)


def _refused_by_http(request: HttpRequest, chosen: Configuration) -> HttpResponse | None:
    if request.method != "POST":
        return _plain("send JSON-RPC messages by POST", 405, Allow="POST")
    request.get_host()  # raises where ALLOWED_HOSTS does not name it: Django answers 400
    origin = request.headers.get("Origin")
    if origin and origin not in chosen.origins and not _is_own(origin):
        return _plain(
            "requests from this origin are not taken; name it in TOOLBOOTH['ORIGINS']", 403
        )
    if request.content_type != "application/json":
        return _plain("send application/json", 415)
    return None


def _is_own(origin: str) -> bool:
    """Whether a browser's page comes from a host that this project serves."""
    allowed: list[str] = settings.ALLOWED_HOSTS
    if settings.DEBUG and not allowed:
        allowed = [".localhost", "127.0.0.1", "[::1]"]
    host, _ = split_domain_port(origin.lower().rpartition("//")[2])
    return "*" not in allowed and validate_host(host, allowed)


def _body(request: HttpRequest, chosen: Configuration) -> bytes | HttpResponse:
    """The message, read no further than to know that it is too long."""
    length = str(request.META.get("CONTENT_LENGTH") or "")
    try:
        if length.isdecimal() and int(length) > chosen.max_body:
            return _too_long(request, f"a request may have {chosen.max_body:,} bytes")
        body = request.body
    except RequestDataTooBig:
        return _too_long(request, "the request is longer than DATA_UPLOAD_MAX_MEMORY_SIZE")
    except UnreadablePostError:
        return _plain("the request ended early", 400)
    return (
        body
        if len(body) <= chosen.max_body
        else _plain(f"a request may have {chosen.max_body:,} bytes", 413)
    )


def _too_long(request: HttpRequest, words: str) -> HttpResponse:
    """The answer, once what is still being sent has been let in: a client that is cut off would not
    read it.
    """
    left = _MOST_LET_IN
    while left > 0 and (part := request.read(min(left, 65536))):
        left -= len(part)
    return _plain(words, 413)


def _headers(request: HttpRequest) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in request.headers.items()}


def _unauthorized(caller: Caller, found: Catalogue, message: Message) -> HttpResponse | None:
    """The answer to a caller that must say first who it is; None: none of the tools asks for that,
    or it has.
    """
    login = found.configuration.login_required
    # A call is answered by its view, which authenticates the caller itself.
    if not found.actions or (login is not True and message.method == "tools/call"):
        return None
    try:
        if caller.is_known(found.authenticating_actions) or login is False:
            return None
    except AuthenticationFailed:
        return _who(_challenge(caller, found))
    if login is None and any(map(caller.may_call, found.actions.values())):
        return None
    return _who(_challenge(caller, found))


def _challenge(caller: Caller, found: Catalogue) -> str:
    """The first way in which the project's views can be told who calls."""
    views = (caller.view(action) for action in found.authenticating_actions)
    ways = ((way, view.request) for view in views for way in view.get_authenticators())
    return next(
        (header for way, request in ways if (header := way.authenticate_header(request))), ""
    )


def _who(header: str) -> HttpResponse:
    """As in REST framework, 401 comes with a way to answer it; where there is none, it is 403."""
    words = "who calls? send credentials as for the REST API"
    return _plain(words, 401, **{"WWW-Authenticate": header}) if header else _plain(words, 403)


def _sent(reply: Reply) -> HttpResponse:
    made = HttpResponse(reply.body, status=reply.status, content_type="application/json")
    if not reply.body:
        del made["Content-Type"]
    return made


def _plain(words: str, status: int, **headers: str) -> HttpResponse:
    made = HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")
    for name, value in headers.items():
        made[name] = value
    return made
