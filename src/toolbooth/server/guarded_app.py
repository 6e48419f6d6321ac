"""Protects an ASGI application of another library: only requests to known hosts reach it.
Toolbooth's own `app` does not need this, because it checks hosts itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolbooth.server import messages
from toolbooth.server.asgi import Application, Receive, Scope, Send
from toolbooth.server.web_hosts import ANY_HOST, allowed_hosts, host_in_host, host_in_origin


def only_for_hosts(application: Application, hosts: Iterable[str]) -> Application:
    """Return an application that checks the `Host` of each request, and the `Origin` if there is
    one. If a host is not in `hosts`, the request gets status 421 or 403. This prevents DNS
    rebinding.

    Raises:
        ValueError: if one of `hosts` is not a host.
    """
    allowed = allowed_hosts(hosts)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        fault = _fault(scope, allowed) if scope["type"] in ("http", "websocket") else None
        if fault is None:
            await application(scope, receive, send)
            return
        status, words = fault
        body = words.encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return guarded


def _fault(scope: Scope, allowed: frozenset[str]) -> tuple[int, str] | None:
    """Return the status and the message that refuse a request to an unknown host. Return None if
    the host is allowed.
    """
    if ANY_HOST in allowed:
        return None
    hosts = _sent(scope, b"host")
    # A request with several `Host` headers is refused, because a server behind this one may read
    # another one of them.
    if len(hosts) != 1 or host_in_host(hosts[0]) not in allowed:
        return 421, messages.WRONG_HOST
    origins = _sent(scope, b"origin")
    if any(origin and host_in_origin(origin) not in allowed for origin in origins):
        return 403, messages.WRONG_ORIGIN
    return None


def _sent(scope: Scope, name: bytes) -> list[str]:
    """Return all values of one header."""
    values = [value for key, value in scope["headers"] if key.lower() == name]
    return [str(value.strip(), "latin-1") for value in values]
