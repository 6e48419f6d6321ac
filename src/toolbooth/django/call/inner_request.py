"""Makes the request that a view gets: a copy of the caller's request, with the method, path, query
and body of the REST call.
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
"""Headers that are about the MCP message, not about the call in it."""

_OF_THE_ADDRESS = ("SCRIPT_URL", "REDIRECT_URL")
"""Variables in which Apache repeats the address. Django would compute a wrong script name from
them.
"""

_PARENT = "toolbooth_parent"
"""The name of the attribute with the request that an inner request was made from."""

_OWN = frozenset(("csrf_processing_done", "_body", "_post", "_files", "_upload_handlers", _PARENT))
"""Attributes that belong to the MCP message itself, such as its body. They are not copied."""


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
    """Return the REST request for a call in `outer`. It has the same caller, host and session. Set
    `run` if a view will run with this request.
    """
    make = _on_asgi if isinstance(outer, ASGIRequest) else _on_wsgi
    inner = make(outer, method, path, query, body, content_type, headers or {})
    own = frozenset(vars(inner)) | _OWN
    # The user, the session, and all other attributes that the host's middleware has set.
    for name, value in vars(outer).items():
        # Attributes of the class are left out: `headers`, for example, is cached on the outer
        # request, and must be computed anew from the inner one.
        if name not in own and not hasattr(type(inner), name):
            setattr(inner, name, value)
    # A view that ran before may have set its user. This call is authenticated anew.
    if _FOUND in vars(outer):
        vars(inner)["user"] = user_before(outer)
    vars(inner)[_PARENT] = outer
    if run:
        vars(inner)[_OUTER] = (outer, own)
        # From here on, attributes that are set on this request are also set on the outer one. The
        # class is changed only now, because its `__setattr__` would otherwise run for every
        # attribute above.
        running: Any = inner
        running.__class__ = (
            _RunningAsgiRequest if isinstance(inner, ASGIRequest) else _RunningWsgiRequest
        )
    return inner


def request_at(template: HttpRequest, method: str, path: str) -> HttpRequest:
    """Return a copy of a request for another path, without a query and a body. This is much faster
    than `inner_request`. A list of tools may need a thousand such requests.
    """
    # `__init__` is not called, because it would read the whole environment again.
    made: Any = type(template).__new__(type(template))
    attributes: dict[str, Any] = made.__dict__
    attributes.update(vars(template))
    meta = {**template.META, "REQUEST_METHOD": method, "PATH_INFO": path}
    script: str = template.META.get("SCRIPT_NAME", "")
    attributes.update(method=method, META=meta, path_info=path, path=script.rstrip("/") + path)
    if "environ" in attributes:
        # On WSGI, Django has the same dictionary under both names.
        attributes["environ"] = meta
    if "scope" in attributes:
        moved = {"method": method, "path": made.path, "raw_path": made.path.encode()}
        attributes["scope"] = {**made.scope, **moved}
    return made


_FOUND = "toolbooth_found"
"""The name of the attribute with the user that the host's middleware has set. It is kept after a
view has set another user.
"""

_OUTER = "toolbooth_outer"
"""The name of the attribute with the outer request, and with the names that are not copied to it.
"""


def user_before(outer: HttpRequest) -> Any:
    """Return the user that a request had before a view set one. Return None if it had none."""
    attributes = vars(outer)
    return attributes[_FOUND] if _FOUND in attributes else attributes.get("user")


def is_signed(outer: HttpRequest) -> bool:
    """Return True if a view has set the user of a request."""
    return _FOUND in vars(outer)


@dataclass(frozen=True, slots=True)
class Loan:
    """A user that a view has recognised before it runs. The view reuses this user when it runs, so
    that a password is hashed only once.
    """

    authorization: str | None
    """The `Authorization` header by which the user was recognised."""
    session_user: Any
    """The user of the request itself, which authentication by session would use."""
    identity: tuple[Any, Any, Any]


def lend(request: HttpRequest, loan: Loan) -> None:
    """Let a view use a recognised user when it runs. The view does not use the user if the request
    has changed by then.
    """
    vars(request)[_LOAN] = loan


_LOAN = "toolbooth_loan"


def is_basic(outer: HttpRequest) -> bool:
    """Return True if a request comes with a password, which takes long to hash."""
    authorization: str = outer.META.get("HTTP_AUTHORIZATION", "")
    # The name of an authentication scheme is not case-sensitive.
    return authorization[:6].lower() == "basic "


class RunningRequest:
    """A request that copies each attribute that a view sets, such as the user, to the outer
    request. The host's middleware reads the attributes of the outer request.
    """

    META: Any

    # REST framework looks for these three attributes before it runs its authenticators.

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
        """Return the identity of the loan that `lend` has set.

        Raises:
            AttributeError: there is no loan, or a decorator of the view has changed the user or the
                credentials.
        """
        loan: Loan | None = vars(self).get(_LOAN)
        if loan is None:
            raise AttributeError
        user, auth, _ = loan.identity
        # All three attributes are read, one after the other. The first read sets the user, so the
        # other reads succeed.
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
        # If the outer request was itself made from another one, all its parents get the attribute
        # too.
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
        # WSGI has the bytes of a path as Latin-1 text (PEP 3333).
        "PATH_INFO": path.encode().decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        # The client's own header is about the MCP message. It may name `text/event-stream`, for
        # which a view has no renderer and returns 406.
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
    # Django decodes the values of headers as Latin-1.
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
