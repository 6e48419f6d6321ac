"""Shares one child process between all clients of a proxy over HTTP.

The child has one session. It does not know how many clients there are, and the proxy declares no
client capabilities to it. The proxy replaces ids, progress tokens and subscription ids, so that a
message for one client reaches only this client. If it is not clear which client a message is for,
the message is not forwarded. Log lines are an example.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from toolbooth.jsonvalue import Json, is_object, shorten
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages
from toolbooth.proxy.headers import is_stateless
from toolbooth.proxy.link import Link, Session
from toolbooth.proxy.message import (
    Message,
    NotAMessage,
    Span,
    json_text,
    members,
    value_of,
    with_member,
)
from toolbooth.proxy.pending import Pending
from toolbooth.proxy.server_line import read_server_line
from toolbooth.server.revisions import CAPABILITIES_KEY, INVALID_REQUEST, METHOD_NOT_FOUND

logger = logging.getLogger("toolbooth.proxy")

Era = Literal["stateless", "handshake"]

_HIDDEN = ("logging", "tasks")
"""Capabilities of the server that clients do not see. Their messages cannot be assigned to one
client.
"""
_REFUSED = ("logging/setLevel", "tasks/")
_LISTS = frozenset(
    f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")
)
_UPDATED = "notifications/resources/updated"


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A request that was written to the child."""

    seat: Seat
    pending: Pending
    number: int
    """The id that the relay of the client gave to the request."""
    token: str | None
    """The progress token as the client wrote it."""


