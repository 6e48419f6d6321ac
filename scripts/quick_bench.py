"""The part `bench` of `make long`: every suite of `bench/` for a few rounds."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from measured import Figures, Part, Step, StepFailed, markdown_table

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "bench/run.py"
SUITES = ("core", "hostile", "server", "web", "growth", "shares", "django", "tokens", "proxy")
_GOALS = re.compile(r"(\d+) of (\d+) goals met")


def steps() -> dict[str, Step]:
    return {suite: partial(measure, suite) for suite in SUITES}


def measure(suite: str) -> Figures:
    """Return how many goals a quick run has met. Other work on the machine can change that."""
    command = [sys.executable, PROGRAM, "--quick", suite]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = _GOALS.search(done.stdout)
    if done.returncode or found is None:
        raise StepFailed(done.stdout + done.stderr)
    met, goals = map(int, found.groups())
    return {"goals": goals, "met in a quick run": met}


def table(figures: Mapping[str, Figures]) -> str:
    columns = ("goals", "met in a quick run", "seconds")
    rows = [(suite, *(each[column] for column in columns)) for suite, each in figures.items()]
    return markdown_table(("suite", *columns), rows)


PART = Part(
    name="bench",
    title="The suites of the bench still run",
    about="""Every suite of `make bench` makes two rounds. This does not measure speed: it shows
that the suites run with the present code, and that every answer which they check is right. The
figures are on [Speed](speed.md), [The cost of the proxy](proxy.md) and
[The token diet](token-diet.md). The run fails if a suite does not come to its end.""",
    covers=(
        "bench/*.py",
        "bench/servers/**/*.py",
        "src/toolbooth/**/*.py",
        "scripts/quick_bench.py",
    ),
    packages=("pydantic", "fastmcp", "mcp", "uvicorn", "Django", "djangorestframework"),
    steps=steps,
    table=table,
)
