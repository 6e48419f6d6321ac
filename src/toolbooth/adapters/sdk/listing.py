"""Checks fields that a server lists although the tool does not declare them, such as a `context`
field for analytics in every tool.

Code that adds such a field to `tools/list` removes it from each call, before the tool gets its
arguments. `Listing` remembers the listed schemas, so that these fields can be checked too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from mcp.server.lowlevel import Server
from mcp_types import PaginatedRequestParams
from pydantic import BaseModel

from toolbooth.adapters.sdk.accept_call import accept_call
from toolbooth.adapters.sdk.original_request import NO_REQUEST, OriginalRequest
from toolbooth.boundary.accept import Accepted
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import Contract
from toolbooth.errors import ContractError, Problem, ToolInputError
from toolbooth.jsonvalue import Json, Schema

T = TypeVar("T")

_current: ContextVar[Listing | None] = ContextVar("listing", default=None)


class Listing:
    """Middleware for the SDK's server. It stores the input schemas that the server has listed
    last.
    """

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._schemas: dict[str, Schema] | None = None

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        if ctx.method == "tools/list":
            result = await call_next(ctx)
            self._remember(result)
            return result
        if ctx.method != "tools/call":
            return await call_next(ctx)
        token = _current.set(self)
        try:
            return await call_next(ctx)
        finally:
            _current.reset(token)

    async def schema_of(self, tool: str, ctx: Any) -> Schema:
        """Return the input schema that was listed for a tool. Return an empty schema if the tool
        was not listed.
        """
        if self._schemas is None:
            # The client may have got its list from another process.
            await self._list(ctx)
        return (self._schemas or {}).get(tool, {})

    async def _list(self, ctx: Any) -> None:
        entry = self._server.get_request_handler("tools/list")
        cursor: str | None = None
        while entry is not None:
            # The tool may be on any page.
            result = await entry.handler(ctx, PaginatedRequestParams(cursor=cursor))
            cursor = self._remember(result)
            if cursor is None:
                return

    def _remember(self, result: Any) -> str | None:
        """Store the schemas on one page of a list. Return the cursor of the next page."""
        if isinstance(result, BaseModel):
            result = result.model_dump(by_alias=True, mode="json")
        known = self._schemas = self._schemas or {}
        for tool in result.get("tools", ()):
            known[tool["name"]] = tool["inputSchema"]
        return result.get("nextCursor")


async def accept_listed(contract: Contract, arguments: Json, original: OriginalRequest) -> Accepted:
    """Do the same as `accept_call`, and also check the fields that middleware has removed from the
    arguments.

    Raises:
        ToolInputError: the arguments, or one of the removed fields, are refused.
    """
    accept = partial(accept_call, contract, arguments, original)
    return await checking_taken(accept, arguments, original)


async def checking_taken(accept: Callable[[], T], arguments: Json, original: OriginalRequest) -> T:
    """Call `accept`, and check the fields that middleware has removed. Return the result of
    `accept`.

    Raises:
        ToolInputError: `accept` or the check has found problems. The error has all of them.
    """
    taken = original.taken(arguments)
    if not taken:
        return accept()
    problems = await _problems_of_taken(taken, original)
    try:
        accepted = accept()
    except ToolInputError as error:
        corrected = error.corrected
        if corrected is not None:
            # The corrected call must contain the removed fields. If one of them is wrong, there is
            # no corrected call.
            corrected = None if problems else {**taken, **corrected}
        raise error.replaced(problems=[*problems, *error.problems], corrected=corrected) from None
    # `accept` is called before this, so that a refusal has the problems of both.
    if problems:
        raise ToolInputError(problems)
    return accepted


async def _problems_of_taken(taken: Json, original: OriginalRequest) -> tuple[Problem, ...]:
    """Return the problems of the fields that middleware has removed. They are checked against the
    listed schema. Fields that are not listed are left to the middleware.
    """
    listing = _current.get()
    if listing is None:
        return ()
    schema = await listing.schema_of(original.name(""), original.context)
    listed: Mapping[str, Any] = schema.get("properties") or {}
    properties = {name: listed[name] for name in taken if name in listed}
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    check: Json = {"type": "object", "properties": properties, **definitions}
    try:
        contract = compile_json_schema(check)
        accept_call(contract, {name: taken[name] for name in properties}, NO_REQUEST)
    except ContractError:  # not a schema
        return ()
    except ToolInputError as error:
        return error.problems
    return ()
