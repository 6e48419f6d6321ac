"""Reads the messages of a client, for one server or for several."""

from __future__ import annotations

from toolbooth.proxy import message as wire
from toolbooth.proxy import results
from toolbooth.proxy.message import Message, NotAMessage
from toolbooth.proxy.pending import About
from toolbooth.proxy.replies import ToClient


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
        if message.method is None:
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
