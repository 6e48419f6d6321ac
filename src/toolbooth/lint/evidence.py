"""Reads clients.toml. This file has claims about the behaviour of each client, with sources and
dates.

Such facts are only in this file. Each claim is about one rule. The rules themselves know nothing
about clients.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Effect = Literal["refuses", "misreads", "drops", "advice"]
"""The effect of a fault on a client. "refuses": the client refuses the tool or the whole request.
"misreads": calls go wrong, or the model sees another schema than the published one. "drops": the
client leaves out a constraint, so the server may refuse calls. "advice": nothing fails, but the
tool could be better.
"""
Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_SEVERITY: Mapping[Effect, Severity] = {
    "refuses": "error",
    "misreads": "warning",
    "drops": "note",
    "advice": "note",
}
EFFECTS: tuple[Effect, ...] = tuple(_SEVERITY)
ANY = "any"
"""The id for claims about every model that reads the tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A report or a document, with its date."""

    where: str
    on: date

    @property
    def url(self) -> str | None:
        """Return the URL of the source. None if it has no URL."""
        # The short form of an issue, such as `owner/name#12`.
        if issue := re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", self.where):
            return f"https://github.com/{issue[1]}/issues/{issue[2]}"
        return self.where if self.where.startswith("https://") else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """How the findings of one rule affect one client. A claim may apply only to values over a limit
    of the client.
    """

    client: str
    rule: str
    effect: Effect
    sources: tuple[Source, ...]
    says: str = ""
    values: tuple[str, ...] = ()
    pattern: str = ""
    most: int | None = None
    prefix: str = ""

    @property
    def severity(self) -> Severity:
        return _SEVERITY[self.effect]

    @property
    def on(self) -> date:
        """Return the date of the newest source."""
        return max(source.on for source in self.sources)

    def concerns(self, value: Any, server: str) -> bool:
        """Return True if a finding with this value affects the client."""
        if self.values:
            # For example, a client may delete `$defs` and leave other references alone.
            return value in self.values
        if self.pattern:
            # The pattern describes the values that the client accepts.
            return re.fullmatch(self.pattern, str(value)) is None
        if self.most is None:
            return True
        # The length of a name includes the prefix that the client adds, if that is known.
        size = len(self.prefix.format(server=server) + value) if isinstance(value, str) else value
        return size > self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client, or one of several ways to use a client."""

    id: str
    title: str
    code: str
    """Three letters, for the heading of a column."""
    claims: tuple[Claim, ...]


@cache
def clients() -> Mapping[str, Client]:
    """Return all clients in clients.toml, by id."""
    text = files("toolbooth.lint").joinpath("clients.toml").read_text(encoding="utf-8")
    written = tomllib.loads(text)
    return {name: _client(name, written) for name in written}


def claims_about(rule: str, chosen: Iterable[str] = ()) -> list[Claim]:
    """Return the claims about a rule, for the chosen clients, or for all clients if none are
    chosen. Claims about every model are always included.
    """
    # Claims about any model also apply to the chosen clients, because each of them runs a model.
    wanted = {*chosen, ANY} if chosen else clients().keys()
    return [
        claim
        for name in clients()
        if name in wanted
        for claim in clients()[name].claims
        if claim.rule == rule
    ]


def worst(severities: Iterable[Severity]) -> Severity:
    """Return the worst of the severities."""
    return min(severities, key=SEVERITIES.index)


def _client(name: str, written: Mapping[str, Any]) -> Client:
    entry = written[name]
    # For example, Claude Code sends the tools to Anthropic's API, so the claims about that API
    # apply to it too.
    entries: list[Any] = [
        *entry["claims"],
        *written.get(entry.get("extends"), {"claims": []})["claims"],
    ]
    made = tuple(_claim(name, claim) for claim in entries)
    return Client(id=name, title=entry["title"], code=entry.get("code", ""), claims=made)


def _claim(client: str, entry: Mapping[str, Any]) -> Claim:
    sources = tuple(Source(where=where, on=on) for where, on in entry["sources"])
    more = {key: value for key, value in entry.items() if key not in ("sources", "values")}
    return Claim(client=client, sources=sources, values=tuple(entry.get("values", ())), **more)
