"""Lists the tools of several servers before the first client connects, to find names that occur
twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages
from toolbooth.proxy.message import Message, json_text, key_of, value_of
from toolbooth.proxy.records import Records
from toolbooth.proxy.session import Server, Session
from toolbooth.server.revisions import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKE,
    STATELESS,
    VERSION_KEY,
)

logger = logging.getLogger("toolbooth.proxy")

_MOST_SECONDS = 60.0
_MOST_PAGES = 1_000
_CLIENT: Json = {"name": "toolbooth", "version": "1"}
_INITIALIZE: Json = {
    "protocolVersion": HANDSHAKE[0],
    "capabilities": {},
    "clientInfo": _CLIENT,
}
_STATELESS: Json = {
    VERSION_KEY: STATELESS[0],
    CLIENT_KEY: _CLIENT,
    CAPABILITIES_KEY: {},
}


class SameTool(ValueError):
    """Two servers have a tool with the same name. The message names both servers."""


class ServerNotStarted(OSError):
    """A server cannot be started. `name` is its name in the configuration file."""

    def __init__(self, name: str, reason: object) -> None:
        super().__init__(str(reason))
        self.name = name


def check_names(servers: Sequence[Server], *, seconds: float = _MOST_SECONDS) -> None:
    """Start each server once, list its tools, and end it.

    Raises:
        SameTool: two servers have a tool with the same name, and no prefix sets them apart.
        ServerNotStarted: a server cannot be started.
    """
    asyncio.run(_check_names(servers, seconds))


async def _check_names(servers: Sequence[Server], seconds: float) -> None:
    lists = await asyncio.gather(
        *(_names(server, seconds) for server in servers), return_exceptions=True
    )
    owners: dict[str, str] = {}
    for server, found in zip(servers, lists, strict=True):
        if isinstance(found, BaseException):
            raise found
        for name in found:
            if name in owners:
                raise SameTool(messages.two_tools(name, owners[name], server.name))
            owners[name] = server.name


async def _names(server: Server, seconds: float) -> list[str]:
    """Return the published names of the tools of a server. Return no names if the server does not
    list its tools.
    """
    probe = _Probe(server)
    try:
        await probe.session.start()
    except OSError as error:
        raise ServerNotStarted(server.name, error.strerror or error) from None
    try:
        async with asyncio.timeout(seconds):
            return await probe.names()
    except TimeoutError:
        logger.warning(messages.NOT_LISTED, server.name, messages.CANCELLED_BY_TIMEOUT)
        return []
    finally:
        await probe.session.stop()


class _Probe:
    """A client that only lists tools."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()
        self.session = Session([server], self._to_client, Records())
        self.asked = 0

    def _to_client(self, body: bytes, about: Any, ends: bool) -> None:
        self.heard.put_nowait(body)

    async def names(self) -> list[str]:
        params: Json = {}
        if (await self._ask("initialize", _INITIALIZE)).part("result") is None:
            params = {"_meta": _STATELESS}
        else:
            self.session.client_side.from_client(wire.notification("notifications/initialized", {}))
        found: list[str] = []
        for _ in range(_MOST_PAGES):
            answer = await self._ask("tools/list", params)
            page: Any = value_of(answer.part("result"))
            tools: Any = page.get("tools", []) if is_object(page) else None
            if not is_array(tools):
                failure: Any = value_of(answer.part("error"))
                words = failure.get("message") if is_object(failure) else messages.NO_LIST
                logger.warning(messages.NOT_LISTED, self.server.name, words)
                break
            names: list[Any] = [each.get("name") for each in tools if is_object(each)]
            found += [name for name in names if isinstance(name, str) and name not in found]
            following: Any = page.get("nextCursor")
            if not isinstance(following, str):  # some servers send null with the last page
                break
            params = {**params, "cursor": following}
        return found

    async def _ask(self, method: str, params: Json) -> Message:
        """Send a request and return its answer. Ignore messages that arrive before the answer."""
        self.asked += 1
        self.session.client_side.from_client(wire.request(self.asked, method, json_text(params)))
        while True:
            message = wire.read(await self.heard.get())
            if message.method is None and key_of(message.id) == (int, self.asked):
                return message
