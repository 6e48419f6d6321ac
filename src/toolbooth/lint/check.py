"""Checks a list of tools for faults that affect real clients. Makes a matrix of tools and
clients.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolbooth.lint.catalogue import RULES
from toolbooth.lint.evidence import (
    ANY,
    EFFECTS,
    SEVERITIES,
    Claim,
    Effect,
    Severity,
    claims_about,
    clients,
    worst,
)
from toolbooth.lint.listing import Listing, listing
from toolbooth.lint.rule import Fault, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault, with the claims about the clients that the fault affects."""

    rule: str
    severity: Severity
    tool: str
    """The name of the tool. Empty if the fault is about the whole server."""
    path: str
    message: str
    claims: tuple[Claim, ...]
    fixable: bool

    @property
    def effects(self) -> dict[str, Effect]:
        """Return the effect on each client, by the id of the client. If several claims are about
        one client, the worst effect counts.
        """
        found: dict[str, Effect] = {}
        # Sorted from the worst effect on, so that the first one counts.
        for claim in sorted(self.claims, key=lambda claim: EFFECTS.index(claim.effect)):
            if claim.client != ANY:
                found.setdefault(claim.client, claim.effect)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The findings about one list of tools. Only the chosen clients are considered."""

    listing: Listing
    clients: tuple[str, ...]
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return f"<Report of {len(self.listing.tools)} tools: {len(self.findings)} findings>"

    def at_least(self, severity: Severity) -> list[Finding]:
        """Return the findings with this severity or a worse one."""
        return [
            each
            for each in self.findings
            if SEVERITIES.index(each.severity) <= SEVERITIES.index(severity)
        ]

    @property
    def matrix(self) -> dict[str, dict[str, Effect]]:
        """Return the worst effect on each client, for each tool with findings. Findings about the
        whole server are under the name "".
        """
        rows: dict[str, dict[str, Effect]] = {}
        for finding in self.findings:
            for client, effect in finding.effects.items():
                row = rows.setdefault(finding.tool, {})
                # "advice" is the mildest effect and never less than itself, so it makes no mark in
                # the matrix.
                if EFFECTS.index(effect) < EFFECTS.index(row.get(client, "advice")):
                    row[client] = effect
        return {tool: row for tool, row in rows.items() if row}


def lint(
    tools: Any,
    *,
    server: str = "",
    only: Collection[str] = (),
    rules: Mapping[str, Rule] = RULES,
) -> Report:
    """Check the tools of a `tools/list` response for the clients in `only`. If `only` is empty,
    check them for all clients.

    Raises:
        Unlisted: if `tools` contains no list of tools.
    """
    found = tools if isinstance(tools, Listing) else listing(tools, server)
    chosen = tuple(name for name in clients() if name != ANY and (not only or name in only))
    findings = [finding for rule in rules.values() for finding in _findings(rule, found, chosen)]
    order = {tool.name: index for index, tool in enumerate(found.tools)}
    # Findings of the server as a whole come first.
    findings.sort(key=lambda each: (order.get(each.tool, -1), SEVERITIES.index(each.severity)))
    return Report(listing=found, clients=chosen, findings=tuple(findings))


def _findings(rule: Rule, found: Listing, chosen: Collection[str]) -> Iterable[Finding]:
    claims = claims_about(rule.id, chosen)
    # None of the chosen clients has a problem with this rule.
    if not claims:
        return
    if rule.of_server:
        for fault in rule.check(found):
            yield from _finding(rule, fault, fault.tool, claims, found.server)
        return
    for tool in found.tools:
        for fault in rule.check(tool):
            yield from _finding(rule, fault, tool.name, claims, found.server)


def _finding(
    rule: Rule, fault: Fault, tool: str, claims: Iterable[Claim], server: str
) -> Iterable[Finding]:
    concerned = tuple(claim for claim in claims if claim.concerns(fault.value, server))
    if concerned:
        yield Finding(
            rule=rule.id,
            severity=worst(claim.severity for claim in concerned),
            tool=tool,
            path=fault.path,
            message=fault.message,
            claims=concerned,
            fixable=rule.fix is not None,
        )
