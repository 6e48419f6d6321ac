"""Compares proxies: what each adds to an exact call, over every pair of transports."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from statistics import median, quantiles

from cases import CONTACT
from figures import Panel, Row, Suite, Tell
from load import HERE, META, message
from measure import at_most_quick
from proxying import Http, Running, free_port, started
from rivals import LEGS, OURS, VERSIONS, Leg, Target, Transport, proxies
from serving import RESULTS

ROUNDS, CALLS = 100, 20
"""2,000 calls to each. The rounds are short, so that on a loaded machine some are not disturbed."""
SLICE, FEWEST = 0.05, 2
"""The seconds of one proxy in a round. A slow one makes fewer calls in it, but not less than this.
"""
WARM, WARM_SECONDS = 200, 1.0
"""The calls before the first round, and the time for them."""

DIRECT = "direct"
STATELESS = f"{OURS}, 2026-07-28"
"""Without a handshake: 2026-07-28 on both sides."""
HTTP, STDIO = LEGS[:2]
SERVER = (sys.executable, "-m", "servers.start", "ours", "10")

TIME_GOALS = {HTTP: 0.8, STDIO: 0.4}
CPU_GOAL = 0.7
MS = 1e3


class Contestant:
    """A running proxy, or the server itself, and its readings in seconds."""

    def __init__(self, running: Running, *, stateless: bool = False) -> None:
        meta = {"_meta": META} if stateless else {}
        self.running = running
        self.call = message("tools/call", name="nested", arguments=CONTACT, **meta)
        answer = json.loads(running.client.ask(self.call))
        if answer["result"]["structuredContent"] != RESULTS["nested"]:
            raise AssertionError(f"{answer}; the figure would mean nothing")
        running.seconds(self.call, FEWEST)
        first = median(running.seconds(self.call, FEWEST))
        warm = median(running.seconds(self.call, _within(WARM_SECONDS / first, WARM)))
        self.count = _within(SLICE / warm, CALLS)
        self.medians: list[float] = []
        self.cpu: list[float] = []

    def read(self) -> None:
        """Take one reading of both clocks."""
        self.running.client.ask(self.call)  # wakes it up, and may open its connection again
        before = self.running.cpu()
        times = self.running.seconds(self.call, self.count)
        self.cpu.append((self.running.cpu() - before) / self.count)
        self.medians.append(median(times))


def _within(calls: float, most: int) -> int:
    return max(FEWEST, min(most, round(calls)))


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    if sys.platform != "linux":
        raise SystemExit("The proxy suite reads the CPU clocks of processes: it needs Linux.")
    tell("installing the other proxies, once")
    commands = proxies()
    rows: list[Row] = []
    with _http_server() as (server, port):
        for leg in LEGS:
            with ExitStack() as stack:
                tell(f"{leg.name}, starting")
                found = _direct(leg.server, server, port, stack)
                target = _target(leg.server, port)
                for name, command in commands[leg].items():
                    own = free_port() if leg.client == "HTTP" else None
                    running = stack.enter_context(started(command(target, own), port=own))
                    found[name] = Contestant(running)
                    if leg is HTTP and name == OURS:
                        client = stack.enter_context(closing(Http(own, name="nested")))
                        again = Running(running.process, client)
                        found[STATELESS] = Contestant(again, stateless=True)
                _read_all(leg, found, tell)
            rows += _rows(leg, found)
    order = list(SUITE.groups)
    return sorted(rows, key=lambda row: order.index(row.group))


def _read_all(leg: Leg, found: Mapping[str, Contestant], tell: Tell) -> None:
    for number in range(at_most_quick(ROUNDS)):
        tell(f"{leg.name}, round {number + 1} of {ROUNDS}")
        for each in random.sample(list(found.values()), len(found)):
            each.read()


# --- the server behind the proxies --------------------------------------------------------------


@contextmanager
def _http_server() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        number = listening.fileno()
        server = subprocess.Popen([*SERVER, "uvicorn", str(number)], cwd=HERE, pass_fds=[number])
        port = listening.getsockname()[1]
    try:
        yield server, port
    finally:
        server.kill()
        server.wait()


def _target(transport: Transport, port: int) -> Target:
    if transport == "HTTP":
        return Target(url=f"http://127.0.0.1:{port}/mcp")
    return Target(command=(*SERVER, "stdio"))


def _direct(
    transport: Transport, server: subprocess.Popen[bytes], port: int, stack: ExitStack
) -> dict[str, Contestant]:
    """The server without a proxy, on the transport that the proxies use for it."""
    if transport == "stdio":
        running = stack.enter_context(started([*SERVER, "stdio"], port=None))
        return {DIRECT: Contestant(running)}
    plain = stack.enter_context(closing(Http(port)))
    stateless = stack.enter_context(closing(Http(port, name="nested")))
    return {
        DIRECT: Contestant(Running(server, plain)),
        f"{DIRECT}, 2026-07-28": Contestant(Running(server, stateless), stateless=True),
    }


# --- rows ---------------------------------------------------------------------------------------


def _rows(leg: Leg, found: Mapping[str, Contestant]) -> Iterator[Row]:
    for name, each in found.items():
        if name.startswith(DIRECT):
            continue
        floor = found[f"{DIRECT}, 2026-07-28" if name == STATELESS else DIRECT]
        is_own = name.startswith(OURS)
        goal = TIME_GOALS.get(leg) if is_own else None
        yield _time_row(leg, name, each, floor, goal)
        yield _cpu_row(leg, name, each, floor, CPU_GOAL if is_own and leg in TIME_GOALS else None)
        if not is_own:
            yield _less_time(leg, name, found[OURS], each, floor)
            yield _less_cpu(leg, name, found[OURS], each)


def _added(each: Contestant, floor: Contestant) -> list[float]:
    """The added time in each round."""
    return [mine - base for mine, base in zip(each.medians, floor.medians, strict=True)]


def _time_row(leg: Leg, name: str, each: Contestant, floor: Contestant, goal: float | None) -> Row:
    low, _, high = quantiles(_added(each, floor), n=4)
    best, base = min(each.medians), min(floor.medians)
    return Row(
        group="own time" if name.startswith(OURS) else "time",
        name=f"{leg.name}: {name}",
        goal=goal,
        ratio=(best - base) * MS,
        low=low * MS,
        high=high * MS,
        cost=best * 1e6,
        floor=base * 1e6,
    )


def _cpu_row(leg: Leg, name: str, each: Contestant, floor: Contestant, goal: float | None) -> Row:
    low, _, high = quantiles(each.cpu, n=4)
    return Row(
        group="own cpu" if name.startswith(OURS) else "cpu",
        name=f"{leg.name}: {name}",
        goal=goal,
        ratio=min(each.cpu) * MS,
        low=low * MS,
        high=high * MS,
        cost=min(each.cpu) * 1e6,
        floor=min(floor.cpu) * 1e6,
    )


def _less_time(leg: Leg, name: str, ours: Contestant, theirs: Contestant, floor: Contestant) -> Row:
    base = min(floor.medians)
    best = (min(ours.medians) - base, min(theirs.medians) - base)
    return _less("less time", leg, name, best, (_added(ours, floor), _added(theirs, floor)))


def _less_cpu(leg: Leg, name: str, ours: Contestant, theirs: Contestant) -> Row:
    return _less("less cpu", leg, name, (min(ours.cpu), min(theirs.cpu)), (ours.cpu, theirs.cpu))


def _less(
    group: str,
    leg: Leg,
    name: str,
    best: tuple[float, float],
    rounds: tuple[list[float], list[float]],
) -> Row:
    """How many times less Toolbooth needs."""
    mine, theirs = best
    # On a loaded machine, one direct round may take longer than the same round through a proxy.
    ratios = [each / own for own, each in zip(*rounds, strict=True) if own > 0]
    low, _, high = quantiles(ratios, n=4)
    return Row(
        group=group,
        name=f"{leg.name}: {name}",
        goal=1,
        at_least=True,
        ratio=theirs / mine,
        low=low,
        high=high,
        cost=mine * 1e6,
        floor=theirs * 1e6,
    )


# --- the page -----------------------------------------------------------------------------------


def table(rows: list[Row]) -> str:
    """The added time and the CPU time of every proxy."""
    times = {row.name: row for row in rows if row.group in ("own time", "time")}
    cpu = {row.name: row for row in rows if row.group in ("own cpu", "cpu")}
    versions = ", ".join(f"{name} {number}" for name, number in VERSIONS.items())
    lines = [
        f"With {versions}. The load of the machine after it was",
        f"{os.getloadavg()[1]:.1f} on {os.cpu_count()} cores (average of five minutes).",
        "",
        "| | added time | in the middle half of the rounds | CPU time of the proxy |",
        "|---|---:|---:|---:|",
    ]
    for leg in LEGS:
        lines.append(
            f"| **client → proxy over {leg.client}, proxy → server over {leg.server}** | | | |"
        )
        for name, row in times.items():
            leg_name, _, proxy = name.partition(": ")
            if leg_name == leg.name:
                spread = f"{row.low:.2f} to {row.high:.2f} ms"
                lines.append(f"| {proxy} | {_cell(row)} | {spread} | {_cell(cpu[name])} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row) -> str:
    figure = f"{row.ratio:.2f} ms"
    if row.goal is None:
        return figure
    return f"{figure if row.met else f'**{figure}**, missed'} (≤ {row.goal:g})"


SUITE = Suite(
    name="proxy",
    title="What a proxy adds to a call",
    groups={
        "own time": "Toolbooth: added time of a call, p50, in ms",
        "own cpu": "Toolbooth: CPU time of the proxy for a call, in ms",
        "time": "Others: added time of a call, p50, in ms",
        "cpu": "Others: CPU time of the proxy for a call, in ms",
        "less time": "Times less time that Toolbooth adds than",
        "less cpu": "Times less CPU time of Toolbooth than of",
    },
    panels=(
        Panel(
            title="Toolbooth: added time, and CPU time, in ms (less is better)",
            groups=("own time", "own cpu"),
        ),
        Panel(
            title="Times less time that Toolbooth adds than … (more is better; logarithmic)",
            groups=("less time",),
            logarithmic=True,
        ),
        Panel(
            title="Times less CPU time of Toolbooth than of … (more is better; logarithmic)",
            groups=("less cpu",),
            logarithmic=True,
        ),
    ),
    packages=("toolbooth", "uvicorn", "uvloop", "httptools", "fastmcp"),
    measured=measured,
    page="measured/proxy.md",
    table=table,
)
