"""A suite and its result: rows of figures, each of which compares two costs of the same run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from measure import Timing

Unit = Literal["µs", "MB", "B", "tokens", "fields"]
Tell = Callable[[str], None]
"""Shows the name of the present measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure: the ratio of a cost to its floor, with the spread of that ratio.

    If the goal is `at_least`, the ratio is inverted: it is how many times less Toolbooth costs.
    """

    group: str
    name: str
    goal: float | None
    ratio: float
    low: float
    high: float
    cost: float
    floor: float
    at_least: bool = False
    unit: Unit = "µs"

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None if there is none."""
        if self.goal is None:
            return None
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One part of the picture."""

    title: str
    groups: tuple[str, ...]
    logarithmic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Everything that is measured together."""

    name: str
    title: str
    groups: Mapping[str, str]
    """Titles of the groups, in the order of the table."""
    panels: tuple[Panel, ...]
    packages: tuple[str, ...]
    measured: Callable[[Tell], list[Row]]
    page: str = "measured/speed.md"
    """The page of the documentation with the figures."""
    table: Callable[[list[Row]], str] | None = None
    """The table on that page; None: one line for each row."""
    picture: Callable[[list[Row], Path], None] | None = None
    """Draws the picture; None: bars."""
    shows_picture: bool = False
    """Whether the page has the picture too."""
    whole: bool = False
    """Whether the page also has figures without a goal, and costs instead of the spread."""


def at_most(group: str, name: str, goal: float | None, timing: Timing, floor: Timing) -> Row:
    """A cost as a multiple of its floor."""
    return Row(
        group=group,
        name=name,
        goal=goal,
        ratio=timing.ratio,
        low=timing.low,
        high=timing.high,
        cost=timing.seconds * 1e6,
        floor=floor.seconds * 1e6,
    )


def at_least(group: str, name: str, goal: float | None, mine: Timing, theirs: Timing) -> Row:
    """How many times less a cost is than another's; `theirs` was timed against `mine`."""
    return Row(
        group=group,
        name=name,
        goal=goal,
        at_least=True,
        ratio=theirs.ratio,
        low=theirs.low,
        high=theirs.high,
        cost=mine.seconds * 1e6,
        floor=theirs.seconds * 1e6,
    )


def counting(tell: Tell, what: str, rounds: int) -> Callable[[int], None]:
    """Shows the number of the present round and of all rounds."""
    return lambda done: tell(f"{what}, round {done} of {rounds}")


def goal_of(row: Row) -> str:
    """The goal as text."""
    return "" if row.goal is None else f"{'≥' if row.at_least else '≤'} {row.goal:g}"
