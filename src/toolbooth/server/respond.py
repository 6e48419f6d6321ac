"""Answers one message: the MCP methods of a tool server, without I/O. Start reading here.

In: the bytes of one JSON-RPC message and its headers. Out: a Reply, with the bytes to send back. If
the tool reports progress, the Reply has an iterator of messages instead. `envelope.py` reads and
checks the message.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, NamedTuple

import orjson
from pydantic_core import to_json

from toolbooth.boundary import render
from toolbooth.boundary.read import Unreadable, read_json
from toolbooth.boundary.run import off_the_loop
from toolbooth.context import Context
from toolbooth.contract import DEFAULT_LIMITS, LARGE
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server import messages, revisions
from toolbooth.server.call import call, call_sync, refuse
from toolbooth.server.envelope import (
    Headers,
    Message,
    Request,
    id_in,
    is_id,
    read_message,
    read_request,
    unreadable_call,
)
from toolbooth.server.listed_tools import UnknownTool
from toolbooth.server.redact import as_text
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.revisions import ProtocolError
from toolbooth.server.tool import Shows, Tool

logger = logging.getLogger("toolbooth.server")

_NO_CONTEXT = Context()


class Reply(NamedTuple):
    """The answer to one message."""

    body: bytes
    status: int = 200
    events: AsyncGenerator[bytes, None] | None = None
    """An iterator of messages, if the tool reports progress. The last message is the response."""


ACCEPTED = Reply(b"", 202)


async def respond(
    registry: ToolRegistry,
    body: bytes,
    headers: Headers | None = None,
    *,
    context: Context | None = None,
    shows: Shows | None = None,
) -> Reply:
    """Answer one message. `headers` has lower-case names. It is None on a transport without
    headers.

    `shows` decides which tools this caller sees. If it is None, the caller sees all. It does not
    decide which tools the caller may call; the tools check that themselves.
    """
    try:
        # Parsing a large body would block every other call in this event loop.
        if len(body) > LARGE:
            prepared = await off_the_loop(
                lambda: _prepare(registry, read_message(body), headers, context, shows)
            )
        else:
            prepared = _prepare(registry, read_message(body), headers, context, shows)
        if isinstance(prepared, Reply):
            return prepared
        return await _called(registry, *prepared, context, shows)
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
    """Do the same as `respond`, for WSGI: without an event loop and without streams."""
    read = message if isinstance(message, Message) else read_message(message)
    try:
        prepared = _prepare(registry, read, headers, context, shows)
        if isinstance(prepared, Reply):
            return prepared
        request, tool = prepared
        made = _context(context, request)
        result = call_sync(registry, tool, request.arguments, made, shows=shows)
        return _done(registry, request, result)
    except Exception as error:
        return _failed(read.body, headers, error)


def _prepare(
    registry: ToolRegistry,
    message: Message,
    headers: Headers | None,
    context: Context | None,
    shows: Shows | None,
) -> Reply | tuple[Request, Tool]:
    """Return the reply to a message that runs no tool. For any other message, return the request
    and the tool to run. Raises ProtocolError and UnknownTool.
    """
    if isinstance(message.reading, Unreadable):
        request = unreadable_call(message.body, message.reading)
        tool = registry.find(request.params["name"], shows)
        return _refused(registry, request, tool, context, request.problems)
    request = read_request(message.reading, headers)
    if request is None:
        return ACCEPTED
    if request.method != "tools/call":
        return _done(registry, request, _plain_method(registry, request, shows))

    tool = registry.find(request.params["name"], shows)
    # Only the stateless revision repeats arguments in headers, for proxies that route by them.
    if headers is not None and request.revision.stateless and tool.header_params:
        sent = request.params.get("arguments")
        revisions.check_param_headers(tool.header_params, sent, headers)
    if request.problems:
        return _refused(registry, request, tool, context, request.problems)
    # Nearly all tools share the default limits, with which the message was parsed. So `is` is
    # enough.
    if tool.contract.limits is DEFAULT_LIMITS:
        return request, tool
    # The tool has its own limits, which apply only to its arguments.
    try:
        arguments = read_json(as_text(request.arguments[0]).encode(), tool.contract.limits)
    except Unreadable as error:
        return _refused(registry, request, tool, context, [error.problem])
    return request._replace(arguments=arguments), tool


def _refused(
    registry: ToolRegistry,
    request: Request,
    tool: Tool,
    context: Context | None,
    problems: list[Problem],
) -> Reply:
    result = refuse(registry, tool, _context(context, request), *problems)
    return _done(registry, request, result)


def _plain_method(registry: ToolRegistry, request: Request, shows: Shows | None) -> Json:
    """Return the result of a method that runs no tool."""
    stateless = request.revision.stateless
    match request.method:
        case "tools/list":
            return _listing(registry, request, shows)
        case "server/discover" if stateless:
            return {
                "supportedVersions": list(revisions.STATELESS),
                **_capabilities(registry),
                "ttlMs": 0,
                "cacheScope": "private",
            }
        case "initialize" if not stateless:
            version = revisions.negotiated(request.params.get("protocolVersion"))
            server = {"name": registry.name, "version": registry.version}
            return {"protocolVersion": version, **_capabilities(registry), "serverInfo": server}
        case "ping" if not stateless:
            return {}
        case _:
            raise ProtocolError(revisions.METHOD_NOT_FOUND, messages.unknown_method(request.method))


def _capabilities(registry: ToolRegistry) -> Json:
    made: Json = {"capabilities": {"tools": {}}}
    if registry.instructions:
        made["instructions"] = registry.instructions
    return made


def _listing(registry: ToolRegistry, request: Request, shows: Shows | None) -> Json:
    """Return one page of the tool list."""
    page = registry.page(_start(request.params.get("cursor")), shows)
    if page is None:
        raise ProtocolError(revisions.INVALID_PARAMS, messages.UNKNOWN_CURSOR)
    tools, following = page
    made: Json = {"tools": orjson.Fragment(tools)}
    if following is not None:
        made["nextCursor"] = base64.urlsafe_b64encode(str(following).encode()).decode()
    if request.revision.stateless:
        made |= {"ttlMs": 0, "cacheScope": "private"}
    return made


def _start(cursor: Any) -> int:
    """Return the position at which a page begins, from a cursor. Return -1 if the cursor is
    invalid.
    """
    if cursor is None:
        return 0
    try:
        # The first page has no cursor, so `0` is invalid too.
        return int(base64.urlsafe_b64decode(str(cursor))) or -1
    except ValueError:
        return -1


def _context(context: Context | None, request: Request) -> Context:
    meta = request.params.get("_meta")
    # Most calls of the handshake revisions have an empty context, so they share one.
    if context is None and request.revision.client is None and meta is None:
        return _NO_CONTEXT
    given = context or _NO_CONTEXT
    client = request.revision.client or given.client
    return Context(client=client, meta=meta or {}, report=given.report)


async def _called(
    registry: ToolRegistry,
    request: Request,
    tool: Tool,
    context: Context | None,
    shows: Shows | None,
) -> Reply:
    meta: Json = request.params.get("_meta") or {}
    token = meta.get("progressToken")
    if token is not None and not is_id(token):
        raise ProtocolError(revisions.INVALID_PARAMS, messages.WRONG_PROGRESS_TOKEN)
    if tool.contract.plain_keywords and not registry.observers:  # the caller is not needed
        made = _NO_CONTEXT
    else:
        made = _context(context, request)
    # A tool without a Context parameter cannot report progress, so it needs no stream.
    if token is not None and not tool.contract.plain_keywords:
        return Reply(b"", 200, _events(registry, request, tool, made, token, shows))
    result = await call(registry, tool, request.arguments, made, shows=shows)
    return _done(registry, request, result)


async def _events(
    registry: ToolRegistry,
    request: Request,
    tool: Tool,
    context: Context,
    token: Any,
    shows: Shows | None,
) -> AsyncGenerator[bytes, None]:
    """Yield messages about progress when the tool reports it, and then the response. Closing the
    iterator cancels the call.
    """
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def report(done: float, total: float | None, message: str | None) -> None:
        params = {"progressToken": token, "progress": done, "total": total, "message": message}
        params = {key: value for key, value in params.items() if value is not None}
        sent = _encoded({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        # A sync tool reports from another thread, but the queue belongs to the event loop.
        loop.call_soon_threadsafe(queue.put_nowait, sent)

    reporting = replace(context, report=report)
    calling = call(registry, tool, request.arguments, reporting, shows=shows)
    task = asyncio.ensure_future(calling)
    # `None` ends the stream, even if the call fails. Otherwise the loop below would wait for ever.
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        try:
            yield _done(registry, request, task.result()).body
        except ToolInputError as error:
            refusal = render.refusal_error(error, DEFAULT_LIMITS)
            yield _encoded({"jsonrpc": "2.0", "id": request.id, "error": refusal})
    finally:
        # The client may have closed the stream before the call ended.
        task.cancel()


def _done(registry: ToolRegistry, request: Request, result: Json) -> Reply:
    if request.revision.stateless:
        server = {"name": registry.name, "version": registry.version}
        result["_meta"] = {**result.get("_meta", {}), revisions.SERVER_KEY: server}
        result["resultType"] = "complete"
    return Reply(_encoded({"jsonrpc": "2.0", "id": request.id, "result": result}))


def _failed(body: bytes, headers: Headers | None, error: Exception) -> Reply:
    """Return the JSON-RPC error for an exception."""
    if isinstance(error, ToolInputError):
        made = render.refusal_error(error, DEFAULT_LIMITS)
    elif isinstance(error, UnknownTool):
        made: Json = {"code": revisions.INVALID_PARAMS, "message": str(error)}
    elif isinstance(error, ProtocolError):
        made = {"code": error.code, "message": error.message}
        if error.data is not None:
            made["data"] = error.data
    else:
        logger.error("the server failed", exc_info=error)
        made = {"code": revisions.INTERNAL_ERROR, "message": messages.SERVER_FAILED}
    reply = _encoded({"jsonrpc": "2.0", "id": id_in(body), "error": made})
    return Reply(reply, revisions.http_status(made["code"], headers))


def _encoded(message: Json) -> bytes:
    try:
        return orjson.dumps(message)
    except TypeError:  # integers beyond 64 bits
        return to_json(message)
