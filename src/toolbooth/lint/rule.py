"""Defines a rule: a function that checks one tool, or all tools of a server, and yields faults. A
rule also has texts, and may have a fix.

The texts are in the docstring of the function. Its first paragraph describes the fault, its second
paragraph the remedy. The severity, the affected clients and the evidence are in clients.toml.
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
"""A function that gets an inputSchema, and returns a schema without findings of the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault that a rule has found, with its path. `value` is compared with the limits of the
    clients.
    """

    message: str
    path: str = "$"
    value: Any = None
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A check for one kind of fault that some clients cannot handle."""

    id: str
    title: str
    remedy: str
    check: Callable[[Any], Iterable[Fault]]
    fix: Fix | None
    of_server: bool
    """True if the rule checks all tools together. False if it checks one tool at a time."""

    @property
    def severity(self) -> Severity:
        """Return the severity for the client that is affected most."""
        return worst(claim.severity for claim in claims_about(self.id))


def tool_rule(fix: Fix | None = None) -> Callable[[Callable[[Tool], Iterator[Fault]]], Rule]:
    """Return a decorator that makes a rule from a function. The function checks one tool."""
    return lambda check: _rule(check, fix, of_server=False)


def server_rule(check: Callable[[Listing], Iterator[Fault]]) -> Rule:
    """Make a rule from a function that checks all tools of a server."""
    return _rule(check, None, of_server=True)


def _rule(check: Callable[[Any], Iterator[Fault]], fix: Fix | None, *, of_server: bool) -> Rule:
    # `--explain` and the documentation print the docstring. The texts are in no other place.
    title, _, remedy = inspect.cleandoc(check.__doc__ or "").partition("\n\n")
    return Rule(
        # The id is written on a command line, as in `--ignore root-untyped`.
        id=check.__name__.replace("_", "-"),
        title=" ".join(title.split()),
        remedy=" ".join(remedy.split()),
        check=check,
        fix=fix,
        of_server=of_server,
    )


def fault(node: SchemaNode, message: str, value: Any = None) -> Fault:
    """Return a fault at the path of a node."""
    return Fault(message=message, path=node.path, value=value)
