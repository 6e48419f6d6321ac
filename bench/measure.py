"""Measures CPU time: the best of many rounds, in which all compared tasks run in random order.

Wall time means little on a shared machine, and so does a figure without another one of the same
minute. So only ratios are compared, each with the quartiles of the ratio within one round as its
spread.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from math import inf
from statistics import quantiles
from time import perf_counter, process_time
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Task = Callable[[], object]
Clock = Callable[[], float]
"""One reading of the cost of a task, in CPU seconds."""

ROUNDS = 60
FEWEST_ROUNDS = 8
QUICK_ROUNDS = 2
"""The fewest that have quartiles."""
SLICE = 0.004
"""CPU seconds of one task in one round: long against the clock, short against the other work on the
machine.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The cost of one task, alone and against the floor of the same run."""

    seconds: float
    ratio: float
    low: float
    high: float


_quick = False


def be_quick() -> None:
    """Limit everything that follows to a few rounds, to try that it works."""
    global _quick
    _quick = True


def at_most_quick(rounds: int) -> int:
    """The number of rounds to make."""
    return min(rounds, QUICK_ROUNDS) if _quick else rounds


def compare(tasks: Mapping[str, Task], floor: str) -> dict[str, Timing]:
    """Time tasks against the one named `floor`."""
    return against(
        readings({name: task_clock(task) for name, task in tasks.items()}, ROUNDS), floor
    )


def readings(
    clocks: Mapping[Key, Clock],
    rounds: int,
    tell: Callable[[int], None] = lambda _: None,
    seconds: float = inf,
) -> dict[Key, list[float]]:
    """Read every clock once per round, in a new order each time; `tell` gets the number of the
    round.

    On a loaded machine, no new round begins after `seconds`.
    """
    found: dict[Key, list[float]] = {name: [] for name in clocks}
    order = list(clocks)
    end = perf_counter() + seconds
    for number in range(at_most_quick(rounds)):
        if number >= FEWEST_ROUNDS and perf_counter() > end:
            break
        tell(number + 1)
        random.shuffle(order)
        for name in order:
            found[name].append(clocks[name]())
    return found


def against(found: Mapping[Key, list[float]], floor: Key) -> dict[Key, Timing]:
    """The ratio of the best readings, and the middle half of the ratios within a round."""
    return {name: _timing(times, found[floor]) for name, times in found.items()}


def _timing(times: list[float], floor: list[float]) -> Timing:
    low, _, high = quantiles(
        (mine / theirs for mine, theirs in zip(times, floor, strict=True)), n=4
    )
    return Timing(seconds=min(times), ratio=min(times) / min(floor), low=low, high=high)


def task_clock(task: Task) -> Clock:
    """A clock that repeats the task until it fills a slice."""
    loops = 1
    while _seconds(task, loops) < SLICE and loops < 1_000_000:
        loops *= 2
    return lambda: _seconds(task, loops) / loops


def _seconds(task: Task, loops: int) -> float:
    start = process_time()
    for _ in range(loops):
        task()
    return process_time() - start


def process_clock(code: str) -> Clock:
    """A clock for a whole Python process that runs `code`, from start to exit."""

    def read() -> float:
        process = subprocess.Popen([sys.executable, "-c", code])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{code!r} failed")
        return usage.ru_utime + usage.ru_stime

    read()  # once before it counts: bytecode is written, files are cached
    return read
