"""One page of a result: as many rows as fit, and what is said beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import orjson

from toolbooth.django import messages
from toolbooth.django.results.tokens import Position, seal
from toolbooth.jsonvalue import Json
from toolbooth.server.results.pages import Written


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is shown of a result, from `start` on and no further than `stop`."""

    found: Written
    position: Position
    token: str | None
    start: int
    stop: int
    most: int | None
    """Bytes; None: as many as there are."""
    counted: bool
    """So many rows were asked for."""
    note: str
    others: str
    """Where the rows are that the answer itself does not hold."""

    def encode(self) -> bytes:
        """The page as JSON: as many rows as fit, one at least."""
        if self.most is None:
            return self._until(self.stop)
        room = self.most
        end = min(self.stop, self._end(room))
        encoded = self._until(end)
        # What is said beside the rows needs room as well.
        while (over := len(encoded) - self.most) > 0 and end > self.start + 1:
            room -= over
            end = max(self.start + 1, min(end - 1, self._end(room)))
            encoded = self._until(end)
        return encoded

    def _end(self, room: int) -> int:
        return self.found.end(self.position.unit, self.start, room)

    def _until(self, end: int) -> bytes:
        """The page that ends here."""
        unit = self.position.unit
        key = self.found.free_key("continuation") if unit == "rows" else "continuation"
        return self.found.page(unit, self.start, end, key, self._continuation(end))

    def _continuation(self, end: int) -> bytes:
        """What is said of a page that ends here: which part it is, and how to get the next."""
        count = self.found.count(self.position.unit)
        continuation: Json = {"from": self.start + 1, "to": end} if end > self.start else {}
        continuation |= {"count": count, "size": self.found.size}
        if end < count and self.token is not None:
            continuation[self.token] = seal(replace(self.position, at=end))
        note = self.note
        if self.counted and self.most is not None and end < self.stop:
            wanted, shown = self.stop - self.start, end - self.start
            note = messages.fewer_rows(wanted, self.most, shown) + note
        return orjson.dumps({**continuation, "note": note + self._note(count - end)})

    def _note(self, more: int) -> str:
        """What follows this page; `more`: so many rows or characters."""
        if not more:
            return f"{self._last()} {self.others}".rstrip()
        words = messages.more_characters(more)
        if self.position.unit == "rows":
            words = messages.more_rows(more, self.found.name)
        elif self.found.is_json:
            words = f"{messages.PIECE_OF_JSON} {words}"
        return messages.to_go_on(words, self.token) if self.token else words

    def _last(self) -> str:
        if self.position.unit == "rows":
            return messages.ALL_ROWS if self.others else messages.LAST_PAGE
        return messages.LAST_PIECE_OF_JSON if self.found.is_json else messages.LAST_PIECE
