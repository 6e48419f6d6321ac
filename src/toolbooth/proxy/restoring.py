"""Keeps the messages that set up a session, so that they can be sent again to a restarted
server.
"""

from __future__ import annotations

from typing import Any

from toolbooth.jsonvalue import is_object
from toolbooth.proxy.message import Message, value_of
from toolbooth.proxy.pending import Pending


class Restoring:
    """The messages of the client that set up its session."""

    def __init__(self) -> None:
        self.handshake: str | None = None
        """The params of `initialize`; None if the session has no handshake."""
        self.notifications: list[bytes] = []
        self.announces_tools = False
        """True if the server may report that its list of tools has changed."""
        self._level: str | None = None
        self._subscribed: dict[str, str] = {}

    @property
    def requests(self) -> list[tuple[str, str]]:
        """Return the requests to send again after the handshake. Each is a pair of method and
        params.
        """
        level = [] if self._level is None else [("logging/setLevel", self._level)]
        return [*level, *(("resources/subscribe", each) for each in self._subscribed.values())]

    def notified(self, message: Message) -> None:
        """Keep a notification of the client if it is part of the handshake."""
        if message.method == "notifications/initialized":
            self.notifications = [message.text.encode()]

    def restored(self, answer: Message | None) -> None:
        """Read the answer of the restarted server to the handshake."""
        result = None if answer is None else answer.part("result")
        if result is not None:
            self.announces_tools = _announces_tools(value_of(result))

    def answered(self, pending: Pending, answer: Message) -> None:
        """Keep a request that sets up the session, if the server has accepted it."""
        params = pending.message.part("params") or "{}"
        if pending.method not in _KEPT or answer.part("result") is None:
            return
        if pending.method == "initialize":
            self.handshake = params
            self.announces_tools = _announces_tools(value_of(answer.part("result")))
        elif pending.method == "logging/setLevel":
            self._level = params
        else:
            uri = str(value_of(pending.param("uri")))
            if pending.method == "resources/subscribe":
                self._subscribed[uri] = params
            else:
                self._subscribed.pop(uri, None)


_KEPT = frozenset(
    ("initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
)


def _announces_tools(result: Any) -> bool:
    found = result
    for key in ("capabilities", "tools", "listChanged"):
        found = found.get(key) if is_object(found) else None
    return found is True
