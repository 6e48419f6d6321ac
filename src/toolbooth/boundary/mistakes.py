"""Groups equal mistakes. If several items of an array have the same mistake, it is listed with its
count.

A refusal lists the first problems in full. After that, it lists only new mistakes, and a few more
paths of mistakes that are already listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from toolbooth.errors import Problem, ProblemCode
from toolbooth.jsonvalue import JsonPath

MOST_PROBLEMS = 40
"""After this many problems, a problem is listed only if its mistake is new. At most this many
different mistakes are listed. Agents do not read more, and the limit keeps hostile calls cheap.
"""

PLACES = 3
"""At most this many paths are shown for one mistake."""

Mistake = tuple[ProblemCode, tuple[str, ...], int, str]
"""Identifies a mistake. It contains neither array indexes nor values, so the same mistake in
several items has the same identity.
"""


def mistake_at(code: ProblemCode, path: JsonPath, rule: str = "") -> Mistake:
    """Return the mistake of a problem at a path. `rule` is a part of it, because two branches of a
    union may have different rules for a field of the same name.
    """
    return (code, tuple([step for step in path if type(step) is str]), len(path), rule)


def mistake_of(problem: Problem) -> Mistake:
    """Return the mistake of a problem."""
    # Whatever words an author has for a problem, they are a part of it.
    rule = problem.rule or (problem.message if problem.code == "invalid" else "")
    return mistake_at(problem.code, problem.path, rule)


class Mistakes:
    """The listed mistakes. For each, it counts the problems that are not listed."""

    __slots__ = ("_names", "_room", "_unlisted")

    def __init__(self, listed: Iterable[Problem]) -> None:
        self._unlisted: dict[Mistake, int] = {}
        self._room: dict[Mistake, int] = {}
        self._names = set[str]()
        for each in listed:
            mistake = mistake_of(each)
            self._unlisted[mistake] = 0
            self._room[mistake] = max(0, self._room.get(mistake, PLACES) - 1)
            self._names.update(mistake[1][-1:])

    def count(self, mistake: Mistake, *, may_list: bool = True) -> bool:
        """Return False if the problem is to be listed. Otherwise count it and return True."""
        room = self._room.get(mistake)
        if room is None:
            if not may_list or len(self._room) >= MOST_PROBLEMS:
                return True
            self._unlisted[mistake] = 0
            self._names.update(mistake[1][-1:])
            room = PLACES
        if room and may_list:
            self._room[mistake] = room - 1
            return False
        self._unlisted[mistake] += 1
        return True

    def may_list(self, name: str) -> bool:
        """Return True if a mistake about a key with this name is listed or may still be listed."""
        return name in self._names or len(self._room) < MOST_PROBLEMS

    def take(self, other: Mistakes) -> None:
        """Add the counts of another `Mistakes`. Its problems were already added to the list."""
        for mistake, count in other._unlisted.items():
            self.add(mistake, count)

    def add(self, mistake: Mistake, problems: int) -> None:
        """Add to the count of a mistake. Mistakes that are not listed are ignored."""
        if mistake in self._unlisted:
            self._unlisted[mistake] += problems

    def counted(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return the listed problems. The first problem of each mistake also gets a count: how many
        problems with the same mistake are not listed.
        """
        left = {mistake: count for mistake, count in self._unlisted.items() if count}
        made: list[Problem] = []
        for each in problems:
            count = left.pop(mistake_of(each), 0)
            made.append(replace(each, unlisted=each.unlisted + count) if count else each)
        return made


def listed(problems: Sequence[Problem]) -> tuple[list[Problem], int]:
    """Return the problems that a refusal lists, and how many are not listed."""
    first, others = problems[:MOST_PROBLEMS], problems[MOST_PROBLEMS:]
    if not others:
        return [*first], 0
    mistakes = Mistakes(first)
    new = [each for each in others if not mistakes.count(mistake_of(each))]
    return mistakes.counted([*first, *new]), len(others) - len(new)
