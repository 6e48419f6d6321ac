"""Protects a low-level `Server` of the official SDK: the boundary checks every tool call.

Such a server has no tools, only handlers for `tools/list` and `tools/call`. So each call is checked
against the schema that the server lists for the tool in the same request, because middleware and
handlers may list other tools for another caller. The guard runs before all middleware, so it sees
calls and listings as clients do. If a call is refused, the refusal is returned in place of the
handler's result, so that the middleware still sees the call and its result.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, TypeVar

from toolbooth.extras import require

require("toolbooth.adapters.lowlevel", extra="mcp", modules={"mcp": "the official MCP SDK"})

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server as LowLevelServer
from mcp.server.lowlevel.server import HandlerEntry
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, CallToolResult, ListToolsResult, Tool
from pydantic import BaseModel

from toolbooth.adapters.kinds import check_server
from toolbooth.adapters.proof import PROBE, prove
from toolbooth.adapters.sdk.accept_call import accept_call, error_result, meta_with_repairs
from toolbooth.adapters.sdk.host_errors import check_errors, protocol_error
from toolbooth.adapters.sdk.original_request import RequestScope, is_line, keep_request
from toolbooth.boundary.handle import Errors
from toolbooth.boundary.render import text_result
from toolbooth.boundary.repairs import Remark
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import Contract
from toolbooth.errors import ContractError, ContractWarning, ToolInputError
from toolbooth.jsonvalue import Json, is_object
from toolbooth.publish import ProfileChoice, choose_profile

logger = logging.getLogger("toolbooth.adapters.lowlevel")

Server = TypeVar("Server", bound=LowLevelServer[Any])
Context = ServerRequestContext[Any, Any]
CallNext = Callable[[Context], Awaitable[Any]]

MOST_PAGES = 1_000
"""At most this many pages of `tools/list` are read to find a tool."""

_CALL = "tools/call"
_LIST = "tools/list"
_NO_LISTING = (
    "Tool {!r} was not called: the server could not list its tools, so the arguments cannot be "
    "checked. Try again later."
)


def protect(
    server: Server, *, profile: ProfileChoice = "portable", errors: Errors = "result"
) -> Server:
    """Put every tool call of a low-level server behind the boundary.

    The handlers may be registered before or after, and replaced at any time. The listed schemas are
    the author's own, so they stay as they are: `profile` is checked and has no other effect.
    `errors` chooses how a refusal is answered: as a tool result, or as JSON-RPC -32602.

    Raises:
        TypeError: if this is not a low-level Server.
        ValueError: for an unknown profile, or another value of `errors`.
        RuntimeError: if the installed version of the SDK ignores the guard.
    """
    check_server(server, LowLevelServer, "lowlevel")
    choose_profile(profile)
    check_errors(errors)
    # Tried on a server of its own first, so that the user's server stays as it is if this fails.
    prove("lowlevel", lambda: protect(_server_with_probe()))
    if not is_protected(server):
        _install(server, errors)
    return server


def is_protected(server: LowLevelServer[Any]) -> bool:
    """Return True if the server is protected."""
    return isinstance(server.middleware, _GuardedMiddleware)


def contract_of(tool: Json) -> Contract | None:
    """Return the contract for calls of a listed tool. Return None if its schema cannot be
    compiled.
    """
    return _compiled(tool["name"], json.dumps(tool["inputSchema"]))


def _install(server: LowLevelServer[Any], errors: Errors) -> None:
    server.middleware = _GuardedMiddleware(server.middleware, _Guard(server))
    patched: Any = server
    # The refusal is returned by a handler, because the SDK writes the envelope of its result.
    # Middleware would have to write the envelope itself.
    patched.get_request_handler = partial(_handler, server, server.get_request_handler, errors)


class _GuardedMiddleware(list[Any]):
    """The middleware of a server. Its guard always runs first. The guard is not an item of this
    list, so it cannot be removed or moved.
    """

    def __init__(self, middleware: Iterable[Any], guard: _Guard) -> None:
        super().__init__(middleware)
        self._guard = guard

    def __reversed__(self) -> Iterator[Any]:
        # The SDK wraps the handler in this order. So the guard, the last one, runs first.
        yield from super().__reversed__()
        yield self._guard


# --- a call -------------------------------------------------------------------------------------

_refused: ContextVar[tuple[Any, Json] | None] = ContextVar("refused", default=None)
"""The server that refuses the current call, and the refusal as a tool result."""


def _handler(
    server: LowLevelServer[Any],
    lookup: Callable[[str], HandlerEntry[Any] | None],
    errors: Errors,
    method: str,
) -> HandlerEntry[Any] | None:
    """Return the handler of a method. If the current call is refused, the handler returns the
    refusal, or raises it as a JSON-RPC error.
    """
    entry = lookup(method)
    refused = _refused.get()
    # A tool may call another server in this process, whose handlers see the same context variable.
    if entry is None or method != _CALL or refused is None or refused[0] is not server:
        return entry

    async def refuse(ctx: Context, params: Any) -> CallToolResult:
        error = protocol_error(refused[1]) if errors == "protocol" else None
        if error is not None:
            raise error
        return CallToolResult.model_validate(refused[1])

    return HandlerEntry(entry.params_type, refuse)


class _Guard:
    """Middleware that checks each tool call against the schema that the server lists for this
    tool.
    """

    def __init__(self, server: LowLevelServer[Any]) -> None:
        self._server = server
        # Cached, so that each tool is logged only once.
        self._note_unlisted = lru_cache(maxsize=1024)(_note_unlisted)

    async def __call__(self, ctx: Context, call_next: CallNext) -> Any:
        if ctx.method != _CALL:
            return await call_next(ctx)
        return await keep_request(ctx, partial(self._call, call_next, ctx))

    async def _call(self, call_next: CallNext, sent: Context, ctx: Context) -> Any:
        """Check one call. `sent` is the request as the host has parsed it. `ctx` is the same
        request, with an object as arguments.
        """
        unchecked = ctx if is_line((sent.params or {}).get("arguments")) else sent
        name = (ctx.params or {}).get("name")
        if not isinstance(name, str):
            return await call_next(unchecked)
        try:
            tool = await _listed_tool(name, ctx, call_next)
        except Exception:
            logger.exception("tools/list failed, so a call of %r is refused", name)
            refusal = text_result(_NO_LISTING.format(name), is_error=True)
            return await self._refuse(refusal, ctx, call_next)
        if tool is None:
            self._note_unlisted(name)
            return await call_next(unchecked)
        contract = contract_of(tool)
        if contract is None:
            return await call_next(unchecked)
        return await self._checked_call(contract, name, ctx, call_next)

    async def _checked_call(
        self, contract: Contract, name: str, ctx: Context, call_next: CallNext
    ) -> Any:
        params = ctx.params or {}
        arguments = params.get("arguments")
        with RequestScope() as original:
            try:
                values, repairs = accept_call(contract, arguments or {}, original)
            except ToolInputError as error:
                refusal = error_result(error, contract, name) or {}
                return await self._refuse(refusal, ctx, call_next)
            # A call without `arguments` is passed on without them, as it was sent.
            if arguments is not None:
                ctx = replace(ctx, params={**params, "arguments": values})
            result = await call_next(ctx)
        return _with_repairs(result, repairs) if repairs else result

    async def _refuse(self, refusal: Json, ctx: Context, call_next: CallNext) -> Any:
        token = _refused.set((self._server, refusal))
        try:
            return await call_next(ctx)
        finally:
            _refused.reset(token)


def _with_repairs(result: Any, repairs: list[Remark]) -> Any:
    """Return the result with the repairs in its `_meta`. If the result is a request for input, it
    is unchanged.
    """
    if isinstance(result, CallToolResult):  # from a middleware that did not ask the handler
        return result.model_copy(update={"meta": meta_with_repairs(result.meta, repairs)})
    if not is_object(result) or "content" not in result:
        return result
    return {**result, "_meta": meta_with_repairs(result.get("_meta"), repairs)}


# --- the listed schema --------------------------------------------------------------------------


async def _listed_tool(name: str, ctx: Context, call_next: CallNext) -> Json | None:
    """Return the tool as the server lists it for this caller. Return None if it is not listed.

    Raises:
        Exception: if the server cannot list its tools.
    """
    # `_meta` is copied from the call, so that middleware sees the same caller in both requests.
    meta = {key: value for key, value in (ctx.params or {}).items() if key == "_meta"}
    params: Mapping[str, Any] = meta
    cursors: set[Any] = set()
    while len(cursors) < MOST_PAGES:
        page = await _page(replace(ctx, method=_LIST, params=params), call_next)
        for tool in page["tools"]:
            if tool["name"] == name:
                return tool
        cursor = page.get("nextCursor")
        if cursor is None:
            return None
        if cursor in cursors:
            raise RuntimeError(f"tools/list returned the cursor {cursor!r} twice")
        cursors.add(cursor)
        params = {**meta, "cursor": cursor}
    raise RuntimeError(f"tools/list has more than {MOST_PAGES} pages")


async def _page(ctx: Context, call_next: CallNext) -> Json:
    """Return one page of the listing, as clients get it."""
    try:
        page = await call_next(ctx)
    except MCPError as error:
        if error.error.code == METHOD_NOT_FOUND:  # no handler: nothing is listed
            return {"tools": []}
        raise
    if isinstance(page, BaseModel):  # from a middleware that did not ask the handler
        return page.model_dump(by_alias=True, mode="json", exclude_none=True)
    return page


@lru_cache(maxsize=1024)
def _compiled(name: str, schema: str) -> Contract | None:
    try:
        with warnings.catch_warnings():
            # Warnings are for the author, who does not see them during a call.
            warnings.simplefilter("ignore", ContractWarning)
            return compile_json_schema(json.loads(schema), name=name)
    except ContractError as error:
        logger.warning("tool %r is not protected: %s", name, error)
        return None


def _note_unlisted(name: str) -> None:
    logger.warning("tool %r is called without a check: the server does not list it", name)


# --- the proof ----------------------------------------------------------------------------------


def _server_with_probe() -> LowLevelServer[Any]:
    tool = Tool(name=PROBE, input_schema={"type": "object", "properties": {}})

    async def list_tools(ctx: Context, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[tool])

    async def call_tool(ctx: Context, params: Any) -> CallToolResult:
        return CallToolResult(content=[])

    return LowLevelServer(PROBE, on_list_tools=list_tools, on_call_tool=call_tool)
