"""Server-sent events: the bytes of a stream -> the messages in it, without I/O."""

from __future__ import annotations

from dataclasses import dataclass

from toolbooth.server.pipes import LONGEST_LINE


class TooLong(Exception):
    """An event is longer than a message may be."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `data` is empty if it only has an id."""

    data: bytes
    id: bytes | None = None
    retry: float | None = None
    """Seconds after which the client may connect again."""


class Events:
    """The events of one stream, as their bytes arrive."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._id: bytes | None = None
        self._retry: float | None = None
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that are complete now. Raises TooLong."""
        self._size += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
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
        """The event that an empty line ends."""
        data, self._data = b"\n".join(self._data), []
        made = Event(data, self._id, self._retry)
        self._id = self._retry = None
        self._size = 0
        return made if made != Event(b"") else None


def primer(event_id: str, seconds: float | None) -> bytes:
    """An event without a message: with its id, the client can ask for the rest of the stream."""
    retry = b"" if seconds is None else b"retry: %d\r\n" % (seconds * 1000)
    return b"id: " + event_id.encode() + b"\r\n" + retry + b"data: \r\n\r\n"


def framed(message: bytes) -> bytes:
    """A message as an event."""
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"
