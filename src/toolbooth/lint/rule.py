"""What a rule is: a function over a tool (or over all of them) that yields faults, with its words
and its fix.

The first paragraph of its docstring says what is wrong, the second what to do about it. How bad it
is, for whom, and how we know, stands in clients.toml.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.lint.evidence import Severity, claims_about, worst
from toolbooth.lint.listing import Listing, Tool
from toolbooth.lint.schemas import SchemaNode

Fix = Callable[[Any], Json]
"""An inputSchema -> one in which the rule finds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One place where a rule finds something. `value` is what a client's bound is held against."""

    message: str
    path: str = "$"
    value: Any = None
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that clients choke on."""

    id: str
    title: str
    remedy: str
    check: Callable[[Any], Iterable[Fault]]
    fix: Fix | None
    of_server: bool
    """Whether it looks at all tools together."""

    @property
    def severity(self) -> Severity:
        """How bad it is for the client that it hurts most."""
        return worst(claim.severity for claim in claims_about(self.id))


def tool_rule(fix: Fix | None = None) -> Callable[[Callable[[Tool], Iterator[Fault]]], Rule]:
    """Make a rule of a function over one tool."""
    return lambda check: _rule(check, fix, of_server=False)


def server_rule(check: Callable[[Listing], Iterator[Fault]]) -> Rule:
    """Make a rule of a function over all tools of a server."""
    return _rule(check, None, of_server=True)


def _rule(check: Callable[[Any], Iterator[Fault]], fix: Fix | None, *, of_server: bool) -> Rule:
    title, _, remedy = inspect.cleandoc(check.__doc__ or "").partition("\n\n")
    return Rule(
        id=check.__name__.replace("_", "-"),
        title=" ".join(title.split()),
        remedy=" ".join(remedy.split()),
        check=check,
        fix=fix,
        of_server=of_server,
    )


def fault(node: SchemaNode, message: str, value: Any = None) -> Fault:
    """A fault at a node."""
    return Fault(message=message, path=node.path, value=value)
