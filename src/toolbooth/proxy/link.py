"""Defines the connection between a session and its upstream server for every transport, and
implements it for a child process.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Protocol

from toolbooth.proxy.child import PAUSES, Child, Listener, id_of_long_line
from toolbooth.proxy.pending import Pending


class Upstream(Protocol):
    """Accepts the messages for a server."""

    @property
    def has_exchanges(self) -> bool:
        """Return True if each answer arrives in the exchange of its request, as over HTTP."""
        ...

    def request(self, body: bytes, pending: Pending) -> bool:
        """Write a request. Return False if the request was not written and never will be."""
        ...

    def send(self, body: bytes) -> bool:
        """Write a notification, or the answer to a request of the server."""
        ...

    def cancel(self, body: bytes, pending: Pending) -> None:
        """Cancel a request. `body` is the notification that cancels it."""
        ...


class Credentials(Protocol):
    """The login of the proxy to a server."""

    @property
    def authorization(self) -> str | None:
        """Return the `Authorization` header. Return None if there is no login."""
        ...

    @property
    def has_expired(self) -> bool: ...

    async def renew(self, rejected: str | None) -> bool:
        """Get a new header instead of a rejected one. Return False if this is not possible."""
        ...


class Session(Protocol):
    """Accepts the messages of a server, and reports about its state."""

    @property
    def waiting(self) -> Container[int]:
        """Return the numbers of the requests that have no answer yet."""
        ...

    def from_upstream(self, line: bytes, about: Any = None) -> None: ...
    def too_long(self, number: Any) -> None: ...
    def lost(self, pending: Pending, why: str, *, was_written: bool) -> None: ...
    def upstream_started(self) -> None: ...
    def upstream_ended(self, why: str, retry_after: float | None, down: str) -> None: ...


class Link(Upstream, Protocol):
    """The connection of one session to its server."""

    session: Session

    async def start(self) -> None:
        """Open the connection. Raises OSError."""
        ...

    async def stop(self) -> None:
        """Close the connection. If the server was started for this connection, end the server."""
        ...

    def pause(self) -> None:
        """Stop reading from the server until `resume` is called, because the client reads too
        slowly.
        """
        ...

    def resume(self) -> None: ...

    @property
    def is_running(self) -> bool:
        """Return True if answers may still arrive."""
        ...


class ChildLink(Listener):
    """The connection to a child process that belongs to one session."""

    session: Session
    has_exchanges = False

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self.child = Child(command, self, env=env, cwd=cwd, pauses=pauses)

    async def start(self) -> None:
        await self.child.start()

    async def stop(self) -> None:
        await self.child.stop()

    def pause(self) -> None:
        self.child.pause()

    def resume(self) -> None:
        self.child.resume()

    @property
    def is_running(self) -> bool:
        return self.child.process is not None

    def request(self, body: bytes, pending: Pending) -> bool:
        return self.child.write(body)

    def send(self, body: bytes) -> bool:
        return self.child.write(body)

    def cancel(self, body: bytes, pending: Pending) -> None:
        self.child.write(body)

    # --- events of the child ---

    def take(self, line: bytes) -> None:
        self.session.from_upstream(line)

    def too_long(self, head: bytes, tail: bytes) -> None:
        self.session.too_long(id_of_long_line(head, tail))

    def started(self) -> None:
        self.session.upstream_started()

    def ended(self, why: str, retry_after: float | None, down: str) -> None:
        self.session.upstream_ended(why, retry_after, down)
