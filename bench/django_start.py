"""The costs of the gateway within a process -> rows of figures: the boundary's share of a call, and
the start.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from django_calls import MANY, PEER, PEER_NAME
from django_server import FURTHER, Project
from figures import Row, Tell, at_most, counting
from measure import Clock, Timing, against, readings

SHARE_GOAL = 2
"""In percent."""
ROUNDS = 8
NAMES = {"toolbooth": "with Toolbooth, tools listed", PEER: f"with {PEER_NAME}, tools listed"}


def shares(tell: Tell) -> list[Row]:
    """The boundary's own share of a call, without HTTP."""
    tell("the boundary's share")
    with _project() as project:
        found = json.loads(project.manage("inside", "share"))
    rows: list[Row] = []
    for call, figures in found.items():
        timing = Timing(**figures)
        whole = Timing(seconds=timing.seconds / timing.ratio, ratio=1, low=1, high=1)
        percent = replace(
            timing, ratio=timing.ratio * 100, low=timing.low * 100, high=timing.high * 100
        )
        rows.append(at_most("share", f"{call}, in per cent", SHARE_GOAL, percent, whole))
    return rows


def starts(tell: Tell) -> list[Row]:
    """A new process until its first answer, with a thousand tools, against the same project without
    a gateway.
    """
    with TemporaryDirectory() as home:
        clocks = {gateway: _start_clock(Path(home), gateway) for gateway in ("none", *NAMES)}
        found = readings(clocks, ROUNDS, counting(tell, "start", ROUNDS))
    timings = against(found, "none")
    return [
        at_most("start", f"{MANY:,} tools, {name}", None, timings[gateway], timings["none"])
        for gateway, name in NAMES.items()
    ]


def profile_django() -> None:
    """Print the functions in which calls spend their time."""
    with _project() as project:
        print(project.manage("inside", "profile"))


@contextmanager
def _project() -> Iterator[Project]:
    with TemporaryDirectory() as home:
        project = Project(database=Path(home, "inside.sqlite3"))
        project.manage("seed")
        yield project


def _start_clock(home: Path, gateway: str) -> Clock:
    project = Project(
        database=home / f"{gateway}.sqlite3", gateway=gateway, resources=FURTHER, permissions="open"
    )
    project.manage("seed")

    def read() -> float:
        process = project.start("django", "first", stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{project} did not start")
        return usage.ru_utime + usage.ru_stime

    read()  # once before it counts: bytecode is written, files are cached
    return read
