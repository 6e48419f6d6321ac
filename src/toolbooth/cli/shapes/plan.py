"""Decides which calls `toolbooth test` makes.

A tool is called in every shape of the catalogue if it is marked read-only, or if the user allows
it. To any other tool, only calls that must be refused are sent, and only if the tool is known to be
protected.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolbooth.adapters.connect import Served
from toolbooth.cli.shapes import messages
from toolbooth.jsonvalue import is_object
from toolbooth.testing.check.boundary import Case

Mode = Literal["all", "refusals", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlan:
    """The calls of one tool: those that are made, and those that are not."""

    label: str
    name: str
    mode: Mode
    reason: str
    sent: tuple[Case, ...]
    not_sent: tuple[Case, ...]

    @property
    def line(self) -> str:
        """Return the plan as one line of text."""
        if self.mode == "all":
            return messages.all_calls(self.label, len(self.sent), self.reason)
        if self.mode == "refusals":
            return messages.refusals_only(self.label, len(self.sent), len(self.not_sent))
        return messages.nothing(self.label, len(self.not_sent))


def plan_for(
    cases: Sequence[Case],
    listed: Sequence[Any],
    there: Served,
    *,
    allowed: Collection[str],
    all_allowed: bool,
) -> list[ToolPlan]:
    """Return the plan of each tool."""
    read_only = {each["name"] for each in listed if _is_read_only(each)}
    by_tool: dict[str, list[Case]] = {}
    for case in cases:
        by_tool.setdefault(case.tool.label, []).append(case)
    plans: list[ToolPlan] = []
    for label, own in by_tool.items():
        tool = own[0].tool
        reason = ""
        if tool.name in read_only:
            reason = messages.READ_ONLY
        elif tool.name in allowed or label in allowed:
            reason = messages.ALLOWED
        elif all_allowed:
            reason = messages.WRITES_ALLOWED
        # From outside, it is unknown if a remote server is protected. So its tools might run.
        is_guarded = tool.guarded and there.kind != "remote"
        plans.append(_plan(label, own, reason, is_guarded=is_guarded))
    return plans


def _plan(label: str, cases: list[Case], reason: str, *, is_guarded: bool) -> ToolPlan:
    mode: Mode = "none"
    sent: list[Case] = []
    if reason:
        mode, sent = "all", cases
    elif is_guarded:
        mode, sent = "refusals", [case for case in cases if case.shape.law.outcome == "refused"]
    not_sent = [case for case in cases if case not in sent]
    return ToolPlan(
        label=label,
        name=cases[0].tool.name,
        mode=mode,
        reason=reason,
        sent=tuple(sent),
        not_sent=tuple(not_sent),
    )


def _is_read_only(listed: Any) -> bool:
    annotations: Any = listed.get("annotations")
    # In the MCP specification, the default is false. Only `true` counts, because another server may
    # send any JSON here, such as the text "false".
    return is_object(annotations) and annotations.get("readOnlyHint") is True
