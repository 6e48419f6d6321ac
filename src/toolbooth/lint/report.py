"""Writes a report: as text for a terminal, as JSON, or as Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from toolbooth.jsonvalue import Json, shorten
from toolbooth.lint.check import Finding, Report
from toolbooth.lint.evidence import SEVERITIES, Effect, Severity, clients
from toolbooth.lint.explain import hurt

Paint = Callable[[str, str], str]
"""A function that gets a text and the name of a style, and returns the text, perhaps in colour."""

MARKS: Mapping[Effect, str] = {"refuses": "x", "misreads": "!", "drops": ".", "advice": " "}
LEGEND = "x refused   ! misread   . constraint dropped"
MOST_PATHS = 6
MOST_ROWS = 40
WHOLE = "(all tools)"
_MARKUP = re.compile(r"[\\|`*_\[\]<>#]")
"""Matches characters that have a meaning in Markdown."""


# --- shared ---


def counts_text(findings: Iterable[Finding]) -> str:
    """Return the number of findings of each severity, such as "2 errors, 1 warning"."""
    found = [each.severity for each in findings]
    counts = [(found.count(severity), severity) for severity in SEVERITIES]
    return ", ".join(_plural(count, severity) for count, severity in counts if count)


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def headline(report: Report) -> str:
    """Return a line with the name of the server, the number of its tools, and the tokens that they
    need.
    """
    listing = report.listing
    tools = "1 tool" if len(listing.tools) == 1 else f"{len(listing.tools):,} tools"
    return f"{listing.server or 'tools/list'}: {tools}, about {listing.tokens:,} tokens (bytes ÷ 4)"


def _group(findings: Iterable[Finding]) -> Iterator[tuple[Finding, list[str]]]:
    """Yield each finding with its paths. Findings that differ only in their path are combined into
    one.
    """
    groups: dict[Any, tuple[Finding, list[str]]] = {}
    for each in findings:
        key = (each.tool, each.rule, each.message, each.claims)
        groups.setdefault(key, (each, []))[1].append(each.path)
    for each, paths in groups.values():
        yield each, list(dict.fromkeys(paths))


def _paths_text(paths: list[str]) -> str:
    more = len(paths) - MOST_PATHS
    return ", ".join(paths[:MOST_PATHS]) + (f" and {more} more" if more > 0 else "")


def _concerned_clients(report: Report) -> list[str]:
    """Return the clients that at least one finding affects. They are the columns of the matrix."""
    hurt_clients = set[str]().union(*report.matrix.values())
    return [name for name in report.clients if name in hurt_clients]


def summary(finding: Finding) -> str:
    """Return the message of a finding, followed by the affected clients."""
    return "; ".join(part for part in (finding.message, hurt(finding.claims)) if part)


# --- for a terminal ---


def as_text(report: Report, *, width: int, paint: Paint, least: Severity) -> str:
    """Return the report as text for a terminal: the findings by tool, the matrix, and a summary.
    Findings below the severity `least` are left out.
    """
    shown = report.at_least(least)
    lines = [
        paint(line, "title") for line in textwrap.wrap(_printable(headline(report)), width)
    ] + [""]
    for tool, findings in groupby(shown, key=lambda finding: finding.tool):
        lines.append(paint(_printable(tool) or WHOLE, "tool"))
        for finding, paths in _group(findings):
            lines += _finding_lines(finding, paths, width, paint)
        lines.append("")
    lines += _matrix_lines(report, width, paint)
    for line in _sum_lines(report, len(report.findings) - len(shown)):
        lines += textwrap.wrap(line, width)
    return "\n".join(lines)


def _finding_lines(finding: Finding, paths: list[str], width: int, paint: Paint) -> Iterator[str]:
    where = _printable(_paths_text(paths))
    label = f"{finding.severity:8}{finding.rule}"
    # A path is kept whole, so that it can be copied and searched for.
    head = textwrap.wrap(
        f"{label}  {where}", width - 2, subsequent_indent=" " * 8, break_long_words=False
    )
    # Painted after the wrapping, because `textwrap` would count the escape sequences as characters.
    painted = head[0].replace(
        label, paint(finding.severity, finding.severity) + label[len(finding.severity) :], 1
    )
    yield from (f"  {line}" for line in (painted, *head[1:]))
    indent = " " * 10
    yield from textwrap.wrap(
        _printable(summary(finding)), width, initial_indent=indent, subsequent_indent=indent
    )


def _matrix_lines(report: Report, width: int, paint: Paint) -> Iterator[str]:
    matrix = report.matrix
    if not matrix:
        return
    columns = _concerned_clients(report)
    names = {tool: _printable(tool) or WHOLE for tool in list(matrix)[:MOST_ROWS]}
    # Names are cut to leave room for the columns of all clients, if the terminal is wide enough.
    first = min(max(map(len, names.values())), max(12, width - 4 * len(columns) - 2), 40)
    # A column has a space and the three letters of its client.
    fitting = max(1, (width - first) // 4)
    for start in range(0, len(columns), fitting):
        part = columns[start : start + fitting]
        if start:
            yield ""
        yield " " * first + "".join(f" {clients()[name].code:3}" for name in part)
        for tool, name in names.items():
            cells = [f"  {_mark(matrix[tool].get(client), paint)} " for client in part]
            yield f"{shorten(name, first):{first}}" + "".join(cells).rstrip()
    if len(matrix) > MOST_ROWS:
        yield f"… and {len(matrix) - MOST_ROWS} more tools; --format markdown lists them all"
    yield from textwrap.wrap(LEGEND, width)
    legend = ", ".join(f"{clients()[name].code} {clients()[name].title}" for name in columns)
    yield from textwrap.wrap(legend, width)
    unhurt = [clients()[name].title for name in report.clients if name not in columns]
    if unhurt:
        yield from textwrap.wrap(f"No complaint known from: {', '.join(unhurt)}.", width)
    yield ""


def _printable(text: str) -> str:
    """Return text from a server with its control characters escaped, for a terminal."""
    # The text comes from a server: control characters could change the terminal.
    if text.isprintable():
        return text
    return "".join(map(_printable_character, text))


def _printable_character(char: str) -> str:
    return char if char.isprintable() else f"\\x{ord(char):02x}"


def _mark(effect: Effect | None, paint: Paint) -> str:
    return " " if effect is None else paint(MARKS[effect], effect)


def _sum_lines(report: Report, hidden: int) -> Iterator[str]:
    if not report.findings:
        yield "Nothing found."
        return
    tools = len({finding.tool for finding in report.findings if finding.tool})
    yield f"{counts_text(report.findings)} in {tools} of {len(report.listing.tools)} tools."
    if hidden:
        yield f"Not shown: {hidden}; --notes shows them."
    fixable = sum(finding.fixable for finding in report.findings)
    if fixable:
        yield f"With a mechanical fix: {fixable}; --fix FILE writes the fixed tools/list."
    yield "Details and evidence of a rule: toolbooth lint --explain RULE"


# --- for programs ---


def as_json(report: Report) -> Json:
    """Return the whole report as JSON, for a program."""
    severities = [finding.severity for finding in report.findings]
    return {
        "server": report.listing.server,
        "tools": len(report.listing.tools),
        "tokens": report.listing.tokens,
        "clients": list(report.clients),
        "counts": {severity: severities.count(severity) for severity in SEVERITIES},
        "findings": list(map(_finding_json, report.findings)),
        "matrix": _named_rows(report.matrix),
    }


def _finding_json(finding: Finding) -> Json:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "tool": finding.tool or None,
        "path": finding.path,
        "message": finding.message,
        "clients": finding.effects,
        "fixable": finding.fixable,
    }


def _named_rows(matrix: Mapping[str, Any]) -> Json:
    return {tool or WHOLE: row for tool, row in matrix.items()}


# --- for a pull request ---


def as_markdown(report: Report) -> str:
    """Return the report as Markdown, with the findings and the matrix as tables."""
    lines = [
        f"# {_in_cell(headline(report))}",
        "",
        counts_text(report.findings) or "Nothing found.",
        "",
    ]
    if report.findings:
        rows = [_finding_row(each, paths) for each, paths in _group(report.findings)]
        lines += _table(["", "rule", "tool", "where", "what"], rows)
    columns = _concerned_clients(report)
    if columns:
        titles = [clients()[name].title for name in columns]
        rows = [_matrix_row(tool, row, columns) for tool, row in report.matrix.items()]
        lines += _table(["tool", *titles], rows)
    return "\n".join(lines)


def _finding_row(finding: Finding, paths: list[str]) -> list[str]:
    return [
        finding.severity,
        f"`{finding.rule}`",
        _in_cell(finding.tool or WHOLE),
        _in_cell(_paths_text(paths)),
        _in_cell(summary(finding)),
    ]


def _matrix_row(tool: str, effects: Mapping[str, Effect], columns: list[str]) -> list[str]:
    return [_in_cell(tool or WHOLE), *(effects.get(client, "") for client in columns)]


def _table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows), ""]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _in_cell(text: str) -> str:
    """Return text from a server with its Markdown characters escaped, for a table."""
    # A line feed would end the row of the table.
    return _MARKUP.sub(r"\\\g<0>", _printable(" ".join(text.split())))
