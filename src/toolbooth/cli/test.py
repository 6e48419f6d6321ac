"""`toolbooth test`: calls every tool in every shape that agents are known to send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolbooth.cli.command import Command
from toolbooth.cli.messages import EXIT_CODES
from toolbooth.cli.mistakes import DONE, REFUSED, Mistake
from toolbooth.cli.shapes import messages
from toolbooth.cli.target import Target, ask, open_target, takes_target
from toolbooth.jsonvalue import is_object

if TYPE_CHECKING:
    from toolbooth.adapters.connect import Served
    from toolbooth.cli.shapes.plan import ToolPlan
    from toolbooth.testing.check.boundary import Case, Checker, Report
    from toolbooth.testing.check.verdict import Deviation


@click.command(cls=Command, epilog=EXIT_CODES)
@takes_target()
@click.option("--allow", multiple=True, metavar="TOOL", help=messages.ALLOW)
@click.option("--allow-writes", is_flag=True, help=messages.ALLOW_WRITES)
@click.option("--examples", type=click.Path(path_type=Path), help=messages.EXAMPLES)
@click.option("--json", "as_lines", is_flag=True, help=messages.JSON)
def test(
    target: Target,
    allow: tuple[str, ...],
    allow_writes: bool,
    examples: Path | None,
    as_lines: bool,
) -> int:
    """Call every tool in every shape that agents are known to send, and report what is lost,
    guessed or refused without a reason.

    A tool is called only if it is marked read-only or allowed. If another tool is known to be
    protected, only the calls that must be refused are sent. All other calls are only printed.

    \b
    Examples:
      toolbooth test server.py:mcp
      toolbooth test server.py:mcp --allow-writes
      toolbooth test https://example.org/mcp --allow search
    """
    if allow_writes and target.kind != "object":
        raise Mistake(messages.NO_WRITES_ELSEWHERE)
    from toolbooth.testing.check.boundary import Checker

    there = open_target(target)
    checker = Checker(there, _examples(examples))
    plans = _plans(target, there, checker, allow, all_allowed=allow_writes)
    calls = sum(len(plan.sent) for plan in plans)
    _show_plan(there.name or target.name, plans, calls, as_lines=as_lines)
    found = _played(target, there, checker, plans) if calls else {}
    report = _report(there, checker, plans, found)
    code = DONE if report.holds else REFUSED
    if as_lines:
        _show_lines(plans, report, found, code)
    else:
        _show(plans, report, calls)
    return code


def _examples(file: Path | None) -> dict[str, dict[str, Any]]:
    if file is None:
        return {}
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Mistake(messages.examples_unreadable(file, error.strerror)) from None
    except ValueError as error:
        raise Mistake(messages.examples_unreadable(file, error)) from None
    if not is_object(found) or not all(map(is_object, found.values())):
        raise Mistake(messages.examples_unreadable(file, messages.NOT_OBJECTS))
    return found


def _plans(
    target: Target,
    there: Served,
    checker: Checker,
    allow: tuple[str, ...],
    *,
    all_allowed: bool,
) -> list[ToolPlan]:
    """Return the plan of each tool. Only the list of tools is requested from the server."""
    from toolbooth.cli.shapes.plan import plan_for
    from toolbooth.errors import ContractError

    async def question() -> tuple[list[Case], list[Any]]:
        async with there:
            return await checker.cases(), await there.tools()

    try:
        cases, listed = ask(target, question, messages.reading(target.name))
    except ContractError as error:
        raise Mistake(str(error)) from error
    known = [each["name"] for each in listed]
    labels = dict.fromkeys(case.tool.label for case in cases)
    # Without this check, a misspelt name would allow nothing, and the test would seem to pass.
    for name in allow:
        if name not in known and name not in labels:
            raise Mistake(messages.unknown_tool(name, known))
    return plan_for(cases, listed, there, allowed=allow, all_allowed=all_allowed)


def _played(
    target: Target, there: Served, checker: Checker, plans: list[ToolPlan]
) -> dict[str, Deviation | None]:
    """Send the planned calls. Return the outcome of each call, by the id of its case."""
    cases = [case for plan in plans for case in plan.sent]

    async def question() -> dict[str, Deviation | None]:
        # The server is opened again after `_plans`. Each `ask` has its own event loop, and a
        # connection cannot outlive its loop.
        found: dict[str, Deviation | None] = {}
        async with there:
            for case in cases:
                found[case.id] = await checker.verdict(case)
        return found

    return ask(target, question, messages.playing(len(cases), target.name))


def _report(
    there: Served,
    checker: Checker,
    plans: list[ToolPlan],
    found: dict[str, Deviation | None],
) -> Report:
    from toolbooth.testing.check.boundary import Report

    deviations = [each for each in found.values() if each is not None]
    return Report(
        server=there.name,
        kind=there.kind,
        protected=there.protected,
        cases=tuple(case for plan in plans for case in plan.sent),
        deviations=tuple(deviations),
        without=tuple(checker.without),
    )


# --- what is printed ----------------------------------------------------------------------------


def _show_plan(server: str, plans: list[ToolPlan], calls: int, *, as_lines: bool) -> None:
    tools = sum(bool(plan.sent) for plan in plans)
    for line in (messages.plan(server, calls, tools), *(plan.line for plan in plans)):
        # With --json, standard output contains only the JSON lines.
        click.echo(line, err=as_lines)


def _show(plans: list[ToolPlan], report: Report, calls: int) -> None:
    from toolbooth.testing.check.boundary import failure_text

    for plan in plans:
        # If a tool was not called at all, its calls are printed. You can then judge them, or send
        # them yourself.
        if plan.mode == "none":
            click.echo()
        for case in plan.not_sent if plan.mode == "none" else ():
            shape = case.shape
            body = shape.body.decode(errors="replace")
            click.echo(messages.would_send(plan.label, shape.id, body, str(shape.law)))
    click.echo()
    if report.without:
        for line in report.without:
            click.echo(f"- {line}")
        click.echo(messages.HOW_TO_GIVE_EXAMPLES)
    if not calls:
        click.echo(messages.NOTHING_SENT)
    else:
        click.echo(failure_text(report) if report.deviations else str(report))


def _show_lines(
    plans: list[ToolPlan], report: Report, found: dict[str, Deviation | None], code: int
) -> None:
    """Print one JSON document per line: the plan, each case, and the summary."""
    for plan in plans:
        counts = {"sent": len(plan.sent), "not_sent": len(plan.not_sent)}
        _line({"kind": "plan", "tool": plan.label, "mode": plan.mode, **counts})
    for plan in plans:
        for case in plan.sent:
            deviation = found[case.id]
            outcome = "held" if deviation is None else deviation.grade
            row = _case(plan.label, case, outcome)
            _line(row if deviation is None else {**row, "happened": deviation.happened})
        for case in plan.not_sent:
            _line(_case(plan.label, case, "not-sent"))
    _line(
        {
            "kind": "summary",
            "server": report.server,
            "protected": report.protected,
            "calls": len(report.cases),
            "deviations": len(report.deviations),
            "without": report.without,
            "exit_code": code,
        }
    )


def _case(tool: str, case: Case, outcome: str) -> dict[str, Any]:
    shape = case.shape
    return {
        "kind": "case",
        "tool": tool,
        "shape": shape.id,
        "seen": f"{shape.source} ({shape.date})",
        "sent": shape.body.decode(errors="replace"),
        "law": str(shape.law),
        "outcome": outcome,
    }


def _line(row: dict[str, Any]) -> None:
    click.echo(json.dumps(row, ensure_ascii=False))
