"""A running server in any language: an address or a command goes in, its tools come out as they
were sent.

The official client connects and negotiates. Only its checks of the list are left out: it drops
tools, or refuses the whole list, if a server breaks the rules, and lint has to see those.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TextIO

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ListToolsRequest, PaginatedRequestParams
from typing_extensions import TypeIs

_LAST_WORDS = 5


class Unreachable(RuntimeError):
    """A server could not be asked for its tools; says why."""


async def list_tools(
    server: str | Sequence[str], *, headers: Mapping[str, str] | None = None, timeout: float = 30
) -> tuple[str, list[Any]]:
    """The name and the tools of a server: at an address, or started by a command and its arguments.

    Raises:
        Unreachable: it does not start, does not answer in time, or answers with an error.
    """
    statuses: list[int] = []
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        transport = (
            _over_http(server, headers, statuses)
            if isinstance(server, str)
            else _over_stdio(server, log)
        )
        try:
            with anyio.fail_after(timeout):
                async with Client(transport) as client:
                    name = client.server_info.name if client.server_info else ""
                    return name, await _pages(client)
        # Whatever goes wrong with a stranger is news about the stranger.
        except Exception as error:
            log.seek(0)
            # The client keeps the status to itself, and with it that a token was wanted.
            status = f" (HTTP {statuses[-1]})" if statuses and statuses[-1] >= 400 else ""
            words = [_reason(error, timeout) + status, *log.read().splitlines()[-_LAST_WORDS:]]
            raise Unreachable("\n".join(words)) from error


@asynccontextmanager
async def _over_http(
    address: str, headers: Mapping[str, str] | None, statuses: list[int]
) -> AsyncGenerator[Any, None]:
    async def keep(response: httpx2.Response) -> None:
        statuses.append(response.status_code)

    async with (
        httpx2.AsyncClient(headers=dict(headers or {}), event_hooks={"response": [keep]}) as http,
        streamable_http_client(address, http_client=http) as streams,
    ):
        yield streams


def _over_stdio(command: Sequence[str], log: TextIO) -> AbstractAsyncContextManager[Any]:
    # The whole environment, as in a shell: the client alone would pass on a few harmless variables.
    started = StdioServerParameters(
        command=command[0], args=list(command[1:]), env=dict(os.environ)
    )
    return stdio_client(started, errlog=log)


async def _pages(client: Client) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    while True:
        result = await _page(client, cursor)
        found += result["tools"]
        cursor = result.get("nextCursor")
        if not cursor:
            return found


async def _page(client: Client, cursor: str | None) -> dict[str, Any]:
    request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
    message = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    options: Any = {}
    session = client.session
    # The public way validates the answer and drops tools; there is no other way to the answer as it
    # was sent.
    session._stamp(message, options)  # pyright: ignore[reportPrivateUsage]
    send = session._dispatcher.send_raw_request  # pyright: ignore[reportPrivateUsage]
    return await send(message["method"], message.get("params"), options)


def _reason(error: BaseException, timeout: float) -> str:
    """The innermost reason."""
    while _is_group(error):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout:g} seconds"
    return str(error) or type(error).__name__


def _is_group(error: BaseException) -> TypeIs[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)
