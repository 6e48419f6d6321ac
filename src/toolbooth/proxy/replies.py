"""Answers the requests of one client. An answer comes from the server or from the proxy itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolbooth.errors import ToolInputError
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages, results
from toolbooth.proxy.catalogue import Catalogue
from toolbooth.proxy.message import Message, value_of
from toolbooth.proxy.pending import OpenRequests, Pending
from toolbooth.proxy.records import Records
from toolbooth.server.revisions import INTERNAL_ERROR

ToClient = Callable[[bytes, Any, bool], None]
"""Takes a message for the client, its exchange, and True if the message ends this exchange."""


class Replies:
    """The answers to the requests of one session. Each answer ends its request."""

    def __init__(
        self, to_client: ToClient, requests: OpenRequests, catalogue: Catalogue, records: Records
    ) -> None:
        self.to_client = to_client
        self.open = requests
        self.catalogue = catalogue
        self.records = records

    def of_server(self, message: Message, pending: Pending) -> None:
        """Pass on the answer of the server."""
        self._send(pending, self._for_client(message, pending))

    def _for_client(self, message: Message, pending: Pending) -> bytes:
        """Return the answer of the server as the client gets it."""
        if pending.method == "tools/call" and pending.tool is not None:
            self.records.answered(pending, message)
            return results.answered(message, pending.client_id, pending.tool, pending.verdict)
        if pending.method == "tools/list":
            is_first = pending.param("cursor") in (None, "null")
            shown = self.catalogue.learn(message, is_first=is_first)
            if shown is not None:
                changes = [(message.spans["id"], pending.client_id)]
                return message.written([*changes, (message.spans["result"], shown)])
        span = message.subscription("result")
        if span is not None:
            changes = [(message.spans["id"], pending.client_id), (span, pending.client_id)]
            return message.written(changes)
        return message.with_id(pending.client_id)

    def refused(self, pending: Pending, refusal: ToolInputError) -> None:
        """Answer a call that the guard refuses."""
        self.records.refused(pending, refusal)
        self._send(pending, wire.result(pending.client_id, results.refused(refusal, pending.meta)))

    def not_written(self, pending: Pending, why: str, seconds: float | None) -> None:
        """Answer a request that was not written to the server."""
        if pending.method == "tools/call":
            name = value_of(pending.param("name"))
            made = results.not_called(str(name), why, pending.meta, seconds)
            self._send(pending, wire.result(pending.client_id, made))
        else:
            self.fail(pending, INTERNAL_ERROR, messages.not_sent(why))

    def unanswered(self, pending: Pending, why: str) -> None:
        """Answer a request that was written to the server and will get no answer from it."""
        if pending.then is not None:
            self.open.end(pending)
            pending.then(None)
        elif pending.method == "tools/call":
            self.records.failed(pending)
            made = results.unanswered(pending.published, pending.tool, why, pending.meta)
            self._send(pending, wire.result(pending.client_id, made))
        else:
            self.fail(pending, INTERNAL_ERROR, messages.no_answer(why))

    def fail(self, pending: Pending, code: int, words: str) -> None:
        """Answer a request with an error."""
        self._send(pending, wire.error(pending.client_id, code, words))

    def _send(self, pending: Pending, body: bytes) -> None:
        self.open.end(pending)
        self.to_client(body, pending.about, True)
