"""A server goes in; every tool is called in every shape of the catalogue, and held to what the law
prescribes.

The tools are really run: give a server whose tools may be run, on a test database for example. What
the law has refused never reaches a tool of a protected server; of one that is not protected,
anything may.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from toolbooth.adapters.connect import Served, served
from toolbooth.testing.check.verdict import GRADES, Deviation, Reference, answer, judge
from toolbooth.testing.client.call import WireResult, call_over_wire_async
from toolbooth.testing.client.delivery import NotJson, wire
from toolbooth.testing.client.tools import ServedTool, route_shape, tools_of
from toolbooth.testing.shapes.agent_shapes import agent_shapes
from toolbooth.testing.shapes.catalogue import KINDS
from toolbooth.testing.shapes.examples import NoExample, example_arguments, refusal_of
from toolbooth.testing.shapes.expected import AgentShape

Examples = Mapping[str, Mapping[str, Any]]

MOST_SHOWN = 10
"""Deviations that are shown whole; of the others only their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One tool, called in one shape."""

    tool: ServedTool
    shape: AgentShape

    @property
    def id(self) -> str:
        """Readable and stable, as for a test."""
        return f"{self.tool.label}-{self.shape.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of all cases."""

    server: str
    kind: str
    protected: bool
    cases: tuple[Case, ...]
    deviations: tuple[Deviation, ...]
    """Those that were not declared, the worst first."""
    accepted: tuple[Deviation, ...] = ()
    without: tuple[str, ...] = ()
    """Why a tool could not be called at all, a line each."""

    @property
    def holds(self) -> bool:
        """Whether every tool could be called, and the law held."""
        return not self.deviations and not self.without

    def __str__(self) -> str:
        return f"{_head(self)}\n\n{matrix(self)}"


class Checker:
    """The cases of one server, and their outcomes. Use it within `async with served(server)`."""

    def __init__(self, there: Served, examples: Examples | None = None) -> None:
        self.there = there
        self.examples = dict(examples or {})
        self.without: list[str] = []
        self._meant: dict[tuple[str, bytes], WireResult] = {}

    async def cases(self) -> list[Case]:
        """Every tool in every shape, without running one. Tools without a correct call are in
        `without`.
        """
        found: list[Case] = []
        tools = await tools_of(self.there)
        unknown = self.examples.keys() - {tool.label for tool in tools}
        self.without = [
            f"{name}: there is an example, but no such tool" for name in sorted(unknown)
        ]
        for tool in tools:
            try:
                shapes = agent_shapes(tool.contract, self._correct(tool))
            except NoExample as error:
                self.without.append(str(error))
            except NotJson as error:
                self.without.append(
                    f"{tool.label}: the example holds what no client can send: {error}"
                )
            else:
                found += [Case(tool=tool, shape=shape) for shape in self._deliverable(tool, shapes)]
        return found

    def _deliverable(self, tool: ServedTool, shapes: list[AgentShape]) -> list[AgentShape]:
        """What reaches a tool of this server: a host decides on its bytes, a dispatcher on its
        action.
        """
        if tool.table is not None:
            return [made for shape in shapes if (made := route_shape(shape, tool))]
        return [shape for shape in shapes if self.there.kind == "toolbooth" or not shape.raw]

    def _correct(self, tool: ServedTool) -> dict[str, Any]:
        given = self.examples.get(tool.label)
        if given is None:
            return example_arguments(tool.contract)
        sent = {key: each for key, each in wire(dict(given)).items() if key not in tool.way}
        refused = refusal_of(tool.contract, sent)
        if refused:
            raise NoExample(f"{tool.label}: the example is no correct call: {refused}")
        return sent

    async def verdict(self, case: Case) -> Deviation | None:
        """Run one case."""
        tool, shape = case.tool, case.shape
        if shape.law.outcome == "refused":
            return judge(tool, shape, await self._call(tool, shape.body), None)
        body = json.dumps(shape.law.means).encode()
        key = (tool.label, body)
        if key not in self._meant:
            self._meant[key] = await self._call(tool, body)
        # The correct call is its own reference, and is not made twice: a second time is another
        # matter.
        result = self._meant[key] if shape.kind == "correct" else await self._call(tool, shape.body)
        given = tool.label in self.examples
        found = judge(tool, shape, result, Reference(result=self._meant[key], given=given))
        if found is None or shape.kind == "correct" or found.grade not in ("changed", "broken"):
            return found
        # Another answer may be the tool's own affair: a row that is there already, a counter that
        # went on.
        before, self._meant[key] = self._meant[key], await self._call(tool, body)
        steady = answer(before) == answer(self._meant[key])
        return judge(
            tool, shape, result, Reference(result=self._meant[key], given=given, steady=steady)
        )

    async def _call(self, tool: ServedTool, body: bytes) -> WireResult:
        return await call_over_wire_async(self.there, tool.name, body or None)


