"""Finds the original request of a call. The host has already parsed the request, and may have lost
a part of it.

A host reads the bytes before any hook. Its reader keeps only the last of two equal keys, and turns
every fraction into a float. Both hosts use the official SDK's server, whose middleware gets the
HTTP request of each call with its body. `keep_request` keeps this body, so that a guarded tool can
let the boundary read it again. On stdio, the bytes are not kept. If a line would lose something,
`readable_line` puts the whole line as text into a call that the host can read.

If other middleware of the host has changed the arguments, the changed arguments are used.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from secrets import token_hex
from typing import Any, NamedTuple

import orjson

from toolbooth.adapters.sdk.host_errors import protocol_error
from toolbooth.boundary.handle import Errors
from toolbooth.boundary.read import Reading, Unreadable, read_json, read_leniently
from toolbooth.contract import DEFAULT_LIMITS, Contract
from toolbooth.jsonvalue import Json, is_object, json_bytes

_MARK = token_hex(16)
"""The start of the text that `readable_line` sends as `arguments`. It is new in every process, so
clients cannot know it.
"""


class OriginalRequest(NamedTuple):
    """The request that is being answered."""

    body: bytes | None = None
    """The whole message, if it is known."""
    context: Any = None
    """The SDK's context of the request, with the caller and the connection."""
    params: Json | None = None
    """The params of the request. None for a call that a tool makes itself."""
    error_results: list[Json] | None = None
    """The results for the errors of ours that were raised in this call."""
    called: str | None = None
    """The name that was called, if a mounted tool is called in this process. The tool itself may
    have another name.
    """

    def keep_error(self, result: Json) -> str:
        """Store the result for an error that will be raised. Return the text for the exception."""
        if self.error_results is not None:
            self.error_results.append(result)
        return result["content"][0]["text"]

    def taken(self, arguments: Json) -> Json:
        """Return the arguments that were sent, but have been removed by middleware."""
        sent = _object_leniently((self.params or {}).get("arguments"))
        return {key: value for key, value in (sent or {}).items() if key not in arguments}

    def name(self, own: str) -> str:
        """Return the name of the tool as it was called. `own` is the tool's own name. The two names
        differ if the tool belongs to a mounted server.
        """
        if self.params is None:
            return self.called or own
        return str(self.params.get("name", own))


NO_REQUEST = OriginalRequest()
_current: ContextVar[OriginalRequest] = ContextVar("original_request", default=NO_REQUEST)


async def keep_request(
    ctx: Any, call_next: Callable[[Any], Awaitable[Any]], *, errors: Errors = "result"
) -> Any:
    """Middleware for the SDK's server. It stores the request. If the arguments are not an object,
    it replaces them by an object, so that the host can read them.

    Raises:
        MCPError: for a refusal, if `errors` is "protocol".
    """
    params: Any = ctx.params
    if ctx.method != "tools/call" or not is_object(params):
        return await call_next(ctx)
    # `request.body()` would wait for a body if none was read; the transports have read theirs.
    body: bytes | None = getattr(ctx.request, "_body", None)
    arguments = params.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        body, arguments = _original_arguments(arguments, body)
        readable = _object_leniently(arguments) or {}
        ctx = replace(ctx, params={**params, "arguments": readable})
    error_results: list[Json] = []
    token = _current.set(OriginalRequest(body, ctx, params, error_results))
    try:
        result = await call_next(ctx)
    finally:
        _current.reset(token)
    if not error_results or not is_object(result):
        return result
    # The host has made a result of the exception's text. It is ours if it still has the same
    # content: a middleware may have caught the exception and answered in its own way.
    same = [each for each in error_results if each["content"] == result.get("content")]
    if not same:  # some middleware has made another result of the exception
        return result
    refusal = protocol_error(same[0]) if errors == "protocol" else None
    if refusal is not None:
        raise refusal
    return _in_full(result, same[0])


def _in_full(result: Json, ours: Json) -> Json:
    """Complete the result that a host has made for an exception. Add the parts of the refusal that
    the host does not know.
    """
    # The host has put its own name into `_meta`.
    meta: Json = {**(result.get("_meta") or {}), **ours.get("_meta", {})}
    return {**result, **ours, "_meta": meta} if meta else {**result, **ours}


