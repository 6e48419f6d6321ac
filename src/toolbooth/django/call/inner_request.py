"""The request that a view gets: the caller's own, with the method, path, query and body of the REST
call.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest

from toolbooth.django.describe.view_requests import ACCEPT

_OF_THE_MESSAGE = ("HTTP_IF_", "HTTP_RANGE", "HTTP_MCP_", "HTTP_ACCEPT_ENCODING", "HTTP_CONTENT_")
"""Headers that speak of the MCP message, not of the call in it."""

_OF_THE_ADDRESS = ("SCRIPT_URL", "REDIRECT_URL")
"""Where Apache repeats the address: the script's name would be found from it anew, and wrongly."""

_PARENT = "toolbooth_parent"
"""The request that the request of a call was made from."""

_OWN = frozenset(("csrf_processing_done", "_body", "_post", "_files", "_upload_handlers", _PARENT))
"""What belongs to the MCP message itself: above all its body."""


def inner_request(
    outer: HttpRequest,
    method: str,
    path: str,
    query: str = "",
    body: bytes = b"",
    content_type: str = "",
    headers: Mapping[str, str] | None = None,
    *,
    run: bool = False,
) -> HttpRequest:
    """The REST call that `outer` stands for: same caller, same host, same session. `run`: a view
    will get it.
    """
    make = _on_asgi if isinstance(outer, ASGIRequest) else _on_wsgi
    inner = make(outer, method, path, query, body, content_type, headers or {})
    own = frozenset(vars(inner)) | _OWN
    # The user, the session, and whatever else the host's middleware found out.
    for name, value in vars(outer).items():
        if name not in own and not hasattr(type(inner), name):
            setattr(inner, name, value)
    if _FOUND in vars(outer):
        vars(inner)["user"] = vars(outer)[_FOUND]
    vars(inner)[_PARENT] = outer
    if run:
        vars(inner)[_OUTER] = (outer, own)
        # From here on what is set on it is set on the outer request too. A class of its own from
        # the start would be called for every attribute.
        running: Any = inner
        running.__class__ = (
            _RunningAsgiRequest if isinstance(inner, ASGIRequest) else _RunningWsgiRequest
        )
    return inner


_FOUND = "toolbooth_found"
"""Who called as far as the host's middleware knew, kept while its request says whom a view knew."""

_OUTER = "toolbooth_outer"
"""The outer request, and the attributes that stay the inner one's."""


def is_signed(outer: HttpRequest) -> bool:
    """Whether a view has said who called."""
    return _FOUND in vars(outer)


class RunningRequest:
    """What a view leaves on its request, the host's middleware finds on the one that came: who
    called, above all.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        found: tuple[HttpRequest, frozenset[str]] | None = vars(self).get(_OUTER)
        if found is None or name in found[1]:
            return
        outer: HttpRequest | None = found[0]
        while outer is not None:
            if name == "user":
                vars(outer).setdefault(_FOUND, vars(outer).get("user"))
            setattr(outer, name, value)
            outer = vars(outer).get(_PARENT)


class _RunningWsgiRequest(RunningRequest, WSGIRequest):
    pass


class _RunningAsgiRequest(RunningRequest, ASGIRequest):
    pass


def _on_wsgi(
    outer: Any,
    method: str,
    path: str,
    query: str,
    body: bytes,
    content_type: str,
    headers: Mapping[str, str],
) -> HttpRequest:
    sent: Mapping[str, Any] = outer.META
    environ = {key: each for key, each in sent.items() if not key.startswith(_OF_THE_MESSAGE)}
    for name in _OF_THE_ADDRESS:
        environ.pop(name, None)
    environ |= {f"HTTP_{name.upper().replace('-', '_')}": each for name, each in headers.items()}
    environ |= {
        "REQUEST_METHOD": method,
        "PATH_INFO": path.encode().decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_ACCEPT": ACCEPT,
        "wsgi.input": BytesIO(body),
    }
    return WSGIRequest(environ)


_OF_THE_MESSAGE_ASGI = (b"if-", b"range", b"mcp-", b"accept-encoding", b"content-")


def _on_asgi(
    outer: Any,
    method: str,
    path: str,
    query: str,
    body: bytes,
    content_type: str,
    headers: Mapping[str, str],
) -> HttpRequest:
    added = {b"accept": ACCEPT.encode(), b"content-length": str(len(body)).encode()}
    if content_type:
        added[b"content-type"] = content_type.encode()
    added |= {
        name.lower().encode(): each.encode("latin-1", "replace") for name, each in headers.items()
    }
    sent: list[tuple[bytes, bytes]] = outer.scope["headers"]
    kept = [
        (name, each)
        for name, each in sent
        if name not in added and not name.startswith(_OF_THE_MESSAGE_ASGI)
    ]
    address = outer.script_name.rstrip("/") + path
    scope = {
        **outer.scope,
        "method": method,
        "path": address,
        "raw_path": address.encode(),
        "query_string": query.encode(),
        "headers": [*kept, *added.items()],
    }
    return ASGIRequest(scope, BytesIO(body))
