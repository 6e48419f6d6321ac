"""One message in, one reply out: the MCP methods of a tool server, as a pure function without I/O.
Start here.

In: the bytes of one JSON-RPC message and its headers. Out: a Reply with the bytes to send back, or
with an iterator of messages where the tool reports progress.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import orjson
from pydantic_core import to_json

from toolbooth.boundary import render
from toolbooth.boundary.read import NOTHING, Reading, Unreadable, read_json, read_leniently
from toolbooth.context import Context
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json, is_object
from toolbooth.server import revisions
from toolbooth.server.call import call, call_sync, refuse
from toolbooth.server.redact import as_text
from toolbooth.server.registry import ToolRegistry, UnknownTool
from toolbooth.server.revisions import ProtocolError, Revision
from toolbooth.server.tool import Shows, Tool

Headers = Mapping[str, str]

logger = logging.getLogger("toolbooth.server")

_NO_CONTEXT = Context()
_INTEGERS = range(-(2**63), 2**64)
"""What a reply can carry as an id."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What to send back."""

    body: bytes
    status: int = 200
    events: AsyncGenerator[bytes, None] | None = None
    """Messages one by one, the response last, where the tool reports progress."""


ACCEPTED = Reply(b"", 202)


@dataclass(frozen=True, slots=True)
class Message:
    """One message, parsed once: its bytes, and its JSON or the reason why it cannot be read."""

    body: bytes
    reading: Reading | Unreadable

    @property
    def method(self) -> str | None:
        """The JSON-RPC method. Of a message that must not be acted on, the one that a forgiving
        parser sees.
        """
        if isinstance(self.reading, Unreadable):
            found: Any = _leniently(self.body).get("method")
        else:
            message: Any = self.reading[0]
            found = cast("Json", message).get("method") if isinstance(message, dict) else None
        return found if isinstance(found, str) else None


def read_message(body: bytes) -> Message:
    """Parse a message, for a server that must know its method before it answers."""
    try:
        return Message(body, read_json(body, DEFAULT_LIMITS))
    except Unreadable as error:
        return Message(body, error)


async def respond(
    registry: ToolRegistry,
    body: bytes,
    headers: Headers | None = None,
    *,
    context: Context | None = None,
    shows: Shows | None = None,
) -> Reply:
    """Answer one message. `headers` has lower-case names, or is None on a transport without
    headers.

    `shows` tells which tools this caller is shown; None: all. What a caller may call is for the
    tools to say.
    """
    try:
        opened = _opened(registry, read_message(body), headers, context, shows)
        if isinstance(opened, Reply):
            return opened
        if opened.tool is None:
            return _done(opened, _plain_method(registry, opened, shows))
        return await _called(registry, opened, context, shows)
    except Exception as error:
        return _failed(body, headers, error)


