"""Passes messages between one client and one upstream server, without I/O. Start here.

The relay gets each message of the client and of the server, and each change of the connection. It
passes the messages for the client and for the server to two functions. The relay guards calls to
tools, and changes the answers to `tools/list`. In all other messages, it only changes the ids.

`about` is the exchange that a message belongs to, if the transport has exchanges. Over HTTP, a
message of the server is sent on the stream of the request that it belongs to. None means that the
message belongs to no exchange.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Iterator
from time import monotonic
from typing import Any, Literal

from toolbooth.errors import INVALID_PARAMS, ToolInputError
from toolbooth.jsonvalue import shorten
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages, results
from toolbooth.proxy.background import Background
from toolbooth.proxy.catalogue import Catalogue
from toolbooth.proxy.client_side import ClientSide
from toolbooth.proxy.fetching import Fetching
from toolbooth.proxy.guarded_call import Outcome, changed_params, is_large, outcome_of
from toolbooth.proxy.link import Upstream
from toolbooth.proxy.memory import Memory
from toolbooth.proxy.message import Message, Span, key_of, value_of
from toolbooth.proxy.pending import About, OpenRequests, Pending
from toolbooth.proxy.questions import Questions
from toolbooth.proxy.records import Records
from toolbooth.proxy.replies import Replies, ToClient
from toolbooth.proxy.restoring import Restoring
from toolbooth.proxy.rules import Rules
from toolbooth.proxy.server_line import read_server_line
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.messages import NO_TOOL_NAME, unknown_tool
from toolbooth.server.revisions import (
    HEADER_MISMATCH,
)

logger = logging.getLogger("toolbooth.proxy")

State = Literal["up", "starting", "down"]

_ENDLESS = ("subscriptions/listen",)
"""Requests that stay open until one side closes them."""


class Relay(ClientSide):
    """One session, from the first message to the last."""

    def __init__(
        self,
        rules: Rules,
        to_client: ToClient,
        upstream: Upstream,
        *,
        timeout: float = 300.0,
        records: Records | None = None,
        question_numbers: Iterator[int] | None = None,
        memory: Memory | None = None,
        background: Background | None = None,
    ) -> None:
        self.to_client = to_client
        self.upstream = upstream
        self.timeout = timeout
        self.background = background
        self.catalogue = Catalogue(rules, memory)
        self.open = OpenRequests()
        self.replies = Replies(to_client, self.open, self.catalogue, records or Records())
        self.questions = Questions(question_numbers)
        self.restoring = Restoring()
        self.state: State = "up"
        self.held: list[Pending] = []
        self.why_down = messages.ENDED
        self.retry_after: float | None = None
        self.fetching = Fetching(self.catalogue, self._ask)

    @property
    def waiting(self) -> Container[int]:
        """Return the numbers of the requests that were written to the server."""
        return self.open.by_number

    @property
    def is_waiting(self) -> bool:
        """Return True if a request of the client has no answer yet."""
        return bool(self.open.by_key)

    # --- messages of the client ---

    def client_left(self, about: Any) -> None:
        """Cancel the requests of an HTTP exchange, because the client has closed it."""
        for pending in list(self.open.by_key.values()):
            if pending.about is about:
                self._cancel(pending, messages.CLIENT_LEFT)

    def _request(self, message: Message, method: str, about: About | None) -> None:
        key = key_of(message.id)
        if key is not None and about is not None and about.is_stateless:
            # Clients that share a credential also share this session, and may use the same ids.
            key = (About, about)
        if key is None or key in self.open.by_key:
            self.to_client(results.wrong_id(message, key), about, True)
            return
        pending = Pending.of(message, method, key, about)
        self.open.add(pending)
        if self.state == "up":
            self._pass(pending)
        elif self.state == "starting":
            self.held.append(pending)
        else:
            self.replies.not_written(pending, self.why_down, self.retry_after)

    def _pass(self, pending: Pending) -> None:
        if not self.open.is_open(pending):
            return  # cancelled in the meantime
        if pending.method == "tools/call":
            self._call(pending, may_fetch=True)
        else:
            self._write(pending)

    def _notification_of_client(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            key = key_of(message.at(message.params.get("requestId")))
            pending = None if key is None else self.open.by_key.get(key)
            if pending is None:
                return
            self.open.abandon(pending)
            if pending.about is not None:  # its exchange ends without an answer
                self.to_client(b"", pending.about, True)
            if pending.number:
                span = message.params["requestId"]
                self.upstream.cancel(message.written([(span, str(pending.number))]), pending)
            return
        if message.method == "tools/call":
            # This call has no id, so it cannot be refused with an answer. Some servers would run
            # it, so it is not forwarded.
            logger.warning(messages.CALL_WITHOUT_ID)
            return
        self.restoring.notified(message)
        if self.state == "up":
            self.upstream.send(message.text.encode())

    def _answer_of_client(self, message: Message) -> None:
        asked = self.questions.answered(message)
        if asked is None:
            logger.warning(messages.NO_SUCH_QUESTION, shorten(str(message.id), 60))
        elif self.state == "up":
            self.upstream.send(message.with_id(asked))

    # --- tool calls ---

    def _call(self, pending: Pending, *, may_fetch: bool) -> None:
        name = value_of(pending.param("name"))
        if not isinstance(name, str):
            self.replies.fail(pending, INVALID_PARAMS, NO_TOOL_NAME)
            return
        pending.published = name
        pending.tool = tool = self.catalogue.find(name)
        if tool is None and may_fetch:
            self.fetching.start(pending.meta, lambda found: self._fetched(pending, found=found))
        elif tool is None:
            self.replies.fail(
                pending, INVALID_PARAMS, unknown_tool(name, self.catalogue.near(name))
            )
        else:
            self._guarded(pending, tool)

    def _fetched(self, pending: Pending, *, found: bool) -> None:
        if self.open.is_open(pending) and found:
            self._call(pending, may_fetch=False)
        elif self.open.is_open(pending):
            self.replies.not_written(pending, messages.NO_LISTING, None)

    def _guarded(self, pending: Pending, tool: ProxiedTool) -> None:
        def examined(outcome: Outcome) -> None:
            self._examined(pending, tool, outcome)

        if self.background is not None and is_large(pending):
            self.background.run(lambda: outcome_of(pending, tool), examined)
        else:
            examined(outcome_of(pending, tool))

    def _examined(self, pending: Pending, tool: ProxiedTool, outcome: Outcome) -> None:
        if not self.open.is_open(pending):
            return  # cancelled in the meantime
        if isinstance(outcome, str):
            self.replies.fail(pending, HEADER_MISMATCH, outcome)
        elif isinstance(outcome, ToolInputError):
            self.replies.refused(pending, outcome)
        elif self.state == "up":
            pending.verdict = outcome
            self._write(pending, changed_params(pending.message, tool, outcome))
        elif self.state == "starting":
            self.held.append(pending)
        else:
            self.replies.not_written(pending, self.why_down, self.retry_after)

    # --- writing to the server ---

    def _write(self, pending: Pending, changes: Iterable[tuple[Span, str]] = ()) -> None:
        """Write a request of the client to the server, under an id of the proxy."""
        message = pending.message
        number = self.open.number(pending)
        if pending.method not in _ENDLESS:
            pending.deadline = monotonic() + self.timeout
        body = message.written([(message.spans["id"], str(number)), *changes])
        if not self.upstream.request(body, pending):
            pending.number = 0
            self.replies.not_written(pending, messages.NOT_READING, None)

    def _ask(self, method: str, params: str, then: Callable[[Message | None], None]) -> None:
        """Send a request of the proxy itself."""
        pending = Pending(Message("", {}), method, then=then)
        number = self.open.number(pending)
        pending.deadline = monotonic() + self.timeout
        if not self.upstream.request(wire.request(number, method, params), pending):
            self.open.end(pending)
            then(None)

    # --- messages of the server ---

    def from_upstream(self, line: bytes, about: Any = None) -> None:
        """Handle one message of the server. `about` is the exchange in which it arrived."""
        message = read_server_line(line)
        if message is None:
            return
        if message.method is None:
            self._answer_of_server(message)
        elif message.id is None:
            self._notification_of_server(message, about)
        else:
            number = self.questions.asked(message, message.id)
            self.to_client(message.with_id(str(number)), about, False)

    def lost(self, pending: Pending, why: str, *, was_written: bool) -> None:
        """Handle a request that will get no answer."""
        if pending.number not in self.open.by_number:
            return
        if was_written or pending.then is not None:
            self.replies.unanswered(pending, why)
        else:
            self.replies.not_written(pending, why, None)

    def too_long(self, number: Any) -> None:
        """Handle a message of the server that is too long to be forwarded. `number` is its id."""
        pending = self.open.by_number.get(number) if isinstance(number, int) else None
        if pending is not None:
            self.replies.unanswered(pending, messages.TOO_LONG)

    def _answer_of_server(self, message: Message) -> None:
        number = value_of(message.id)
        pending = self.open.by_number.get(number) if type(number) is int else None
        if pending is None:
            if not self.open.was_abandoned(number):
                logger.warning(messages.NO_SUCH_REQUEST, shorten(str(message.id), 60))
            return
        self.open.end(pending)
        if pending.then is not None:
            pending.then(message)
            return
        self.restoring.answered(pending, message)
        self.replies.of_server(message, pending)

    def _notification_of_server(self, message: Message, about: Any) -> None:
        changes: list[tuple[Span, str]] = []
        if message.method == "notifications/cancelled":
            span = message.params.get("requestId")
            number = self.questions.cancelled(message.at(span))
            if span is None or number is None:
                return
            changes = [(span, str(number))]
        elif message.method == "notifications/progress":
            pending = self._reporting(message)
            about = about if pending is None else pending.about
        elif message.method == "notifications/tools/list_changed":
            self.catalogue.forget()
        if (span := message.subscription("params")) is not None:
            number = value_of(message.at(span))
            pending = self.open.by_number.get(number) if type(number) is int else None
            if pending is None:
                return
            about = pending.about
            changes.append((span, pending.client_id))
        self.to_client(message.written(changes), about, False)

    def _reporting(self, message: Message) -> Pending | None:
        """Return the request that a progress notification belongs to. Restart the time limit of
        this request.
        """
        token = key_of(message.at(message.params.get("progressToken")))
        pending = None if token is None else self.open.by_token.get(token)
        if pending is not None:
            pending.deadline = monotonic() + self.timeout
        return pending

    # --- the connection to the server ---

    def upstream_ended(self, why: str, retry_after: float | None, down: str) -> None:
        """Answer all open requests with an error, because the server has ended. Until the server is
        restarted, new requests are answered with the reason `down`.
        """
        self.state, self.why_down, self.retry_after = "down", down, retry_after
        self.catalogue.forget()
        for pending in self.open.written():
            self.replies.unanswered(pending, why)
        held, self.held = self.held, []
        for pending in held:
            self.replies.not_written(pending, down, retry_after)
        for number in self.questions.forget():
            params = {"requestId": number, "reason": why}
            self.to_client(wire.notification("notifications/cancelled", params), None, False)

    def upstream_started(self) -> None:
        """Restore the session on a restarted server. New requests wait until this is done."""
        handshake = self.restoring.handshake
        if handshake is None:
            self._go_on()
            return
        self.state = "starting"
        self._ask("initialize", handshake, self._restored)

    def _restored(self, answer: Message | None) -> None:
        if self.state != "starting":
            return  # the server has ended again
        self.restoring.restored(answer)
        for body in self.restoring.notifications:
            self.upstream.send(body)
        for method, params in self.restoring.requests:
            self._ask(method, params, lambda _: None)
        self._go_on()
        if self.restoring.announces_tools:
            body = wire.notification("notifications/tools/list_changed", {})
            self.to_client(body, None, False)

    def _go_on(self) -> None:
        self.state = "up"
        held, self.held = self.held, []
        for pending in held:
            self._pass(pending)

    def expire(self, now: float) -> None:
        """Cancel the requests that take too long. While a person has to answer a question of the
        server, nothing is cancelled.
        """
        if self.questions.wait_for_a_person:
            return
        for pending in list(self.open.overdue(now)):
            self._cancel(pending, messages.CANCELLED_BY_TIMEOUT)
            self.replies.unanswered(pending, messages.timed_out(self.timeout))

    def _cancel(self, pending: Pending, reason: str) -> None:
        self.open.abandon(pending)
        # The specification does not allow `initialize` to be cancelled.
        if pending.number and pending.method != "initialize":
            params = {"requestId": pending.number, "reason": reason}
            body = wire.notification("notifications/cancelled", params)
            self.upstream.cancel(body, pending)
