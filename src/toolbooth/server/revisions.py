"""Knows the revisions of the MCP protocol, and finds the revision of a request. The revision
2026-07-28 is stateless: every request has its version and its client in `_meta`. Over HTTP, it also
has them in headers.

In the older revisions, the client and the server agree on a revision once, in `initialize`. This
server is stateless there too: it does not store the result.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolbooth.errors import INVALID_PARAMS
from toolbooth.jsonvalue import Json, is_object
from toolbooth.server import messages

STATELESS = ("2026-07-28",)
"""Revisions in which every request is independent of the others. The newest comes first."""
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Revisions in which a session begins with `initialize`. The newest comes first."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

HTTP_STATUS = {
    **dict.fromkeys(
        (
            PARSE_ERROR,
            INVALID_REQUEST,
            INVALID_PARAMS,
            HEADER_MISMATCH,
            MISSING_CAPABILITY,
            UNSUPPORTED_VERSION,
        ),
        400,
    ),
    METHOD_NOT_FOUND: 404,
}

_BEFORE_ANY_ERA = frozenset((PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION))

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_REQUIRED = (VERSION_KEY, CAPABILITIES_KEY)
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

_WHOLE = re.compile(r"(-?[0-9]{1,4300})(?:\.0+)?")

Headers = Mapping[str, str]


class ProtocolError(Exception):
    """Raised if the request itself is wrong. The answer is a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(message)


class Revision(NamedTuple):
    """The revision of one request, and the client that sent it."""

    version: str
    client: str | None
    stateless: bool
    """True if the version is one of STATELESS."""


def http_status(code: int, headers: Headers | None) -> int:
    """Return the HTTP status for an error. In the revisions with `initialize`, the status is 200 if
    the message could be read.
    """
    stateless = headers is not None and headers.get("mcp-protocol-version") in STATELESS
    # Some errors occur before the revision of the client is known. For all of them, 400 is right.
    return HTTP_STATUS.get(code, 200) if stateless or code in _BEFORE_ANY_ERA else 200


def negotiated(requested: Any) -> str:
    """Return the revision for the answer to `initialize`. If the requested revision is not
    supported, return the newest revision with `initialize`.
    """
    # The specification allows the server to answer with another version. Then the client decides.
    return requested if requested in HANDSHAKE else HANDSHAKE[0]


def revision_of(method: str, params: Json, headers: Headers | None) -> Revision:
    """Return the revision of one request. `headers` is None on a transport without headers. Raises
    ProtocolError.
    """
    meta: Json | None = params.get("_meta")
    version = None if meta is None else meta.get(VERSION_KEY)
    header = None if headers is None else headers.get("mcp-protocol-version")
    # One of the two signs is enough for a stateless request. If the other one is missing or
    # different, the request is refused below. It is not treated as an older revision.
    if version is not None or header in STATELESS:
        return _stateless(method, params, meta, headers)
    if header is not None and header not in HANDSHAKE:
        raise _unsupported(header)
    # If there is no header, the specification assumes 2025-03-26, the last revision without it.
    assumed = HANDSHAKE[0] if headers is None else HANDSHAKE[-1]
    return Revision(header or assumed, None, stateless=False)


def _stateless(method: str, params: Json, meta: Json | None, headers: Headers | None) -> Revision:
    if meta is None:
        raise ProtocolError(INVALID_PARAMS, messages.meta_must_hold(_REQUIRED))
    if VERSION_KEY not in meta or CAPABILITIES_KEY not in meta:
        missing = [key for key in _REQUIRED if key not in meta]
        raise ProtocolError(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    version = meta[VERSION_KEY]
    if headers is not None:
        _check_headers(method, params, version, headers)
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, messages.must_be_a_string(VERSION_KEY))
    if version not in STATELESS:
        raise _unsupported(version)
    return Revision(version, client_name(meta), stateless=True)


def revision_shown(meta: Any) -> Revision:
    """Return the revision of a message that could not be read. It is taken from `_meta` if
    possible.
    """
    # Even if the version is not supported, the caller must get an answer in the form of its
    # revision.
    if is_object(meta) and VERSION_KEY in meta:
        return Revision(STATELESS[0], client_name(meta), stateless=True)
    client = client_name(meta) if is_object(meta) else None
    return Revision(HANDSHAKE[0], client, stateless=False)


def request_meta(client: str) -> Json:
    """Return the `_meta` that Toolbooth's own client sends with a request of the newest
    revision.
    """
    return {
        VERSION_KEY: STATELESS[0],
        CAPABILITIES_KEY: {},
        CLIENT_KEY: {"name": client, "version": "1"},
    }


def client_name(meta: Mapping[str, Any]) -> str | None:
    """Return the name of the client in the request's `_meta`."""
    client = meta.get(CLIENT_KEY)
    name = client.get("name") if is_object(client) else None
    return name if isinstance(name, str) else None


def _check_headers(method: str, params: Json, version: Any, headers: Headers) -> None:
    """Check that the routing headers have the same values as the body. These headers exist so that
    proxies need not read the body.
    """
    if headers.get("mcp-protocol-version") != version:
        raise ProtocolError(HEADER_MISMATCH, messages.OTHER_VERSION_IN_HEADER)
    if headers.get("mcp-method") != method:
        raise ProtocolError(HEADER_MISMATCH, messages.OTHER_METHOD_IN_HEADER)
    name = params.get("name") if method == "tools/call" else None
    if name is not None and decoded_header(headers.get("mcp-name")) != name:
        raise ProtocolError(HEADER_MISMATCH, messages.OTHER_TOOL_IN_HEADER)


def _unsupported(version: Any) -> ProtocolError:
    data = {"supported": list(STATELESS), "requested": str(version)}
    return ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def decoded_header(value: str | None) -> str | None:
    """Return the decoded value of a header. A text that a header cannot contain is sent as
    `=?base64?...?=`. Return None if this encoding is wrong.
    """
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    payload = value[9:-2]
    try:
        raw = base64.b64decode(payload, validate=True)
        # Base64 can be written in several ways, some with ignored bits. Only the canonical form is
        # accepted.
        return raw.decode() if base64.b64encode(raw).decode() == payload else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def check_param_headers(
    wanted: Mapping[tuple[str, ...], tuple[str, str]], arguments: Any, headers: Headers
) -> None:
    """Check the `Mcp-Param-*` headers (x-mcp-header). If an argument is sent, its header must be
    sent with the same value. If it is not sent, its header must not be sent.
    """
    for path, (token, kind) in wanted.items():
        value = arguments
        hidden = False
        for step in path:
            hidden = hidden or isinstance(value, str)  # the argument may be inside JSON text
            value = value.get(step) if is_object(value) else None
        header = headers.get(f"mcp-param-{token}".lower())
        if value is None and header is None and not hidden:
            continue
        if value is None or header is None or not _same(kind, value, decoded_header(header)):
            difference = messages.other_argument_in_header(token, ".".join(path))
            raise ProtocolError(HEADER_MISMATCH, difference)


def _same(kind: str, value: Any, header: str | None) -> bool:
    if header is None:
        return False
    if isinstance(value, bool):
        return header == ("true" if value else "false")
    # `5.0` and `5` are the same integer in JSON, so both are accepted in the header.
    if kind == "integer" and isinstance(value, int | float) and (whole := _WHOLE.fullmatch(header)):
        return int(whole[1]) == value
    return header == str(value)
