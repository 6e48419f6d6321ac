"""The part `kills` of `make long`: workers that are killed during a write with a key."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from measured import Figures, Part, Step, StepFailed

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "tests/services/kill_calls.py"
POINTS = (
    "before-claim",
    "between-claim-and-write",
    "between-write-and-commit",
    "between-commit-and-answer",
)
ANY = "at-any-moment"
"""After a random time, which ends in the middle of the call or soon after its answer."""
NUMBER = {**dict.fromkeys(POINTS, 250), ANY: 1000}
"""Of writes. Not every one of the last kind is killed."""
COLUMNS = (
    "writes",
    "killed",
    "rows",
    "receipts",
    "first receipts",
    "repeated receipts",
    "in-flight",
    "seconds",
)


def steps() -> dict[str, Step]:
    return {point: partial(measure, point, number) for point, number in NUMBER.items()}


def measure(point: str, number: int) -> Figures:
    """Return the output of the program, and show its progress on the terminal."""
    command = [sys.executable, PROGRAM, point, str(number)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise StepFailed(done.stdout)
    return json.loads(done.stdout)


def table(figures: Mapping[str, Figures]) -> str:
    lines = [f"| the worker ends | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
    for point, each in figures.items():
        cells = " | ".join(str(each[column]) for column in COLUMNS)
        lines.append(f"| {point.replace('-', ' ')} | {cells} |")
    versions = sorted({each["PostgreSQL"] for each in figures.values()})
    return "\n".join(lines) + f"\n\nThe database: PostgreSQL {', '.join(versions)}.\n"


PART = Part(
    name="kills",
    title="Writes whose worker is killed",
    about="""Creates with an `idempotency_key` on PostgreSQL, served by `gunicorn --preload` with
two processes, from four clients at once. The first call of each write ends its worker with
`os._exit` at a named point, without a rollback and without an answer. In the last row, a signal
ends it after a random time of up to 60 ms. The client repeats the call with the same key until it
has a receipt. "Killed" counts the calls that got no answer. A first receipt is that of the call
which got it; a repeated receipt is that of an earlier call, whose answer was lost. "In-flight"
counts the answers that asked the client to try again. The run fails unless there are as many rows
and different receipts as writes.""",
    covers=(
        "scripts/kills.py",
        "scripts/service_databases.py",
        "src/toolbooth/django/call/*.py",
        "src/toolbooth/django/models.py",
        "src/toolbooth/server/idempotency.py",
        "tests/services/*.py",
        "tests/services/project/**/*.py",
    ),
    packages=("Django", "djangorestframework", "gunicorn", "psycopg"),
    steps=steps,
    table=table,
)