async def check_boundary(
    server: Any, examples: Examples | None = None, *, accepted: Mapping[str, str] | None = None
) -> Report:
    """Call every tool of a server in every shape of the catalogue. See `assert_boundary`."""
    async with served(server) as there:
        checker = Checker(there, examples)
        cases = await checker.cases()
        found = [deviation for case in cases if (deviation := await checker.verdict(case))]
    declared = [each for each in found if _is_accepted(each, accepted or {})]
    others = [each for each in found if each not in declared]
    return Report(
        server=there.name,
        kind=there.kind,
        protected=there.protected,
        cases=tuple(cases),
        deviations=tuple(sorted(others, key=_gravity)),
        accepted=tuple(declared),
        without=tuple(checker.without),
    )


def assert_boundary(
    server: Any, examples: Examples | None = None, *, accepted: Mapping[str, str] | None = None
) -> Report:
    """Assert that every tool of a server holds the law in every shape that agents are known to
    send.

    `server` is a ToolRegistry or a server of a host, protected or not; its tools are really run.
    `examples` has a correct call for a tool, where none can be made from its schema or where
    the tool wants one that exists. `accepted` declares deviations, by tool or by the id of a case,
    each with its reason.

    Raises:
        AssertionError: which tool, which shape, what was sent, what the law prescribes, what
        happened instead.
        ContractError: the schema of a tool refers to a file or URL.
    """
    report = run(check_boundary(server, examples, accepted=accepted))
    if not report.holds:
        raise AssertionError(failure_text(report))
    return report


def run(work: Any) -> Any:
    """Await something where no event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise RuntimeError("an event loop is running here: await check_boundary(...)")


def _is_accepted(deviation: Deviation, accepted: Mapping[str, str]) -> bool:
    return any(
        name in accepted for name in (deviation.tool, f"{deviation.tool}-{deviation.shape.id}")
    )


def _gravity(deviation: Deviation) -> tuple[int, int]:
    return list(GRADES).index(deviation.grade), -deviation.lost


# --- what the author reads ----------------------------------------------------------------------


def failure_text(report: Report) -> str:
    """The failure: what is wrong first, then what to change, then the worst of each kind, then the
    matrix.
    """
    parts = [_head(report), *(f"- not called: {line}" for line in report.without), remedy(report)]
    shown = _worst_of_each(report.deviations)
    parts += ["", *("\n".join([str(each), ""]) for each in shown)]
    left = len(report.deviations) - len(shown)
    if left > 0:
        parts += [f"and {left} more like these", ""]
    return "\n".join([*parts, matrix(report)])


def _head(report: Report) -> str:
    state = report.kind
    if report.kind != "toolbooth":
        state += ", protected" if report.protected else ", not protected"
    broken = f"{len(report.deviations)} of {len(report.cases)}"
    lines = [f"{report.server} ({state}): {broken} calls broke the law of the boundary"]
    for grade, words in GRADES.items():
        count = sum(each.grade == grade for each in report.deviations)
        lines += [f"  {count:5} {grade}: {words}"] if count else []
    return "\n".join(lines)


def remedy(report: Report) -> str:
    """What the author is to change."""
    grades = {each.grade for each in report.deviations}
    lines: list[str] = []
    if not report.protected and grades - {"broken"}:
        lines.append("To change: toolbooth.protect(server) puts every tool behind the boundary.")
    if any(each.shape.kind == "correct" and each.grade == "broken" for each in report.deviations):
        lines.append(
            "To change: where the correct call breaks, the tool expects what is never delivered. "
            "Values arrive as the parameter's annotation says: a model as that model, not as a "
            "dict; without one, dates and the keys of objects as text. So annotate (datetime, "
            "dict[int, str], a model) and test with call_over_wire. If the call makes no sense to "
            "the tool, give one that does: examples=."
        )
    return "\n".join(fill(line, 118, subsequent_indent="  ") for line in lines)


def _worst_of_each(deviations: Sequence[Deviation]) -> list[Deviation]:
    """One for each grade and kind, the worst first."""
    first: dict[tuple[str, str], Deviation] = {}
    for each in deviations:
        first.setdefault((each.grade, each.shape.kind), each)
    return list(first.values())[:MOST_SHOWN]


def matrix(report: Report) -> str:
    """Tools by families of shapes: how many of how many held; a dot where all did."""
    families = list(dict.fromkeys(kind.family for kind in KINDS.values()))
    tools = list(dict.fromkeys(case.tool.label for case in report.cases))
    deviating = {(each.tool, each.shape.id) for each in (*report.deviations, *report.accepted)}
    called, broken = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for case in report.cases:
        tool, family = case.tool.label, KINDS[case.shape.kind].family
        called[tool, family] += 1
        broken[tool, family] += (tool, case.shape.id) in deviating
    rows = [["", *families]]
    for tool in tools:
        cells = [_cell(called[tool, family], broken[tool, family]) for family in families]
        rows.append([tool, *cells])
    return _table_text(rows)


def _cell(called: int, broken: int) -> str:
    if not called:
        return ""
    return f"{called - broken}/{called}" if broken else f"· {called}"


def _table_text(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as text, with columns of one width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
