"""Requires a token in every HTTP request. A request without it is answered 401."""

from __future__ import annotations

import hmac
import re

from toolbooth.server import messages
from toolbooth.server.asgi import Application, Receive, Scope, Send

_TOKEN = re.compile(r"[\x21-\x7e]+")
"""The characters of a token that a header can carry."""


def check_token(token: str) -> None:
    """Raises ValueError if the token is empty, or has a character that the header cannot carry."""
    if not _TOKEN.fullmatch(token):
        raise ValueError(messages.WRONG_TOKEN)


def require_token(application: Application, token: str) -> Application:
    """Return an application that passes on only requests with `Authorization: Bearer` and this
    token.

    Raises:
        ValueError: the token is empty, or has a character that the header cannot carry.
    """
    check_token(token)
    expected = token.encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        # The `lifespan` events of the server itself have no headers.
        if scope["type"] == "http" and not _is_sent(scope, expected):
            await _unauthorized(send)
        else:
            await application(scope, receive, send)

    return guarded


def _is_sent(scope: Scope, expected: bytes) -> bool:
    sent = [value for name, value in scope["headers"] if name == b"authorization"]
    # A request with two of these headers is refused, because a proxy in front of the server may
    # have checked the other one.
    if len(sent) != 1:
        return False
    scheme, _, token = sent[0].strip().partition(b" ")
    # Compared in constant time, so that the time does not show how much of a guess is right.
    return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), expected)


async def _unauthorized(send: Send) -> None:
    body = messages.NO_TOKEN.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        # RFC 9110, 11.6.1, requires this header. Clients read from it which scheme to use.
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
