"""JSON values: their types, paths into them, names for people to read, and names that are alike.

These functions are shared by several layers. JSON text is parsed in `boundary/read.py`.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from typing_extensions import TypeIs

Json = dict[str, Any]
"""A JSON object, as Python reads it."""

Schema = Mapping[str, Any]
"""A JSON Schema. Functions that take one do not change it."""

JsonPath = tuple[str | int, ...]
"""The path of a value in the arguments: keys and indexes. `()` is the path of the arguments
themselves.
"""

_LONGEST_INDEX = 18
"""An index in a JSON pointer has at most this many digits. No array is longer."""

_LONGEST_KEY = 60
"""At most this many characters of a key are shown."""

_ALIKE = 0.75
"""One name is suggested for another only if they are at least this similar. 1 means equal."""

write_json = json.JSONEncoder(ensure_ascii=False).encode
"""Writes JSON for people to read. It is shared, because `json.dumps` would make a new encoder each
time.
"""


def json_bytes(value: Any) -> bytes:
    """Write a parsed JSON value as bytes. Raises TypeError if the value is not JSON."""
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except RecursionError:
        # The value is too deep for Python. The reader will refuse these brackets as nested too
        # deep.
        return b"[" * 300


def exact_decimal(literal: Any) -> Decimal | None:
    """Convert a number with all its digits as written (jiter's `LosslessFloat`) to a Decimal; None
    if a Decimal cannot hold it.
    """
    try:
        exact = literal.as_decimal()
    # `1e9999999999999999999` is JSON, but a Decimal cannot have such an exponent.
    except InvalidOperation:
        return None
    return exact if exact.is_finite() else None


# --- types --------------------------------------------------------------------------------------


def is_object(value: Any) -> TypeIs[dict[str, Any]]:
    """Return True if a value is a JSON object. No check of the keys is needed, because the keys of
    parsed JSON are always text.
    """
    return isinstance(value, dict)


def is_mapping(value: Any) -> TypeIs[Mapping[str, Any]]:
    """Return True if a value is a JSON object. Mappings other than `dict` count too, because
    authors may use them.
    """
    return isinstance(value, Mapping)


def is_array(value: Any) -> TypeIs[list[Any]]:
    """Return True if a value is a JSON array."""
    return isinstance(value, list)


def same_json(one: Any, other: Any) -> bool:
    """Return True if two values are the same JSON. In Python, True and 1 are equal; in JSON they
    are not.
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_object(one) and is_object(other):
        same_keys = one.keys() == other.keys()
        return same_keys and all(same_json(each, other[key]) for key, each in one.items())
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(map(same_json, one, other))
    return one == other


# --- paths --------------------------------------------------------------------------------------


def path_text(path: Iterable[str | int], start: str = "$") -> str:
    """Return a path as people read it: `$.lines[0].sku`. Long keys are shortened, and unusual keys
    are quoted.
    """
    for step in path:
        start += _dotted.get(step) or _step_text(step)
    return start


_dotted: dict[str | int, str] = {}
"""The text of each step in a path, cached because the same names are used often."""

_MOST_KEPT = 4096


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if not (step.isidentifier() and step.isascii() and len(step) <= _LONGEST_KEY):
        return f"[{quoted(step)}]"
    made = f".{step}"
    # Callers choose keys, so the size of this cache is limited.
    if len(_dotted) < _MOST_KEPT:
        _dotted[step] = made
    return made


def path_from_text(text: str) -> JsonPath:
    """Parse a path that `path_text` wrote. If `path_text` shortened a key, the key stays
    shortened.
    """
    steps: list[str | int] = []
    rest = text.removeprefix("$")
    decoder = json.JSONDecoder()
    while rest:
        if rest.startswith('["'):
            # The key may contain `]` or `.`, as in `$["a.b]"].c`, so a JSON decoder finds its end.
            decoded: tuple[str, int] = decoder.raw_decode(rest, 1)
            key, end = decoded
            steps.append(key)
            rest = rest[end + 1 :]
        elif rest.startswith("["):
            index, _, rest = rest[1:].partition("]")
            steps.append(int(index))
        else:
            key = rest[1:].partition(".")[0].partition("[")[0]
            steps.append(key)
            rest = rest[1 + len(key) :]
    return tuple(steps)


def look_up(arguments: Any, path: JsonPath) -> Any:
    """Return the value at a path; None if there is none."""
    for step in path:
        try:
            arguments = arguments[step]
        except (KeyError, IndexError, TypeError):
            return None
    return arguments


class NoSuchPart(LookupError):
    """Raised for a JSON pointer that points to nothing in the document."""


def resolve_pointer(document: Any, pointer: str) -> Any:
    """Return the part of a document that a JSON pointer names, such as `#/$defs/a~1b` or
    `#/anyOf/0`. The pointer may be percent-encoded.

    Raises:
        NoSuchPart: if there is no such part, or if the pointer names another document.
    """
    if not (pointer == "#" or pointer.startswith("#/")):  # another document, or an anchor
        raise NoSuchPart(pointer)
    found = document
    # The pointer is the fragment of a URI, so it may be percent-encoded (RFC 6901, section 6).
    for step in unquote(pointer[1:]).split("/")[1:]:
        # The order is important (RFC 6901, section 4): `~01` means `~1`, and would become `/` in
        # the other order.
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            found = found[_index(name)] if is_array(found) else found[name]
        except (KeyError, IndexError, TypeError):
            raise NoSuchPart(pointer) from None
    return found


def _index(step: str) -> int:
    """Return the index in a step of a JSON pointer: digits without a sign, space or leading
    zero.
    """
    # `01` and `-1` may be keys of an object, but are not valid indexes. Python would read `-1` as
    # the last item.
    if not step.isdecimal() or len(step) > _LONGEST_INDEX or str(int(step)) != step:
        raise IndexError(step)
    return int(step)


# --- names for people to read -------------------------------------------------------------------


def shorten(text: str, most: int) -> str:
    """Return the text, cut to `most` characters if it is longer. A cut text ends with an
    ellipsis.
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def quoted(name: str) -> str:
    """Return a key in JSON quotes, shortened if it is very long."""
    # Most keys are identifiers, in which nothing must be escaped. They need no encoder.
    if name.isidentifier() and len(name) <= _LONGEST_KEY:
        return f'"{name}"'
    return text_in_quotes(shorten(name, _LONGEST_KEY))


def text_in_quotes(text: str) -> str:
    """Write a text in JSON quotes. Characters that cannot be seen are escaped: spaces of no width,
    and characters that change the direction of the text.
    """
    if text.isprintable():
        return write_json(text)
    return "".join(map(_visible, write_json(text)))


def _visible(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def listed(names: tuple[str, ...], most: int = 24) -> str:
    """Return names in quotes. A long list is cut and ends with "and 3 more"."""
    shown = ", ".join(quoted(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def listed_within(names: tuple[str, ...], room: int) -> str:
    """Return names in quotes, as many as there is room for. A cut list ends with "and 3 more"."""
    whole = _listed_whole(names)
    if len(whole) <= room:
        return whole
    shown = as_many_as_fit(map(in_quotes, names), room, len(names))
    return shown or f"{len(names)} names that are too long to list"


def as_many_as_fit(texts: Iterable[str], room: int, count: int) -> str:
    """Return as many complete texts as there is room for, followed by "and 3 more". `count` is the
    number of all texts. Return empty text if there is not room for one.
    """
    # The room for the number is reserved first, with as many digits as it can have.
    room -= len(f" and {count} more")
    shown: list[str] = []
    for text in texts:
        # Two more for the comma and the space. A text that is too long is skipped, and a shorter
        # one after it may still be shown.
        if len(text) + 2 <= room:
            shown.append(text)
            room -= len(text) + 2
    return f"{', '.join(shown)} and {count - len(shown)} more" if shown else ""


@lru_cache(maxsize=1024)  # cached, because declared names repeat
def _listed_whole(names: tuple[str, ...]) -> str:
    return ", ".join(map(in_quotes, names))


def in_quotes(name: str) -> str:
    """Return a key in JSON quotes. A long key is not shortened."""
    return f'"{name}"' if name.isidentifier() else text_in_quotes(name)


# --- names that are alike -----------------------------------------------------------------------


def recased(name: str) -> str:
    """Return a name in lower case and without separators. The result is the same for `firstName`,
    `first-name` and `first_name`.
    """
    # Without an argument, `split` also removes tabs, line breaks and spaces that do not break.
    return "".join(name.replace("_", " ").replace("-", " ").split()).lower()


def same_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name in `names` that equals `name` apart from case and separators. None if there
    is no such name, or more than one.
    """
    wanted = recased(name)
    same = [each for each in names if recased(each) == wanted]
    # If both `userId` and `user_id` are declared, `userID` may mean either.
    return same[0] if len(same) == 1 else None


def near_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name to suggest instead of an unknown one: a name that differs only in case and
    separators, or else the most similar name.
    """
    wanted = recased(name)
    table: dict[str, str] = {}
    for each in names:
        table.setdefault(recased(each), each)
    if wanted in table:
        return table[wanted]
    close = difflib.get_close_matches(wanted, list(table), n=2, cutoff=_ALIKE)
    # If two names are equally similar, suggesting one of them would be a guess.
    if not close or (len(close) == 2 and likeness(wanted, close[0]) == likeness(wanted, close[1])):
        return None
    return table[close[0]]


def likeness(one: str, other: str) -> float:
    """Return how similar two texts are, from 0 to 1."""
    # The arguments are in the order of `get_close_matches`, because the ratio is not always
    # symmetric.
    return difflib.SequenceMatcher(None, other, one).ratio()
