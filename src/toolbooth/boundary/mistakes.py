"""Groups equal mistakes: the same mistake in several items of an array is listed with its count.

A refusal lists the first problems in full. After that, it lists a problem only if its mistake is
new, or for the first places of a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from toolbooth.errors import Problem, ProblemCode
from toolbooth.jsonvalue import JsonPath

MOST_PROBLEMS = 40
"""After this many problems, a problem is listed only if its mistake is new. At most this many
different mistakes are listed. Agents read no further, and hostile input must not cost more.
"""

PLACES = 3
"""At most this many places are shown for one mistake."""

Mistake = tuple[ProblemCode, tuple[str, ...], int, str]
"""Identifies a mistake. It contains neither array indexes nor values, so it is equal for the same
mistake in several items.
"""


def mistake_at(code: ProblemCode, path: JsonPath, rule: str = "") -> Mistake:
    """Return the mistake of a problem at a path: two forms of a union may have different rules for
    a field of the same name.
    """
    return (code, tuple([step for step in path if type(step) is str]), len(path), rule)


def mistake_of(problem: Problem) -> Mistake:
    """Return the mistake of a problem."""
    # Whatever words an author has for a problem, they are a part of it.
    rule = problem.rule or (problem.message if problem.code == "invalid" else "")
    return mistake_at(problem.code, problem.path, rule)


class Mistakes:
    """The listed mistakes, each with the number of its problems that are not listed."""

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
        """Count a problem and return True; or return False if the problem is to be listed
        instead.
        """
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
        """Return True if a mistake with a key of this name is listed, or may be."""
        return name in self._names or len(self._room) < MOST_PROBLEMS

    def take(self, other: Mistakes) -> None:
        """Add the counts of another list, whose problems are now in this one."""
        for mistake, count in other._unlisted.items():
            self.add(mistake, count)

    def add(self, mistake: Mistake, problems: int) -> None:
        """Add to the count of a mistake, if it is listed."""
        if mistake in self._unlisted:
            self._unlisted[mistake] += problems

    def counted(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return the listed problems. The first problem of each mistake has the number of its
        unlisted ones.
        """
        left = {mistake: count for mistake, count in self._unlisted.items() if count}
        made: list[Problem] = []
        for each in problems:
            count = left.pop(mistake_of(each), 0)
            made.append(replace(each, unlisted=each.unlisted + count) if count else each)
        return made


def listed(problems: Sequence[Problem]) -> tuple[list[Problem], int]:
    """Return the problems that a refusal lists, and the number of the others."""
    first, others = problems[:MOST_PROBLEMS], problems[MOST_PROBLEMS:]
    if not others:
        return [*first], 0
    mistakes = Mistakes(first)
    new = [each for each in others if not mistakes.count(mistake_of(each))]
    return mistakes.counted([*first, *new]), len(others) - len(new)
