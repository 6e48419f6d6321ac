"""Writes whose worker is killed, repeated with the same key until there is a receipt.

`python tests/services/kill_calls.py POINT NUMBER` runs them on PostgreSQL and prints the figures as
JSON; progress goes to stderr. It is a step of the part `kills` of `make long`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import signal
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts"))

from kills import ANY, NUMBER
from service_databases import Config, NotThere, PostgreSQL, database

from service_rows import query
from service_server import Answer, Served, call, gunicorn_sync, prepare, served

CLIENTS = 4
"""At the same time, to a server whose processes make one call at a time: a killed worker has no
other call.
"""
MOST_CALLS = 50
"""The number of calls of one write, before it counts as failed."""
LONGEST = 0.06
"""Seconds before a worker is ended at a random moment: about as long as the first call of a worker
takes.
"""

Tell = Callable[[str], None]


class KillFailed(Exception):
    """A write without a receipt, or another number of rows."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one write: the row of its receipt, and the calls it took."""

    row: int
    broken: int
    """Calls that got no answer."""
    in_flight: int
    repeated: bool
    """Whether the receipt is that of an earlier call."""


def run(server: Served, point: str, number: int, tell: Tell, clients: int = 1) -> dict[str, int]:
    """Return the figures of writes, each of which is killed once; at a random moment, most of them
    are. Raises KillFailed unless there are as many rows and different receipts as writes.
    """
    done: list[Outcome] = []
    with ThreadPoolExecutor(clients) as pool:
        labels = [f"{point} {each}" for each in range(number)]
        for outcome in pool.map(lambda label: write(server.port, point, label), labels):
            done.append(outcome)
            if len(done) % 50 == 0:
                tell(f"{point}: {len(done)} of {number} writes have a receipt")
    found = rows(server.config, point)
    figures = {
        "writes": number,
        "killed": sum(each.broken for each in done),
        "rows": len(found),
        "receipts": len({each.row for each in done}),
        "first receipts": sum(not each.repeated for each in done),
        "repeated receipts": sum(each.repeated for each in done),
        "in-flight": sum(each.in_flight for each in done),
    }
    same_rows = {each.row for each in done} == {row for row, _ in found}
    every_write = {label for _, label in found} == set(labels)
    as_many = figures["rows"] == figures["receipts"] == number
    killed = figures["killed"] > 0 if point == ANY else figures["killed"] == number
    if not (same_rows and every_write and as_many and killed):
        raise KillFailed(f"{point}: the rows are not those of the receipts: {figures}")
    return figures


def rows(config: Config, point: str) -> list[tuple[int, str]]:
    """Return the keys and labels of the rows that were meant for a point."""
    return query(config, f"SELECT id, label FROM ledger_entry WHERE label LIKE '{point} %'")


def write(port: int, point: str, label: str) -> Outcome:
    """Make one write. Its first call ends its worker, the others do not."""
    arguments = {"label": label, "idempotency_key": label}
    broken = in_flight = 0
    for number in range(MOST_CALLS):
        headers = kill_header(point, label) if number == 0 else {}
        try:
            answer = call(port, "entries__create", arguments, headers=headers)
        except (http.client.HTTPException, OSError):
            broken += 1
            continue
        if answer.failed and answer.codes == ["in-flight"]:
            in_flight += 1
            continue
        return _outcome(answer, broken, in_flight)
    raise KillFailed(f"{label}: no receipt after {MOST_CALLS} calls")


def kill_header(point: str, label: str) -> dict[str, str]:
    if point != ANY:
        return {"X-Kill-At": point}
    return {"X-Kill-After": f"{random.Random(label).uniform(0.0005, LONGEST):.4f}"}


def _outcome(answer: Answer, broken: int, in_flight: int) -> Outcome:
    receipt: Any = answer.content
    return Outcome(receipt["id"], broken, in_flight, receipt.get("repeated", False))


# --- a step of make long ------------------------------------------------------------------------


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("point", choices=NUMBER)
    parser.add_argument("number", type=int)
    chosen = parser.parse_args(words)
    signal.signal(signal.SIGTERM, _end)
    try:
        version = PostgreSQL().version()
        figures = _on_postgresql(chosen.point, chosen.number)
    except (KillFailed, NotThere) as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, NotThere) else 1
    print(json.dumps({**figures, "PostgreSQL": version.split()[0]}))
    return 0


def _on_postgresql(point: str, number: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder, database(PostgreSQL()) as config:
        prepare(config)
        with served(config, Path(folder), gunicorn_sync) as server:
            return run(server, point, number, tell, CLIENTS)


def tell(text: str) -> None:
    """Print progress to stderr, beside the figures on stdout."""
    print(text, file=sys.stderr, flush=True)


def _end(number: int, _frame: FrameType | None) -> None:
    """So that the database is dropped."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
