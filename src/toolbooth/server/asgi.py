"""The HTTP transport: an ASGI application around `respond`. It checks what only HTTP requests have:
the method, the host, the origin and the size of the body.
"""

from __future__ import annotations

import asyncio
import types
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from typing import Any

from toolbooth.boundary.run import rest_of
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.server import messages
from toolbooth.server.answers import error_reply
from toolbooth.server.envelope import id_in
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.respond import Reply, respond
from toolbooth.server.revisions import INTERNAL_ERROR
from toolbooth.server.web_hosts import ANY_HOST, allowed_hosts, host_in_host, host_in_origin

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
STOPPED = "the server is stopping"
"""The message for `task.cancel(STOPPED)`. A task that is cancelled with this message still sends an
answer before it ends.
"""

_WHILE = 0.05
"""If a call takes longer than this many seconds, the server begins to check if its client has
disconnected.
"""
_JSON = (b"content-type", b"application/json")
_END: dict[str, Any] = {"type": "http.response.body", "body": b""}
EVENT_STREAM = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
]


def app(
    registry: ToolRegistry,
    path: str = "/mcp",
    *,
    hosts: Iterable[str] = LOCAL_HOSTS,
    origins: Iterable[str] = (),
    max_body: int = DEFAULT_LIMITS.max_bytes,
    max_seconds: float = 30.0,
) -> Application:
    """Return an ASGI application that serves `registry` at `path`.

    `hosts` has the allowed values of the `Host` header, without port. `"*"` allows all; use it only
    behind a proxy that checks the header. If a browser sends an `Origin`, its host must be allowed
    too, or it must be listed in `origins`. A request may have at most `max_body` bytes, and must
    send its body within `max_seconds`.

    Raises:
        ValueError: if one of `hosts` is not a host.
    """
    allowed = allowed_hosts(hosts)
    extra = frozenset(origins)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            headers, fault = checked(scope, path, allowed, extra)
            if fault is not None:
                await plain(send, *fault)
                return
            try:
                body = await read_body(receive, max_body, max_seconds)
            except TimeoutError:
                await plain(send, 408, messages.body_too_slow(max_seconds))
                return
            if body is not None:
                await _serve(registry, headers, body, receive, send, max_body)

    return application


def checked(
    scope: Scope,
    path: str,
    hosts: frozenset[str],
    origins: frozenset[str],
    methods: Sequence[str] = ("POST",),
) -> tuple[dict[str, str], tuple[int, str] | None]:
    """Check the headers of a request. Return two values: the headers by lower-case name, and the
    status and message if the request is refused, otherwise None.
    """
    # httptools keeps the white space after a value, which is not part of it (RFC 9110, 5.5).
    headers = {
        str(name, "latin-1"): str(value.rstrip(b" \t"), "latin-1")
        for name, value in scope["headers"]
    }
    # Repeated headers are looked for only if the dict has fewer entries than the list. Most
    # requests have none.
    if len(headers) != len(scope["headers"]) and (twice := _sent_twice(scope)):
        return headers, (400, messages.header_sent_twice(twice))
    # In ASGI, `path` includes `root_path`, the prefix at which the application is mounted.
    if scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/") != path.rstrip("/"):
        return headers, (404, messages.wrong_path(path))
    if scope["method"] not in methods:
        return headers, (405, messages.SEND_BY_POST)
    if ANY_HOST not in hosts:
        # With DNS rebinding, a web page makes its own name point to 127.0.0.1, and reaches a local
        # server from the user's browser. Its requests still have that name in `Host`.
        if host_in_host(headers.get("host", "")) not in hosts:
            return headers, (421, messages.WRONG_HOST)
        origin = headers.get("origin")
        if origin and origin not in origins and host_in_origin(origin) not in hosts:
            return headers, (403, messages.WRONG_ORIGIN)
    if scope["method"] != "POST":
        return headers, None
    # A browser sends `text/plain` to other sites without a preflight request, but not
    # `application/json`.
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return headers, (415, "send application/json")
    return headers, None


def _sent_twice(scope: Scope) -> str | None:
    """Return the name of a header that was sent more than once. Only headers that the server uses
    are checked. Return None if there is no such header.
    """
    names = Counter(str(name, "latin-1") for name, _ in scope["headers"])
    for name, count in names.items():
        if count > 1 and (name.startswith("mcp-") or name in ("host", "origin")):
            return name
    return None


async def read_body(receive: Receive, max_body: int, max_seconds: float) -> bytes | None:
    """Return the body of a request. Return None if the client disconnected before the body was
    complete. If the body is too long, the rest is not read.
    """
    # Most bodies come in one message, which needs neither a timer nor a list of parts.
    message = await receive()
    body: bytes = message.get("body", b"")
    if message.get("more_body"):
        parts = [body]
        size = len(body)
        async with asyncio.timeout(max_seconds):
            while message.get("more_body") and size <= max_body:
                message = await receive()
                parts.append(message.get("body", b""))
                size += len(parts[-1])
        body = b"".join(parts)
    return None if message["type"] == "http.disconnect" else body


