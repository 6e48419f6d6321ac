"""What a session needs of its upstream server, whatever the transport is; and a child process as
one.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Protocol

from toolbooth.proxy.child import PAUSES, Child, Listener, id_of_long_line
from toolbooth.proxy.pending import Pending


class Upstream(Protocol):
    """Takes the messages for a server."""

    def request(self, body: bytes, pending: Pending) -> bool:
        """Write a request. False if it was not written and never will be."""
        ...

    def send(self, body: bytes) -> bool:
        """Write a notification, or the answer to a question."""
        ...

    def cancel(self, body: bytes, pending: Pending) -> None:
        """Cancel a request; `body` is the notification of that."""
        ...


class Session(Protocol):
    """Takes the messages of a server, and what becomes of it."""

    @property
    def waiting(self) -> Container[int]:
        """The numbers of the requests that wait for an answer."""
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
        """Connect. Raises OSError."""
        ...

    async def stop(self) -> None:
        """End the connection, and the server if it belongs to it."""
        ...

    def pause(self) -> None:
        """Read nothing until `resume`: the client does not keep up."""
        ...

    def resume(self) -> None: ...

    @property
    def is_running(self) -> bool:
        """Whether answers may still come."""
        ...


class ChildLink(Listener):
    """A child process that belongs to one session."""

    session: Session

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

    # --- what the child does ---

    def take(self, line: bytes) -> None:
        self.session.from_upstream(line)

    def too_long(self, head: bytes, tail: bytes) -> None:
        self.session.too_long(id_of_long_line(head, tail))

    def started(self) -> None:
        self.session.upstream_started()

    def ended(self, why: str, retry_after: float | None, down: str) -> None:
        self.session.upstream_ended(why, retry_after, down)
