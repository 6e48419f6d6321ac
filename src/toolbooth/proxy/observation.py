"""Runs the proxy as a trial: every message is forwarded byte for byte, and calls are only judged.

`Observation` is used in place of `Relay`. It changes neither the ids nor the list of tools. To
judge calls, it needs the list of tools. So a call that arrives before the client has requested the
list is judged when the list arrives. Open requests are stored only to find the exchange of an
answer, and to answer over HTTP when the server cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from toolbooth.errors import ToolInputError
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages, results
from toolbooth.proxy.catalogue import Catalogue
from toolbooth.proxy.guarded_call import judge_call
from toolbooth.proxy.link import Upstream
from toolbooth.proxy.memory import Memory
from toolbooth.proxy.message import Message, NotAMessage, key_of, value_of
from toolbooth.proxy.pending import About, OpenRequests, Pending
from toolbooth.proxy.records import Records
from toolbooth.proxy.replies import ToClient
from toolbooth.proxy.rules import Rules
from toolbooth.server.revisions import INTERNAL_ERROR

_MOST_UNJUDGED = 1_000


class Observation:
    """One session that is observed and not changed."""

    def __init__(
        self,
        rules: Rules,
        to_client: ToClient,
        upstream: Upstream,
        records: Records,
        *,
        memory: Memory | None = None,
    ) -> None:
        self.to_client = to_client
        self.upstream = upstream
        self.records = records
        self.ended: Callable[[], None] = lambda: None
        self.catalogue = Catalogue(rules, memory)
        self.open = OpenRequests()
        self.why_down = ""
        self.unjudged: list[Message] = []

    # --- messages of the client ---

    def from_client(self, line: bytes, about: About | None = None) -> None:
        """Forward a message of the client, given as bytes."""
        try:
            message = wire.read(line)
        except NotAMessage as error:
            if self.upstream.has_exchanges:
                # Over HTTP, an answer of the server could not be assigned to these bytes.
                self.to_client(results.unreadable(line, error), about, True)
            else:
                self.upstream.send(line)
            return
        self.take(message, about)

    def take(self, message: Message, about: About | None = None) -> None:
        """Forward a message of the client."""
        key = key_of(message.id)
        if message.method is None or key is None:
            self._notified(message)
            self.upstream.send(message.text.encode())
            return
        if self.why_down:
            words = messages.not_sent(self.why_down)
            self.to_client(wire.error(str(message.id), INTERNAL_ERROR, words), about, True)
            return
        if about is not None and self.upstream.has_exchanges:
            key = (About, about)
        elif about is not None and key in self.open.by_key:
            self.to_client(results.wrong_id(message, key), about, True)
            return
        self._request(Pending.of(message, message.method, key, about))

    def _request(self, pending: Pending) -> None:
        self.open.add(pending)
        self.open.number(pending)
        pending.keeps_id = True
        if pending.about is not None:
            pending.copied_headers = pending.about.param_headers
        if pending.method == "tools/call":
            name = value_of(pending.param("name"))
            pending.tool = self.catalogue.find(name) if isinstance(name, str) else None
        if not self.upstream.request(pending.message.text.encode(), pending):
            self.lost(pending, messages.NOT_READING, was_written=False)
        elif pending.method == "tools/call" and len(self.unjudged) < _MOST_UNJUDGED:
            self.unjudged.append(pending.message)
            self._judge_all()

    def _notified(self, message: Message) -> None:
        """If the client cancels a request, end the exchange of this request. No answer is needed
        any more.
        """
        if message.method != "notifications/cancelled":
            return
        key = key_of(message.at(message.params.get("requestId")))
        for pending in self.open.written():
            if key_of(pending.client_id) == key and pending.about is not None:
                self.open.end(pending)
                self.to_client(b"", pending.about, True)

    def client_left(self, about: Any) -> None:
        """Cancel the requests of an HTTP exchange, because the client has closed it."""
        for pending in list(self.open.by_key.values()):
            if pending.about is about:
                self.open.end(pending)
                params = {
                    "requestId": value_of(pending.client_id),
                    "reason": messages.CLIENT_LEFT,
                }
                body = wire.notification("notifications/cancelled", params)
                self.upstream.cancel(body, pending)

    def expire(self, now: float) -> None:
        """Do nothing. A trial run does not cancel requests that take long."""

    @property
    def is_waiting(self) -> bool:
        return bool(self.open.by_key)

    # --- messages of the server ---

    def from_upstream(self, line: bytes, about: Any = None) -> None:
        """Forward a message of the server."""
        try:
            message = wire.read(line)
        except NotAMessage:
            self.to_client(line, about, False)
            return
        if message.method is not None:
            self.to_client(line, about or self._about_of(message), False)
            return
        key = (About, about) if about is not None else key_of(message.id)
        pending = None if key is None else self.open.by_key.get(key)
        if pending is None:
            self.to_client(line, about, about is not None)
            return
        self.open.end(pending)
        self.to_client(line, pending.about, True)
        if pending.method == "tools/list":
            self.catalogue.learn(message, is_first="cursor" not in pending.message.params)
            self._judge_all()

    def _about_of(self, message: Message) -> About | None:
        """Return the exchange that a message belongs to, when the server uses stdio."""
        span = message.subscription("params")
        pending = None
        if span is not None:
            pending = self.open.by_key.get(key_of(message.at(span)) or (About, None))
        elif message.method == "notifications/progress":
            token = key_of(message.at(message.params.get("progressToken")))
            pending = self.open.by_token.get(token or (About, None))
        return None if pending is None else pending.about

    @property
    def waiting(self) -> Container[int]:
        """Return the numbers of the requests that have no answer yet."""
        return self.open.by_number

    def too_long(self, number: Any) -> None:
        """Answer a request with an error, if the answer of a server over HTTP is too long. If the
        server uses stdio, drop such an answer, as most clients would do.
        """
        pending = self.open.by_number.get(number) if self.upstream.has_exchanges else None
        if pending is not None:
            self.lost(pending, messages.TOO_LONG, was_written=True)

    def lost(self, pending: Pending, why: str, *, was_written: bool) -> None:
        """Answer a request that will get no answer."""
        if pending.number in self.open.by_number:
            self.open.end(pending)
            words = messages.no_answer(why) if was_written else messages.not_sent(why)
            body = wire.error(pending.client_id, INTERNAL_ERROR, words)
            self.to_client(body, pending.about, True)

    def upstream_started(self) -> None:
        """Do nothing. A server is never restarted here, because it would have a new session."""

    def upstream_ended(self, why: str, retry_after: float | None, down: str) -> None:
        """End the session, because the server has ended."""
        self.why_down = down
        for pending in self.open.written():
            if pending.about is not None:
                self.lost(pending, why, was_written=True)
        self.ended()

    # --- verdicts ---

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