async def _serve(
    registry: ToolRegistry,
    headers: dict[str, str],
    body: bytes,
    receive: Receive,
    send: Send,
    max_body: int,
) -> None:
    if len(body) > max_body:
        await plain(send, 413, messages.body_too_long(max_body))
        return
    try:
        reply = await _watched(respond(registry, body, headers), receive)
    except asyncio.CancelledError as error:
        reply = Reply(_last_words(error, body), 503)
    if reply is None:
        return
    if reply.events is not None:
        try:
            await _stream(reply.events, receive, send)
        except asyncio.CancelledError as error:
            await send(_event(_last_words(error, body)))
            await send(_END)
        return
    length = (b"content-length", str(len(reply.body)).encode())
    fields = [_JSON, length] if reply.body else [length]
    await send({"type": "http.response.start", "status": reply.status, "headers": fields})
    await send({"type": "http.response.body", "body": reply.body})


def _last_words(error: asyncio.CancelledError, body: bytes) -> bytes:
    """Return the answer to a request that is interrupted because the server stops. If the task was
    cancelled for another reason, raise the error again.
    """
    task = asyncio.current_task()
    if error.args != (STOPPED,) or task is None:
        raise error
    # The cancellation ends here: the task still has to send the answer.
    task.uncancel()
    return error_reply(id_in(body), INTERNAL_ERROR, messages.SERVER_STOPPED)


@types.coroutine
def _watched(
    answering: Coroutine[Any, Any, Reply], receive: Receive
) -> Generator[Any, Any, Reply | None]:
    """Return the reply to a call. If the client disconnects first, cancel the call and return None.

    Most calls end without waiting. The connection is checked only for those that wait.
    """
    steps = answering.__await__()
    try:
        waits_for = next(steps)
    except StopIteration as done:
        return done.value
    leaving = _Leaving(receive)
    try:
        return (yield from rest_of(steps, waits_for))
    except asyncio.CancelledError:
        if not leaving.left:
            raise
        # The client has disconnected. That is handled here, so the task itself continues.
        leaving.calling.uncancel()
        return None
    finally:
        leaving.stop()
        del waits_for  # the same reason as in `rest_of`


class _Leaving:
    """Cancels a call if its client disconnects. The connection is checked only after a short time,
    because most calls end quickly.
    """

    def __init__(self, receive: Receive) -> None:
        self.receive = receive
        self.left = False
        calling = asyncio.current_task()
        assert calling is not None
        self.calling = calling
        self.waiting: asyncio.Task[None] | None = None
        self.timer = asyncio.get_running_loop().call_later(_WHILE, self._look)

    def _look(self) -> None:
        self.waiting = asyncio.ensure_future(left(self.receive))
        self.waiting.add_done_callback(self._gone)

    def _gone(self, done: asyncio.Task[None]) -> None:
        # `stop` cancels this task too. The client has disconnected only if the task ended by
        # itself.
        if not done.cancelled():
            self.left = True
            self.calling.cancel()

    def stop(self) -> None:
        self.timer.cancel()
        if self.waiting is not None:
            self.waiting.cancel()


async def _stream(events: AsyncGenerator[bytes, None], receive: Receive, send: Send) -> None:
    """Send events as they arrive. If the client closes the stream, the call is cancelled."""
    sending = asyncio.ensure_future(_send_all(events, send))
    leaving = asyncio.ensure_future(left(receive))
    leaving.add_done_callback(lambda _: sending.cancel())
    try:
        # `wait` neither raises the error of the task nor cancels it. Both are done in the right
        # order below.
        await asyncio.wait((sending,))
    finally:
        leaving.cancel()
        sending.cancel()
        # Closing the events cancels their call. Without this wait, the call would still run after
        # the request has ended.
        await asyncio.wait((sending,))
    if not sending.cancelled():
        sending.result()


async def _send_all(events: AsyncGenerator[bytes, None], send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM})
    try:
        async for event in events:
            await send(_event(event))
    finally:
        await events.aclose()
    await send(_END)


def _event(message: bytes) -> dict[str, Any]:
    framed = b"event: message\r\ndata: " + message + b"\r\n\r\n"
    return {"type": "http.response.body", "body": framed, "more_body": True}


async def left(receive: Receive) -> None:
    """Wait until the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def plain(send: Send, status: int, words: str, *, allow: Sequence[str] = ("POST",)) -> None:
    """Send an HTTP response with a plain text."""
    body = words.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    # RFC 9110, 15.5.6, requires this header.
    if status == 405:
        headers.append((b"allow", ", ".join(allow).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        # There is nothing to start or to stop, but servers such as uvicorn wait for the
        # confirmation.
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
