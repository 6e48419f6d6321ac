"""The outcomes as Markdown: the part of docs/measured/oracle.md between the marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from environments import PINS, ROOT

PAGE = ROOT / "docs" / "measured" / "oracle.md"
BEGIN, END = "<!-- written by make oracle: begin -->\n", "<!-- written by make oracle: end -->"
MARKS = {"raises": "E", "loses": "L", "rejects": "R"}
FORMS = ("portable", "plain")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The findings: tool names by group, and the outcomes by converter, then by form and tool."""

    groups: Mapping[str, Sequence[str]]
    ways: Mapping[str, Mapping[str, Mapping[str, Any]]]

    def raised(self, form: str) -> Iterator[tuple[str, str, str]]:
        for way, outcomes in self.ways.items():
            for key, outcome in outcomes.items():
                if key.startswith(form) and "raises" in outcome:
                    yield way, key, outcome["raises"]

    @property
    def in_both_forms(self) -> list[str]:
        """The tools that also have a plain form."""
        return [key.split()[1] for key in next(iter(self.ways.values())) if key.startswith("plain")]

    def counts(self, way: str, form: str) -> list[int]:
        """The number of tools with each outcome, and with none."""
        found = [self.ways[way][f"{form} {name}"] for name in self.in_both_forms]
        return [
            *(sum(outcome in each for each in found) for outcome in MARKS),
            sum(not each for each in found),
        ]


def with_report(text: str, report: Report) -> str:
    """The page with the report between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{_written(report)}{END}{after}"


def _written(report: Report) -> str:
    sizes = ", ".join(f"{group} ({len(names)})" for group, names in report.groups.items())
    versions = ", ".join(f"`{pins[0]}`" for pins in PINS.values())
    said = f"Run over: {sizes}. With {versions}."
    compared = f"The {len(report.in_both_forms)} constructs that have a plain form too, in both:"
    return "\n\n".join(["", said, compared, summary(report), *_matrix(report), ""])


def summary(report: Report) -> str:
    """For each converter, the number of tools with each outcome, of those with both forms."""
    outcomes = ["raises", "loses", "rejects", "unchanged"]
    head = ["", "converter", *(f"{form} {outcome}" for form in FORMS for outcome in outcomes)]
    rows = [
        [number, way, *(count for form in FORMS for count in report.counts(way, form))]
        for number, way in enumerate(report.ways, 1)
    ]
    return _table(head, rows)


def _matrix(report: Report) -> Iterator[str]:
    """For each group, a table of the tools that a converter changes, and a sentence about the
    rest.
    """
    for group, names in report.groups.items():
        marks = {
            name: [_mark(outcomes[f"portable {name}"]) for outcomes in report.ways.values()]
            for name in names
        }
        unchanged = [name for name, each in marks.items() if not any(each)]
        yield f"### {group.capitalize()}"
        yield f"Unchanged everywhere: {', '.join(f'`{name}`' for name in unchanged) or 'none'}."
        rows = [[f"`{name}`", *each] for name, each in marks.items() if any(each)]
        yield _table(["", *range(1, len(report.ways) + 1)], rows)


def _mark(outcome: Mapping[str, Any]) -> str:
    return "".join(MARKS[each] for each in outcome)


def _table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
