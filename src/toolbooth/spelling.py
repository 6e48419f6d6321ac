"""Finds the declared name that an undeclared one certainly means, by its spelling.

A similar name is not enough: `from_account` is similar to `to_account`, but means the opposite. A
name that looks misspelled may be another word: `contract` is not a misspelling of `contact`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from toolbooth.jsonvalue import recased

SHORTEST = 5
"""Misspellings are corrected only in words with at least this many letters. Shorter words are too
similar to each other.
"""

_KEPT = 4096
"""At most this many names are cached. Callers choose names, so the cache must be limited."""

_LONGEST = 200
"""Longer names are not cached."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")

_ENDING = re.compile(r"(er|ee|or|ed|ing)s?$")
"""Endings of words for a person who does something (`caller`), and for the person or thing that it
is done to (`callee`).
"""

_NAME = re.compile(r"[\w .-]+")
"""Matches a text that consists of letters, digits, spaces, dots, underscores and hyphens."""

_DIRECTIONS = frozenset(
    ["to", "from", "by", "per", "of", "in", "for", "before", "after", "over", "under", "than", "vs"]
)
"""Words whose meaning depends on whether they come first or last: `account_from` need not be
`from_account`.
"""

_ROWS = (("qwertyuiop", 0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
"""The letters of a keyboard by row, and the offset of each row to the right, in keys."""


def _neighbours() -> dict[str, str]:
    """Return the letters beside each letter on a keyboard, in its row and the rows next to it."""
    places: dict[str, tuple[int, float]] = {}
    for row, (letters, start) in enumerate(_ROWS):
        places |= {letter: (row, start + column) for column, letter in enumerate(letters)}
    return {letter: "".join(_beside(letter, places)) for letter in places}


def _beside(letter: str, places: Mapping[str, tuple[int, float]]) -> Iterator[str]:
    row, column = places[letter]
    for other, (its_row, its_column) in places.items():
        if other != letter and abs(its_row - row) <= 1 and abs(its_column - column) <= 1:
            yield other


NEIGHBOURS = _neighbours()


@dataclass(frozen=True, slots=True)
class Match:
    """The declared name that was certainly meant."""

    name: str
    by_number: bool = False
    """True if one name is the plural of the other. Then the value must fit the declared field
    without a change.
    """


def certain_match(
    sent: str, names: Sequence[str], words: frozenset[str] = frozenset()
) -> Match | None:
    """Return the only one of `names` that is certainly meant; None if there is not exactly one.
    `words` are further names of the same tool. A word in one of them is not a misspelling.
    """
    wanted = recased(sent)
    same = [name for name in names if recased(name) == wanted]
    if same or not _NAME.fullmatch(sent):
        is_certain = len(same) == 1 and not _may_be_another(sent, same[0], names)
        return Match(same[0]) if is_certain else None
    found = [match for name in names if (match := _match(sent, name)) is not None]
    if len(found) != 1:
        return None
    if isinstance(found[0], Match):
        may_be_slip = found[0].by_number and _is_slip_in_another(sent, found[0].name, names)
        return None if may_be_slip else found[0]
    # A slip counts only if the result is not a word. `contract` is a word, so it is not a slip of
    # `contact`. A word in another name of the tool is not a slip either.
    name, word, declared = found[0]
    if word in _words_of(words) or any(word in parts(each) for each in names):
        return None
    return None if is_word(word) or _is_other_form(word, declared) else Match(name)


def _may_be_another(sent: str, name: str, names: Sequence[str]) -> bool:
    """Return True if `sent` may be a misspelling of a declared name other than `name`. `sent`
    equals `name` apart from case and separators. For example, `descriptionn` equals the name
    `description__n`, but may also be the name `description` with a doubled letter.
    """
    ours, theirs = parts(name), parts(sent)
    has_letter = any(len(each) == 1 for each in (*ours, *theirs))
    is_unclear = ours != theirs and (has_letter or len(ours) == len(theirs))
    return is_unclear and _is_slip_in_another(sent, name, names)


def _is_slip_in_another(sent: str, name: str, names: Sequence[str]) -> bool:
    """Return True if the sent name may be a misspelling of a declared name other than `name`. Words
    of any length count: `lts` may mean `lt` or `lte`.
    """
    return any(is_one_slip(sent, other) for other in names if other != name)


def _match(sent: str, name: str) -> Match | tuple[str, str, str] | None:
    """Compare one declared name with the name that was sent; None if they are different names. If
    one word is misspelled, return the declared name, the word that was sent and the declared word.
    """
    ours, theirs = parts(name), parts(sent)
    if ours and ours == theirs:
        return Match(name)
    if len(ours) == len(theirs) > 1 and sorted(ours) == sorted(theirs):
        # `date_start` is `start_date`, but `account_from` need not be `from_account`.
        return Match(name) if _DIRECTIONS.isdisjoint(ours) else None
    if ours[:-1] == theirs[:-1] and ours and theirs and _is_number_of(ours[-1], theirs[-1]):
        return Match(name, by_number=True)
    slip = _slip(recased(sent), theirs, ours)
    return (name, *slip) if slip is not None else None


# --- words --------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _words_of(names: frozenset[str]) -> frozenset[str]:
    return frozenset(part for name in names for part in parts(name))


def parts(name: str) -> tuple[str, ...]:
    """Return the words and numbers of a name in lower case: `firstName2` has `first`, `name` and
    `2`.
    """
    # A hostile key may have a million letters. It is read, but not cached.
    return _kept_parts(name) if len(name) <= _LONGEST else _parts(name)


@lru_cache(maxsize=_KEPT)
def _kept_parts(name: str) -> tuple[str, ...]:
    return _parts(name)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(map(str.lower, _PARTS.findall(name)))


@cache
def _list() -> str:
    """Return all words in one text, one word on each line. A text needs less memory than a set."""
    return "\n" + files("toolbooth").joinpath("words.txt").read_text(encoding="ascii")


def is_listed(text: str) -> bool:
    """Return True if text is in the list of words that names and documentation use."""
    return f"\n{text}\n" in _list()


@lru_cache(maxsize=_KEPT)
def is_word(text: str) -> bool:
    """Return True if text is a listed word, or a listed word with an ending such as `s` or `ed`."""
    return any(map(is_listed, (text, *_stems(text))))


def _stems(text: str) -> Iterator[str]:
    """Yield a word without its ending: `assign` for `assigner`, `entire` for `entires`. Short stems
    are skipped, so `serfer` does not count as a form of `serf`. It is a misspelling of `server`.
    """
    for ending in ("er", "ee", "or", "ed", "ing", "ly", "s"):
        stem = text.removesuffix(ending)
        has_other_form = stem.endswith(("e", "s", "ed") if ending == "s" else "e")
        if stem != text and len(stem) >= SHORTEST and not has_other_form:
            yield stem
    if text.endswith(("ed", "er", "es")) and len(text) > SHORTEST + 1:
        yield text[:-1]


def _is_other_form(word: str, declared: str) -> bool:
    """Return True if two words differ only in their endings. For example, `callee` does not mean
    `caller`.
    """
    stem, other = (_ENDING.sub("", each) for each in (word, declared))
    if stem != other or stem in (word, declared):
        return False
    # This includes `muter` and `logger`.
    return any(map(is_listed, (stem, f"{stem}e", stem[:-1])))


def _is_number_of(one: str, other: str) -> bool:
    """Return True if one word is the plural of the other."""
    short, long = sorted((one, other), key=len)
    if len(short) < 2 or not short.isalpha():
        return False
    # `ids` and `ips` are plurals. `ies` is not, because `ie` is not a noun.
    if len(short) == 2 and short[1] in "aeiou":
        return False
    return long in (f"{short}s", f"{short}es") or (
        short.endswith("y") and long == f"{short[:-1]}ies"
    )


# --- slips --------------------------------------------------------------------------------------


def is_one_slip(sent: str, name: str) -> bool:
    """Return True if one typing mistake turns one name into the other. Separators do not matter."""
    wanted, other = recased(sent), recased(name)
    return wanted != other and _is_one_slip(wanted, other, _first_difference(wanted, other))


def _slip(sent: str, theirs: tuple[str, ...], ours: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the word with the only typing mistake, and the declared word that is meant. None if
    there is no such word, or if the declared word is short.
    """
    if len(theirs) != len(ours):
        return _slip_in_joined(sent, theirs, ours)
    differing = [(word, own) for word, own in zip(theirs, ours, strict=True) if word != own]
    if len(differing) != 1:
        return None
    [(word, own)] = differing
    is_slip = _is_one_slip(word, own, _first_difference(word, own))
    return (word, own) if is_slip and len(own) >= SHORTEST and word.isalpha() else None


def _slip_in_joined(
    sent: str, theirs: tuple[str, ...], ours: tuple[str, ...]
) -> tuple[str, str] | None:
    """Do the same as `_slip` for a name that was sent with other separators, or without any."""
    name = "".join(ours)
    more = len(sent) - len(name)
    if abs(more) > 1 or sent == name:
        return None
    at = _first_difference(sent, name)
    if not _is_one_slip(sent, name, at):
        return None
    # A single letter after a separator is another word, and not a doubled letter: `variation_n`.
    if more == 1 and any(start == at for start, _ in _spans(theirs)):
        return None
    # Dropped, doubled or replaced: one letter. Swapped: this one and the next.
    is_swap = more == 0 and sent[at + 1 :] != name[at + 1 :]
    last = at + 1 if is_swap else min(at, len(name) - 1)
    start, end = next((start, end) for start, end in _spans(ours) if start <= last < end)
    word, own = sent[start : end + more], name[start:end]
    is_whole = start <= min(at, last)
    return (word, own) if is_whole and len(own) >= SHORTEST and word.isalpha() else None


def _first_difference(one: str, other: str) -> int:
    same = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(same, min(len(one), len(other)))


def _is_one_slip(sent: str, name: str, at: int) -> bool:
    # Four kinds of slips, in this order: a letter left out, a letter doubled, a letter replaced by
    # one beside it on the keyboard, and two letters swapped.
    if len(sent) < len(name):
        return sent[at:] == name[at + 1 :] and name[at].isalpha()
    if len(sent) > len(name):
        return sent[at + 1 :] == name[at:] and at > 0 and sent[at] == sent[at - 1]
    if sent[at + 1 :] == name[at + 1 :]:
        return sent[at] in NEIGHBOURS.get(name[at], "")
    swapped = name[at : at + 2][::-1]
    return sent[at : at + 2] == swapped and sent[at + 2 :] == name[at + 2 :] and swapped.isalpha()


def _spans(ours: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    ends = [0]
    for part in ours:
        ends.append(ends[-1] + len(part))
    return pairwise(ends)
