"""Applies the automatic fixes of a report to the tools.

A fix must not add a finding. For example, `prefixItems` with types that differ would become a
union, which some clients misread. So there are several *versions* of a schema:

0. every fix is applied
1. every fix is applied, but values that may be anything stay untyped
2. only the fixes that move keywords to descriptions are applied
3. the original

For each parameter, the first version that adds no finding is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from toolbooth.jsonvalue import Json, path_text
from toolbooth.lint.catalogue import RULES
from toolbooth.lint.check import Finding, Report, lint
from toolbooth.lint.evidence import Claim
from toolbooth.lint.fixes import as_portable, as_portable_but_untyped
from toolbooth.lint.listing import Tool
from toolbooth.lint.rule import Fix, Rule
from toolbooth.lint.rules import sizes
from toolbooth.lint.schemas import as_dict, inlined, nodes

Harm = tuple[str, str, Claim]
"""A finding, reduced to what must not be added: the rule, the path in a schema, and the claim about
one client.
"""

_SIZES = {each.id for each in vars(sizes).values() if isinstance(each, Rule)}
_PORTABLE_FORMS = (as_portable, as_portable_but_untyped, as_dict)
"""The functions that are used in place of the fix `as_portable` in the versions 0, 1 and 2."""
_WORDS_ONLY, _AS_IT_WAS = 2, 3
_STEPS_THAT_CHANGE = re.compile(r" \((?:anyOf|oneOf|allOf) \d+\)|(?<=\[)\d+(?=\])")
"""Matches the parts of a path that a fix may change: the branch of a union, and the index in an
array.
"""


def apply_fixes(report: Report, rules: Mapping[str, Rule] = RULES) -> list[dict[str, Any]]:
    """Return the tools of a report with the fixes applied. Everything else is unchanged."""
    of_one = {name: rule for name, rule in rules.items() if not rule.of_server}
    fixed = [_FixedTool(tool, report, of_one).entry() for tool in report.listing.tools]
    if not _adds_to_server(fixed, report, rules):
        return fixed
    # Writing out definitions can make the whole listing too large for a client. In this case, the
    # shorter form of each tool is used.
    pairs = zip(report.listing.tools, fixed, strict=True)
    return [min(tool.entry, entry, key=lambda each: len(str(each))) for tool, entry in pairs]


def _adds_to_server(fixed: list[Json], report: Report, rules: Mapping[str, Rule]) -> bool:
    """Return True if the fixes add a finding of a rule that checks all tools together."""
    of_server = {name: rule for name, rule in rules.items() if rule.of_server}
    before = {(each.rule, claim) for each in report.findings for claim in each.claims}
    after = lint(fixed, server=report.listing.server, only=report.clients, rules=of_server)
    return any((each.rule, claim) not in before for each in after.findings for claim in each.claims)


class _FixedTool:
    """One tool. The version of its root and of each parameter is chosen separately."""

    def __init__(self, tool: Tool, report: Report, rules: Mapping[str, Rule]) -> None:
        self.tool = tool
        self.report = report
        self.rules = rules
        self.forms: dict[int, Any] = {_AS_IT_WAS: tool.schema}
        self.root = 0
        self.parameters: dict[str, int] = {}

    def entry(self) -> Json:
        """Return the tool with every fix that adds no finding."""
        before = self._findings(self.tool.schema)
        if not any(self.rules[each.rule].fix for each in before):
            return self.tool.entry
        # A finding in a definition also counts at each place that refers to the definition.
        # Findings about size are left out: they appear only because the definition is written out
        # there.
        written_out = self._findings(inlined(self.tool.schema))
        known = harms(before) | harms(each for each in written_out if each.rule not in _SIZES)
        # The loop ends, because each round moves at least one part to its next form, and the last
        # form is the original schema.
        while True:
            schema = self._composed()
            new = [each for each in self._findings(schema) if not harms([each]) <= known]
            if not new:
                return {**self.tool.entry, "inputSchema": schema}
            self._retreat(new)

    def _findings(self, schema: Any) -> tuple[Finding, ...]:
        tools = [{**self.tool.entry, "inputSchema": schema}]
        server, clients = self.report.listing.server, self.report.clients
        return lint(tools, server=server, only=clients, rules=self.rules).findings

    def _form(self, number: int) -> Any:
        """Return the version of the whole schema with this number."""
        if number not in self.forms:
            schema = self.tool.schema
            # Repeated once, because the portable form may have new findings, which another fix adds
            # to the description.
            for _ in range(2):
                found = (self.rules[each.rule].fix for each in self._findings(schema))
                fixes = dict.fromkeys(fix for fix in found if fix is not None)
                # The portable form first, because the other fixes change its descriptions.
                for fix in sorted(fixes, key=lambda fix: fix is not as_portable):
                    chosen: Fix = _PORTABLE_FORMS[number] if fix is as_portable else fix
                    schema = chosen(schema)
            self.forms[number] = schema
        return self.forms[number]

    def _composed(self) -> Any:
        """Return the schema with the versions that are chosen for the root and for each
        parameter.
        """
        if self.root >= _WORDS_ONLY:
            return self._form(self.root)
        made = as_dict(self._form(self.root))
        names = [*as_dict(made.get("properties")), *as_dict(self._original("properties"))]
        properties: Json = {}
        for name in dict.fromkeys(names):
            number = max(self.root, self.parameters.get(name, 0))
            in_form = as_dict(as_dict(self._form(number)).get("properties"))
            if name in in_form:
                properties[name] = in_form[name]
        made = {**made, "properties": properties}
        if any("$ref" in node.keywords for node in nodes({"properties": properties})):
            shared = {key: self._original(key) for key in ("$defs", "definitions")}
            made |= {key: value for key, value in shared.items() if value is not None}
        return made

    def _original(self, key: str) -> Any:
        return as_dict(self.tool.schema).get(key)

    def _retreat(self, new: Iterable[Finding]) -> None:
        """Choose the next version of each parameter that has a new finding. If a finding is not
        about a parameter, or if no parameter has a next version, choose the next version of the
        root.
        """
        properties = as_dict(as_dict(self._composed()).get("properties"))
        places = {next(filter(partial(_is_in, each.path), properties), None) for each in new}
        movable = [
            name
            for name in places
            if name is not None and self.parameters.get(name, self.root) < _AS_IT_WAS
        ]
        for name in movable:
            self.parameters[name] = max(self.root, self.parameters.get(name, 0)) + 1
        if not movable or None in places:
            self.root += 1


def harms(findings: Iterable[Finding]) -> set[Harm]:
    """Return the rule, the path and the claims of each finding, for a comparison."""
    return {
        (each.rule, _STEPS_THAT_CHANGE.sub("", each.path), claim)
        for each in findings
        for claim in each.claims
    }


def _is_in(path: str, name: str) -> bool:
    """Return True if the path of a finding is this parameter, or a path inside the parameter."""
    parameter = path_text((name,))
    return path == parameter or path.startswith((f"{parameter}.", f"{parameter}[", f"{parameter} "))
