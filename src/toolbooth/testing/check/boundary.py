"""Calls every tool of a server with every kind of malformed arguments in the catalogue. Compares
each outcome with the law of the boundary (docs/reference/law.md).

The tools really run, so use a server that may write, for example to a test database. On a protected
server, a refused call does not reach the tool. On a server that is not protected, any call may
reach it.
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
"""A report shows at most this many deviations in full. The others are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One tool, and one malformed variant of its correct call."""

    tool: ServedTool
    shape: AgentShape

    @property
    def id(self) -> str:
        """Return a readable id that stays the same, like the id of a test."""
        return f"{self.tool.label}-{self.shape.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcomes of all cases."""

    server: str
    kind: str
    protected: bool
    cases: tuple[Case, ...]
    deviations: tuple[Deviation, ...]
    """The deviations that the author did not accept. The worst come first."""
    accepted: tuple[Deviation, ...] = ()
    without: tuple[str, ...] = ()
    """One line for each tool that could not be called at all. It has the reason."""

    @property
    def holds(self) -> bool:
        """Return True if every tool could be called, and all calls had the outcome that the law
        requires.
        """
        return not self.deviations and not self.without

    def __str__(self) -> str:
        return f"{_head(self)}\n\n{matrix(self)}"


class Checker:
    """Makes the cases of one server and runs them. Use it within `async with served(server)`."""

    def __init__(self, there: Served, examples: Examples | None = None) -> None:
        self.there = there
        self.examples = dict(examples or {})
        self.without: list[str] = []
        self._meant: dict[tuple[str, bytes], WireResult] = {}

    async def cases(self) -> list[Case]:
        """Return the cases for all tools. No call is made. Tools for which no correct call is known
        are listed in `without`.
        """
        found: list[Case] = []
        tools = await tools_of(self.there)
        # If a name in `examples` is misspelt, the example would have no effect, and the author
        # would not notice.
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
        """Return the shapes that can reach a tool on this server. Two things may prevent it: some
        hosts refuse certain bytes themselves, and a dispatcher may take the call for a call of
        another action.
        """
        if tool.table is not None:
            return [made for shape in shapes if (made := route_shape(shape, tool))]
        return [shape for shape in shapes if self.there.kind == "toolbooth" or not shape.raw]

    def _correct(self, tool: ServedTool) -> dict[str, Any]:
        given = self.examples.get(tool.label)
        if given is None:
            return example_arguments(tool.contract)
        # The author may write the example as the whole call of a dispatcher, with its action and
        # resource. The contract here belongs to the tool behind the dispatcher, which has neither
        # argument.
        sent = {key: each for key, each in wire(dict(given)).items() if key not in tool.way}
        refused = refusal_of(tool.contract, sent)
        if refused:
            raise NoExample(f"{tool.label}: the example is not a correct call: {refused}")
        return sent

    async def verdict(self, case: Case) -> Deviation | None:
        """Run one case. Return the deviation from the law, or None."""
        tool, shape = case.tool, case.shape
        if shape.law.outcome == "refused":
            # A call that must be refused has no meaning, so there is no result to compare with.
            return judge(tool, shape, await self._call(tool, shape.body), None)
        body = json.dumps(shape.law.means).encode()
        key = (tool.label, body)
        # Nearly all shapes of a tool mean the same correct call. The result of this call is kept,
        # so that a tool that writes rows does not run twice for each shape.
        if key not in self._meant:
            self._meant[key] = await self._call(tool, body)
        # The result of the correct call is compared with itself. The call is made only once,
        # because a second call may have another result, for example "already exists".
        result = self._meant[key] if shape.kind == "correct" else await self._call(tool, shape.body)
        given = tool.label in self.examples
        found = judge(tool, shape, result, Reference(result=self._meant[key], given=given))
        if found is None or shape.kind == "correct" or found.grade not in ("changed", "broken"):
            return found
        # The tool itself may answer differently the second time: the row exists already, or a
        # counter has increased.
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
    """Call every tool of a server in every shape of the catalogue, and return a report. See
    `assert_boundary`.
    """
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
    """Assert that every tool of a server keeps the law (docs/reference/law.md) in all malformed
    calls that agents are known to send.

    `server` is a ToolRegistry or a server of a host, protected or not. Its tools really run.
    `examples` has correct calls by tool. A tool needs one if no call can be made from its schema,
    or if its values must exist. `accepted` lists deviations that you accept, each with its reason.
    Its keys are names of tools, or ids of cases.

    Raises:
        AssertionError: with the tool, the shape, the call, the outcome that the law requires and
        the actual one.
        ContractError: if the schema of a tool refers to a file or URL.
    """
    report = run(check_boundary(server, examples, accepted=accepted))
    if not report.holds:
        raise AssertionError(failure_text(report))
    return report


def run(work: Any) -> Any:
    """Run a coroutine to its end, from sync code."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # Python warns about a coroutine that is never awaited, and this warning would hide the error in
    # a test suite that treats warnings as errors.
    work.close()
    raise RuntimeError("an event loop is running here: await check_boundary(...)")


def _is_accepted(deviation: Deviation, accepted: Mapping[str, str]) -> bool:
    # `{"add": "..."}` accepts every shape of the tool, `{"add-wrapper/data": "..."}` only one.
    return any(
        name in accepted for name in (deviation.tool, f"{deviation.tool}-{deviation.shape.id}")
    )


def _gravity(deviation: Deviation) -> tuple[int, int]:
    # GRADES begins with the worst grade, so a lower position is a more severe grade. Of two calls
    # with the same grade, the call that lost more keys is worse.
    return list(GRADES).index(deviation.grade), -deviation.lost


# --- the report for the author ------------------------------------------------------------------


def failure_text(report: Report) -> str:
    """Describe a failure: the counts, what to change, the worst deviation of each kind, and the
    matrix.
    """
    parts = [_head(report), *(f"- not called: {line}" for line in report.without), remedy(report)]
    # One fault of a server shows in dozens of shapes. The first example of each kind is enough to
    # find it; the matrix below has the extent.
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
    """Return a sentence that says what the author should change."""
    grades = {each.grade for each in report.deviations}
    lines: list[str] = []
    # If a tool fails on its own correct call, `protect` cannot help.
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
    """Return one deviation for each combination of grade and kind of fault. The worst come
    first.
    """
    first: dict[tuple[str, str], Deviation] = {}
    for each in deviations:
        first.setdefault((each.grade, each.shape.kind), each)
    return list(first.values())[:MOST_SHOWN]


def matrix(report: Report) -> str:
    """Return a table of tools and families of shapes. "3/5" means that 3 of 5 calls had the right
    outcome. A dot means that all had.
    """
    families = list(dict.fromkeys(kind.family for kind in KINDS.values()))
    tools = list(dict.fromkeys(case.tool.label for case in report.cases))
    # Accepted deviations count too. The table shows how the server behaves, and `accepted` only
    # decides whether the check fails.
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
    """Return rows of cells as text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
