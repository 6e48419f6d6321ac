"""The MCP endpoint: one Django view around `respond`. Start here.

The view is sync, on WSGI and on ASGI. Django runs it in the thread for sync code, and the views
that it calls must run in that thread too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import LimitedStream
from django.db import connections
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.request import validate_host
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import AuthenticationFailed

from toolbooth.django import messages
from toolbooth.django.call.audit import audit_log, observe_writes
from toolbooth.django.call.browser_page import browser_page, prefers_page
from toolbooth.django.call.caller import Caller, answering
from toolbooth.django.call.frame_room import with_frame_room
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.catalogue import Catalogue, started_catalogue
from toolbooth.server.envelope import read_message
from toolbooth.server.respond import Reply, respond_sync
from toolbooth.server.web_hosts import host_in_origin

_MOST_LET_IN = 64 * 1024 * 1024
"""At most this many bytes of a request that is too long are read."""


@csrf_exempt  # the view that is called checks a session's CSRF token
@with_frame_room
def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one MCP message."""
    found = started_catalogue()
    # These checks read headers only, so they come before the body is read.
    refused = _refused_by_http(request, found.configuration)
    if refused is not None:
        return refused
    body = _body(request, found.configuration)
    if isinstance(body, HttpResponse):
        return body
    headers = {name.lower(): str(value) for name, value in request.headers.items()}
    message = read_message(body)
    # The view of a call authenticates the caller itself.
    is_call = message.method == "tools/call"
    own_meta = message.own_meta
    # The calls of a session may still need their CSRF token.
    shows_all = found.open and not request.COOKIES

    with answering(request) as caller:
        caller.message = message
        caller.own_meta = own_meta
        caller.models = found.models
        if found.actions and not is_call and not _is_let_in(caller, found):
            return _unauthorized(_challenge(caller, found))
        # This is called later, and only if no view has recognised the caller.
        if found.actions and is_call and found.configuration.login_required:
            caller.login = lambda: _is_let_in(caller, found)

        def shows(tool: str) -> bool:
            # A tool that was left out when the tools were described is not among the actions.
            return tool in found.actions and caller.may_call(found.actions[tool])

        if audit_log.isEnabledFor(logging.INFO):
            observe_writes(found.registry)
        reply = respond_sync(found.registry, message, headers, shows=None if shows_all else shows)
        # If `login` is still set, no view has run yet.
        if caller.login is not None and not caller.login():
            return _unauthorized(_challenge(caller, found))
    # A view has refused the credentials during the call. Clients start a login after an HTTP 401,
    # but not after a tool result with an error.
    if caller.challenge is not None:
        return _unauthorized(caller.challenge)
    if caller.has_failed:
        _forget_session(request)
    return _response(reply)


# The host's own rules for views, such as a required login, do not apply to the endpoint itself.
# They apply to the view that each call runs.
_endpoint: Any = endpoint
_endpoint.login_required = False
_endpoint.should_append_slash = False
_endpoint._non_atomic_requests = set(connections.settings)


def _forget_session(request: HttpRequest) -> None:
    """Prevent Django from saving the session. Django does not save it after a 500 either, because
    the changes of the failed view may have been rolled back.
    """
    session: Any = getattr(request, "session", None)
    if session is not None:
        session.modified = False


def _refused_by_http(request: HttpRequest, chosen: Configuration) -> HttpResponse | None:
    if request.method == "GET" and prefers_page(request.headers.get("Accept", "")):
        return browser_page(request)
    if request.method != "POST":
        return _text(messages.SEND_BY_POST, 405, Allow="POST", Vary="Accept")
    request.get_host()  # raises DisallowedHost if ALLOWED_HOSTS lacks it: Django returns 400
    origin = request.headers.get("Origin")
    # The MCP specification requires this check against DNS rebinding. Browsers send the header with
    # every POST.
    if origin and origin not in chosen.origins and not _is_own(origin):
        return _text(messages.ORIGIN_NOT_TAKEN, 403)
    # A browser lets pages of other sites send `text/plain` without asking first, but not JSON.
    if request.content_type != "application/json":
        return _text("send application/json", 415)
    return None


def _is_own(origin: str) -> bool:
    """Return True if an `Origin` header names a host that this project serves."""
    allowed: list[str] = settings.ALLOWED_HOSTS
    if settings.DEBUG and not allowed:
        # The hosts that Django itself allows in development.
        allowed = [".localhost", "127.0.0.1", "[::1]"]
    # With `*`, any host would count as the project's own, including that of an attacker's page.
    host = host_in_origin(origin)
    return "*" not in allowed and host is not None and validate_host(host, allowed)


