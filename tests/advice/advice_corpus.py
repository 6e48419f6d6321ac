"""The generated corpus: every fault × source × depth, also two faults in one call. Each call is
generated together with its intended arguments.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from advice_faults import Fault, faults
from advice_tools import DEPTHS, at_depth

TITLE = {"title": "Blades"}
STEP = 7
"""Two faults in one call: each one with every seventh of the others."""


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    kind: str
    source: str
    depth: str
    sent: dict[str, Any]
    right: dict[str, Any] | None
    """The right arguments; None: no reader can be certain of them."""

    @property
    def derivable(self) -> bool:
        return self.right is not None


def corpus() -> Iterator[Call]:
    every = list(faults())
    tools = [(source, depth) for depth in DEPTHS for source in ("function", "schema")]
    for source, depth in [*tools, ("parameters", "top")]:
        for index, fault in enumerate(every):
            yield _call(f"{index}", fault, source, depth)
    for index, (one, other) in enumerate(_pairs(every)):
        source, depth = tools[index % len(tools)]
        yield _call(f"two-{index}", _both(one, other), source, depth)


def _pairs(every: list[Fault]) -> Iterator[tuple[Fault, Fault]]:
    """Pairs of faults that can be in one call: they are about other fields."""
    for index, one in enumerate(every):
        other = every[(index * STEP + 31) % len(every)]
        if not _names(one) & _names(other):
            yield one, other


def _names(fault: Fault) -> set[str]:
    return {*fault.sent, *(fault.meant or {}), "title"} - ({"title"} - {*fault.sent})


def _both(one: Fault, other: Fault) -> Fault:
    certain = one.meant is not None and other.meant is not None
    meant = {**(one.meant or {}), **(other.meant or {})} if certain else None
    return Fault(f"two: {one.kind} and {other.kind}", {**one.sent, **other.sent}, meant)


def _call(index: str, fault: Fault, source: str, depth: str) -> Call:
    right = None if fault.meant is None else at_depth(depth, {**TITLE, **fault.meant})
    sent = at_depth(depth, {**TITLE, **fault.sent})
    return Call(f"{source}-{depth}-{index}", fault.kind, source, depth, sent, right)
