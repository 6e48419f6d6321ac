"""Runs the proxy as a trial: every message is forwarded byte for byte, and calls are only judged.

This class is used in place of `Relay`. It changes neither ids nor the list. A call is judged after
the client has requested the list. A call that arrived earlier is judged then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolbooth.errors import ToolInputError
from toolbooth.proxy import message as wire
from toolbooth.proxy.catalogue import Catalogue
from toolbooth.proxy.guarded_call import judge_call
from toolbooth.proxy.link import Upstream
from toolbooth.proxy.message import Key, Message, NotAMessage, key_of, value_of
from toolbooth.proxy.pending import Pending
from toolbooth.proxy.records import Records
from toolbooth.proxy.relay import ToClient
from toolbooth.proxy.rules import Rules

_MOST_UNJUDGED = 1_000


class Observation:
    """One session that is observed and not changed."""

    def __init__(
        self, rules: Rules, to_client: ToClient, upstream: Upstream, records: Records
    ) -> None:
        self.to_client = to_client
        self.upstream = upstream
        self.records = records
        self.ended: Callable[[], None] = lambda: None
        self.catalogue = Catalogue(rules)
        self.lists: dict[Key, bool] = {}
        """The open requests for a page of the list, by id. The value is True for the first page."""
        self.unjudged: list[Message] = []

    def from_client(self, line: bytes, about: Any = None) -> None:
        """Forward a message of the client."""
        self.upstream.send(line)
        message = _read(line)
        key = None if message is None else key_of(message.id)
        if message is None or key is None:
            return
        if message.method == "tools/list":
            self.lists[key] = "cursor" not in message.params
        elif message.method == "tools/call" and len(self.unjudged) < _MOST_UNJUDGED:
            self.unjudged.append(message)
            self._judge_all()

    def from_upstream(self, line: bytes, about: Any = None) -> None:
        """Forward a message of the server."""
        self.to_client(line, about, False)
        if not self.lists:
            return
        message = _read(line)
        key = None if message is None or message.method else key_of(message.id)
        if message is None or key is None or key not in self.lists:
            return
        self.catalogue.learn(message, is_first=self.lists.pop(key))
        self._judge_all()

    @property
    def waiting(self) -> frozenset[int]:
        """Return no numbers, because requests are not tracked here."""
        return frozenset()

    def too_long(self, number: Any) -> None:
        """Do nothing. A message that is too long is lost, as in most clients."""

    def lost(self, pending: Pending, why: str, *, was_written: bool) -> None:
        """Do nothing, because requests are not tracked here."""

    def upstream_started(self) -> None:
        """Do nothing. A server is never restarted here, because it would have a new session."""

    def upstream_ended(self, why: str, retry_after: float | None, down: str) -> None:
        """End the session, because the server has ended."""
        self.ended()

    def _judge_all(self) -> None:
        if not self.catalogue.is_known:
            return
        calls, self.unjudged = self.unjudged, []
        for message in calls:
            self._judge(message)

    def _judge(self, message: Message) -> None:
        name = value_of(message.at(message.params.get("name")))
        tool = self.catalogue.find(name) if isinstance(name, str) else None
        if tool is None:
            return
        pending = Pending.of(message, "tools/call", None, None)
        pending.tool, pending.published = tool, tool.published
        try:
            pending.verdict = judge_call(pending, tool)
        except ToolInputError as refusal:
            self.records.refused(pending, refusal)
        else:
            self.records.forwarded(pending)


def _read(line: bytes) -> Message | None:
    try:
        return wire.read(line)
    except NotAMessage:
        return None
