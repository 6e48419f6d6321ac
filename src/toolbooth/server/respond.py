"""One message in, one reply out: the MCP methods of a tool server, as a pure function without I/O. Start here.

In: the bytes of one JSON-RPC message and its headers. Out: a Reply with the bytes to send back, or with an iterator
of messages where the tool reports progress.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import orjson

from toolbooth.boundary import render
from toolbooth.boundary.read import Reading, Unreadable, read_json
from toolbooth.context import Context
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.errors import ToolInputError
from toolbooth.server import revisions
from toolbooth.server.calls import call, call_sync
from toolbooth.server.registry import ToolRegistry, UnknownTool
from toolbooth.server.revisions import STATELESS, ProtocolError, Revision
from toolbooth.server.tools import Tool

Headers = Mapping[str, str]
Json = dict[str, Any]

_NO_CONTEXT = Context()


@dataclass(frozen=True, slots=True)
class Reply:
    """What to send back."""

    body: bytes
    status: int = 200
    events: AsyncGenerator[bytes, None] | None = None
    """Messages one by one, the response last, where the tool reports progress."""


ACCEPTED = Reply(b"", 202)


async def respond(
    registry: ToolRegistry, body: bytes, headers: Headers | None = None, *, context: Context | None = None
) -> Reply:
    """Answer one message. `headers` has lower-case names, or is None on a transport without headers."""
    try:
        opened = _opened(registry, body, headers)
        if isinstance(opened, Reply):
            return opened
        if opened.tool is None:
            return _done(opened, _plain_method(registry, opened))
        return await _called(registry, opened, context)
    except ProtocolError as error:
        return _failed(_id_in(body), error)


def respond_sync(
    registry: ToolRegistry, body: bytes, headers: Headers | None = None, *, context: Context | None = None
) -> Reply:
    """`respond` for WSGI: no event loop, no stream."""
    try:
        opened = _opened(registry, body, headers)
        if isinstance(opened, Reply):
            return opened
        if opened.tool is None:
            return _done(opened, _plain_method(registry, opened))
        made = _context(context, opened)
        return _done(opened, call_sync(registry, opened.tool, opened.arguments, made))
    except ToolInputError as error:
        return _refused(_id_in(body), error)
    except ProtocolError as error:
        return _failed(_id_in(body), error)


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


def _opened(registry: ToolRegistry, body: bytes, headers: Headers | None) -> _Opened | Reply:
    try:
        reading = read_json(body, DEFAULT_LIMITS)
    except Unreadable as error:
        return _unreadable(registry, body, error)
    message, delicate, pointed = reading
    if type(message) is not dict:
        what = "a batch" if isinstance(message, list) else "not an object"
        raise ProtocolError(revisions.INVALID_REQUEST, f"the message is {what}; send one JSON-RPC object")
    table = cast("Json", message)
    method, request_id = table.get("method"), table.get("id")
    if table.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise ProtocolError(revisions.INVALID_REQUEST, 'a request has "jsonrpc": "2.0" and a method')
    if "id" not in table:
        return ACCEPTED
    if type(request_id) not in (str, int):
        raise ProtocolError(revisions.INVALID_REQUEST, "an id is a string or an integer")
    raw: Any = table.get("params")
    if raw is not None and not isinstance(raw, dict):
        raise ProtocolError(revisions.INVALID_PARAMS, "params must be an object")
    params = cast("Json", raw or {})
    revision = revisions.revision_of(table, headers)
    tool = _tool(registry, params) if method == "tools/call" else None
    arguments: Any = params.get("arguments")
    if tool is not None and headers is not None and tool.header_params and revision.stateless:
        revisions.check_param_headers(tool.header_params, arguments, headers)
    read: Reading = ({} if arguments is None else arguments, delicate, pointed)
    return _Opened(request_id, method, params, revision, tool, read, registry)


def _tool(registry: ToolRegistry, params: Json) -> Tool:
    name = params.get("name")
    if not isinstance(name, str):
        raise ProtocolError(revisions.INVALID_PARAMS, "params.name must be the name of a tool")
    try:
        return registry.find(name)
    except UnknownTool as error:
        raise ProtocolError(revisions.INVALID_PARAMS, str(error)) from None


def _plain_method(registry: ToolRegistry, opened: _Opened) -> Any:
    """The methods that need no tool to run."""
    stateless = opened.revision.stateless
    match opened.method:
        case "tools/list":
            return _listing(registry, opened)
        case "server/discover" if stateless:
            return {"supportedVersions": [STATELESS], **_about(registry), "ttlMs": 0, "cacheScope": "private"}
        case "initialize" if not stateless:
            version = revisions.negotiated(opened.params.get("protocolVersion"))
            server = {"name": registry.name, "version": registry.version}
            return {"protocolVersion": version, **_about(registry), "serverInfo": server}
        case "ping" if not stateless:
            return {}
        case _:
            raise ProtocolError(revisions.METHOD_NOT_FOUND, f"there is no method {opened.method[:80]!r} here")


def _about(registry: ToolRegistry) -> Json:
    made: Json = {"capabilities": {"tools": {}}}
    return {**made, "instructions": registry.instructions} if registry.instructions else made


def _listing(registry: ToolRegistry, opened: _Opened) -> Any:
    """One page of tools, encoded once and kept until the next registration."""
    cursor = opened.params.get("cursor")
    start = _offset(cursor) if cursor is not None else 0
    if not 0 <= start <= len(registry.tools):
        raise ProtocolError(revisions.INVALID_PARAMS, "the cursor is not one that this server gave out")
    tools = registry.encoded_listing(start, opened.revision.version)
    made: Json = {"tools": orjson.Fragment(tools)}
    end = start + registry.page_size
    if end < len(registry.tools):
        made["nextCursor"] = base64.urlsafe_b64encode(str(end).encode()).decode()
    return {**made, "ttlMs": 0, "cacheScope": "private"} if opened.revision.stateless else made


def _offset(cursor: Any) -> int:
    try:
        return int(base64.urlsafe_b64decode(str(cursor)))
    except (ValueError, binascii.Error):
        return -1


def _context(context: Context | None, opened: _Opened) -> Context:
    meta: Any = opened.params.get("_meta")
    if context is None and opened.revision.client is None and meta is None:
        return _NO_CONTEXT
    return replace(context or _NO_CONTEXT, client=opened.revision.client, meta=meta or {})


async def _called(registry: ToolRegistry, opened: _Opened, context: Context | None) -> Reply:
    assert opened.tool is not None
    made = _context(context, opened)
    token: Any = made.meta.get("progressToken")
    if token is not None and opened.tool.contract.special:
        return Reply(b"", 200, _events(registry, opened, made, token))
    try:
        return _done(opened, await call(registry, opened.tool, opened.arguments, made))
    except ToolInputError as error:
        return _refused(opened.id, error)


async def _events(registry: ToolRegistry, opened: _Opened, context: Context, token: Any) -> AsyncGenerator[bytes, None]:
    """Progress as it is reported, then the response. Closing the iterator cancels the call."""
    assert opened.tool is not None
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def report(done: float, total: float | None, message: str | None) -> None:
        params = {"progressToken": token, "progress": done, "total": total, "message": message}
        params = {key: value for key, value in params.items() if value is not None}
        sent = orjson.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        loop.call_soon_threadsafe(queue.put_nowait, sent)

    task = asyncio.ensure_future(call(registry, opened.tool, opened.arguments, replace(context, report=report)))
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        try:
            yield _done(opened, task.result()).body
        except ToolInputError as error:
            yield _refused(opened.id, error).body
    finally:
        task.cancel()


def _done(opened: _Opened, result: Any) -> Reply:
    if opened.revision.stateless:
        server = {"name": opened.server.name, "version": opened.server.version}
        result["_meta"] = {**result.get("_meta", {}), revisions.SERVER_KEY: server}
        result["resultType"] = "complete"
    return Reply(orjson.dumps({"jsonrpc": "2.0", "id": opened.id, "result": result}))


def _refused(request_id: Any, error: ToolInputError) -> Reply:
    return _encoded_error(request_id, render.refusal_error(error, DEFAULT_LIMITS))


def _failed(request_id: Any, error: ProtocolError) -> Reply:
    made: Json = {"code": error.code, "message": error.message}
    return _encoded_error(request_id, made if error.data is None else {**made, "data": error.data})


def _encoded_error(request_id: Any, error: Json) -> Reply:
    body = orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": error})
    return Reply(body, revisions.HTTP_STATUS.get(error["code"], 200))


def _id_in(body: bytes) -> Any:
    """The id of a message that was refused, as far as one can be found."""
    message = _leniently(body)
    request_id: Any = message.get("id") if message is not None else None
    return request_id if type(request_id) in (str, int) else None


def _leniently(body: bytes) -> Json | None:
    """The message as a forgiving parser sees it: good enough to know whom to answer, never to act on."""
    try:
        found: Any = json.loads(body.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return cast("Json", found) if isinstance(found, dict) else None


def _unreadable(registry: ToolRegistry, body: bytes, error: Unreadable) -> Reply:
    """A body that must not be acted on. If it plainly is a tool call, its caller is told as for any refused call."""
    message = _leniently(body)
    params: Any = (message or {}).get("params")
    if message is None or message.get("method") != "tools/call" or not isinstance(params, dict):
        raise ProtocolError(revisions.PARSE_ERROR, f"Parse error: {error.problem.message}")
    name = str(cast("Json", params).get("name"))[:128]
    refusal = ToolInputError([error.problem], tool=name)
    if registry.errors == "protocol":
        return _refused(_id_in(body), refusal)
    result = render.refusal_result(refusal, DEFAULT_LIMITS)
    if "_meta" in cast("Json", params):
        result = {**result, "resultType": "complete"}
    return Reply(orjson.dumps({"jsonrpc": "2.0", "id": _id_in(body), "result": result}))
