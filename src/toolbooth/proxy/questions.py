"""The requests of the upstream server to the client: sampling, elicitation, roots, pings."""

from __future__ import annotations

from itertools import count

from toolbooth.proxy.message import Key, Message, key_of


class Questions:
    """The open questions, by the ids of both sides."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._ids: dict[int, str] = {}
        """The id that the server gave a question, as it was written, by the number of this side."""
        self._by_key: dict[Key, int] = {}

    @property
    def are_open(self) -> bool:
        return bool(self._ids)

    def asked(self, message: Message, written: str) -> int:
        """The number under which a question goes to the client."""
        number = next(self._numbers)
        self._ids[number] = written
        key = key_of(written)
        if key is not None:
            self._by_key[key] = number
        return number

    def answered(self, message: Message) -> str | None:
        """The id of the question that the client answers; None if it is not open."""
        key = key_of(message.id)
        if key is None or key[0] is not int:
            return None
        written = self._ids.pop(key[1], None)
        self._by_key.pop(key_of(written) or key, None)
        return written

    def cancelled(self, written: str | None) -> int | None:
        """The number of the question that the server takes back; None if it is not open."""
        key = key_of(written)
        number = None if key is None else self._by_key.pop(key, None)
        if number is not None:
            del self._ids[number]
        return number

    def forget(self) -> list[int]:
        """Take back all questions, and return their numbers."""
        numbers = list(self._ids)
        self._ids.clear()
        self._by_key.clear()
        return numbers
