"""What was sent, beside what a host has made of it.

A host reads the bytes before any hook, and to its reader the last of two keys is the only one, and
a fraction a float. Both hosts stand on the official SDK's server, whose middleware is given the
HTTP request of each call, its body read
already: `keep_sent` keeps it, and a guarded tool has the boundary read it again. On stdio nothing
is left of the bytes, so `carried` puts a line that would be spoilt into a call that survives the
host's reader.

Where the arguments handed to a tool are not those sent, because some middleware of the host changed
them, what is handed over counts.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace
from secrets import token_hex
from typing import Any, NamedTuple, cast

import orjson

from toolbooth.boundary.read import Reading, Unreadable, read_json, read_leniently
from toolbooth.contract import DEFAULT_LIMITS, Contract
from toolbooth.jsonvalue import Json, json_bytes

_MARK = token_hex(16)
"""Begins the text that stands for `arguments` in a carried call. New in every process: nobody can
send it.
"""


class UnderWay(NamedTuple):
    """The call that is being answered."""

    body: bytes | None = None
    """The message it came in, where that is to be had."""
    request: Any = None
    """The SDK's own account of it: who calls, and how to reach them."""
    params: Json | None = None
    """All that was sent for the tool; None for what it calls in its turn."""

    def name(self, own: str) -> str:
        """The name that was called, which need not be the tool's own: a mounted one has another
        there.
        """
        return own if self.params is None else str(self.params.get("name", own))


NOTHING_SENT = UnderWay()
_under_way: ContextVar[UnderWay] = ContextVar("under_way", default=NOTHING_SENT)


async def keep_sent(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Middleware of the SDK's server: keep what was sent, and give the host an object, whatever
    that was.
    """
    params: Any = ctx.params
    if ctx.method != "tools/call" or not isinstance(params, dict):
        return await call_next(ctx)
    # Its public name would wait for a body that nobody has read; the transports have read theirs.
    body: bytes | None = getattr(ctx.request, "_body", None)
    given: Any = cast("Json", params).get("arguments")
    if given is not None and not isinstance(given, dict):
        body, given = _unusual(given, body)
        ctx = replace(ctx, params={**params, "arguments": _object_in(given) or {}})
    token = _under_way.set(UnderWay(body, ctx, cast("Json", params)))
    try:
        return await call_next(ctx)
    finally:
        _under_way.reset(token)


def _unusual(given: Any, body: bytes | None) -> tuple[bytes, Any]:
    """The message and the arguments in it, where a host has no object."""
    if isinstance(given, str) and given.startswith(_MARK):
        line = given.removeprefix(_MARK).encode("latin-1")
        return line, _arguments(read_leniently(line))
    return body or json_bytes({"params": {"arguments": given}}), given


def carried(line: bytes) -> bytes:
    """A line of stdin that a host can read: the line itself, or a tool call that brings it along."""
    if _survives(line):
        return line
    message: Any = read_leniently(line)
    if not isinstance(message, dict) or cast("Json", message).get("method") != "tools/call":
        return line
    params: Any = cast("Json", message).get("params")
    if not isinstance(params, dict):
        return line
    params["arguments"] = _MARK + line.decode("latin-1")
    return json.dumps(message).encode() + b"\n"


def _survives(line: bytes) -> bool:
    """Whether a host's reader loses nothing of a line."""
    try:
        message, delicate, _ = read_json(line, DEFAULT_LIMITS)
    except Unreadable:
        return False
    if (
        isinstance(message, dict) and "arguments" in message
    ):  # beside `params`, where the host looks for nothing
        return False
    return not delicate and b"\r" not in line.rstrip()  # which would end the line


class Sent:
    """What was sent, for the one tool that is called."""

    def __enter__(self) -> UnderWay:
        sent = _under_way.get()
        self._token = _under_way.set(
            UnderWay(request=sent.request)
        )  # what the tool calls in its turn was not sent
        return sent

    def __exit__(self, *_: object) -> None:
        _under_way.reset(self._token)


def request_under_way() -> Any:
    """The SDK's account of the request that is being answered; None for a call from within the
    process.
    """
    return _under_way.get().request


def read_sent(contract: Contract, body: bytes, arguments: Json) -> tuple[Json, Reading | None]:
    """A message, and the arguments in it as sent; None if those handed over are others. Raises
    Unreadable.
    """
    message, delicate, _ = read_json(body, contract.limits, exact=contract.has_decimals)
    sent = _arguments(message)
    plain = _object_in(_arguments(read_leniently(body)) if delicate else sent)
    try:
        text = _text(arguments)
    except TypeError:  # Python values, of some middleware
        return message, None
    if plain is not None and _text(plain) != text:
        return message, None
    return message, (sent, delicate, text)


def _arguments(message: Any) -> Any:
    """What a message has for arguments; nothing sent is an empty object."""
    found = message
    for key in ("params", "arguments"):
        found = cast("Json", found).get(key) if isinstance(found, dict) else None
    return {} if found is None else found


def _object_in(arguments: Any) -> Json | None:
    """The object that arguments are, or are the JSON text of."""
    while isinstance(arguments, str):
        arguments = read_leniently(arguments.encode(errors="replace"))
    return cast("Json", arguments) if isinstance(arguments, dict) else None


def _text(arguments: Any) -> bytes:
    """By which two objects are told apart, 1 from 1.0 and from true."""
    try:
        return orjson.dumps(arguments)
    except TypeError:  # integers beyond 64 bits, half a surrogate pair
        return json_bytes(arguments)
