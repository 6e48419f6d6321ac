"""Writes a report as a SARIF 2.1.0 log, for GitHub's code scanning and for editors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from toolbooth.jsonvalue import Json
from toolbooth.lint.catalogue import RULES
from toolbooth.lint.check import Finding, Report
from toolbooth.lint.evidence import Severity
from toolbooth.lint.explain import explanation
from toolbooth.lint.report import summary
from toolbooth.lint.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SERVER = "tools/list"
"""Used as the location of findings about all tools together."""


def as_sarif(report: Report, *, version: str, least: Severity, uri: str | None = None) -> Json:
    """Return a SARIF log with one run. Findings below the severity `least` are left out.

    `uri` is the URI of the linted file, if there is one. Without a file, for example for a running
    server, a result has only a logical location: the tool and the path.
    """
    shown = report.at_least(least)
    names = dict.fromkeys(finding.rule for finding in shown)
    rules = [RULES[name] for name in names]
    driver = {"name": "toolbooth lint", "version": version, "rules": list(map(_rule_json, rules))}
    results = [_result(finding, rules, uri) for finding in shown]
    run = {"tool": {"driver": driver}, "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule_json(rule: Rule) -> Json:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.remedy},
        "help": {"text": explanation(rule)},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding, rules: Sequence[Rule], uri: str | None) -> Json:
    where = finding.tool or SERVER
    return {
        "ruleId": finding.rule,
        "ruleIndex": next(index for index, rule in enumerate(rules) if rule.id == finding.rule),
        "level": finding.severity,
        "message": {"text": f"{where} {finding.path}: {summary(finding)}"},
        "locations": [_location(finding, where, uri)],
        # All results are on line 1 of one file. Without this, code scanning treats the results of
        # one rule as the same alert.
        "partialFingerprints": {"primaryLocationLineHash": _digest(finding, where)},
    }


def _location(finding: Finding, where: str, uri: str | None) -> Json:
    place = {"name": finding.path, "fullyQualifiedName": f"{where}/{finding.path}"}
    location: Json = {"logicalLocations": [{**place, "kind": "parameter"}]}
    if uri is not None:
        # The first line, because the lines of the tools in the file are not known.
        location["physicalLocation"] = {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": 1},
        }
    return location


def _digest(finding: Finding, where: str) -> str:
    parts = (finding.rule, where, finding.path, finding.message)
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:32]
