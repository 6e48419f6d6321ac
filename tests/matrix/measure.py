"""The corpus over every transport, revision and host; what a host decides by itself, as a table for the docs.

`python measure.py --write` runs it all and writes the table into docs/hosts.md.
"""

import os
import re
import sys
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from corpus import HOSTS, PARSE_ERROR, Call, calls, outcome, wire
from frames import HANDSHAKE, STATELESS, TRANSPORTS

SERVER = Path(__file__).with_name("corpus.py")
PAGE = Path(__file__).parents[2] / "docs" / "hosts.md"
BEGIN, END = "<!-- measured: python tests/matrix/measure.py --write -->\n", "<!-- end of what was measured -->"

NO_ANSWER = {"error": None}

Outcome = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One server over one transport in one revision."""

    host: str
    transport: str
    revision: str


# Those that take longest come first.
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
def started() -> dict[Run, Future[dict[int, Outcome]]]:
    """Every run, under way: a server and its client share a core, more or less."""
    pool = ThreadPoolExecutor(os.cpu_count())
    return {run: pool.submit(_outcomes, run) for run in RUNS}


def outcomes(run: Run) -> dict[int, Outcome]:
    """What came of each call."""
    return started()[run].result()


def _outcomes(run: Run) -> dict[int, Outcome]:
    command = [sys.executable, str(SERVER), run.host, run.transport]
    numbered = [((number, call.tool, call.body), call.raw) for number, call in corpus().items()]
    together = [each for each, raw in numbered if not raw]
    replies = TRANSPORTS[run.transport](command, run.revision, together, [each for each, raw in numbered if raw])
    return {number: _outcome(replies.get(number)) for number in corpus()}


def _outcome(reply: dict[str, Any] | None) -> Outcome:
    if reply is None:
        return NO_ANSWER
    return {"error": reply["error"]["code"]} if "error" in reply else outcome(reply["result"])


@cache
def _expected() -> dict[int, str]:
    return {number: wire.exactly(wire.plain_dates(call.expected)) for number, call in corpus().items()}


@cache
def differences(run: Run) -> dict[int, Outcome]:
    """The calls that did not end as the corpus says, and how they did."""
    return {number: found for number, found in outcomes(run).items() if wire.exactly(found) != _expected()[number]}


# --- the table -------------------------------------------------------------------------------------------------


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


FAULTS = {
    "no JSON: a trailing comma, a comment, a call cut short …": lambda call: call.expected == PARSE_ERROR,
    "half of a surrogate pair": lambda call: rb"\ud800" in call.body or b"\xed\xa0\x80" in call.body,
    "text that is not UTF-8": lambda call: not _is_utf8(call.body),
    "an integer of more than 4,300 digits": lambda call: re.search(rb": \d{4301}", call.body),
    "nested more than 200 levels deep": lambda call: call.expected.get("problems") == [["too-deep", "$"]],
}
"""What a host's reader may decide before any hook. A call is under the first that fits it."""


def fault(call: Call) -> str | None:
    """None for a call whose arguments can be read, as far as that goes."""
    if call.expected != PARSE_ERROR and [each[1] for each in call.expected.get("problems", ())] != ["$"]:
        return None
    return next((name for name, fits in FAULTS.items() if fits(call)), None)


def table() -> str:
    """What was measured, a row for each fault, a column for each transport; one for both revisions where they agree."""
    numbers = {name: [number for number, call in corpus().items() if fault(call) == name] for name in FAULTS}
    sent = [_said(corpus()[number].expected for number in each) for each in numbers.values()]
    columns = [["what is sent", "---", *numbers], ["our server", "---", *sent]]
    for transport, shown in (("stdio", "stdio"), ("http", "HTTP")):
        found = {
            revision: [_cell(each, transport, revision) for each in numbers.values()]
            for revision in (HANDSHAKE, STATELESS)
        }
        if found[HANDSHAKE] == found[STATELESS]:
            found = {"": found[STATELESS]}
        columns += [[f"a host, {shown} {revision}".strip(), "---", *cells] for revision, cells in found.items()]
    count = f"{len(corpus()):,} calls, each in {len(RUNS)} ways:\n\n"
    return count + "".join(f"| {' | '.join(row)} |\n" for row in zip(*columns, strict=True))


def _cell(numbers: list[int], transport: str, revision: str) -> str:
    """What both hosts do; where they do not agree, what each of them does."""
    said = {host: _said_by(Run(host, transport, revision), numbers) for host in ("fastmcp", "mcp_sdk")}
    if said["fastmcp"] == said["mcp_sdk"]:
        return said["fastmcp"]
    return f"FastMCP: {said['fastmcp']}; SDK: {said['mcp_sdk']}"


def _said_by(run: Run, numbers: list[int]) -> str:
    differing = differences(run)
    found = [differing[number] for number in numbers if number in differing]
    said = _said(found) if found else "the same"
    return said if len(found) in (0, len(numbers)) else f"{said}, or the same"


def _said(found: Iterable[Outcome]) -> str:
    return " or ".join(sorted({_in_words(each) for each in found}))


def _in_words(found: Outcome) -> str:
    if found == NO_ANSWER:
        return "no answer"
    if "error" in found:
        return f"JSON-RPC {found['error']}"
    return f"refused: `{found['problems'][0][0]}`" if found["outcome"] == "refused" else found["outcome"]


def written() -> str:
    """The table as the docs have it."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip() + "\n"


def write() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    print(table())
    if "--write" in sys.argv:
        write()