def _original_arguments(arguments: Any, body: bytes | None) -> tuple[bytes, Any]:
    """Return the message and its arguments. This is used if the host has read arguments that are
    not an object.
    """
    if is_line(arguments):
        # `readable_line` decoded the bytes as Latin-1, which maps every byte to one character and
        # back.
        line = arguments.removeprefix(_MARK).encode("latin-1")
        return line, _arguments(read_leniently(line))
    return body or json_bytes({"params": {"arguments": arguments}}), arguments


def is_line(arguments: Any) -> bool:
    """Return True if the arguments are a text that `readable_line` has made from a whole line."""
    return isinstance(arguments, str) and arguments.startswith(_MARK)


def readable_line(line: bytes) -> bytes:
    """Return a line of stdin that the host can read without loss. If the host could not read a tool
    call without loss, return a call whose arguments are the original line as text.
    """
    # Nearly every line is passed on unchanged.
    if _is_read_without_loss(line):
        return line
    message: Any = read_leniently(line)
    if not is_object(message) or message.get("method") != "tools/call":
        return line
    params: Any = message.get("params")
    if not isinstance(params, dict):
        return line
    params["arguments"] = _MARK + line.decode("latin-1")
    return json.dumps(message).encode() + b"\n"


def _is_read_without_loss(line: bytes) -> bool:
    """Return True if the host can parse a line without losing anything."""
    try:
        message, delicate, _ = read_json(line, DEFAULT_LIMITS)
    except Unreadable:
        return False
    # The host would ignore arguments beside `params`.
    if isinstance(message, dict) and "arguments" in message:
        return False
    # A carriage return would end the line.
    return not delicate and b"\r" not in line.rstrip()


class RequestScope:
    """A context that gives the original request to the tool that is called. If the tool itself
    makes calls inside it, these calls have no original request.
    """

    def __enter__(self) -> OriginalRequest:
        original = _current.get()
        self._token = _current.set(OriginalRequest(context=original.context))
        return original

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


@contextmanager
def called_as(name: str) -> Generator[None]:
    """Set the name for a call of a mounted tool in this process. If servers are nested, the name on
    the outermost server is used.
    """
    original = _current.get()
    if original.params is not None or original.called is not None:
        yield
        return
    token = _current.set(original._replace(called=name))
    try:
        yield
    finally:
        _current.reset(token)


def sdk_context() -> Any:
    """Return the SDK's context of the current request. Return None if the call does not come from a
    client.
    """
    return _current.get().context


def read_original(contract: Contract, body: bytes, arguments: Json) -> tuple[Json, Reading | None]:
    """Return a message, and its arguments as they were sent. Fields that middleware has removed are
    left out. The arguments are None if middleware has changed them in any other way.

    Raises:
        Unreadable: the message cannot be read.
    """
    message, delicate, _ = read_json(body, contract.limits, exact=contract.has_decimals)
    sent = _arguments(message)
    as_host_reads = _object_leniently(_arguments(read_leniently(body)) if delicate else sent)
    try:
        canonical = _canonical(arguments)
    except TypeError:  # Python values, made by some middleware
        return message, None
    if as_host_reads is not None and _canonical(as_host_reads) != canonical:
        # Some middleware removes its own fields, such as a `context` for analytics. All other
        # fields must be as they were sent.
        left = {key: value for key, value in as_host_reads.items() if key in arguments}
        if not is_object(sent) or _canonical(left) != canonical:
            return message, None
        # Some fields were taken out. The others are as they were sent.
        sent = {key: value for key, value in sent.items() if key in arguments}
    return message, (sent, delicate, canonical)


def _arguments(message: Any) -> Any:
    """Return the arguments of a message. Return an empty object if the message has no arguments."""
    found = message
    for key in ("params", "arguments"):
        found = found.get(key) if is_object(found) else None
    return {} if found is None else found


def _object_leniently(arguments: Any) -> Json | None:
    """Return the arguments as an object. JSON text is parsed first, as a host does. Return None if
    the result is not an object.
    """
    while isinstance(arguments, str):
        arguments = read_leniently(arguments.encode(errors="replace"))
    return arguments if is_object(arguments) else None


def _canonical(arguments: Any) -> bytes:
    """Return an encoding of the arguments in which the values 1, 1.0 and true are different."""
    try:
        return orjson.dumps(arguments)
    except TypeError:  # integers beyond 64 bits, half a surrogate pair
        return json_bytes(arguments)
