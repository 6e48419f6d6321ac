"""Requires a token in every HTTP request. A request without the token is answered with status
401.
"""

from __future__ import annotations

import hmac
import re

from toolbooth.server import messages
from toolbooth.server.asgi import Application, Receive, Scope, Send

_TOKEN = re.compile(r"[\x21-\x7e]+")
"""Matches a token that consists only of characters that a header may contain."""


def check_token(token: str) -> None:
    """Raise ValueError if the token is empty, or has a character that a header may not contain."""
    if not _TOKEN.fullmatch(token):
        raise ValueError(messages.WRONG_TOKEN)


def require_token(application: Application, token: str) -> Application:
    """Return an application that requires the header `Authorization: Bearer` with this token.
    Requests without it do not reach `application`.

    Raises:
        ValueError: if the token is empty, or has a character that a header may not contain.
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
