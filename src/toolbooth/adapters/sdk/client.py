"""Connects to a running server in any language, by a URL or a command. Its tools can be listed
exactly as the server sends them, and can be called.

The official client connects and negotiates. Only its checks of the list are left out. If a server
breaks the rules, these checks would drop tools or refuse the whole list, but lint must see such
tools.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from types import TracebackType
from typing import Any, TextIO

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from pydantic import ValidationError
from typing_extensions import TypeIs

from toolbooth.adapters.connect import Served, Unreachable
from toolbooth.contract import Contract
from toolbooth.jsonvalue import Json

_LAST_WORDS = 5

_FOR_HTTP_STATUS = ("Server returned an error response", "Not Found", "Session terminated")
"""The messages that the client makes itself for an HTTP error without a JSON-RPC error in the
body.
"""


class RemoteServer(Served):
    """A server at a URL, or a server that a command starts. It has the methods of `Served`, which
    is for servers in this process.

    Each call connects anew. Inside `async with`, all calls share one connection.
    """

    def __init__(
        self,
        server: str | Sequence[str],
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30,
    ) -> None:
        self.server = server
        self.kind = "remote"
        self.name = ""
        self.revision = ""
        """The revision of MCP that was negotiated; empty before."""
        self._headers = dict(headers or {})
        self._timeout = timeout
        self._statuses: list[int] = []
        self._open: tuple[Client, AsyncExitStack, TextIO] | None = None

    @property
    def _where(self) -> str:
        return self.server if isinstance(self.server, str) else " ".join(self.server)

    @property
    def protected(self) -> bool:
        """Always False, because a client cannot know whether a server is protected."""
        return False

    async def tools(self) -> list[Any]:
        """Return all tools, as the server sent them.

        Raises:
            Unreachable: the server does not start, does not answer in time, or answers with an
                error.
        """
        async with self._connected() as client:
            found: list[Any] = []
            cursor: str | None = None
            while True:
                params = {"cursor": cursor} if cursor else {}
                result = await self._asked(client, "tools/list", params)
                found += result["tools"]
                cursor = result.get("nextCursor")
                if not cursor:
                    return found

    async def contracts(self) -> dict[str, Contract]:
        """Return no contracts, because a server does not send them."""
        return {}

    async def call(self, name: str, arguments: bytes | Any) -> Json:
        """Call a tool with arguments as JSON text in bytes, or as JSON values.

        Raises:
            Unreachable: the server does not start, or does not answer in time.
        """
        if isinstance(arguments, bytes):
            arguments = json.loads(arguments) if arguments else None
        params: Json = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        async with self._connected() as client:
            try:
                return await self._asked(client, "tools/call", params)
            except MCPError as error:
                if self._is_of_transport(error):
                    raise
                return {"error": error.error.model_dump(mode="json", exclude_none=True)}

    async def __aenter__(self) -> RemoteServer:
        stack = AsyncExitStack()
        log = stack.enter_context(_log_file())
        try:
            # Not a cancel scope of anyio: those that the client opens stay open after it.
            async with asyncio.timeout(self._timeout):
                transport = self._transport(log)
                client = await stack.enter_async_context(Client(transport))
        # Any exception from a server outside of this process is reported as its failure.
        except Exception as error:
            failure = self._unreachable(error, log)
            await stack.aclose()
            raise failure from error
        self.name = client.server_info.name if client.server_info else ""
        self.revision = client.protocol_version
        self._open = (client, stack, log)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        opened, self._open = self._open, None
        if opened is None:
            return
        _, stack, log = opened
        # Read before the stack is closed, which closes the log too.
        failure = self._unreachable(error, log) if isinstance(error, Exception) else None
        try:
            await stack.__aexit__(kind, error, trace)
        except Exception as end:
            if failure is None:
                raise self._unreachable(end, None) from end
        if failure is not None:
            raise failure from error

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[Client, None]:
        if self._open is not None:
            yield self._open[0]
            return
        async with self:
            assert self._open is not None
            yield self._open[0]

    async def _asked(self, client: Client, method: str, params: Json) -> Json:
        """Return the result unchanged. The SDK's public method would validate it, and leave out
        some tools.
        """
        message: Json = {"method": method, "params": params}
        options: Any = {}
        session = client.session
        session._stamp(message, options)  # pyright: ignore[reportPrivateUsage]
        send = session._dispatcher.send_raw_request  # pyright: ignore[reportPrivateUsage]
        with anyio.fail_after(self._timeout):
            return await send(message["method"], message.get("params"), options)

    def _transport(self, log: TextIO) -> AbstractAsyncContextManager[Any]:
        if isinstance(self.server, str):
            return _over_http(self.server, self._headers, self._statuses)
        return _over_stdio(self.server, log)

    def _is_of_transport(self, error: MCPError) -> bool:
        """Return True if the client itself made this error, because the server did not answer."""
        if error.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
            return True
        return self._failed_status() is not None and error.message in _FOR_HTTP_STATUS

    def _failed_status(self) -> int | None:
        last = self._statuses[-1] if self._statuses else 0
        return last if last >= 400 else None

    def _unreachable(self, error: BaseException, log: TextIO | None) -> Unreachable:
        if isinstance(error, Unreachable):
            return error
        status = self._failed_status()
        # The client does not pass the status on, which shows that a token is missing.
        reason = _reason(error, self._timeout) + (f" (HTTP {status})" if status else "")
        lines = [reason]
        if log is not None and not log.closed:
            log.seek(0)
            lines += log.read().splitlines()[-_LAST_WORDS:]
        return Unreachable(self._where, "\n".join(lines), status=status)


async def list_tools(
    server: str | Sequence[str], *, headers: Mapping[str, str] | None = None, timeout: float = 30
) -> tuple[str, list[Any]]:
    """Return the name and the tools of a server. `server` is a URL, or a command with its
    arguments.

    Raises:
        Unreachable: the server does not start, does not answer in time, or answers with an error.
    """
    async with RemoteServer(server, headers=headers, timeout=timeout) as there:
        return there.name, await there.tools()


@contextmanager
def _log_file() -> Generator[TextIO]:
    """Open a file for the log of a program. A pipe would fill up, because nobody reads it."""
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        yield log


@asynccontextmanager
async def _over_http(
    address: str, headers: Mapping[str, str], statuses: list[int]
) -> AsyncGenerator[Any, None]:
    async def keep(response: httpx2.Response) -> None:
        statuses.append(response.status_code)

    async with (
        httpx2.AsyncClient(headers=dict(headers), event_hooks={"response": [keep]}) as http,
        streamable_http_client(address, http_client=http) as streams,
    ):
        yield streams


class _InOneLine(logging.Filter):
    """Logs a single line in place of a traceback if the server prints a line that is not a message.
    Such a line often comes from a `print` that the author of the server forgot.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, ValidationError):
            record.msg = "The server wrote a line to standard output that is not a message: %s"
            record.args = (json.dumps(error.errors()[0]["input"], ensure_ascii=False),)
            record.exc_info = None
        return True


_IN_ONE_LINE = _InOneLine()


def _over_stdio(command: Sequence[str], log: TextIO) -> AbstractAsyncContextManager[Any]:
    # A logger ignores a filter that it already has.
    logging.getLogger("mcp.client.stdio").addFilter(_IN_ONE_LINE)
    # The whole environment, as in a shell: the client alone would pass on a few harmless variables.
    started = StdioServerParameters(
        command=command[0], args=list(command[1:]), env=dict(os.environ)
    )
    return stdio_client(started, errlog=log)


def _reason(error: BaseException, timeout: float) -> str:
    """Return the reason of a failure as text. It is taken from the innermost exception."""
    while _is_group(error):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout:g} seconds"
    if isinstance(error, httpx2.ConnectError):
        return "nothing answers there; is the server running?"
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename!r}"
    if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
        return "the server ended, or closed the connection, before it answered"
    return str(error) or type(error).__name__


def _is_group(error: BaseException) -> TypeIs[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)
