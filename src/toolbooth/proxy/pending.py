"""The requests of one session that have no answer yet, by the ids of both sides."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
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
    """The exchange that a request came in, where a transport has exchanges."""

    def fault(self, tool: ProxiedTool, arguments: str | None) -> str | None:
        """How the request contradicts itself outside of its message; None if it does not."""
        ...

    def streams(self) -> None:
        """The server answers with a stream, so the client gets one, too."""
        ...

    def primed(self, seconds: float | None) -> None:
        """The server may close the stream and go on with the answer later."""
        ...

    def suspended(self) -> None:
        """The server has closed the stream, and goes on with the answer later."""
        ...


@dataclass(slots=True, eq=False)
class Pending:
    """A request without an answer: one of the client, or of the proxy itself."""

    message: Message
    method: str
    key: Key | None = None
    """The id that its client gave it; None for a request of the proxy's own."""
    about: About | None = None
    meta: Json = field(default_factory=dict[str, Any])
    token: Key | None = None
    number: int = 0
    """Its id on the side of the server; 0 if it was not written yet."""
    tool: ProxiedTool | None = None
    verdict: Verdict = UNCHANGED
    published: str = ""
    """The name of the tool, as the client calls it."""
    deadline: float = inf
    started: float = 0.0
    then: Callable[[Message | None], None] | None = None
    """What the proxy does with the answer to its own request; None: there is none."""

    @classmethod
    def of(cls, message: Message, method: str, key: Key | None, about: About | None) -> Pending:
        """A request that has just arrived."""
        made = cls(message, method, key, about, started=monotonic())
        meta: Any = value_of(made.param("_meta"))
        if is_object(meta):
            made.meta = meta
            token = meta.get("progressToken")
            if isinstance(token, str) or type(token) is int:
                made.token = (type(token), token)
        return made

    def param(self, name: str) -> str | None:
        """One of its params, as it was written."""
        return self.message.at(self.message.params.get(name))

    @property
    def client_id(self) -> str:
        """The id as the client wrote it."""
        return self.message.id or "null"


class OpenRequests:
    """All pending requests."""

    def __init__(self) -> None:
        self.by_key: dict[Key, Pending] = {}
        self.by_number: dict[int, Pending] = {}
        self.by_token: dict[Key, Pending] = {}
        self._numbers = count(1)
        self._abandoned: deque[int] = deque(maxlen=_MOST_ABANDONED)

    def add(self, pending: Pending) -> None:
        """A request of the client has arrived."""
        if pending.key is not None:
            self.by_key[pending.key] = pending

    def number(self, pending: Pending) -> int:
        """Give a request its id on the side of the server."""
        pending.number = next(self._numbers)
        self.by_number[pending.number] = pending
        if pending.token is not None:
            self.by_token[pending.token] = pending
        return pending.number

    def is_open(self, pending: Pending) -> bool:
        """Whether a request still waits for its answer."""
        return pending.key is None or self.by_key.get(pending.key) is pending

    def end(self, pending: Pending) -> None:
        """A request has its answer, or gets none."""
        if pending.key is not None and self.by_key.get(pending.key) is pending:
            del self.by_key[pending.key]
        if pending.token is not None and self.by_token.get(pending.token) is pending:
            del self.by_token[pending.token]
        self.by_number.pop(pending.number, None)

    def abandon(self, pending: Pending) -> None:
        """A request is over for its client; the server may still answer it."""
        self.end(pending)
        if pending.number:
            self._abandoned.append(pending.number)

    def was_abandoned(self, number: Any) -> bool:
        return number in self._abandoned

    def written(self) -> list[Pending]:
        """The requests that the server has."""
        return list(self.by_number.values())

    def overdue(self, now: float) -> Iterator[Pending]:
        """The requests whose time is over."""
        return (each for each in self.written() if each.deadline <= now)
