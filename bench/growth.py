"""How the costs of our own server grow with the number of its tools, from 1 to 5,000."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import matplotlib
from figures import Panel, Row, Suite, Tell, at_most, counting
from load import HERE, HttpServer, client_pinned
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from measure import against, readings
from page import amount
from serving import call_clock, list_clock

SIZES = (1, 10, 100, 1_000, 5_000)
MOST = SIZES[-1]
CALL_GOAL = 1.1
ROUNDS = 40
SECONDS = 150
PROCESS_ROUNDS = 8

GROUPS = {
    "call": "one call over HTTP",
    "next": "the whole list again, over HTTP",
    "registered": "registration of all tools",
    "first": "first list",
    "memory": "memory of the process",
    "models": "the part of the tools' own models",
}
"""What grows, in the order of the table."""

Readings = dict[int, list[float]]
"""The readings of each size."""


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    if sys.platform != "linux":
        raise SystemExit("The growth suite reads memory and CPU clocks from /proc: it needs Linux.")
    found = {**_over_http(tell), **_in_processes(tell)}
    return [row for group in GROUPS for row in _rows(group, found)]


def _over_http(tell: Tell) -> dict[str, Readings]:
    """CPU seconds of one call and of the whole list. All sizes take turns."""
    with client_pinned(), ExitStack() as stack:
        clocks = {}
        for tools in SIZES:
            tell(f"starting a server of {tools:,} tools")
            server = stack.enter_context(closing(HttpServer("ours", tools)))
            clocks["call", tools] = call_clock(server, "flat")
            clocks["next", tools] = list_clock(server, tools)
        found = readings(clocks, ROUNDS, counting(tell, "growth over HTTP", ROUNDS), SECONDS)
    return {group: {tools: found[group, tools] for tools in SIZES} for group in ("call", "next")}


def _in_processes(tell: Tell) -> dict[str, Readings]:
    """CPU seconds of the start and megabytes, each time in a new process."""
    found: dict[str, Readings] = defaultdict(lambda: defaultdict(list))
    for number in range(PROCESS_ROUNDS):
        for tools in SIZES:
            tell(f"a process of {tools:,} tools, round {number + 1} of {PROCESS_ROUNDS}")
            figures = grown("ours", tools)
            found["registered"][tools].append(figures["registered"])
            found["first"][tools].append(figures["first list"])
            found["memory"][tools].append(figures["listed, MB"])
            found["models"][tools].append(figures["tools, MB"] - figures["imported, MB"])
    return found


def grown(host: str, tools: int) -> dict[str, float]:
    """The figures of one process that registers and lists this number of tools."""
    command = [sys.executable, "-m", "servers.grown", host, str(tools)]
    done = subprocess.run(command, cwd=HERE, env=os.environ, capture_output=True, check=True)
    return json.loads(done.stdout)


def _rows(group: str, found: dict[str, Readings]) -> Iterator[Row]:
    """The growth against one tool; for the models, their part of the process."""
    one = SIZES[0]
    for tools in SIZES:
        name = f"{tools:,} {'tools' if tools > 1 else 'tool'}"
        goal = CALL_GOAL if (group, tools) == ("call", MOST) else None
        if group in ("memory", "models"):
            floor = found["memory"][one if group == "memory" else tools]
            yield memory_row(group, name, min(found[group][tools]), min(floor))
        else:
            times = {each: found[group][each] for each in {one, tools}}
            timings = against(times, one)
            yield at_most(group, name, goal, timings[tools], timings[one])


def memory_row(group: str, name: str, cost: float, floor: float) -> Row:
    """Megabytes, which have no spread."""
    ratio = cost / floor
    return Row(
        group=group,
        name=name,
        goal=None,
        ratio=ratio,
        low=ratio,
        high=ratio,
        cost=cost,
        floor=floor,
        unit="MB",
    )


def table(rows: list[Row]) -> str:
    """One line for each number of tools."""
    costs = {(row.group, row.name): row for row in rows}
    lines = [
        "| | call | ÷ 1 tool | list again | registration | first list | memory | models in it |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in [row.name for row in rows if row.group == "call"]:
        of_size = {group: costs[group, name] for group in GROUPS}
        cells = [name, *(_shown(of_size[group]) for group in GROUPS)]
        cells.insert(2, f"{of_size['call'].ratio:.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    goals = [row for row in rows if row.goal is not None]
    lines += ["", *(_verdict(row) for row in goals)]
    return "\n".join(lines) + "\n"


def _shown(row: Row) -> str:
    if row.unit == "MB":
        return f"{row.cost:.0f} MB"
    if row.cost < 1000:
        return f"{amount(row.cost)} µs"
    return f"{amount(row.cost / 1e3)} ms" if row.cost < 1e6 else f"{amount(row.cost / 1e6)} s"


def _verdict(row: Row) -> str:
    verdict = "met" if row.met else "**missed**"
    return (
        f"Goal: a call with {row.name} costs at most {row.goal:g} times one with 1 tool: {verdict}."
    )


def picture(rows: list[Row], path: Path) -> None:
    """One curve for each group, by the number of tools."""
    matplotlib.use("Agg")
    drawn = Figure(figsize=(11.5, 6.4), layout="constrained")
    drawn.suptitle(f"{SUITE.title}\n", fontsize=13)
    axes = drawn.subplots(2, 3).flatten()
    for each, (group, title) in zip(axes, GROUPS.items(), strict=True):
        shown = [row for row in rows if row.group == group]
        unit, scale = ("MB", 1) if shown[0].unit == "MB" else ("CPU ms", 1e-3)
        each.plot(SIZES, [row.cost * scale for row in shown], marker="o", color="#2f7d4f")
        each.set_xscale("log")
        each.xaxis.set_major_formatter(FuncFormatter(lambda tools, _: f"{tools:,.0f}"))
        each.set_ylim(0, max(row.cost for row in shown) * scale * 1.15)
        each.set_title(title, loc="left", fontsize=10, fontweight="bold")
        each.set_xlabel("tools", fontsize=9)
        each.set_ylabel(unit, fontsize=9)
        each.spines[["top", "right"]].set_visible(False)
    drawn.savefig(path, dpi=130, metadata={"Software": None})


SUITE = Suite(
    name="growth",
    title="Toolbooth's server with 1 to 5,000 tools",
    groups=GROUPS,
    panels=tuple(Panel(title=title, groups=(group,)) for group, title in GROUPS.items()),
    packages=("toolbooth", "pydantic", "uvicorn", "uvloop", "httptools"),
    measured=measured,
    shows_picture=True,
    table=table,
    picture=picture,
    whole=True,
)
