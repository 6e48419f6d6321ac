"""What differs between the revisions of the protocol, and how a request says which one it speaks.

2026-07-28 is stateless: every request carries its version and client in `_meta`, mirrored in
headers over HTTP. The handshake revisions negotiate once, with `initialize`; nothing of that is
remembered here either.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from toolbooth.errors import INVALID_PARAMS

STATELESS = ("2026-07-28",)
"""Revisions in which every request stands for itself, the newest first."""
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Revisions that begin with `initialize`, the newest first."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

HTTP_STATUS = {
    **dict.fromkeys(
        (PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, HEADER_MISMATCH, UNSUPPORTED_VERSION), 400
    ),
    METHOD_NOT_FOUND: 404,
}

_BEFORE_ANY_ERA = frozenset((PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION))

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

_WHOLE = re.compile(r"(-?[0-9]{1,4300})(?:\.0+)?")

Headers = Mapping[str, str]


class ProtocolError(Exception):
    """The request itself is wrong: answered as a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Revision:
    """The revision one request speaks, and who sent it."""

    version: str
    client: str | None

    @property
    def stateless(self) -> bool:
        return self.version in STATELESS


def http_status(code: int, headers: Headers | None) -> int:
    """The status that goes with an error. The handshake revisions answer what was understood with
    200.
    """
    stateless = headers is not None and headers.get("mcp-protocol-version") in STATELESS
    return HTTP_STATUS.get(code, 200) if stateless or code in _BEFORE_ANY_ERA else 200


def negotiated(requested: Any) -> str:
    """The revision that `initialize` settles on: the one asked for, or the newest of its kind."""
    return requested if requested in HANDSHAKE else HANDSHAKE[0]


def revision_of(message: Mapping[str, Any], headers: Headers | None) -> Revision:
    """The revision of one request; `headers` is None where there are none. Raises ProtocolError."""
    params: Any = message.get("params")
    meta: Any = cast("dict[str, Any]", params).get("_meta") if isinstance(params, dict) else None
    said: Any = cast("dict[str, Any]", meta).get(VERSION_KEY) if isinstance(meta, dict) else None
    header = headers.get("mcp-protocol-version") if headers is not None else None
    if said is None and header not in STATELESS:
        if header is not None and header not in HANDSHAKE:
            raise _unsupported(header)
        assumed = HANDSHAKE[0] if headers is None else HANDSHAKE[-1]
        return Revision(header or assumed, None)
    return _stateless(message, cast("dict[str, Any]", params or {}), meta, headers)


def _stateless(
    message: Mapping[str, Any], params: dict[str, Any], meta: Any, headers: Headers | None
) -> Revision:
    if not isinstance(meta, dict):
        raise ProtocolError(
            INVALID_PARAMS,
            f"params._meta must be an object with {VERSION_KEY!r} and {CAPABILITIES_KEY!r}",
        )
    table = cast("dict[str, Any]", meta)
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in table]
    if missing:
        raise ProtocolError(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    version = table[VERSION_KEY]
    if headers is not None:
        _check_headers(message, params, version, headers)
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"{VERSION_KEY} must be a string")
    if version not in STATELESS:
        raise _unsupported(version)
    return Revision(version, client_name(table))


def request_meta(client: str) -> dict[str, Any]:
    """The `_meta` with which a client of ours sends a request of the newest revision."""
    return {
        VERSION_KEY: STATELESS[0],
        CAPABILITIES_KEY: {},
        CLIENT_KEY: {"name": client, "version": "1"},
    }


def client_name(meta: Mapping[str, Any]) -> str | None:
    """Who calls, as far as the request's `_meta` says so."""
    client: Any = meta.get(CLIENT_KEY)
    name: Any = cast("dict[str, Any]", client).get("name") if isinstance(client, dict) else None
    return name if isinstance(name, str) else None


def _check_headers(
    message: Mapping[str, Any], params: dict[str, Any], version: Any, headers: Headers
) -> None:
    """The routing headers repeat what the body says, so that a proxy need not read it. They must
    not disagree.
    """
    if headers.get("mcp-protocol-version") != version:
        raise ProtocolError(
            HEADER_MISMATCH, "the MCP-Protocol-Version header and the body name different versions"
        )
    if headers.get("mcp-method") != message.get("method"):
        raise ProtocolError(
            HEADER_MISMATCH, "the Mcp-Method header and the body name different methods"
        )
    name = params.get("name") if message.get("method") == "tools/call" else None
    if name is not None and decoded_header(headers.get("mcp-name")) != name:
        raise ProtocolError(
            HEADER_MISMATCH, "the Mcp-Name header and the body name different tools"
        )


def _unsupported(version: Any) -> ProtocolError:
    data = {"supported": list(STATELESS), "requested": str(version)}
    return ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def decoded_header(value: str | None) -> str | None:
    """A header's value; text that a header cannot carry comes as `=?base64?...?=`. None if that is
    malformed.
    """
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    payload = value[9:-2]
    try:
        raw = base64.b64decode(payload, validate=True)
        return raw.decode() if base64.b64encode(raw).decode() == payload else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def check_param_headers(
    wanted: Mapping[tuple[str, ...], tuple[str, str]], arguments: Any, headers: Headers
) -> None:
    """`Mcp-Param-*` headers (x-mcp-header): each must repeat its argument, and stand there if and
    only if it does.
    """
    for path, (token, kind) in wanted.items():
        value: Any = arguments
        hidden = False
        for step in path:
            hidden = hidden or isinstance(value, str)  # text may hold what the header should repeat
            value = cast("dict[str, Any]", value).get(step) if isinstance(value, dict) else None
        header = headers.get(f"mcp-param-{token}".lower())
        if value is None and header is None and not hidden:
            continue
        if value is None or header is None or not _same(kind, value, decoded_header(header)):
            name = ".".join(path)
            raise ProtocolError(
                HEADER_MISMATCH, f"the Mcp-Param-{token} header and the argument {name!r} differ"
            )


def _same(kind: str, value: Any, header: str | None) -> bool:
    if header is None:
        return False
    if isinstance(value, bool):
        return header == ("true" if value else "false")
    if kind == "integer" and isinstance(value, int | float) and (whole := _WHOLE.fullmatch(header)):
        return int(whole[1]) == value
    return header == str(value)