class SharedChild:
    """One child process for all clients. It is started for the first client, and ended after the
    last client has left.
    """

    def __init__(self, connect: Callable[[], Link]) -> None:
        self.connect = connect
        self.link: Link | None = None
        self.seats: list[Seat] = []
        self.asked: dict[int, _Asked] = {}
        self.subscribed: dict[str, set[Seat]] = {}
        self.era: Era | None = None
        self.handshake: str | None = None
        """The answer of the child to the handshake. Every client gets it."""
        self.greeting: list[tuple[Seat, int]] = []
        """The handshakes of clients that wait for the handshake of the child."""
        self.abandoned: deque[int] = deque(maxlen=1_000)
        self.down: tuple[str, float | None, str] | None = None
        """Why the child does not run, if it has ended."""
        self.has_given_up = False
        self._numbers = count(1)
        self._starting = asyncio.Lock()

    def seat(self) -> Seat:
        """Return the connection for one client."""
        return Seat(self)

    async def join(self, seat: Seat) -> None:
        """Add a client. Raises OSError if the child cannot be started."""
        async with self._starting:
            if self.link is None or self.has_given_up:
                self.link = await self._started()
        self.seats.append(seat)
        if self.down is not None:
            seat.session.upstream_ended(*self.down)

    async def _started(self) -> Link:
        link = self.connect()
        link.session = self
        await link.start()
        self.down, self.has_given_up = None, False
        return link

    async def leave(self, seat: Seat) -> None:
        """Remove a client. Cancel its requests."""
        if seat not in self.seats:
            return
        self.seats.remove(seat)
        for number, asked in list(self.asked.items()):
            if asked.seat is seat:
                params = {"requestId": number, "reason": messages.CLIENT_LEFT}
                self._abandon(number, wire.notification("notifications/cancelled", params))
        self.subscribed = {uri: seats - {seat} for uri, seats in self.subscribed.items()}
        if not self.seats and self.link is not None:
            link, self.link = self.link, None
            self._forget()
            await link.stop()

    # --- messages of the clients ---

    def request(self, seat: Seat, body: bytes, pending: Pending) -> bool:
        """Write a request of a client to the child, with a new id. The proxy itself answers
        requests that concern the session, such as the handshake.
        """
        message = wire.read(body)
        method = str(message.method)
        if (refusal := self._wrong_era(body, method, pending)) is not None:
            seat.answer(refusal)
            return True
        if method == "initialize":
            return self._greet(seat, message, pending.number)
        if method.startswith(_REFUSED):
            words = messages.not_shared(method)
            seat.answer(wire.error(str(pending.number), METHOD_NOT_FOUND, words))
            return True
        if method.startswith("resources/") and not self._subscribes(seat, method, message):
            seat.answer(wire.result(str(pending.number), "{}"))
            return True
        number = next(self._numbers)
        try:
            changes, token = _made_new(message, number)
        except NotAMessage as error:  # a key of `_meta` occurs twice
            seat.answer(wire.error(str(pending.number), INVALID_REQUEST, f"_meta: {error}"))
            return True
        self.asked[number] = _Asked(seat, pending, pending.number, token)
        is_written = self._write(message.written(changes))
        if not is_written:
            del self.asked[number]
        return is_written

    def _wrong_era(self, body: bytes, method: str, pending: Pending) -> bytes | None:
        """Return a refusal if a request is of the wrong era. A server on stdio may support only one
        era for each connection: with or without a handshake. The first client decides which one is
        used. Return None if the request can be sent.
        """
        era: Era = "stateless" if is_stateless(body, pending) else "handshake"
        if self.era is None and method != "server/discover":
            self.era = era
        if self.era in (None, era):
            return None
        words = messages.OTHER_ERA[self.era]
        # After this error for `server/discover`, clients of both eras use the handshake.
        code = METHOD_NOT_FOUND if method == "server/discover" else INVALID_REQUEST
        return wire.error(str(pending.number), code, words)

    def cancel(self, seat: Seat, body: bytes, pending: Pending) -> None:
        """Cancel a request of a client."""
        message = wire.read(body)
        for number, asked in list(self.asked.items()):
            if asked.seat is seat and asked.number == pending.number:
                span = message.params["requestId"]
                self._abandon(number, message.written([(span, str(number))]))

    def _abandon(self, number: int, cancellation: bytes) -> None:
        """Cancel a request whose client does not wait any more. The child may still answer it."""
        del self.asked[number]
        self.abandoned.append(number)
        self._write(cancellation)

    def _greet(self, seat: Seat, message: Message, number: int) -> bool:
        if self.handshake is not None:
            seat.answer(wire.result(str(number), self.handshake))
            return True
        self.greeting.append((seat, number))
        if len(self.greeting) > 1:
            return True
        params: Any = value_of(message.part("params"))
        own: Json = {**(params if is_object(params) else {}), "capabilities": {}}
        own["clientInfo"] = {"name": "toolbooth", "version": "1"}
        # 0 is the id of the handshake. All other requests have higher ids.
        return self._write(wire.request(0, "initialize", json_text(own)))

    def _subscribes(self, seat: Seat, method: str, message: Message) -> bool:
        """Store which clients are subscribed to a resource. Return False if a client unsubscribes
        but another client is still subscribed. The request must then not be sent to the child.
        """
        uri = str(value_of(message.at(message.params.get("uri"))))
        seats = self.subscribed.setdefault(uri, set())
        if method == "resources/subscribe":
            seats.add(seat)
        elif method == "resources/unsubscribe":
            seats.discard(seat)
            return not seats
        return True

    def _write(self, body: bytes) -> bool:
        return self.link is not None and self.link.send(body)

    # --- messages of the child ---

    @property
    def waiting(self) -> Container[int]:
        """Return the numbers of the requests that have no answer yet."""
        return self.asked.keys()

    def from_upstream(self, line: bytes, about: Any = None) -> None:
        message = read_server_line(line)
        if message is None:
            return
        if message.method is None:
            self._answer_of_child(message)
        elif message.id is not None:
            self._question_of_child(message, message.id)
        else:
            self._notification_of_child(message, message.method)

    def too_long(self, number: Any) -> None:
        asked = self.asked.pop(number, None) if isinstance(number, int) else None
        if asked is not None:
            asked.seat.session.too_long(asked.number)

    def lost(self, pending: Pending, why: str, *, was_written: bool) -> None:
        """Do nothing. A child answers all requests or ends."""

    def upstream_started(self) -> None:
        self.down = None
        # Each relay sends its handshake again, and restores its session.
        for seat in self.seats:
            seat.session.upstream_started()

    def upstream_ended(self, why: str, retry_after: float | None, down: str) -> None:
        self._forget()
        self.down, self.has_given_up = (why, retry_after, down), retry_after is None
        for seat in self.seats:
            seat.session.upstream_ended(why, retry_after, down)

    def _forget(self) -> None:
        self.asked.clear()
        self.subscribed.clear()
        self.greeting.clear()
        self.handshake = self.era = None

    def _asked_as(self, written: str | None) -> _Asked | None:
        """Return the open request with this number. Return None if there is none."""
        number = value_of(written)
        return self.asked.get(number) if type(number) is int else None

    def _answer_of_child(self, message: Message) -> None:
        number = value_of(message.id)
        if number == 0 and self.greeting:
            self._greeted(message)
            return
        asked = self.asked.pop(number, None) if type(number) is int else None
        if asked is None:
            if number not in self.abandoned:
                logger.warning(messages.NO_SUCH_REQUEST, shorten(str(message.id), 60))
            return
        changes = [(message.spans["id"], str(asked.number))]
        span = message.subscription("result")
        if span is not None:
            changes.append((span, str(asked.number)))
        asked.seat.answer(message.written(changes))

    def _greeted(self, message: Message) -> None:
        """Answer the handshakes of all clients that wait."""
        greeting, self.greeting = self.greeting, []
        result = message.part("result")
        if result is not None and result[:1] == "{":
            self.handshake = _shown(result)
            self._write(wire.notification("notifications/initialized", {}))
        for seat, number in greeting:
            if self.handshake is not None:
                seat.answer(wire.result(str(number), self.handshake))
            else:
                seat.answer(message.with_id(str(number)))

    def _question_of_child(self, message: Message, written_id: str) -> None:
        """Answer a request of the child with an error, or a ping with a result. It is not known
        which client the request is for, and the proxy has declared that it answers no requests.
        """
        if message.method == "ping":
            self._write(wire.result(written_id, "{}"))
        else:
            words = messages.not_shared(str(message.method))
            self._write(wire.error(written_id, METHOD_NOT_FOUND, words))

    def _notification_of_child(self, message: Message, method: str) -> None:
        span = message.params.get("progressToken")
        if method == "notifications/progress" and span is not None:
            asked = self._asked_as(message.at(span))
            if asked is not None and asked.token is not None and not asked.seat.is_paused:
                asked.seat.answer(message.written([(span, asked.token)]))
            return
        span = message.subscription("params")
        if span is not None:
            asked = self._asked_as(message.at(span))
            if asked is not None:
                asked.seat.answer(message.written([(span, str(asked.number))]))
            return
        seats: Iterable[Seat] = self.seats if method in _LISTS else ()
        if method == _UPDATED:
            uri = str(value_of(message.at(message.params.get("uri"))))
            seats = self.subscribed.get(uri, ())
        for seat in list(seats):
            seat.answer(message.text.encode())


