"""Makes one page of a result: as many rows as fit, with notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from toolbooth.django.results import messages
from toolbooth.django.results.tokens import Position, seal
from toolbooth.jsonvalue import Json
from toolbooth.server.results.pages import Unit, Written, read


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a result. It begins at `start`, and ends at `stop` or earlier."""

    found: Written
    unit: Unit
    token: str | None
    start: int
    stop: int
    most: int | None
    """The most bytes of the page. None if there is no limit."""
    note: str
    others: str
    """A sentence about the rows that the response itself does not contain."""
    following: Callable[[int], Position | None]
    """A function that takes the end of a page, and returns the position that follows it. It returns
    None after the last page.
    """
    count: int | None
    """The number of all rows or characters. None if it is not known."""
    size: int | None
    """The size of the whole result in bytes. None if it is not known."""
    before: int = 0
    """The number of rows before the first row of `found`."""
    wanted: int | None = None
    """The number of rows that were requested and exist."""
    beside: Json = field(default_factory=dict[str, Any])
    """More keys for the `continuation` object of the page."""

    def encode(self) -> tuple[bytes, int]:
        """Return the page as JSON, and the row or character where it ends. The page has as many
        rows as fit, and at least one.
        """
        if self.most is None:
            return self._until(self.stop), self.stop
        room = self.most
        end = min(self.stop, self._end(room))
        encoded = self._until(end)
        # The notes beside the rows need room as well.
        while (over := len(encoded) - self.most) > 0 and end > self.start + 1:
            room -= over
            # Each round removes at least one row, but keeps the first.
            end = max(self.start + 1, min(end - 1, self._end(room)))
            encoded = self._until(end)
        return encoded, end

    def _end(self, room: int) -> int:
        return self.found.end(self.unit, self.start, room)

    def _until(self, end: int) -> bytes:
        """Return the JSON of the page that ends before row or character `end`."""
        # A view's own response may have a key of this name.
        key = self.found.free_key("continuation") if self.unit == "rows" else "continuation"
        return self.found.page(self.unit, self.start, end, key, self._continuation(end))

    def _continuation(self, end: int) -> bytes:
        """Return the JSON that describes the page: its rows, the size of the whole result, and the
        token for the next page.
        """
        continuation: Json = {}
        if end > self.start:
            # Counted from 1, like the row in the refusal of a row that is too large.
            continuation |= {"from": self.before + self.start + 1, "to": self.before + end}
        if self.count is not None:
            continuation["count"] = self.count
        if self.size is not None:
            continuation["size"] = self.size
        continuation |= self.beside
        following = self.following(end)
        if following is not None and self.token is not None:
            continuation[self.token] = seal(following)
        note = self.note
        shown = end - self.start
        if self.wanted is not None and self.most is not None and shown < self.wanted:
            note = messages.fewer_rows(self.wanted, self.most, shown) + note
        return orjson.dumps({**continuation, "note": note + self._note(following, end)})

    def _note(self, following: Position | None, end: int) -> str:
        """Return the note about the rows or characters after this page."""
        if following is None:
            return f"{self._last()} {self.others}".rstrip()
        words = self._more(None if self.count is None else self.count - self.before - end)
        return messages.to_go_on(words, self.token) if self.token else words

    def _more(self, more: int | None) -> str:
        """Return a note that more rows or characters follow. `more` is their number, or None if the
        number is unknown.
        """
        if more is None or more < 1:
            return messages.some_more_rows(self.found.name)
        if self.unit == "rows":
            return messages.more_rows(more, self.found.name)
        words = messages.more_characters(more)
        return f"{messages.PIECE_OF_JSON} {words}" if self.found.is_json else words

    def _last(self) -> str:
        if self.unit == "rows":
            return messages.ALL_ROWS if self.others else messages.LAST_PAGE
        return messages.LAST_PIECE_OF_JSON if self.found.is_json else messages.LAST_PIECE


def with_next_page(output: bytes | str, next_page: Json) -> bytes | str:
    """Return a result with the arguments for the next page added. If `next_page` is empty, return
    the result unchanged.
    """
    if not next_page or isinstance(output, str):
        return output
    key = "continuation"
    # The result is parsed only if the text occurs in it: only then it may have such a key.
    if key.encode() in output:
        key = read(output.decode()).free_key(key)
    told = orjson.dumps({"next_page": next_page})
    return b'%b,"%b":%b}' % (output[:-1], key.encode(), told)
