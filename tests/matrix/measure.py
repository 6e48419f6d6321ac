"""The corpus over every transport, revision and host; the calls that a host decides by itself, as a
table for the docs.

`python measure.py --write` runs it all and writes the table into docs/reference/hosts.md. `--list`
names the runs, and `--run NAME` prints the figures of one of them as JSON.
"""

import json
import os
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from corpus import HOSTS, PARSE_ERROR, Call, calls, outcome, wire_depths, wire_outcomes
from frames import HANDSHAKE, STATELESS, TRANSPORTS

SERVER = Path(__file__).with_name("corpus.py")
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "hosts.md"
BEGIN, END = (
    "<!-- measured: python tests/matrix/measure.py --write -->\n",
    "<!-- end of what was measured -->",
)

NO_ANSWER = {"error": None}

Outcome = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One server over one transport in one revision."""

    host: str
    transport: str
    revision: str

    @property
    def name(self) -> str:
        return f"{self.host}-{self.transport}-{self.revision}"


# The longest runs are first.
RUNS = [
    Run(host, transport, revision)
    for transport in ("http", "stdio")
    for host in reversed(HOSTS)
    for revision in (HANDSHAKE, STATELESS)
]


@cache
def corpus() -> dict[int, Call]:
    return dict(enumerate(calls(), 1))


@cache
def outcomes(run: Run) -> dict[int, Outcome]:
    """Return the outcome of each call."""
    command = [sys.executable, str(SERVER), run.host, run.transport]
    numbered = [((number, call.tool, call.body), call.raw) for number, call in corpus().items()]
    together = [each for each, raw in numbered if not raw]
    replies = TRANSPORTS[run.transport](
        command, run.revision, together, [each for each, raw in numbered if raw]
    )
    return {number: _outcome(replies.get(number)) for number in corpus()}


def _outcome(reply: dict[str, Any] | None) -> Outcome:
    if reply is None:
        return NO_ANSWER
    return {"error": reply["error"]["code"]} if "error" in reply else outcome(reply["result"])


@cache
def _expected() -> dict[int, str]:
    return {
        number: wire_outcomes.exactly(wire_depths.plain_dates(call.expected))
        for number, call in corpus().items()
    }


@cache
def differences(run: Run) -> dict[int, Outcome]:
    """Return the calls whose outcome differs from the corpus, with that outcome."""
    return {
        number: found
        for number, found in outcomes(run).items()
        if wire_outcomes.exactly(found) != _expected()[number]
    }


# --- the table ----------------------------------------------------------------------------------


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


FAULTS = {
    "no JSON: a trailing comma, a comment, a call cut short …": lambda call: (
        call.expected == PARSE_ERROR
    ),
    "half of a surrogate pair": lambda call: (
        rb"\ud800" in call.body or b"\xed\xa0\x80" in call.body
    ),
    "text that is not UTF-8": lambda call: not _is_utf8(call.body),
    "an integer of more than 4,300 digits": lambda call: re.search(rb": \d{4301}", call.body),
    "nested more than 200 levels deep": lambda call: (
        call.expected.get("problems") == [["too-deep", "$"]]
    ),
}
"""Faults that a host's reader may decide before any hook. A call is under the first that fits it.
"""


def fault(call: Call) -> str | None:
    """Return the fault of a call, or None if its arguments can be parsed."""
    if call.expected != PARSE_ERROR and [each[1] for each in call.expected.get("problems", ())] != [
        "$"
    ]:
        return None
    return next((name for name, fits in FAULTS.items() if fits(call)), None)


Said = dict[Run, list[str]]
"""The outcomes of a run for the calls under each fault, in words."""

ON_A_HOST = [run for run in RUNS if run.host != "registry"]
SHOWN = {"stdio": "stdio", "http": "HTTP"}


@cache
def numbers_by_fault() -> dict[str, list[int]]:
    return {
        name: [number for number, call in corpus().items() if fault(call) == name]
        for name in FAULTS
    }


def said_by(run: Run) -> list[str]:
    """Return a cell for each fault; "the same" is the result of our own server."""
    return [_cell(differences(run), numbers) for numbers in numbers_by_fault().values()]


def _cell(differing: dict[int, Outcome], numbers: list[int]) -> str:
    found = [differing[number] for number in numbers if number in differing]
    said = _said(found) if found else "the same"
    return said if len(found) in (0, len(numbers)) else f"{said}, or the same"


def table(said: Said) -> str:
    """Return a row for each fault, a column for each transport; one column for both revisions where
    they agree.
    """
    ours = [
        _said(corpus()[number].expected for number in each) for each in numbers_by_fault().values()
    ]
    columns = [["what is sent", "---", *FAULTS], ["our server", "---", *ours]]
    for transport, shown in SHOWN.items():
        found = {revision: _both(said, transport, revision) for revision in (HANDSHAKE, STATELESS)}
        if found[HANDSHAKE] == found[STATELESS]:
            found = {"": found[STATELESS]}
        columns += [
            [f"a host, {shown} {revision}".strip(), "---", *cells]
            for revision, cells in found.items()
        ]
    count = f"{len(corpus()):,} calls, each in {len(RUNS)} ways:\n\n"
    return count + "".join(f"| {' | '.join(row)} |\n" for row in zip(*columns, strict=True))


def _both(said: Said, transport: str, revision: str) -> list[str]:
    """Return the common behaviour of both hosts; where they differ, that of each."""
    fastmcp, mcp_sdk = (said[Run(host, transport, revision)] for host in ("fastmcp", "mcp_sdk"))
    pairs = zip(fastmcp, mcp_sdk, strict=True)
    return [one if one == other else f"FastMCP: {one}; SDK: {other}" for one, other in pairs]


def read(text: str) -> Said:
    """Parse a table."""
    _, _, *lines = text.strip().splitlines()
    heads, _, *rows = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines)
    said: Said = {}
    for column, head in enumerate(heads):
        for run in ON_A_HOST:
            if head in (
                f"a host, {SHOWN[run.transport]}",
                f"a host, {SHOWN[run.transport]} {run.revision}",
            ):
                said[run] = [_of_host(row[column], run.host) for row in rows]
    return said


def _of_host(cell: str, host: str) -> str:
    if not cell.startswith("FastMCP: "):
        return cell
    fastmcp, _, mcp_sdk = cell.removeprefix("FastMCP: ").partition("; SDK: ")
    return fastmcp if host == "fastmcp" else mcp_sdk


def _said(found: Iterable[Outcome]) -> str:
    return " or ".join(sorted({_in_words(each) for each in found}))


def _in_words(found: Outcome) -> str:
    if found == NO_ANSWER:
        return "no answer"
    if "error" in found:
        return f"JSON-RPC {found['error']}"
    return (
        f"refused: `{found['problems'][0][0]}`"
        if found["outcome"] == "refused"
        else found["outcome"]
    )


def written() -> str:
    """Return the table in the docs."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip() + "\n"