def _made_new(message: Message, number: int) -> tuple[list[tuple[Span, str]], str | None]:
    """Return the changes to a request of a client, and the progress token that the client has
    sent.
    """
    changes: list[tuple[Span, str]] = [(message.spans["id"], str(number))]
    meta = message.params.get("_meta")
    if meta is None or message.text[meta[0]] != "{":
        return changes, None
    spans = members(message.text, meta[0])
    if CAPABILITIES_KEY in spans:
        changes.append((spans[CAPABILITIES_KEY], "{}"))
    token = message.at(spans.get("progressToken"))
    if token is not None:
        changes.append((spans["progressToken"], str(number)))
    return changes, token


def _shown(handshake: str) -> str:
    """Return the answer to a handshake without the capabilities that cannot be shared by
    clients.
    """
    found: Any = value_of(handshake).get("capabilities")
    if not is_object(found):
        return handshake
    kept = {name: value for name, value in found.items() if name not in _HIDDEN}
    return with_member(handshake, "capabilities", json_text(kept))


class Seat:
    """The connection of one client to the shared child."""

    session: Session
    has_exchanges = False

    def __init__(self, shared: SharedChild) -> None:
        self.shared = shared
        self.is_paused = False

    async def start(self) -> None:
        await self.shared.join(self)

    async def stop(self) -> None:
        await self.shared.leave(self)

    def pause(self) -> None:
        """Do not forward progress notifications until `resume` is called, because the client reads
        too slowly. The proxy still reads from the child, for the other clients.
        """
        self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False

    @property
    def is_running(self) -> bool:
        return self.shared.link is not None and self.shared.link.is_running

    def request(self, body: bytes, pending: Pending) -> bool:
        return self.shared.request(self, body, pending)

    def send(self, body: bytes) -> bool:
        """Do nothing. A notification of one client, such as the end of its handshake, would change
        the session of all clients.
        """
        return True

    def cancel(self, body: bytes, pending: Pending) -> None:
        self.shared.cancel(self, body, pending)

    def answer(self, body: bytes) -> None:
        """Pass a message to the relay of the client."""
        self.session.from_upstream(body)
