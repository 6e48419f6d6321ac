"""Counts the refusals and repairs of each tool in the recorded calls of a proxy. In a trial run, it
counts the refusals and repairs that a normal run would have made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from toolbooth.proxy import messages
from toolbooth.recording import RecordedCall


@dataclass(slots=True)
class ToolReport:
    """The counts for one tool."""

    calls: int = 0
    refused: int = 0
    repaired: int = 0
    noted: int = 0
    """The number of calls that were forwarded with undeclared keys."""
    problems: Counter[str] = field(default_factory=Counter[str])
    repairs: Counter[str] = field(default_factory=Counter[str])
    undeclared: Counter[str] = field(default_factory=Counter[str])
    only_undeclared: int = 0
    """The number of refused calls that have no other fault than undeclared keys. The policy
    `lenient` would forward them.
    """


def by_tool(calls: Iterable[RecordedCall]) -> dict[str, ToolReport]:
    """Return a report for each tool. The tools with the most refusals come first."""
    found: dict[str, ToolReport] = {}
    for call in calls:
        report = found.setdefault(call.tool, ToolReport())
        report.calls += 1
        report.problems.update(call.problems)
        report.repairs.update(call.repairs)
        report.undeclared.update(call.undeclared)
        if call.outcome == "refused":
            report.refused += 1
            report.only_undeclared += set(call.problems) <= {"unknown-key", "nested-wrapper"}
        else:
            report.repaired += bool(call.repairs)
            report.noted += bool(call.undeclared)
    return dict(sorted(found.items(), key=lambda each: (-each[1].refused, each[0])))


def lines(reports: dict[str, ToolReport]) -> list[str]:
    """Return the lines of the report."""
    made: list[str] = []
    for tool, each in reports.items():
        made.append(messages.of_tool(tool, each.calls, each.refused, each.repaired, each.noted))
        for title, counted in (
            ("problems", each.problems),
            ("repairs", each.repairs),
            ("undeclared keys", each.undeclared),
        ):
            if counted:
                made.append(f"  {title}: {messages.counted(counted.most_common())}")
    lenient = [tool for tool, each in reports.items() if each.only_undeclared]
    if lenient:
        made += ["", messages.WITH_LENIENT, messages.policy_line(lenient)]
    return made