def _body(request: HttpRequest, chosen: Configuration) -> bytes | HttpResponse:
    """Return the body of the message. If it is too long or cannot be read, return the response that
    refuses it.
    """
    length = str(request.META.get("CONTENT_LENGTH") or "")
    try:
        if length.isdecimal() and int(length) > chosen.max_body:
            is_let_in = int(length) <= _MOST_LET_IN
            words = messages.longest_request(chosen.max_body)
            return _too_long(request.read, words) if is_let_in else _text(words, 413)
        is_chunked = not length and "HTTP_TRANSFER_ENCODING" in request.META
        # On ASGI, Django has read the body already.
        if is_chunked and "wsgi.input" in request.META:
            refused = _refused_chunks(request, chosen)
            if refused is not None:
                return refused
        body = request.body
    except RequestDataTooBig:
        return _too_long(request.read, messages.LONGER_THAN_DJANGO_TAKES)
    except UnreadablePostError:
        return _text("the request ended early", 400)
    if len(body) > chosen.max_body:
        return _text(messages.longest_request(chosen.max_body), 413)
    most: int | None = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if most is not None and len(body) > most:  # old versions of Django do not count chunks
        return _text(messages.LONGER_THAN_DJANGO_TAKES, 413)
    return body


def _refused_chunks(request: HttpRequest, chosen: Configuration) -> HttpResponse | None:
    """Read a chunked body on WSGI, and set the length of the request, because Django reads nothing
    without a length. If the body cannot be read, return the response that refuses it.
    """
    # The server sets this key if a read ends at the end of the body. On other servers the read may
    # never end.
    if not request.META.get("wsgi.input_terminated"):
        return _text(messages.LENGTH_NEEDED, 411)
    source: Any = request.META["wsgi.input"]
    try:
        # One byte more than is allowed shows that a body is too long.
        body: bytes = source.read(chosen.max_body + 1)
        if len(body) > chosen.max_body:
            return _too_long(source.read, messages.longest_request(chosen.max_body))
    except Exception:  # servers raise different exceptions for malformed chunks
        return _text(messages.UNREADABLE, 400)
    request.META["CONTENT_LENGTH"] = str(len(body))
    inner: Any = request
    inner._stream = LimitedStream(BytesIO(body), len(body))
    # A middleware may have asked for the body, and got an empty one.
    inner._read_started = False
    inner.__dict__.pop("_body", None)
    return None


def _too_long(read: Callable[[int], bytes], words: str) -> HttpResponse:
    """Read the rest of the request, and return 413. A client that is cut off while it sends would
    not read the response.
    """
    left = _MOST_LET_IN
    while left > 0 and (part := read(min(left, 65536))):
        left -= len(part)
    return _text(words, 413)


def _is_let_in(caller: Caller, found: Catalogue) -> bool:
    """Return True if the endpoint may answer this caller. Invalid credentials are always refused.
    Without credentials, the caller is let in if `LOGIN_REQUIRED` is False, or if it is None and
    some tool is open to everyone.
    """
    login = found.configuration.login_required
    try:
        if caller.is_known(found.authenticating_actions) or login is False:
            return True
    except AuthenticationFailed:
        return False
    return login is None and any(map(caller.may_call, found.actions.values()))


def _challenge(caller: Caller, found: Catalogue) -> str:
    """Return the first `WWW-Authenticate` header of the project's authenticators. Return an empty
    text if there is none.
    """
    for action in found.authenticating_actions:
        view = caller.view(action)
        for authenticator in view.get_authenticators():
            header: str | None = authenticator.authenticate_header(view.request)
            if header:
                return header
    return ""


def _unauthorized(challenge: str) -> HttpResponse:
    """Return 401 with the challenge. Without a challenge, return 403, as REST framework does."""
    if not challenge:
        return _text(messages.SEND_CREDENTIALS, 403)
    return _text(messages.SEND_CREDENTIALS, 401, **{"WWW-Authenticate": challenge})


def _response(reply: Reply) -> HttpResponse:
    response = HttpResponse(reply.body, status=reply.status, content_type="application/json")
    # A notification is answered with 202 and no body.
    if not reply.body:
        del response["Content-Type"]
    return response


def _text(words: str, status: int, **headers: str) -> HttpResponse:
    response = HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")
    for name, value in headers.items():
        response[name] = value
    return response
