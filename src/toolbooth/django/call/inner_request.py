"""The request that a view gets: the caller's own, with the method, path, query and body of the REST
call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
        vars(inner)["user"] = user_before(outer)
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


def request_at(template: HttpRequest, method: str, path: str) -> HttpRequest:
    """The request to another place, without a query and a body. Much faster than `inner_request`:
    a list asks a thousand views.
    """
    made: Any = type(template).__new__(type(template))
    attributes: dict[str, Any] = made.__dict__
    attributes.update(vars(template))
    meta = {**template.META, "REQUEST_METHOD": method, "PATH_INFO": path}
    script: str = template.META.get("SCRIPT_NAME", "")
    attributes.update(method=method, META=meta, path_info=path, path=script.rstrip("/") + path)
    if "environ" in attributes:
        attributes["environ"] = meta
    if "scope" in attributes:
        moved = {"method": method, "path": made.path, "raw_path": made.path.encode()}
        attributes["scope"] = {**made.scope, **moved}
    return made


_FOUND = "toolbooth_found"
"""Who called as far as the host's middleware knew, kept while its request says whom a view knew."""

_OUTER = "toolbooth_outer"
"""The outer request, and the attributes that stay the inner one's."""


def user_before(outer: HttpRequest) -> Any:
    """The user of a request before any view has said who called; None if it has none."""
    attributes = vars(outer)
    return attributes[_FOUND] if _FOUND in attributes else attributes.get("user")


def is_signed(outer: HttpRequest) -> bool:
    """Whether a view has said who called."""
    return _FOUND in vars(outer)


@dataclass(frozen=True, slots=True)
class Loan:
    """A user that a view has recognised before it runs, so that a password is hashed once."""

    authorization: str | None
    """The header that the user was recognised by."""
    session_user: Any
    """The user of the request itself, whom a session would have made the caller."""
    identity: tuple[Any, Any, Any]


def lend(request: HttpRequest, loan: Loan) -> None:
    """Have a view that runs take a user as recognised, if its request is still the same by then."""
    vars(request)[_LOAN] = loan


_LOAN = "toolbooth_loan"


def is_basic(outer: HttpRequest) -> bool:
    """Whether a request comes with a password, which takes long to hash."""
    authorization: str = outer.META.get("HTTP_AUTHORIZATION", "")
    return authorization[:6].lower() == "basic "


class RunningRequest:
    """What a view leaves on its request, the host's middleware finds on the one that came: who
    called, above all.
    """

    META: Any

    # REST framework looks for these three before it asks its authenticators.

    @property
    def _user(self) -> Any:
        return self._lent()[0]

    @property
    def _auth(self) -> Any:
        return self._lent()[1]

    @property
    def _authenticator(self) -> Any:
        return self._lent()[2]

    def _lent(self) -> tuple[Any, Any, Any]:
        """The identity that was lent. Raises AttributeError if there is none, or if a decorator of
        the view has changed what it depends on.
        """
        loan: Loan | None = vars(self).get(_LOAN)
        if loan is None:
            raise AttributeError
        user, auth, _ = loan.identity
        if vars(self).get("user") is not user:
            is_same = self.META.get("HTTP_AUTHORIZATION") == loan.authorization
            if not is_same or vars(self).get("user") is not loan.session_user:
                raise AttributeError
            self.user = user
            self.auth = auth
        return loan.identity

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
