"""Checks the envelope of one JSON-RPC message: everything except the arguments of the tool.

In: the bytes of a message and its headers. Out: a Request with its id, method, params, revision of
MCP and arguments, or a ProtocolError. This module does not know the tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple

from toolbooth.boundary.read import NOTHING, Reading, Unreadable, read_json, read_leniently
from toolbooth.boundary.render import META_KEY
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.errors import INVALID_PARAMS, Problem
from toolbooth.jsonvalue import Json, is_object, recased
from toolbooth.server import messages
from toolbooth.server.controls import GUARDED
from toolbooth.server.message_id import top_level_ids
from toolbooth.server.revisions import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ProtocolError,
    Revision,
    revision_of,
    revision_shown,
)

Headers = Mapping[str, str]

_INTEGERS = range(-(2**63), 2**64)
"""Integers outside this range cannot be written as the id of a reply."""

_KEYS_OF_A_CALL = frozenset(
    ("name", "arguments", "_meta", "task", "inputResponses", "requestState")
)


class Message(NamedTuple):
    """One message that was parsed once. It has the bytes, and either the JSON or the reason why it
    is invalid.
    """

    body: bytes
    reading: Reading | Unreadable

    @property
    def method(self) -> str | None:
        """Return the JSON-RPC method. If the message is invalid, a lenient parser finds the
        method.
        """
        if isinstance(self.reading, Unreadable):
            found = _leniently(self.body).get("method")
        else:
            message = self.reading[0]
            found = message.get("method") if message.__class__ is dict else None
        return found if isinstance(found, str) else None

    @property
    def own_meta(self) -> Any:
        """Return what `_meta` contains for this server. Return None if it contains nothing for this
        server.
        """
        message: Any = None if isinstance(self.reading, Unreadable) else self.reading[0]
        for key in ("params", "_meta", META_KEY):
            message = message.get(key) if message.__class__ is dict else None
        return message


def read_message(body: bytes) -> Message:
    """Parse a message. An invalid message is not an error here."""
    try:
        return Message(body, read_json(body, DEFAULT_LIMITS, may_wait=True))
    except Unreadable as error:
        return Message(body, error)


class Request(NamedTuple):
    """A request whose envelope has been checked."""

    id: Any
    method: str
    params: Json
    revision: Revision
    arguments: Reading
    problems: list[Problem]
    """For a tool call: a problem for each key that was sent outside `arguments`."""


def read_request(reading: Reading, headers: Headers | None) -> Request | None:
    """Return the request in a message. Return None if the message needs no answer. `headers` is
    None on a transport without headers.

    Raises:
        ProtocolError: if the envelope is wrong.
    """
    message: Json = reading[0]
    if type(message) is not dict:
        raise ProtocolError(INVALID_REQUEST, messages.not_one_object(message))
    method, request_id = message.get("method"), message.get("id")
    if method is None and ("result" in message or "error" in message):
        return None  # a response, although this server sends no requests
    # The version is checked before the missing id, so that an invalid message is reported and not
    # ignored as a notification.
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, messages.NOT_A_REQUEST)
    if "id" not in message:
        return None  # a notification
    if not is_id(request_id):
        raise ProtocolError(INVALID_REQUEST, messages.WRONG_ID)

    params: Json | None = message.get("params")
    # JSON-RPC allows `params` to be missing. `null` is treated in the same way.
    if params is None:
        params = {}
    if type(params) is not dict:
        raise ProtocolError(INVALID_PARAMS, messages.PARAMS_NOT_AN_OBJECT)
    meta: Json | None = params.get("_meta")
    if meta is not None and type(meta) is not dict:
        raise ProtocolError(INVALID_PARAMS, messages.META_NOT_AN_OBJECT)

    # This is not raised here: the refusal is a tool result, for which the tool must be found first
    # (`respond.py`).
    problems = beside(message, params) if method == "tools/call" else []
    revision = revision_of(method, params, headers)
    if method == "tools/call" and not isinstance(params.get("name"), str):
        raise ProtocolError(INVALID_PARAMS, messages.NO_TOOL_NAME)
    sent = params.get("arguments")
    # Clients send `null` for "no arguments".
    arguments: Reading = ({} if sent is None else sent, reading[1], reading[2])
    return Request(request_id, method, params, revision, arguments, problems)


def beside(message: Json, params: Json) -> list[Problem]:
    """Return a problem for each key that was sent beside `arguments`, because no tool would get
    such a key.
    """
    meta: Json | None = params.get("_meta")
    own = None if meta is None else meta.get(META_KEY)
    # `{"method": ..., "params": ..., "arguments": {...}}`: the arguments are one level too high.
    is_too_high = "arguments" in message
    if own is None and not is_too_high and params.keys() <= _KEYS_OF_A_CALL:
        return []
    strangers = [key for key in params if key not in _KEYS_OF_A_CALL]
    strangers += _misplaced_in_meta(own)
    if is_too_high:
        strangers.append("arguments")
    return [
        Problem(code="unknown-key", path=(), message=messages.beside_arguments(key))
        for key in strangers
    ]


def _misplaced_in_meta(own: Any) -> list[str]:
    """Return the control arguments in `_meta.toolbooth`. They must be refused, because nothing
    reads them there. If a preview were ignored, the call would write.
    """
    if not is_object(own):
        return []
    # Only the idempotency key is read from here.
    return [key for key in own if recased(key) in GUARDED and key != "idempotency_key"]


def unreadable_call(body: bytes, error: Unreadable) -> Request:
    """Return a tool call without arguments, for a message that cannot be parsed. The caller then
    gets the same kind of answer as for any refused call.

    Raises:
        ProtocolError: if the message is not clearly a tool call.
    """
    message = _leniently(body)
    params = message.get("params")
    if message.get("method") != "tools/call" or not is_object(params):
        raise ProtocolError(PARSE_ERROR, f"Parse error: {error.problem.message}")
    name = params.get("name")
    if not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, messages.NO_TOOL_NAME)
    revision = revision_shown(params.get("_meta"))
    # There is only one problem, because nothing else in the message was examined.
    return Request(id_in(body), "tools/call", {"name": name}, revision, NOTHING, [error.problem])


def id_in(body: bytes) -> Any:
    """Return the id of a refused message. Return None if the message has no id, or more than
    one.
    """
    return only_id(top_level_ids(body))


def only_id(found: list[bytes]) -> Any:
    """Return the only one of these ids. Return None if there is not exactly one, or if a reply
    cannot repeat the id exactly.
    """
    return _repeatable(found[0]) if len(found) == 1 else None


def _repeatable(token: bytes) -> Any:
    """Return a text or number if a reply can repeat it exactly. Return None for any other value."""
    try:
        found = json.loads(token)
    except ValueError:
        return None
    if isinstance(found, str):
        # Half a surrogate pair, written as an escape, cannot be written as UTF-8.
        return found if found.encode(errors="ignore").decode() == found else None
    if isinstance(found, float):
        # `1e400` would become infinity, and 20 digits would be rounded. The client could not match
        # the reply to its request.
        is_exact = isfinite(found) and Decimal(repr(found)) == Decimal(token.decode())
        return found if is_exact else None
    return found


def is_id(value: Any) -> bool:
    """Return True if a value can be the id of a request."""
    return type(value) is str or (type(value) is int and value in _INTEGERS)


def _leniently(body: bytes) -> Json:
    found = read_leniently(body)
    return found if is_object(found) else {}
