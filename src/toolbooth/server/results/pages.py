"""Divides a result into pages, and summarises it. The result is already JSON text. This text is cut
and not written again, so nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import jiter
import orjson

from toolbooth.jsonvalue import Json, is_array, is_object

Span = tuple[int, int]
Path = tuple[str, ...]
"""The path of a list in a result. It has one key, or two keys if the list is one level deeper."""
Unit = Literal["rows", "text"]
"""How pages are counted: in rows, or in characters if the rows cannot be separated."""

ROWS = "results"
"""The key under which a page has the rows, if the whole result is a list."""

_scan = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode
"""Parses a value that begins at a position in a text. Returns the value and the position of its
end.
"""
_space = re.compile(r"[ \t\n\r]*")

_LONGEST = 100
"""A value in a sample has at most this many characters."""
_MOST_FIELDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A result as text. The positions of its rows are known."""

    text: str
    is_json: bool
    name: str = ""
    """The key of the rows. If the rows are one level deeper, this is two keys with a point between
    them, such as `data.items`.
    """
    path: Path = ()
    """The path of the rows, if the caller of `read` gave one."""
    rows: tuple[Span, ...] = ()
    head: str = ""
    """The text of a page before its first row. `tail` is the text after its last row, without the
    closing brace.
    """
    tail: str = ""
    members: Mapping[str, Span] = field(default_factory=dict[str, Span])
    """The position of each value in the object."""

    @property
    def size(self) -> int:
        """Return the size of the text in bytes."""
        return _size(self.text)

    def count(self, unit: Unit) -> int:
        """Return the length of the result: the number of its rows or of its characters."""
        return len(self.rows) if unit == "rows" else len(self.text)

    def unit(self, most: int | None, start: int = 0, stop: int | None = None) -> Unit:
        """Return how pages are counted. They are counted in rows, if every row and the text around
        it fit into `most` bytes.
        """
        largest = max(self._sizes(self.rows[start:stop]), default=0)
        if most is not None and _size(self.head) + _size(self.tail) + largest > most:
            # A page never cuts a row in two. If one row alone is larger than a page, the text is
            # cut instead.
            return "text"
        return "rows" if self.name else "text"

    def member(self, key: str) -> Any:
        """Return the value under a key of the object. Return None if the object has no such key."""
        return json.loads(self.member_text(key) or "null")

    def member_text(self, key: str) -> str:
        # `(0, 0)` is empty text, and no value is that short.
        """Return the text of the value under a key of the object, as it is written. Return empty
        text if the object has no such key.
        """
        start, end = self.members.get(key, (0, 0))
        return self.text[start:end]

    def beside(self, key: str) -> str:
        """Return the full name of a key beside the rows, such as `data.next`."""
        return ".".join((*self.path[:-1], key))

    @property
    def rows_text(self) -> str:
        """Return all rows as they are written."""
        return self.text[self.rows[0][0] : self.rows[-1][1]] if self.rows else ""

    def end(self, unit: Unit, start: int, room: int) -> int:
        """Return the position at which a page ends. It begins at `start` and has at most `room`
        bytes, but at least one row or character.
        """
        if unit == "text":
            # The braces, the key and the comma around the piece count too.
            return self._end_of_piece(start, room - len('{"text":,:}'))
        room -= _size(self.head) + _size(self.tail) + len(",:}")
        end = start
        for size in self._sizes(self.rows[start:]):
            # One more for the comma between two rows.
            room -= size + 1
            if room < 0 and end > start:
                break
            end += 1
        return end

    def page(self, unit: Unit, start: int, end: int, key: str, note: bytes) -> bytes:
        """Return the page from `start` to `end`. `note` is added under the key `key`."""
        if unit == "text":
            return b'{"text":%b,"%b":%b}' % (orjson.dumps(self.text[start:end]), key.encode(), note)
        rows = self.text[self.rows[start][0] : self.rows[end - 1][1]] if end > start else ""
        return b'%b,"%b":%b}' % (f"{self.head}{rows}{self.tail}".encode(), key.encode(), note)

    def free_key(self, wanted: str) -> str:
        """Return a key that the result does not have yet: `wanted`, or `wanted` with a number."""
        number, key = 1, wanted
        while key in self.members:
            number += 1
            key = f"{wanted}_{number}"
        return key

    def noted(self, note: bytes) -> bytes | None:
        """Return the whole result with `note` added to it. Return None if the result is not an
        object.
        """
        key = self.free_key("continuation")
        if self.name:
            return self.page("rows", 0, len(self.rows), key, note)
        if not self.members:
            return None
        return b'%b,"%b":%b}' % (self.text.rstrip()[:-1].encode(), key.encode(), note)

    def summary(self) -> Json:
        """Describe the result: the number of its rows, its size, its fields, and the beginning of
        the first row.
        """
        made: Json = {"size": self.size}
        if not self.is_json:
            return {**made, "sample": _short(self.text)}
        one: Any = jiter.from_json(self.text.encode())
        if self.name:
            beside: Json = {} if is_array(one) else one
            rows: list[Any] = one if is_array(one) else one[self.name]
            made = {"rows": self.name, "count": len(self.rows), **made}
            if others := _sample({key: each for key, each in beside.items() if key != self.name}):
                made["beside"] = others
            one = rows[0] if rows else None
        if is_object(one):
            made["fields"] = list(one)[:_MOST_FIELDS]
            if len(one) > _MOST_FIELDS:
                made["more_fields"] = len(one) - _MOST_FIELDS
        return {**made, "sample": _sample(one)}

    def _end_of_piece(self, start: int, room: int) -> int:
        length = min(len(self.text) - start, max(room, 1))
        # With escapes, the JSON of a piece may be six times as long. The length is reduced in
        # proportion until it fits.
        while length > 1 and (size := len(orjson.dumps(self.text[start : start + length]))) > room:
            length = max(1, min(length - 1, length * room // size))
        return start + length

    def _sizes(self, rows: Sequence[Span]) -> Iterator[int]:
        # For ASCII, the number of characters is the number of bytes, so nothing has to be encoded.
        if self.text.isascii():
            return (end - start for start, end in rows)
        return (_size(self.text[start:end]) for start, end in rows)


def plain(text: str) -> Written:
    """Return a result that is text and not JSON."""
    return Written(text=text, is_json=False)


def read(text: str, path: Path = ()) -> Written:
    """Read a JSON result. Its rows are the list at `path`. If `path` is empty, its rows are the
    longest list at the top level.
    """
    try:
        return _read(text, path)
    except (ValueError, IndexError):  # an author's own text, which is not JSON
        return Written(text=text, is_json=True)


def _read(text: str, path: Path) -> Written:
    start = _past(text, 0)
    if text[start] == "[":
        rows = tuple(span for _, span in _members(text, start, keyed=False))
        return Written(
            text=text, is_json=True, name=ROWS, rows=rows, head=f'{{"{ROWS}":[', tail="]"
        )
    if text[start] != "{":
        return Written(text=text, is_json=True)
    members = dict(_members(text, start, keyed=True))
    found = members
    if len(path) > 1 and path[0] in members:
        # The rows are one level deeper, and the values beside them too.
        start, _ = members.pop(path[0])
        inner = {f"{path[0]}.{key}": span for key, span in _members(text, start, keyed=True)}
        found, members = inner, {**members, **inner}
    lists = {key: span for key, span in found.items() if text[span[0]] == "["}
    if not lists:
        return Written(text=text, is_json=True, members=members)
    wanted = ".".join(path)
    # The rows at the given path win. Otherwise the longest list does, measured in characters.
    name = max(lists, key=lambda key: (key == wanted, lists[key][1] - lists[key][0]))
    start, end = lists[name]
    return Written(
        text=text,
        is_json=True,
        name=name,
        path=path,
        rows=tuple(each for _, each in _members(text, start, keyed=False)),
        head=text[: start + 1],
        tail=text[end - 1 :].rstrip()[:-1],
        members=members,
    )


def joined(parts: Sequence[Written]) -> Written:
    """Join the pages of one list to a single page with all rows. The link to the next page comes
    from the last page. All other values come from the first page.
    """
    first, last = parts[0], parts[-1]
    if first is last:
        return first
    # The rows are joined as text, so their numbers keep every digit.
    rows = ",".join(part.rows_text for part in parts if part.rows)
    found = read(f"{first.head}{rows}{first.tail}}}", first.path)
    link = first.beside("next")
    # Only the link to the next page is taken from the last page, because the joined page continues
    # there.
    if link not in found.members or link not in last.members:
        return found
    start, end = found.members[link]
    text = found.text[:start] + last.member_text(link) + found.text[end:]
    return read(text, first.path)


def differing(parts: Sequence[Written]) -> Json:
    """Return the values beside the rows that differ between pages. The key `view_pages` has them
    for each page. Links to other pages are left out.
    """
    first = parts[0]
    known = (first.name, first.beside("next"), first.beside("previous"))
    keys = dict.fromkeys(key for part in parts for key in part.members if key not in known)
    changing = [key for key in keys if not _is_same(key, parts)]
    if not changing:
        return {}
    return {"view_pages": [_fragments(part, changing) for part in parts]}


def _is_same(key: str, parts: Sequence[Written]) -> bool:
    return all(part.member_text(key) == parts[0].member_text(key) for part in parts)


def _fragments(part: Written, keys: Sequence[str]) -> dict[str, orjson.Fragment]:
    """Return the values under these keys, as they are written."""
    return {key: orjson.Fragment(part.member_text(key)) for key in keys if key in part.members}


def _members(text: str, start: int, *, keyed: bool) -> Iterator[tuple[str, Span]]:
    """Yield the entries of an object or a list: the key, and the position of the value."""
    at = _past(text, start + 1)
    while text[at] not in "}]":
        key = ""
        if keyed:
            key, at = _scan(text, at)
            at = _past(text, _past(text, at) + 1)
        _, end = _scan(text, at)
        yield key, (at, end)
        at = _past(text, end)
        if text[at] == ",":
            at = _past(text, at + 1)


def _past(text: str, at: int) -> int:
    found = _space.match(text, at)
    return at if found is None else found.end()


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _sample(value: Any) -> Any:
    if is_object(value):
        return {key: _short(each) for key, each in list(value.items())[:_MOST_FIELDS]}
    return _short(value)


def _short(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
