"""Stores the requests of one session that have no answer yet. A request can be found by the id of
the client or by the id of the server.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import inf
from time import monotonic
from typing import Any, Protocol

from toolbooth.jsonvalue import Json, is_object
from toolbooth.proxy.guard import UNCHANGED, Verdict
from toolbooth.proxy.message import Key, Message, value_of
from toolbooth.proxy.tool import ProxiedTool

_MOST_ABANDONED = 1_000


class About(Protocol):
    """The exchange of a request, if the transport has exchanges."""

    @property
    def is_slow(self) -> bool:
        """Return True while many messages wait for the client. The proxy should then not read more
        messages for this client.
        """
        ...

    def when_read(self, call: Callable[[], None]) -> None:
        """Call a function once, as soon as the client has read enough of the waiting messages."""
        ...

    @property
    def is_stateless(self) -> bool:
        """Return True if the request belongs to no session. Its id is then unique only in this
        exchange.
        """
        ...

    @property
    def param_headers(self) -> Mapping[str, str]:
        """Return the headers in which the client repeats arguments."""
        ...

    def fault(self, tool: ProxiedTool, arguments: str | None) -> str | None:
        """Return a sentence that says how the headers of the request contradict its arguments.
        Return None if there is no contradiction.
        """
        ...

    def streams(self) -> None:
        """Start a stream for the client, because the server answers with a stream."""
        ...

    def primed(self, seconds: float | None) -> None:
        """Note that the server may close the stream and continue the answer later."""
        ...

    def suspended(self) -> None:
        """Note that the server has closed the stream and will continue the answer later."""
        ...


@dataclass(slots=True, eq=False)
class Pending:
    """A request without an answer. The client or the proxy itself has sent it."""

    message: Message
    method: str
    key: Key | None = None
    """The id that the client gave to the request. None for a request of the proxy itself."""
    about: About | None = None
    meta: Json = field(default_factory=dict[str, Any])
    token: Key | None = None
    number: int = 0
    """The id under which the server knows the request. 0 if the request was not written yet."""
    tool: ProxiedTool | None = None
    verdict: Verdict = UNCHANGED
    published: str = ""
    """The published name of the tool, which the client uses."""
    deadline: float = inf
    started: float = 0.0
    keeps_id: bool = False
    """True in a trial run: the request is written with the client's own id."""
    copied_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of the client that a trial run sends to the server."""
    then: Callable[[Message | None], None] | None = None
    """Called with the answer to a request of the proxy itself. Called with None if there is no
    answer.
    """

    @classmethod
    def of(cls, message: Message, method: str, key: Key | None, about: About | None) -> Pending:
        """Return the `Pending` for a request that has just arrived."""
        made = cls(message, method, key, about, started=monotonic())
        meta: Any = value_of(made.param("_meta"))
        if is_object(meta):
            made.meta = meta
            token = meta.get("progressToken")
            if isinstance(token, str) or type(token) is int:
                made.token = (type(token), token)
        return made

    def param(self, name: str) -> str | None:
        """Return one of the params as it was written. Return None if it was not sent."""
        return self.message.at(self.message.params.get(name))

    @property
    def client_id(self) -> str:
        """Return the id as the client wrote it."""
        return self.message.id or "null"


class OpenRequests:
    """All requests that have no answer yet."""

    def __init__(self) -> None:
        self.by_key: dict[Key, Pending] = {}
        self.by_number: dict[int, Pending] = {}
        self.by_token: dict[Key, Pending] = {}
        self._numbers = count(1)
        self._abandoned: deque[int] = deque(maxlen=_MOST_ABANDONED)

    def add(self, pending: Pending) -> None:
        """Add a request of the client."""
        if pending.key is not None:
            self.by_key[pending.key] = pending

    def number(self, pending: Pending) -> int:
        """Give a request an id for the server. Return this id."""
        pending.number = next(self._numbers)
        self.by_number[pending.number] = pending
        if pending.token is not None:
            self.by_token[pending.token] = pending
        return pending.number

    def is_open(self, pending: Pending) -> bool:
        """Return True if a request still waits for its answer."""
        return pending.key is None or self.by_key.get(pending.key) is pending

    def end(self, pending: Pending) -> None:
        """Remove a request that has an answer or will get none."""
        if pending.key is not None and self.by_key.get(pending.key) is pending:
            del self.by_key[pending.key]
        if pending.token is not None and self.by_token.get(pending.token) is pending:
            del self.by_token[pending.token]
        self.by_number.pop(pending.number, None)

    def abandon(self, pending: Pending) -> None:
        """Remove a request whose client does not wait any more. The server may still answer it."""
        self.end(pending)
        if pending.number:
            self._abandoned.append(pending.number)

    def was_abandoned(self, number: Any) -> bool:
        return number in self._abandoned

    def written(self) -> list[Pending]:
        """Return the requests that were written to the server."""
        return list(self.by_number.values())

    def overdue(self, now: float) -> Iterator[Pending]:
        """Yield the requests whose time limit has passed."""
        return (each for each in self.written() if each.deadline <= now)
