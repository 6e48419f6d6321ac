"""Stores the open requests of the upstream server to the client: sampling, elicitation, roots and
pings.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from toolbooth.proxy.message import Key, Message, key_of

_ANSWERED_BY_PROGRAMS = ("ping", "roots/list")


class Questions:
    """The open requests of the server ("questions"). A question can be found by the id of the
    server or by the id that the client sees.
    """

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        """`numbers` yields the ids that the client sees. If a client has several servers, the
        servers share one iterator, so that each id is used only once.
        """
        self._numbers = count(1) if numbers is None else numbers
        self._ids: dict[int, str] = {}
        """The id of each question as the server wrote it, by the number that the client sees."""
        self._by_key: dict[Key, int] = {}
        self._for_people: set[int] = set()

    @property
    def wait_for_a_person(self) -> bool:
        """Return True if a person may have to answer an open question."""
        return bool(self._for_people)

    def has(self, written: str | None) -> bool:
        """Return True if a question with this number is open."""
        key = key_of(written)
        return key is not None and key[0] is int and key[1] in self._ids

    def asked(self, message: Message, written: str) -> int:
        """Add a question. Return the number under which it is sent to the client."""
        number = next(self._numbers)
        self._ids[number] = written
        if message.method not in _ANSWERED_BY_PROGRAMS:
            self._for_people.add(number)
        key = key_of(written)
        if key is not None:
            self._by_key[key] = number
        return number

    def answered(self, message: Message) -> str | None:
        """Remove the question that the client answers. Return the id that the server gave to it, or
        None if the question is not open.
        """
        key = key_of(message.id)
        if key is None or key[0] is not int:
            return None
        written = self._ids.pop(key[1], None)
        self._for_people.discard(key[1])
        self._by_key.pop(key_of(written) or key, None)
        return written

    def cancelled(self, written: str | None) -> int | None:
        """Remove a question that the server cancels. Return the number that the client knows, or
        None if the question is not open.
        """
        key = key_of(written)
        number = None if key is None else self._by_key.pop(key, None)
        if number is not None:
            del self._ids[number]
            self._for_people.discard(number)
        return number

    def forget(self) -> list[int]:
        """Remove all questions. Return their numbers."""
        numbers = list(self._ids)
        self._ids.clear()
        self._by_key.clear()
        self._for_people.clear()
        return numbers
