"""Represents one JSON-RPC message as text, with the position of each part. Can write the message
with some parts replaced.

A proxy changes the id of a message, and sometimes the name of a tool. Everything else is copied as
it was sent: the digits of numbers, the order of keys, and the escapes in text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbooth.jsonvalue import Json

Span = tuple[int, int]
"""The start and the end of a value in a text."""

Spans = dict[str, Span]
"""The position of the value of each key of an object, in order."""

_VALUE = json.JSONDecoder().raw_decode
"""Returns the value that begins at a position, and the end of this value."""
_SPACE = re.compile(r"[ \t\n\r]*").match

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

Key = tuple[type, Any]
"""An id that can be compared. The text "1" and the number 1 are different ids."""


class NotAMessage(ValueError):
    """The bytes are not one JSON object, or a key occurs twice at a level that the proxy reads."""


@dataclass(frozen=True)
class Message:
    """One JSON-RPC message."""

    text: str
    spans: Spans

    def part(self, name: str) -> str | None:
        """Return a member of the message as it was written. Return None if the message does not
        have it.
        """
        span = self.spans.get(name)
        return None if span is None else self.text[span[0] : span[1]]

    @cached_property
    def method(self) -> str | None:
        """Return the method. Return None for a response."""
        found = value_of(self.part("method"))
        return found if isinstance(found, str) else None

    @cached_property
    def id(self) -> str | None:
        """Return the id as it was written. Return None if the message has no id."""
        return self.part("id")

    @cached_property
    def params(self) -> Spans:
        """Return the position of each param. Return no positions if the params are not an
        object.
        """
        return self.members("params")

    def members(self, name: str) -> Spans:
        """Return the position of each member of one part. Return no positions if the part is not an
        object.
        """
        span = self.spans.get(name)
        if span is None or self.text[span[0]] != "{":
            return {}
        return members(self.text, span[0])

    def at(self, span: Span | None) -> str | None:
        """Return the text at a position. Return None if the position is None."""
        return None if span is None else self.text[span[0] : span[1]]

    def subscription(self, part: str) -> Span | None:
        """Return the position of the subscription id in a message. The subscription id is the id of
        the request with which the client subscribed. Return None if the message has no subscription
        id.
        """
        span = self.spans.get(part) if SUBSCRIPTION in self.text else None
        for name in ("_meta", SUBSCRIPTION):
            if span is None or self.text[span[0]] != "{":
                return None
            span = members(self.text, span[0], last=True).get(name)
        return span

    def written(self, changes: Iterable[tuple[Span, str]]) -> bytes:
        """Return the bytes of the message with other text at some positions."""
        return spliced(self.text, changes).encode()

    def with_id(self, new_id: str) -> bytes:
        """Return the bytes of the message with another id."""
        return self.written([(self.spans["id"], new_id)])


def read(line: bytes) -> Message:
    """Read one message. Raises NotAMessage."""
    try:
        text = line.decode()
        start = _after_space(text, 0)
        if text[start : start + 1] != "{":
            raise NotAMessage("not a JSON object")
        message = Message(text, members(text, start, whole=True))
        _ = message.params  # a key that is there twice must be found before anyone reads them
        return message
    except (UnicodeDecodeError, RecursionError) as error:
        raise NotAMessage(str(error)) from None


def members(text: str, start: int, *, whole: bool = False, last: bool = False) -> Spans:
    """Return the position of each member of the object that begins at `start`. If `whole` is true,
    the object must be the end of the text. If a key occurs twice and `last` is true, return the
    position of its last value, which is the one that most JSON parsers use.

    Raises:
        NotAMessage: the text is not JSON, or a key occurs twice and `last` is false.
    """
    found: Spans = {}
    try:
        at = _after_space(text, start + 1)
        if text[at] == "}":
            return _ended(text, at, found, whole=whole)
        while True:
            if text[at] != '"':
                raise NotAMessage("a key is missing")
            key, at = _VALUE(text, at)
            at = _after_space(text, at)
            if text[at] != ":":
                raise NotAMessage("a colon is missing")
            begins = _after_space(text, at + 1)
            _, ends = _VALUE(text, begins)
            if key in found and not last:
                raise NotAMessage(f"the key {key!r} is there twice")
            found[key] = (begins, ends)
            at = _after_space(text, ends)
            if text[at] == "}":
                return _ended(text, at, found, whole=whole)
            if text[at] != ",":
                raise NotAMessage("a comma is missing")
            at = _after_space(text, at + 1)
    except IndexError:
        raise NotAMessage("not JSON") from None
    except NotAMessage:
        raise
    except ValueError as error:  # an integer with thousands of digits, too
        raise NotAMessage(str(error)) from None


def _after_space(text: str, at: int) -> int:
    found = _SPACE(text, at)
    return at if found is None else found.end()


def items(text: str, start: int) -> list[str]:
    """Return the items of the array that begins at `start`. Each item is returned as it was
    written.

    Raises:
        NotAMessage: there is no array.
    """
    found: list[str] = []
    if text[start] != "[":
        raise NotAMessage("not an array")
    at = _after_space(text, start + 1)
    # The whole message was parsed before, so this part is valid JSON.
    while text[at] != "]":
        _, ends = _VALUE(text, at)
        found.append(text[at:ends])
        at = _after_space(text, ends)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return found


def _ended(text: str, at: int, found: Spans, *, whole: bool) -> Spans:
    if whole and _after_space(text, at + 1) != len(text):
        raise NotAMessage("something follows the message")
    return found


def spliced(text: str, changes: Iterable[tuple[Span, str]]) -> str:
    """Return a text in which some parts are replaced."""
    made: list[str] = []
    at = 0
    for (begins, ends), new in sorted(changes):
        made += (text[at:begins], new)
        at = ends
    made.append(text[at:])
    return "".join(made)


def with_member(text: str, name: str, value: str) -> str:
    """Return the text of an object with one member changed or added."""
    spans = members(text, 0, last=True)
    if name in spans:
        return spliced(text, [(spans[name], value)])
    end = text.rindex("}")
    comma = "," if spans else ""
    return f"{text[:end]}{comma}{json.dumps(name)}:{value}{text[end:]}"


def value_of(text: str | None) -> Any:
    """Return the value of a JSON text. Return None if there is no text."""
    return None if text is None else json.loads(text)


def key_of(written: str | None) -> Key | None:
    """Return an id or a token as a value that can be compared. Return None if it is not a valid
    id.
    """
    found = value_of(written)
    return (found.__class__, found) if found.__class__ in (int, str) else None


def request(request_id: int, method: str, params: str) -> bytes:
    """Return a request of the proxy itself. `params` is JSON."""
    return f'{{"jsonrpc":"2.0","id":{request_id},"method":"{method}","params":{params}}}'.encode()


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    """Return a notification of the proxy itself."""
    return json_text({"jsonrpc": "2.0", "method": method, "params": params}).encode()


def result(request_id: str, value: str) -> bytes:
    """Return a response of the proxy itself. Both arguments are JSON."""
    return f'{{"jsonrpc":"2.0","id":{request_id},"result":{value}}}'.encode()


def error(request_id: str, code: int, words: str, data: Json | None = None) -> bytes:
    """Return an error response of the proxy itself."""
    made: Json = {"code": code, "message": words}
    if data is not None:
        made["data"] = data
    return f'{{"jsonrpc":"2.0","id":{request_id},"error":{json_text(made)}}}'.encode()


def json_text(value: Any) -> str:
    """Return a value as compact JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which can only be written as an escape
        return json.dumps(value, separators=(",", ":"))
    return text


def written_id(found: Any) -> str:
    """Return the JSON of an id that was found in an unreadable message."""
    return json_text(found)
