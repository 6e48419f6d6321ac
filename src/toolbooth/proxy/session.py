"""Opens the session of one client. A session has a connection to each server, and a relay or
`Front` between the client and these connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from toolbooth.proxy.background import Background
from toolbooth.proxy.front import Front
from toolbooth.proxy.link import Link
from toolbooth.proxy.memory import Memory
from toolbooth.proxy.message import Message
from toolbooth.proxy.observation import Observation
from toolbooth.proxy.records import Records
from toolbooth.proxy.relay import Relay
from toolbooth.proxy.replies import ToClient
from toolbooth.proxy.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One upstream server of a proxy."""

    connect: Callable[[], Link]
    """Makes the connection for a new session."""
    name: str = ""
    rules: Rules = field(default_factory=Rules)
    timeout: float = 300.0
    """The number of seconds without an answer or progress after which a request is cancelled."""
    memory: Memory | None = None
    """Reports the tools that have changed since the last start."""

    def relay(
        self,
        to_client: ToClient,
        link: Link,
        records: Records,
        question_numbers: Iterator[int] | None = None,
    ) -> Relay:
        """Return a relay between a client and this server."""
        return Relay(
            self.rules,
            to_client,
            link,
            timeout=self.timeout,
            records=records,
            question_numbers=question_numbers,
            memory=self.memory,
            background=Background(),
        )


class ClientSide(Protocol):
    """Accepts the messages of one client."""

    @property
    def is_waiting(self) -> bool:
        """Return True if a request of the client has no answer yet."""
        ...

    def from_client(self, line: bytes, about: Any = None) -> None: ...
    def take(self, message: Message, about: Any = None) -> None: ...
    def client_left(self, about: Any) -> None: ...
    def expire(self, now: float) -> None: ...


class Session:
    """One client and its connections to the servers."""

    def __init__(
        self,
        servers: Sequence[Server],
        to_client: ToClient,
        records: Records,
        *,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self.links = [server.connect() for server in servers]
        self.client_side = self._client_side(servers, to_client, records, ended)

    def _client_side(
        self,
        servers: Sequence[Server],
        to_client: ToClient,
        records: Records,
        ended: Callable[[], None],
    ) -> ClientSide:
        first, link = servers[0], self.links[0]
        if first.rules.observe:
            observation = Observation(first.rules, to_client, link, records, memory=first.memory)
            observation.ended = ended
            link.session = observation
            return observation
        if len(servers) == 1:
            link.session = relay = first.relay(to_client, link, records)
            return relay
        front = Front(to_client)
        for server, link in zip(servers, self.links, strict=True):
            link.session = front.add(server.name, partial(server.relay, link=link, records=records))
        return front

    async def start(self) -> None:
        """Open all connections. Raises OSError if one cannot be opened."""
        started = await asyncio.gather(
            *(link.start() for link in self.links), return_exceptions=True
        )
        for each in started:
            if isinstance(each, BaseException):
                await self.stop()
                raise each

    async def stop(self) -> None:
        """Close all connections, and end the servers that belong to them."""
        await asyncio.gather(*(link.stop() for link in self.links))

    def pause(self) -> None:
        """Stop reading from the servers, because the client reads too slowly."""
        for link in self.links:
            link.pause()

    def resume(self) -> None:
        for link in self.links:
            link.resume()

    @property
    def is_running(self) -> bool:
        """Return True if answers may still arrive."""
        return any(link.is_running for link in self.links)
