"""Sends one request of a client to several servers, and makes one answer from their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from toolbooth.jsonvalue import Json, is_object
from toolbooth.proxy import message as wire
from toolbooth.proxy.merging import united
from toolbooth.proxy.message import Message, json_text, value_of
from toolbooth.proxy.pending import About
from toolbooth.proxy.relay import Relay
from toolbooth.proxy.replies import ToClient
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.revisions import METHOD_NOT_FOUND

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class Part:
    """One server of a client: its name, its number and its relay."""

    def __init__(self, number: int, name: str, relay: Relay) -> None:
        self.number = number
        self.name = name
        self.relay = relay


class Share:
    """The request as one server gets it. The relay of this server uses this object as the exchange
    of the request.
    """

    def __init__(self, gathering: Gathering, part: Part) -> None:
        self.gathering = gathering
        self.part = part
        self.answer: Message | None = None

    @property
    def is_stateless(self) -> bool:
        about = self.gathering.about
        return about is not None and about.is_stateless

    @property
    def param_headers(self) -> Mapping[str, str]:
        return {}

    @property
    def is_slow(self) -> bool:
        about = self.gathering.about
        return about is not None and about.is_slow

    def when_read(self, call: Callable[[], None]) -> None:
        """Call a function once, as soon as the client has read enough of the waiting messages."""
        if self.gathering.about is not None:
            self.gathering.about.when_read(call)

    @property
    def error(self) -> Json | None:
        """Return the error of the server's answer. Return None if the answer is not an error."""
        failure: Any = None if self.answer is None else value_of(self.answer.part("error"))
        return failure if is_object(failure) else None

    def fault(self, tool: ProxiedTool, arguments: str | None) -> str | None:
        return None

    def streams(self) -> None:
        if self.gathering.about is not None:
            self.gathering.about.streams()

    def primed(self, seconds: float | None) -> None:
        """Do nothing. The client gets one merged answer, so it cannot request the rest of the
        answer of a single server.
        """

    def suspended(self) -> None:
        """Do nothing. The stream of the client stays open."""


class Gathering(Protocol):
    """A request that goes to several servers."""

    about: About | None

    def take(self, share: Share, body: bytes, ends: bool) -> None:
        """Handle a message of one server."""
        ...

    def cancel(self) -> None:
        """Cancel the request for the servers that have not answered."""
        ...


class _Shared:
    """The base class of all gatherings. It stores the shares, and answers the client once."""

    def __init__(self, message: Message, about: About | None, to_client: ToClient) -> None:
        self.message = message
        self.about = about
        self.to_client = to_client
        self.shares: list[Share] = []
        self.is_over = False

    def ask(self, asked: Sequence[tuple[Part, Message]]) -> None:
        """Send the request to these servers."""
        shares = [Share(self, part) for part, _ in asked]
        self.shares += shares
        for share, (_, message) in zip(shares, asked, strict=True):
            share.part.relay.take(message, share)

    def take(self, share: Share, body: bytes, ends: bool) -> None:
        if self.is_over:
            return
        if not ends:
            self.passed(share, body)
        elif not body:  # cancelled: there is no answer
            self.finish(b"")
        else:
            share.answer = wire.read(body)
            self.answered(share)

    def passed(self, share: Share, body: bytes) -> None:
        """Handle a message before the answer."""
        self.to_client(body, self.about, False)

    def answered(self, share: Share) -> None:
        """Handle the answer of one server."""
        raise NotImplementedError

    def finish(self, body: bytes) -> None:
        """Answer the client. Cancel the request for the servers that have not answered."""
        self.is_over = True
        if body or self.about is not None:
            self.to_client(body, self.about, True)
        self.cancel()

    def cancel(self) -> None:
        """Cancel the request for the servers that have not answered."""
        self.is_over = True
        for share in self.shares:
            if share.answer is None:
                share.part.relay.client_left(share)

    def first_error(self) -> bytes:
        """Return the error of the first server that knows the method. If no server knows the
        method, return the error of the first server.
        """
        wanted = [share for share in self.shares if not _is_unknown_method(share)]
        answer = (wanted or self.shares)[0].answer
        return b"" if answer is None else answer.text.encode()


def _is_unknown_method(share: Share) -> bool:
    return share.error is not None and share.error.get("code") == METHOD_NOT_FOUND


class FromAll(_Shared):
    """A request that all servers answer. Their answers are merged."""

    def __init__(
        self,
        message: Message,
        about: About | None,
        to_client: ToClient,
        merge: Callable[[FromAll], bytes],
    ) -> None:
        super().__init__(message, about, to_client)
        self.merge = merge

    def answered(self, share: Share) -> None:
        if all(each.answer is not None for each in self.shares):
            self.finish(self.merge(self))


class InOrder(_Shared):
    """A request for one server, when the proxy does not know which server it is. The servers are
    asked in order, until one of them has an answer.
    """

    def __init__(
        self, message: Message, about: About | None, to_client: ToClient, parts: Sequence[Part]
    ) -> None:
        super().__init__(message, about, to_client)
        self.left = list(parts)
        # For these methods, an error means that the server does not have the requested item.
        kinds = ("resources/", "prompts/", "completion/", "tasks/")
        self.passes_any_error = str(message.method).startswith(kinds)

    def ask_next(self) -> None:
        """Ask the next server."""
        self.ask([(self.left.pop(0), self.message)])

    def answered(self, share: Share) -> None:
        if share.error is None or not (self.passes_any_error or _is_unknown_method(share)):
            self.finish(share.answer.text.encode() if share.answer is not None else b"")
        elif self.left:
            self.ask_next()
        else:
            self.finish(self.first_error())


class Listening(_Shared):
    """A subscription with all servers. The client gets one acknowledgement, and then the
    notifications of all servers. If one server ends the subscription, the client's subscription
    ends too. The client can then subscribe again.
    """

    def __init__(self, message: Message, about: About | None, to_client: ToClient) -> None:
        super().__init__(message, about, to_client)
        self.acknowledged: dict[Share, Message] = {}
        self.early: list[bytes] = []
        self.has_begun = False

    def passed(self, share: Share, body: bytes) -> None:
        if share not in self.acknowledged and _ACKNOWLEDGED.encode() in body:
            self.acknowledged[share] = wire.read(body)
            self._begin()
        elif self.has_begun:
            self.to_client(body, self.about, False)
        else:
            self.early.append(body)

    def answered(self, share: Share) -> None:
        if share in self.acknowledged or share.error is None:
            self.finish(share.answer.text.encode() if share.answer is not None else b"")
        elif all(each.answer is not None for each in self.shares):
            self.finish(self.first_error())
        else:
            self._begin()

    def _begin(self) -> None:
        """Acknowledge the subscription, as soon as every server has acknowledged or refused it."""
        refused = sum(share.answer is not None for share in self.shares)
        if self.has_begun or len(self.acknowledged) + refused < len(self.shares):
            return
        self.has_begun = True
        self.to_client(_acknowledgement(list(self.acknowledged.values())), self.about, False)
        for body in self.early:
            self.to_client(body, self.about, False)
        self.early.clear()


def _acknowledgement(found: Sequence[Message]) -> bytes:
    """Merge the acknowledgements of several servers into one. It lists each type of notification
    that at least one of the servers will send.
    """
    first = found[0]
    span = first.params.get("notifications")
    if span is None:
        return first.text.encode()
    sent: Any = {}
    for each in found:
        sent = united(sent, value_of(each.at(each.params.get("notifications"))))
    return first.written([(span, json_text(sent))])