def respond_sync(
    registry: ToolRegistry,
    message: Message | bytes,
    headers: Headers | None = None,
    *,
    context: Context | None = None,
    shows: Shows | None = None,
) -> Reply:
    """`respond` for WSGI: no event loop, no stream."""
    read = message if isinstance(message, Message) else read_message(message)
    try:
        opened = _opened(registry, read, headers, context, shows)
        if isinstance(opened, Reply):
            return opened
        if opened.tool is None:
            return _done(opened, _plain_method(registry, opened, shows))
        made = _context(context, opened)
        return _done(opened, call_sync(registry, opened.tool, opened.arguments, made, shows=shows))
    except Exception as error:
        return _failed(read.body, headers, error)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A request whose envelope has been checked."""

    id: Any
    method: str
    params: Json
    revision: Revision
    tool: Tool | None
    arguments: Reading
    server: Any


def _opened(
    registry: ToolRegistry,
    sent: Message,
    headers: Headers | None,
    context: Context | None,
    shows: Shows | None,
) -> _Opened | Reply:
    if isinstance(sent.reading, Unreadable):
        return _unreadable(registry, sent.body, sent.reading, context, shows)
    message, delicate, _ = sent.reading
    if type(message) is not dict:
        what = "a batch" if isinstance(message, list) else "not an object"
        raise ProtocolError(
            revisions.INVALID_REQUEST, f"the message is {what}; send one JSON-RPC object"
        )
    table = cast("Json", message)
    method, request_id = table.get("method"), table.get("id")
    if method is None and ("result" in table or "error" in table):
        return ACCEPTED  # a response: this server never asks
    if table.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise ProtocolError(
            revisions.INVALID_REQUEST, 'a request has "jsonrpc": "2.0" and a method'
        )
    if "id" not in table:
        return ACCEPTED
    if not _is_id(request_id):
        raise ProtocolError(revisions.INVALID_REQUEST, "an id is a string or an integer of 64 bits")
    raw: Any = table.get("params")
    if raw is not None and not isinstance(raw, dict):
        raise ProtocolError(revisions.INVALID_PARAMS, "params must be an object")
    params = cast("Json", raw or {})
    if params.get("_meta") is not None and not isinstance(params["_meta"], dict):
        raise ProtocolError(revisions.INVALID_PARAMS, "params._meta must be an object")
    revision = revisions.revision_of(table, headers)
    tool = _tool(registry, params, shows) if method == "tools/call" else None
    arguments: Any = params.get("arguments")
    if tool is not None and headers is not None and tool.header_params and revision.stateless:
        revisions.check_param_headers(tool.header_params, arguments, headers)
    read: Reading = ({} if arguments is None else arguments, delicate, sent.body)
    opened = _Opened(request_id, method, params, revision, tool, read, registry)
    if tool is not None and (problems := beside(table, params)):
        return _done(opened, refuse(registry, tool, _context(context, opened), *problems))
    if tool is None or tool.contract.limits is DEFAULT_LIMITS:
        return opened
    try:  # a tool with limits of its own: its arguments alone are held to them
        return replace(opened, arguments=read_json(as_text(read[0]).encode(), tool.contract.limits))
    except Unreadable as error:
        return _done(opened, refuse(registry, tool, _context(context, opened), error.problem))


def beside(message: Json, params: Json) -> list[Problem]:
    """What a tool call says outside of `arguments`, where no tool would ever see it."""
    strangers = [key for key in params if key not in _OF_A_CALL]
    strangers += ["arguments"] if "arguments" in message else []
    return [
        Problem(code="unknown-key", path=(), message=_BESIDE.format(json.dumps(key[:80])))
        for key in strangers
    ]


_OF_A_CALL = frozenset(("name", "arguments", "_meta", "task", "inputResponses", "requestState"))
_BESIDE = 'the call has {} beside its "arguments"; what is for the tool goes into "arguments"'


def _tool(registry: ToolRegistry, params: Json, shows: Shows | None) -> Tool:
    name = params.get("name")
    if not isinstance(name, str):
        raise ProtocolError(revisions.INVALID_PARAMS, "params.name must be the name of a tool")
    try:
        return registry.find(name, shows)
    except UnknownTool as error:
        raise ProtocolError(revisions.INVALID_PARAMS, str(error)) from None


def _plain_method(registry: ToolRegistry, opened: _Opened, shows: Shows | None) -> Any:
    """The methods that need no tool to run."""
    stateless = opened.revision.stateless
    match opened.method:
        case "tools/list":
            return _listing(registry, opened, shows)
        case "server/discover" if stateless:
            return {
                "supportedVersions": list(revisions.STATELESS),
                **_about(registry),
                "ttlMs": 0,
                "cacheScope": "private",
            }
        case "initialize" if not stateless:
            version = revisions.negotiated(opened.params.get("protocolVersion"))
            server = {"name": registry.name, "version": registry.version}
            return {"protocolVersion": version, **_about(registry), "serverInfo": server}
        case "ping" if not stateless:
            return {}
        case _:
            raise ProtocolError(
                revisions.METHOD_NOT_FOUND, f"there is no method {opened.method[:80]!r} here"
            )


def _about(registry: ToolRegistry) -> Json:
    made: Json = {"capabilities": {"tools": {}}}
    return {**made, "instructions": registry.instructions} if registry.instructions else made


def _listing(registry: ToolRegistry, opened: _Opened, shows: Shows | None) -> Any:
    """One page of tools, encoded once and kept until the next registration."""
    shown = None if shows is None else registry.shown(shows)
    total = len(registry.tools if shown is None else shown)
    start = _start(registry, opened.params.get("cursor"), total)
    end = start + registry.page_size
    page = registry.encoded_listing(start) if shown is None else registry.encoded(shown[start:end])
    made: Json = {"tools": orjson.Fragment(page)}
    if end < total:
        made["nextCursor"] = base64.urlsafe_b64encode(str(end).encode()).decode()
    return {**made, "ttlMs": 0, "cacheScope": "private"} if opened.revision.stateless else made


def _start(registry: ToolRegistry, cursor: Any, total: int) -> int:
    """Where the page begins that a cursor stands for. Only the starts of pages count: each page is
    kept encoded.
    """
    if cursor is None:
        return 0
    try:
        start = int(base64.urlsafe_b64decode(str(cursor)))
    except ValueError:
        start = 0
    if start not in range(registry.page_size, total, registry.page_size):
        raise ProtocolError(
            revisions.INVALID_PARAMS, "the cursor is not one that this server gave out"
        )
    return start


def _context(context: Context | None, opened: _Opened) -> Context:
    meta: Any = opened.params.get("_meta")
    if context is None and opened.revision.client is None and meta is None:
        return _NO_CONTEXT
    given = context or _NO_CONTEXT
    return Context(
        client=opened.revision.client or given.client, meta=meta or {}, report=given.report
    )


async def _called(
    registry: ToolRegistry, opened: _Opened, context: Context | None, shows: Shows | None
) -> Reply:
    assert opened.tool is not None
    meta: Any = opened.params.get("_meta") or {}
    token: Any = meta.get("progressToken")
    if token is not None and not _is_id(token):
        raise ProtocolError(
            revisions.INVALID_PARAMS, "a progressToken is a string or an integer of 64 bits"
        )
    if opened.tool.contract.plain_keywords and not registry.observers:  # nobody asks who calls
        return _done(
            opened, await call(registry, opened.tool, opened.arguments, _NO_CONTEXT, shows=shows)
        )
    made = _context(context, opened)
    if token is not None and not opened.tool.contract.plain_keywords:
        return Reply(b"", 200, _events(registry, opened, made, token, shows))
    return _done(opened, await call(registry, opened.tool, opened.arguments, made, shows=shows))


async def _events(
    registry: ToolRegistry, opened: _Opened, context: Context, token: Any, shows: Shows | None
) -> AsyncGenerator[bytes, None]:
    """Progress as it is reported, then the response. Closing the iterator cancels the call."""
    assert opened.tool is not None
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def report(done: float, total: float | None, message: str | None) -> None:
        params = {"progressToken": token, "progress": done, "total": total, "message": message}
        params = {key: value for key, value in params.items() if value is not None}
        sent = _encoded({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        loop.call_soon_threadsafe(queue.put_nowait, sent)

    reporting = replace(context, report=report)
    task = asyncio.ensure_future(
        call(registry, opened.tool, opened.arguments, reporting, shows=shows)
    )
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        try:
            yield _done(opened, task.result()).body
        except ToolInputError as error:
            yield _encoded(
                {
                    "jsonrpc": "2.0",
                    "id": opened.id,
                    "error": render.refusal_error(error, DEFAULT_LIMITS),
                }
            )
    finally:
        task.cancel()


def _done(opened: _Opened, result: Any) -> Reply:
    if opened.revision.stateless:
        server = {"name": opened.server.name, "version": opened.server.version}
        result["_meta"] = {**result.get("_meta", {}), revisions.SERVER_KEY: server}
        result["resultType"] = "complete"
    return Reply(_encoded({"jsonrpc": "2.0", "id": opened.id, "result": result}))


def _failed(body: bytes, headers: Headers | None, error: Exception) -> Reply:
    """The JSON-RPC error that says what went wrong."""
    if isinstance(error, ToolInputError):
        made = render.refusal_error(error, DEFAULT_LIMITS)
    elif isinstance(error, ProtocolError):
        made: Json = {"code": error.code, "message": error.message}
        if error.data is not None:
            made["data"] = error.data
    else:
        logger.error("the server failed", exc_info=error)
        made = {"code": revisions.INTERNAL_ERROR, "message": "the server failed; its log says how"}
    reply = _encoded({"jsonrpc": "2.0", "id": _id_in(body), "error": made})
    return Reply(reply, revisions.http_status(made["code"], headers))


def _encoded(message: Json) -> bytes:
    try:
        return orjson.dumps(message)
    except TypeError:  # integers beyond 64 bits
        return to_json(message)


def _is_id(value: Any) -> bool:
    return type(value) is str or (type(value) is int and value in _INTEGERS)


def _id_in(body: bytes) -> Any:
    """The id of a message that was refused, as far as one can be found."""
    request_id: Any = _leniently(body).get("id")
    if not _is_id(request_id):
        return None
    # Half a surrogate pair, written as an escape, cannot be sent back.
    return (
        request_id if str(request_id).encode(errors="ignore").decode() == str(request_id) else None
    )


def _leniently(body: bytes) -> Json:
    found = read_leniently(body)
    return found if is_object(found) else {}


def _unreadable(
    registry: ToolRegistry,
    body: bytes,
    error: Unreadable,
    context: Context | None,
    shows: Shows | None,
) -> Reply:
    """A body that must not be acted on. If it plainly is a tool call, its caller is told as for any
    refused call.
    """
    message = _leniently(body)
    params: Any = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        raise ProtocolError(revisions.PARSE_ERROR, f"Parse error: {error.problem.message}")
    table = cast("Json", params)
    found: Any = table.get("_meta")
    meta = cast("Json", found) if isinstance(found, dict) else {}
    version = revisions.STATELESS[0] if revisions.VERSION_KEY in meta else revisions.HANDSHAKE[0]
    revision = Revision(version, revisions.client_name(meta))
    tool = _tool(registry, table, shows)
    opened = _Opened(_id_in(body), "tools/call", {}, revision, tool, NOTHING, registry)
    return _done(opened, refuse(registry, tool, _context(context, opened), error.problem))