def write() -> None:
    """Run it all, about one server and its client on each core, and write the table."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = dict(zip(ON_A_HOST, pool.map(said_by, ON_A_HOST), strict=True))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(
        f"{before}{BEGIN}\n{table(said)}\n{END}{rest.partition(END)[2]}", encoding="utf-8"
    )


# --- one run ------------------------------------------------------------------------------------


def unexplained(run: Run) -> dict[str, Outcome]:
    """Return the calls, by id, whose outcome differs from the corpus although the host's own reader
    did not stop them.
    """
    return {
        corpus()[number].id: found
        for number, found in differences(run).items()
        if not _stopped(run, corpus()[number], found)
    }


def _stopped(run: Run, call: Call, found: Outcome) -> bool:
    """Check that no tool has run, and that no argument is lost on the way to one."""
    return run.host != "registry" and fault(call) is not None and found in (NO_ANSWER, PARSE_ERROR)


def figures(run: Run) -> dict[str, int]:
    """Count the calls by outcome; the rest are unexplained."""
    sent, differing = len(corpus()), len(differences(run))
    stopped = differing - len(unexplained(run))
    return {"calls": sent, "as the corpus says": sent - differing, "stopped by the host": stopped}


def main(words: list[str]) -> None:
    match words:
        case ["--list"]:
            print(*(run.name for run in RUNS), sep="\n")
        case ["--run", name]:
            [run] = [each for each in RUNS if each.name == name]
            print(json.dumps({**figures(run), "unexplained": unexplained(run)}))
        case ["--write"]:
            write()
        case _:
            print(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
