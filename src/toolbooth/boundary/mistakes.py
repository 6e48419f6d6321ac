"""Equal mistakes: the same one in several items of an array is listed with its count.

A refusal lists the first problems, and of the others only those that are a mistake of their own,
at its first places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from toolbooth.errors import Problem, ProblemCode
from toolbooth.jsonvalue import JsonPath

MOST_PROBLEMS = 40
"""Past this many, problems are only counted, unless they are mistakes of their own; and so many
different mistakes are listed at most. No agent reads further, and hostile input must not cost more.
"""

PLACES = 3
"""Places that are shown of one mistake."""

Mistake = tuple[ProblemCode, tuple[str, ...], int, str]
"""Equal for one mistake in several items of an array: everything but the index, and the value in
the message.
"""


def mistake_at(code: ProblemCode, path: JsonPath, rule: str = "") -> Mistake:
    """The mistake of a problem at a path: two forms of a union may have different rules for a field
    of the same name.
    """
    return (code, tuple([step for step in path if type(step) is str]), len(path), rule)


def mistake_of(problem: Problem) -> Mistake:
    """The mistake of a problem."""
    # Whatever words an author has for a problem, they are a part of it.
    rule = problem.rule or (problem.message if problem.code == "invalid" else "")
    return mistake_at(problem.code, problem.path, rule)


class Mistakes:
    """The mistakes that are listed, and how many problems of each are not."""

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
        """Count a problem. Returns False, and does not count it, if it is to be listed."""
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
        """Whether a mistake with a key of this name may be listed, or is."""
        return name in self._names or len(self._room) < MOST_PROBLEMS

    def take(self, other: Mistakes) -> None:
        """Add the counts of another list whose problems were added to this one."""
        for mistake, count in other._unlisted.items():
            self.add(mistake, count)

    def add(self, mistake: Mistake, problems: int) -> None:
        """Count several problems of a mistake, if it is listed."""
        if mistake in self._unlisted:
            self._unlisted[mistake] += problems

    def counted(self, problems: Iterable[Problem]) -> list[Problem]:
        """The listed problems: the first one of each mistake has the number of those that are not
        listed.
        """
        left = {mistake: count for mistake, count in self._unlisted.items() if count}
        made: list[Problem] = []
        for each in problems:
            count = left.pop(mistake_of(each), 0)
            made.append(replace(each, unlisted=each.unlisted + count) if count else each)
        return made


def listed(problems: Sequence[Problem]) -> tuple[list[Problem], int]:
    """The problems that a refusal lists, and how many it does not."""
    first, others = problems[:MOST_PROBLEMS], problems[MOST_PROBLEMS:]
    if not others:
        return [*first], 0
    mistakes = Mistakes(first)
    new = [each for each in others if not mistakes.count(mistake_of(each))]
    return mistakes.counted([*first, *new]), len(others) - len(new)
