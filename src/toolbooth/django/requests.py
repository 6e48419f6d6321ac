"""The request that a view gets: the caller's own, with the method, path, query and body of the REST call."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, cast

from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.urls import get_script_prefix

_NOT_CARRIED = ("HTTP_IF_", "HTTP_RANGE", "HTTP_MCP_", "HTTP_ACCEPT_ENCODING", "HTTP_ORIGIN_TRIAL")
_NOT_CARRIED_ASGI = (b"if-", b"range", b"mcp-", b"accept-encoding", b"content-", b"accept")
_OWN = frozenset(("csrf_processing_done", "_body", "_post", "_files", "_post_parse_error", "_upload_handlers"))
"""What belongs to the MCP message itself: above all its body."""


def inner_request(
    outer: HttpRequest, method: str, path: str, query: str, body: bytes, content_type: str
) -> HttpRequest:
    """The REST call that `outer` stands for: same caller, same host, same session."""
    made = (
        _on_asgi(outer, method, path, query, body, content_type)
        if isinstance(outer, ASGIRequest)
        else (_on_wsgi(outer, method, path, query, body, content_type))
    )
    for name, value in vars(outer).items():  # the user, the session, and whatever else the host's middleware found out
        if name not in _OWN and name not in vars(made) and not hasattr(type(made), name):
            setattr(made, name, value)
    return made


def _on_wsgi(outer: HttpRequest, method: str, path: str, query: str, body: bytes, content_type: str) -> HttpRequest:
    environ = {
        key: value for key, value in cast("Mapping[str, Any]", outer.META).items() if not key.startswith(_NOT_CARRIED)
    }
    environ |= {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": get_script_prefix().rstrip("/"),
        "PATH_INFO": path.encode().decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_TYPE": content_type if body else "",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_ACCEPT": "*/*",
        "wsgi.input": BytesIO(body),
    }
    return WSGIRequest(environ)


def _on_asgi(outer: ASGIRequest, method: str, path: str, query: str, body: bytes, content_type: str) -> HttpRequest:
    headers = [(name, value) for name, value in outer.scope["headers"] if not name.startswith(_NOT_CARRIED_ASGI)]
    headers += [(b"accept", b"*/*"), (b"content-length", str(len(body)).encode())]
    if body:
        headers.append((b"content-type", content_type.encode()))
    root = outer.scope.get("root_path", "")
    scope = {
        **outer.scope,
        "method": method,
        "path": root + path,
        "raw_path": (root + path).encode(),
        "query_string": query.encode(),
        "headers": headers,
    }
    return ASGIRequest(scope, BytesIO(body))
