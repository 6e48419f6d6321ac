"""A listing goes in; it comes out with the mechanical fixes of its findings applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolbooth.lint.catalogue import RULES
from toolbooth.lint.check import Report, lint
from toolbooth.lint.fixes import as_portable
from toolbooth.lint.listing import Tool
from toolbooth.lint.rule import Fix, Rule


def apply_fixes(report: Report, rules: Mapping[str, Rule] = RULES) -> list[dict[str, Any]]:
    """Return the tools of a report with the fixes of its findings. All else stays as it is."""
    # Twice: the portable form may bring to light what another fix has to put in words.
    for _ in range(2):
        tools = [_apply(tool.entry, fixes) for tool, fixes in _fixes_by_tool(report, rules)]
        report = lint(tools, server=report.listing.server, only=report.clients, rules=rules)
    return [tool.entry for tool in report.listing.tools]


def _fixes_by_tool(report: Report, rules: Mapping[str, Rule]) -> Iterable[tuple[Tool, list[Fix]]]:
    fixes: dict[str, dict[Fix, None]] = {}
    for finding in report.findings:
        fix = rules[finding.rule].fix
        if fix is not None:
            fixes.setdefault(finding.tool, {})[fix] = None
    for tool in report.listing.tools:
        # The portable form first: the others put words into what it writes.
        yield tool, sorted(fixes.get(tool.name, {}), key=lambda fix: fix is not as_portable)


def _apply(entry: dict[str, Any], fixes: list[Fix]) -> dict[str, Any]:
    schema = entry.get("inputSchema")
    for fix in fixes:
        schema = fix(schema)
    return {**entry, "inputSchema": schema} if fixes else entry
