"""Reads the messages of a client, for one server or for several."""

from __future__ import annotations

from toolbooth.proxy import message as wire
from toolbooth.proxy import results
from toolbooth.proxy.message import Message, NotAMessage
from toolbooth.proxy.pending import About
from toolbooth.proxy.replies import ToClient


def is_sendable(message: Message) -> bool:
    """Return False for a message that has no method and is not an answer. No server could handle
    it.
    """
    return message.method is not None or "result" in message.spans or "error" in message.spans


class ClientSide:
    """Handles the messages of one client. A subclass handles each kind of message."""

    to_client: ToClient

    def from_client(self, line: bytes, about: About | None = None) -> None:
        """Handle one message of the client, given as bytes."""
        try:
            message = wire.read(line)
        except NotAMessage as error:
            self.to_client(results.unreadable(line, error), about, True)
        else:
            self.take(message, about)

    def take(self, message: Message, about: About | None = None) -> None:
        """Handle one message of the client."""
        if not is_sendable(message):
            self.to_client(results.no_request(message), about, True)
        elif message.method is None:
            self._answer_of_client(message)
        elif message.id is None:
            self._notification_of_client(message)
        else:
            self._request(message, message.method, about)

    def _answer_of_client(self, message: Message) -> None:
        raise NotImplementedError

    def _notification_of_client(self, message: Message) -> None:
        raise NotImplementedError

    def _request(self, message: Message, method: str, about: About | None) -> None:
        raise NotImplementedError
