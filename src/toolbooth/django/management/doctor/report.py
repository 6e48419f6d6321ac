"""Writes groups of findings as text for a terminal, or as one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from toolbooth.django.management.doctor import messages
from toolbooth.django.management.doctor.findings import Group, Level
from toolbooth.jsonvalue import Json

MOST_LINES = 40
WIDTH = 100

_MARGIN = 11
"""The width of the columns before the text of a finding: its level, and a gap."""

_MOST_PLACES = 3
_LONGEST_PLACE = 2
"""The most lines that one place may have."""

Paint = Callable[[Level, str], str]
"""A function that takes a level and a text, and returns the text in the colour of the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of one run of the doctor."""

    opening: Sequence[str]
    """Versions, and the result of a real call."""
    groups: Sequence[Group]
    steps: Sequence[str]
    """The next steps."""

    def counts(self) -> dict[str, int]:
        """Return the number of groups for each level. Findings without a problem are not
        counted.
        """
        found = Counter(each.level for each in self.groups)
        return {level: found[level] for level in ("error", "warning", "note")}

    def as_json(self, exit_code: int) -> Json:
        """Return the whole report as JSON, with every place."""
        return {
            "opening": list(self.opening),
            "exit_code": exit_code,
            "counts": self.counts(),
            "findings": [_json_of(each) for each in self.groups],
            "next": list(self.steps),
        }

    def lines(self, paint: Paint, *, whole: bool) -> list[str]:
        """Return the report as lines of text. With `whole`, the report may be longer than a
        screen.
        """
        ending = ["", messages.counted(self.counts())]
        if not whole and any(len(each.places) > 1 for each in self.groups):
            ending[-1] += messages.SHOW_ALL
        if self.steps:
            ending += ["", messages.NEXT]
            ending += [line for each in _numbered(self.steps) for line in each]
        opening = [*(line for each in self.opening for line in wrap(each, WIDTH)), ""]
        room = MOST_LINES - len(ending) - len(opening)
        body = _whole(self.groups, paint) if whole else _fitting(self.groups, paint, room)
        return [*opening, *body, *ending]


def _json_of(group: Group) -> Json:
    return {
        "level": group.level,
        "code": group.code,
        "what": group.what,
        "cure": group.cure,
        # A finding about the whole project has no place, and counts as one.
        "count": max(1, len(group.places)),
        "places": [
            {"place": each.place, "what": each.what, "cure": each.remedy}
            for each in group.findings
            if each.place
        ],
    }


def _numbered(steps: Sequence[str]) -> Iterator[list[str]]:
    for number, each in enumerate(steps, 1):
        yield wrap(each, WIDTH, initial_indent=f"  {number}. ", subsequent_indent="     ")


# --- text that fits on a screen ---

_MORE: tuple[tuple[Level, int], ...] = (
    ("error", 3),
    ("warning", 3),
    ("note", 2),
    ("note", 3),
)
"""The order in which groups get more detail if there is room: a level, and an amount of detail. 1
is one line, which each group gets in any case. 2 adds a line with places and the remedy. 3 is
everything.
"""


def _fitting(groups: Sequence[Group], paint: Paint, room: int) -> list[str]:
    """Return at most `room` lines for the groups. If not every group gets a line, the last line has
    the number of groups that are missing.
    """
    fine = [each for each in groups if each.level == "ok"]
    others = [each for each in groups if each.level != "ok"]
    blocks = [_block(each, paint, 1) for each in others]
    ending = _marked("ok", messages.fine(len(fine)), paint) if fine else []
    # The last line is kept for the number of things that are fine.
    room -= len(ending)
    # Errors get the remaining room first, then warnings, then notes.
    for level, detail in _MORE:
        for at, each in enumerate(others):
            fuller = _block(each, paint, detail) if each.level == level else blocks[at]
            if sum(map(len, blocks)) - len(blocks[at]) + len(fuller) <= room:
                blocks[at] = fuller
    # If there is room left, the things that are fine are named instead of counted.
    every_fine = [line for each in fine for line in _what(each, paint)]
    if sum(map(len, blocks)) + len(every_fine) <= room + len(ending):
        ending = every_fine
    return [*_cut_blocks(blocks, room), *ending]


def _cut_blocks(blocks: list[list[str]], room: int) -> list[str]:
    shown: list[str] = []
    for at, block in enumerate(blocks):
        left = len(blocks) - at
        # One line is kept for the number of groups that follow; the last group needs none.
        if left > 1 and len(shown) + len(block) + 1 > room:
            return [*shown, *_text("", messages.more_groups(left))]
        shown += block
    return shown


def _block(group: Group, paint: Paint, detail: int) -> list[str]:
    if detail == 3:
        return [*_what(group, paint), *_some_places(group), *_cure(group)]
    first = _marked(group.level, _cut(group.what), paint)
    return [*first, *_short_cure(group)] if detail == 2 else first


def _whole(groups: Sequence[Group], paint: Paint) -> list[str]:
    lines: list[str] = []
    for each in groups:
        lines += _what(each, paint)
        if len(each.places) > 1:
            for finding in each.findings:
                lines += _text("- ", finding.what)
        lines += _cure(each)
    return lines


# --- parts of a group ---


def _what(group: Group, paint: Paint) -> list[str]:
    return _marked(group.level, group.what, paint)


def _marked(level: Level, words: str, paint: Paint) -> list[str]:
    first, *others = _text("", words) or [""]
    # Padded before it is painted, because codes for colours have no width.
    mark = paint(level, f"{level:>{_MARGIN - 2}}")
    return [f"{mark}  {first.lstrip()}", *others]


def _cure(group: Group) -> list[str]:
    return _text("-> ", group.cure) if group.cure else []


def _short_cure(group: Group) -> list[str]:
    """Return the remedy in one line, after as many places as fit."""
    if not group.cure:
        return []
    cure = f"-> {group.cure}"
    names = _names(group.places, f" {cure}") if len(group.places) > 1 else None
    return _text("", names or _cut(cure))


def _some_places(group: Group) -> list[str]:
    """Return lines with some of the places of the group. Names share one line. Each longer place
    has its own line.
    """
    places = group.places
    if len(places) < 2:
        return []
    some = places[:_MOST_PLACES]
    # Names of tools and views contain no spaces. Other places are whole sentences.
    if all(" " not in each for each in some):
        return _text("", _names(places) or _cut(some[0]))
    more = [messages.more_places(len(places) - len(some))] if len(places) > len(some) else []
    return [line for each in (*some, *more) for line in _text("- ", each)[:_LONGEST_PLACE]]


def _names(places: Sequence[str], ending: str = "") -> str | None:
    """Return one line with as many names as fit, followed by the number of names that are left out,
    and by `ending`. Return None if no name fits.
    """
    for count in range(min(_MOST_PLACES, len(places)), 0, -1):
        left = len(places) - count
        more = f" {messages.more_places(left)}" if left else ""
        line = ", ".join(places[:count]) + more + ending
        # The line fits if `_cut` does not change it.
        if line == _cut(line):
            return line
    return None


def _text(start: str, words: str) -> list[str]:
    """Return the words as indented lines. They are wrapped to the width of the report."""
    indent = " " * _MARGIN
    return wrap(
        words,
        WIDTH,
        initial_indent=indent + start,
        subsequent_indent=indent + " " * len(start),
        break_on_hyphens=False,
    )


def _cut(words: str) -> str:
    """Return the words. If they are longer than a line, cut them."""
    room = WIDTH - _MARGIN
    return words if len(words) <= room else f"{words[: room - 1].rstrip()}…"
