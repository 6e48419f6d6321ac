"""Parses the bytes of a stream of server-sent events, without I/O. Returns the messages in it."""

from __future__ import annotations

from dataclasses import dataclass

from toolbooth.server.pipes import LONGEST_LINE


class TooLong(Exception):
    """An event is longer than the limit for messages."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `data` is empty if the event has only an id."""

    data: bytes
    id: bytes | None = None
    retry: float | None = None
    """The number of seconds after which the client may connect again."""


class Events:
    """Parses the events of one stream as their bytes arrive."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        """The beginning of an incomplete line, in pieces. Joining the pieces each time would copy a
        long line again and again.
        """
        self._data: list[bytes] = []
        self._id: bytes | None = None
        self._retry: float | None = None
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that are now complete. Raises TooLong."""
        self._size += len(data)
        first, *others = data.split(b"\n")
        self._parts.append(first)
        lines: list[bytes] = []
        for part in others:
            lines.append(b"".join(self._parts))
            self._parts = [part]
        found: list[Event] = []
        for line in lines:
            event = self._line(line.removesuffix(b"\r"))
            if event is not None:
                found.append(event)
        if not lines and self._size > LONGEST_LINE:
            raise TooLong
        return found

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._event()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"id":
            self._id = value
        elif name == b"retry" and value.isdigit():
            self._retry = int(value) / 1000
        return None

    def _event(self) -> Event | None:
        """Return the event that an empty line has completed. Return None if the event is empty."""
        data, self._data = b"\n".join(self._data), []
        made = Event(data, self._id, self._retry)
        self._id = self._retry = None
        self._size = 0
        return made if made != Event(b"") else None


def primer(event_id: str, seconds: float | None) -> bytes:
    """Return an event that has only an id and no message. The client can use the id to request the
    rest of the stream.
    """
    retry = b"" if seconds is None else b"retry: %d\r\n" % (seconds * 1000)
    return b"id: " + event_id.encode() + b"\r\n" + retry + b"data: \r\n\r\n"


def framed(message: bytes) -> bytes:
    """Return a message as an event."""
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"
