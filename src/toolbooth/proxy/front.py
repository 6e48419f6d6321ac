"""Connects one client to several servers, without I/O. Each server has its own relay.

A message for one server goes to the relay of this server. The relay guards and forwards it as if
there were no other server. A message for all servers goes to all relays, and the answers are
merged. A request for one item, such as `prompts/get`, goes to the server that has listed this item.
If no server has listed it, the servers are asked in the order of the configuration file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from toolbooth.errors import INVALID_PARAMS
from toolbooth.jsonvalue import is_object, near_name, shorten
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages, results
from toolbooth.proxy.client_side import ClientSide
from toolbooth.proxy.gathering import FromAll, InOrder, Listening, Part, Share
from toolbooth.proxy.merging import cursors_in, merged
from toolbooth.proxy.message import Key, Message, json_text, key_of, value_of
from toolbooth.proxy.owners import LISTS, Owners
from toolbooth.proxy.pending import About
from toolbooth.proxy.relay import Relay
from toolbooth.proxy.replies import ToClient
from toolbooth.server.messages import unknown_tool
from toolbooth.server.revisions import INTERNAL_ERROR, METHOD_NOT_FOUND

logger = logging.getLogger("toolbooth.proxy")

_FOR_ALL = (*LISTS, "initialize", "server/discover", "ping", "logging/setLevel")


@dataclass(slots=True, eq=False)
class _Seeking:
    """A call of a tool that no server has listed so far. The lists are being fetched."""

    message: Message
    about: About | None
    name: str
    left: int
    has_failed: bool = False


class Front(ClientSide):
    """The servers of one client."""

    def __init__(self, to_client: ToClient) -> None:
        self.to_client = to_client
        self.parts: list[Part] = []
        self.owners: Owners[Part] = Owners()
        self.seeking: list[_Seeking] = []
        self._question_numbers = count(1)

    def add(self, name: str, make: Callable[..., Relay]) -> Relay:
        """Add a server, and return its relay. `make` creates the relay. It is called with a
        function that sends messages to the client, and with the ids for requests of the server.
        """
        number = len(self.parts)

        def to_client(body: bytes, about: Any, ends: bool) -> None:
            self._from_relay(self.parts[number], body, about, ends)

        relay = make(to_client, question_numbers=self._question_numbers)
        self.parts.append(Part(number, name, relay))
        return relay

    @property
    def is_waiting(self) -> bool:
        return bool(self.seeking) or any(part.relay.is_waiting for part in self.parts)

    def expire(self, now: float) -> None:
        """Cancel the requests that take too long."""
        for part in self.parts:
            part.relay.expire(now)

    # --- messages of the client ---

    def client_left(self, about: Any) -> None:
        """Cancel the requests of an HTTP exchange, because the client has closed it."""
        self.seeking = [each for each in self.seeking if each.about is not about]
        for part in self.parts:
            for pending in list(part.relay.open.by_key.values()):
                share = pending.about
                if isinstance(share, Share) and share.gathering.about is about:
                    share.gathering.cancel()
            part.relay.client_left(about)

    def _answer_of_client(self, message: Message) -> None:
        for part in self.parts:
            if part.relay.questions.has(message.id):
                part.relay.take(message)
                return
        logger.warning(messages.NO_SUCH_QUESTION, shorten(str(message.id), 60))

    def _notification_of_client(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            self._stop_seeking(key_of(message.at(message.params.get("requestId"))))
        if message.method == "tools/call":
            logger.warning(messages.CALL_WITHOUT_ID)
            return
        for part in self.parts:
            part.relay.take(message)

    def _stop_seeking(self, key: Key | None) -> None:
        for each in list(self.seeking):
            if key_of(each.message.id) == key:
                self.seeking.remove(each)
                if each.about is not None:  # its exchange ends without an answer
                    self.to_client(b"", each.about, True)

    def _request(self, message: Message, method: str, about: About | None) -> None:
        key = key_of(message.id)
        if key is None or (self._is_open(key) and not (about and about.is_stateless)):
            self.to_client(results.wrong_id(message, key), about, True)
        elif method == "tools/call":
            self._call(message, about)
        elif method == "subscriptions/listen":
            listening = Listening(message, about, self.to_client)
            listening.ask([(part, message) for part in self.parts])
        elif method in _FOR_ALL:
            self._ask_all(message, method, about)
        else:
            params = value_of(message.part("params"))
            owner = self.owners.of(method, params if is_object(params) else {})
            if owner is not None:
                owner.relay.take(message, about)
            else:
                InOrder(message, about, self.to_client, self.parts).ask_next()

    def _is_open(self, key: Key) -> bool:
        if any(key_of(each.message.id) == key for each in self.seeking):
            return True
        return any(key in part.relay.open.by_key for part in self.parts)

    # --- messages of the servers ---

    def _from_relay(self, part: Part, body: bytes, about: Any, ends: bool) -> None:
        if isinstance(about, Share):
            about.gathering.take(about, body, ends)
            return
        if ends and b'"taskId"' in body:
            result = value_of(wire.read(body).part("result"))
            if is_object(result):
                self.owners.learn_task(result, part)
        self.to_client(body, about, ends)

    # --- requests for all servers ---

    def _ask_all(self, message: Message, method: str, about: About | None) -> None:
        asked = [(part, message) for part in self.parts]
        span = message.params.get("cursor")
        # Some clients send null for the first page.
        if span is not None and message.at(span) != "null" and method in LISTS:
            cursors = cursors_in(value_of(message.at(span)))
            if not cursors or not all(number in range(len(self.parts)) for number in cursors):
                body = wire.error(message.id or "null", INVALID_PARAMS, messages.UNKNOWN_CURSOR)
                self.to_client(body, about, True)
                return
            asked = [
                (self.parts[number], wire.read(message.written([(span, json_text(cursor))])))
                for number, cursor in cursors.items()
            ]
        elif method in LISTS:
            self.owners.forget(LISTS[method][0])
        elif method == "initialize":
            # A server that ends before it answers gets the handshake when it is started again.
            for part in self.parts:
                part.relay.restoring.handshake = message.part("params") or "{}"
        FromAll(message, about, self.to_client, partial(self._merged, method)).ask(asked)

    def _merged(self, method: str, gathering: FromAll) -> bytes:
        answers: list[tuple[Part, str]] = []
        missing: list[str] = []
        for share in gathering.shares:
            result = None if share.answer is None else share.answer.part("result")
            if result is not None and result[:1] == "{":
                answers.append((share.part, result))
                continue
            missing.append(share.part.name)
            error = share.error or {}
            if method == "server/discover" and error.get("code") != INTERNAL_ERROR:
                # This server supports only the handshake. Its error makes the client use the
                # handshake too. Servers without this limit support the handshake as well.
                return gathering.first_error()
            if error.get("code") != METHOD_NOT_FOUND or method == "initialize":
                words = shorten(str(error.get("message", messages.NO_OBJECT_RESULT)), 200)
                logger.warning(messages.HAS_NO_ANSWER, share.part.name, method, words)
        if not answers:
            return gathering.first_error()
        request_id = gathering.message.id or "null"
        return wire.result(request_id, merged(method, answers, missing, self.owners))

    # --- tool calls ---

    def _call(self, message: Message, about: About | None) -> None:
        name = value_of(message.at(message.params.get("name")))
        part = self._part_with(name) if isinstance(name, str) else self.parts[0]
        if part is not None:
            part.relay.take(message, about)
            return
        found = value_of(message.at(message.params.get("_meta")))
        running = [part for part in self.parts if part.relay.state == "up"]
        # `_listed` is called once more than there are lists, so that the search also ends if there
        # are no lists.
        seeking = _Seeking(message, about, str(name), len(running) + 1)
        self.seeking.append(seeking)
        for part in running:
            part.relay.fetching.start(
                found if is_object(found) else {},
                lambda has_list: self._listed(seeking, has_list=has_list),
            )
        self._listed(seeking, has_list=True)

    def _part_with(self, name: str) -> Part | None:
        """Return the server that has listed a tool with this published name. Return None if none
        has.
        """
        owner = self.owners.of_tool(name)
        if owner is not None and not owner.relay.catalogue.is_known:
            return owner  # its relay fetches the list, or reports that the server is down
        parts = [part for part in self.parts if part.relay.catalogue.find(name) is not None]
        return owner if owner in parts else next(iter(parts), None)

    def _listed(self, seeking: _Seeking, *, has_list: bool) -> None:
        seeking.left -= 1
        seeking.has_failed |= not has_list
        if seeking.left or seeking not in self.seeking:
            return
        self.seeking.remove(seeking)
        # A server that is down may have the tool. The answer of its relay says when to repeat the
        # call.
        down = (part for part in self.parts if part.relay.state != "up")
        part = self._part_with(seeking.name) or next(down, None)
        if part is not None:
            part.relay.take(seeking.message, seeking.about)
        else:
            self.to_client(self._no_such_tool(seeking), seeking.about, True)

    def _no_such_tool(self, seeking: _Seeking) -> bytes:
        request_id = seeking.message.id or "null"
        if seeking.has_failed:
            found = value_of(seeking.message.at(seeking.message.params.get("_meta")))
            meta = found if is_object(found) else {}
            made = results.not_called(seeking.name, messages.NO_LISTING, meta)
            return wire.result(request_id, made)
        names = [name for part in self.parts for name in part.relay.catalogue.tools]
        words = unknown_tool(seeking.name, near_name(seeking.name, names))
        return wire.error(request_id, INVALID_PARAMS, words)
