"""`make schemas`: the outcomes of the cases of JSON-Schema-Test-Suite 2020-12.

`--json` prints the figures as JSON, `--details` names every case that is refused though it is
valid, or repaired. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, get_args

import jsonschema_rs
from causes import CAUSES, OTHER, cause_of
from suite import Case, Place, cases, set_up

from toolbooth import ContractError, compile_json_schema, handle_bytes
from toolbooth.jsonvalue import same_json

MOST_REFUSED = 70
"""The number of valid instances that may be refused, for the causes that the law names."""

ASSERTED = ("optional/format/", "optional/format-assertion.json")
"""The files of the suite in which `format` is asserted."""


@dataclass(slots=True)
class Tally:
    """The outcomes of the cases at one place."""

    counts: Counter[str] = field(default_factory=Counter[str])
    causes: Counter[str] = field(default_factory=Counter[str])
    uncompiled: Counter[str] = field(default_factory=Counter[str])
    details: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, kind: str, case: Case, why: str = "") -> None:
        self.counts[kind] += 1
        self.details.setdefault(kind, []).append(f"{case.file}: {case.name}{why}")


AS_SENT = "valid, accepted as sent"
REFUSED = "valid, refused"
CHANGED = "valid, changed"
INVALID_REFUSED = "invalid, refused"
REPAIRED = "invalid, accepted after a recorded repair"
INVALID_ACCEPTED = "invalid, accepted as sent"
DISAGREES = "jsonschema-rs disagrees with the suite"
KINDS = (AS_SENT, REFUSED, CHANGED, INVALID_REFUSED, REPAIRED, INVALID_ACCEPTED, DISAGREES)
NONE_ALLOWED = (CHANGED, INVALID_ACCEPTED)
UNUSUAL = (*NONE_ALLOWED, REFUSED, REPAIRED, DISAGREES)


class Tool:
    """A tool that has the schema and records the values it received."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.received: list[Any] = []
        self.contract = compile_json_schema(schema, self.received.append, name="tool")

    def call(self, arguments: Any) -> tuple[Any, list[Any]] | None:
        """Return the values that the tool received and the repairs; None if it was not called."""
        self.received.clear()
        result = handle_bytes(self.contract, json.dumps(arguments).encode())
        if not self.received:
            return None
        return self.received[0], result.get("_meta", {}).get("toolbooth", {}).get("repairs", [])


def judge(case: Case, tool: Tool, tally: Tally) -> None:
    """Count one case."""
    formats = case.file.startswith(ASSERTED)
    own = jsonschema_rs.validator_for(case.schema, validate_formats=formats)
    if own.is_valid(case.arguments) is not case.is_valid:
        tally.add(DISAGREES, case)
        return
    called = tool.call(case.arguments)
    if called is None and case.is_valid:
        cause = cause_of(case.schema, lambda schema: _is_accepted(schema, case.arguments))
        tally.causes[cause] += 1
        tally.add(REFUSED, case, f" ({cause})")
    elif called is None:
        tally.add(INVALID_REFUSED, case)
    elif case.is_valid:
        received, repairs = called
        exact = json.loads(json.dumps(case.arguments), parse_float=Decimal)
        is_same = same_json(received, case.arguments) or same_json(received, exact)
        tally.add(AS_SENT if is_same and not repairs else CHANGED, case)
    else:
        tally.add(REPAIRED if called[1] else INVALID_ACCEPTED, case)


def _is_accepted(schema: dict[str, Any], arguments: Any) -> bool:
    try:
        return Tool(schema).call(arguments) == (arguments, [])
    except ContractError:
        return False


def run() -> dict[Place, Tally]:
    """The tallies of both places."""
    tallies: dict[Place, Tally] = {place: Tally() for place in get_args(Place)}
    tools: dict[str, Tool | str] = {}
    for case in cases(set_up()):
        tally = tallies[case.place]
        text = json.dumps(case.schema)
        if text not in tools:
            tools[text] = _compiled(case.schema)
            if isinstance(reason := tools[text], str):
                tally.uncompiled[reason] += 1
        tool = tools[text]
        if isinstance(tool, Tool):
            judge(case, tool, tally)
    return tallies


def _compiled(schema: dict[str, Any]) -> Tool | str:
    """The tool, or the reason why there is none, without the names in it."""
    try:
        return Tool(schema)
    except ContractError as error:
        mistake = error.mistakes[0]
    if "is not fetched" in mistake:
        return "it refers to another document, which is not fetched"
    if "Unknown meta-schema" in mistake:
        return "its meta-schema is another document"
    return mistake.partition(" (")[0].partition(": ")[0]


# --- figures ------------------------------------------------------------------------------------


def figures(tallies: dict[Place, Tally]) -> dict[str, dict[str, int]]:
    """Every count, by place."""
    rows: dict[str, dict[str, int]] = {}
    for place, tally in tallies.items():
        for kind in KINDS:
            rows.setdefault(kind, {})[place] = tally.counts[kind]
        for cause in (*CAUSES, OTHER):
            rows.setdefault(f"refused: {cause}", {})[place] = tally.causes[cause]
        for reason, count in tally.uncompiled.items():
            rows.setdefault(f"schemas not compiled: {reason}", {})[place] = count
    return rows


def missed(tallies: dict[Place, Tally]) -> list[str]:
    """The bars that are missed."""
    found: list[str] = []
    for place, tally in tallies.items():
        found += [f"{place}: {kind}" for kind in NONE_ALLOWED if tally.counts[kind]]
        found += [f"{place}: refused for another cause"] if tally.causes[OTHER] else []
    refused = sum(tally.counts[REFUSED] for tally in tallies.values())
    if refused > MOST_REFUSED:
        found.append(f"{refused} valid instances are refused, {MOST_REFUSED} at the most")
    return found


def main(words: list[str]) -> int:
    tallies = run()
    rows = figures(tallies)
    bars = missed(tallies)
    if "--json" in words:
        disagreements = list(cases_of([DISAGREES], tallies))
        print(json.dumps({"counts": rows, "disagreements": disagreements, "missed": bars}))
    else:
        for name, counts in rows.items():
            places = "".join(f"{counts.get(place, 0):>11,}" for place in tallies)
            print(f"{name:<80}{places}")
        for line in cases_of(UNUSUAL if "--details" in words else NONE_ALLOWED, tallies):
            print(line)
    for bar in bars:
        print(f"missed: {bar}", file=sys.stderr)
    return 1 if bars else 0


def cases_of(kinds: Sequence[str], tallies: dict[Place, Tally]) -> Iterator[str]:
    """Yield the cases with these properties, one line each."""
    for kind in kinds:
        for place, tally in tallies.items():
            yield from (f"{kind}, {place}: {case}" for case in tally.details.get(kind, []))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
