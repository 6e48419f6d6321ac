"""Makes the headers of a request to an upstream server over HTTP. No header of the client is
copied.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from toolbooth.jsonvalue import is_object
from toolbooth.proxy import message as wire
from toolbooth.proxy.message import value_of
from toolbooth.proxy.pending import Pending
from toolbooth.server.revisions import VERSION_KEY

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The name of a param, by method. The header `Mcp-Name` repeats the value of this param."""
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def stateless_headers(body: bytes, pending: Pending) -> dict[str, str]:
    """Return the headers of a stateless request. They are made from the body that is sent, because
    the server compares the headers with the body.
    """
    if pending.message.text:
        method, version = pending.method, pending.meta.get(VERSION_KEY)
    else:  # a request of the proxy itself
        message = wire.read(body)
        method = str(message.method)
        version = value_of(message.at(message.params.get("_meta"))).get(VERSION_KEY)
    found = {"mcp-protocol-version": str(version), "mcp-method": method}
    named = _NAMED_BY.get(method)
    name = value_of(pending.param(named)) if named is not None else None
    if pending.tool is not None and not pending.keeps_id:
        name = pending.tool.name
    if isinstance(name, str):
        found["mcp-name"] = header_value(name)
    if pending.tool is not None and pending.tool.header_params:
        message = wire.read(body)
        arguments = value_of(message.at(message.params.get("arguments")))
        found |= param_headers(pending.tool.header_params, arguments)
    return found


def is_stateless(body: bytes, pending: Pending) -> bool:
    """Return True if a request names its protocol revision in `_meta`, as a stateless request
    does.
    """
    if pending.message.text:
        return VERSION_KEY in pending.meta
    # A request of the proxy itself contains this key only if it is stateless.
    return VERSION_KEY.encode() in body


def param_headers(wanted: dict[tuple[str, ...], tuple[str, str]], arguments: Any) -> dict[str, str]:
    """Return the `Mcp-Param-*` headers that repeat some of these arguments."""
    found: dict[str, str] = {}
    for path, (token, _) in wanted.items():
        value = arguments
        for step in path:
            value = value.get(step) if is_object(value) else None
        if isinstance(value, bool):
            found[f"mcp-param-{token}"] = "true" if value else "false"
        elif isinstance(value, str | int | float):
            found[f"mcp-param-{token}"] = header_value(str(value))
    return found


def is_header(name: str, value: str) -> bool:
    """Return True if HTTP allows a header with this name and this value."""
    return _NAME.fullmatch(name) is not None and _VALUE.fullmatch(value) is not None


def header_value(text: str) -> str:
    """Return the value of a header for this text. Text with characters that a header cannot contain
    is encoded as `=?base64?...?=`.
    """
    is_encoded = text.startswith("=?base64?") and text.endswith("?=")
    if _PLAIN.fullmatch(text) and not is_encoded:
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
