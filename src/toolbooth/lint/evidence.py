"""clients.toml -> what each client is known to do with what is published: claims, with their
sources and dates.

The file is the one place for such facts. A claim is about a rule; the rules themselves know no
client.
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
"""What happens: the tool (or the whole request) is refused; calls go wrong, or the model is shown
something else than was published; a constraint is left out, so that calls may come back refused; it
could be better."""
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
"""The client of claims about whatever model reads the tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where something is reported or written, and when that was."""

    where: str
    on: date

    @property
    def url(self) -> str | None:
        """Its address, if it has one."""
        if issue := re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", self.where):
            return f"https://github.com/{issue[1]}/issues/{issue[2]}"
        return self.where if self.where.startswith("https://") else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one client does where a rule finds something, or where what it finds passes a bound of
    that client.
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
        """The date of the newest source."""
        return max(source.on for source in self.sources)

    def concerns(self, value: Any, server: str) -> bool:
        """Whether what was found hurts this client."""
        if self.values:
            return value in self.values
        if self.pattern:
            return re.fullmatch(self.pattern, str(value)) is None
        if self.most is None:
            return True
        # A name is measured with what the client puts before it, as far as that is known.
        size = len(self.prefix.format(server=server) + value) if isinstance(value, str) else value
        return size > self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client, or one way into it."""

    id: str
    title: str
    code: str
    """Three letters, to stand over a column."""
    claims: tuple[Claim, ...]


@cache
def clients() -> Mapping[str, Client]:
    """Every client that something is known of, by id."""
    text = files("toolbooth.lint").joinpath("clients.toml").read_text(encoding="utf-8")
    written = tomllib.loads(text)
    return {name: _client(name, written) for name in written}


def claims_about(rule: str, chosen: Iterable[str] = ()) -> list[Claim]:
    """What is known of a rule; of the chosen clients and of any model, if some are chosen."""
    wanted = {*chosen, ANY} if chosen else clients().keys()
    return [
        claim
        for name in clients()
        if name in wanted
        for claim in clients()[name].claims
        if claim.rule == rule
    ]


def worst(severities: Iterable[Severity]) -> Severity:
    """The first of them in the order of SEVERITIES."""
    return min(severities, key=SEVERITIES.index)


def _client(name: str, written: Mapping[str, Any]) -> Client:
    entry = written[name]
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
