"""Explains a rule for the terminal and for the docs: the fault, the remedy, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toolbooth.lint.evidence import ANY, EFFECTS, Claim, Effect, Source, claims_about, clients
from toolbooth.lint.fixes import as_portable
from toolbooth.lint.rule import Rule

DONE: Mapping[Effect, str] = {
    "refuses": "refused by",
    "misreads": "misread by",
    "drops": "dropped by",
    "advice": "better without, for",
}


def explanation(rule: Rule) -> str:
    """Return the rule in plain text."""
    return "\n".join(
        [
            f"{rule.id} ({rule.severity})",
            "",
            rule.title,
            rule.remedy,
            fix_text(rule),
            "",
            *(f"- {line}" for line in evidence(rule)),
        ]
    )


def fix_text(rule: Rule) -> str:
    """Return a sentence that says what `--fix` does about findings of the rule."""
    if rule.fix is None:
        return "There is no mechanical fix."
    done = (
        "publishes the portable form of the schema"
        if rule.fix is as_portable
        else "says it in the description"
    )
    return f"--fix {done}."


def evidence(rule: Rule, *, links: bool = False) -> Iterator[str]:
    """Yield one line for each claim about the rule, beginning with the worst effect. Clients with
    the same behaviour share a line.
    """
    shared: dict[tuple[Effect, str, tuple[str, ...], tuple[Source, ...]], list[str]] = {}
    for claim in sorted(claims_about(rule.id), key=lambda claim: EFFECTS.index(claim.effect)):
        shared.setdefault((claim.effect, claim.says, claim.values, claim.sources), []).append(
            title(claim.client)
        )
    for (effect, says, values, sources), names in shared.items():
        quote = "`" if links else ""
        quoted_values = ", ".join(f"{quote}{value}{quote}" for value in values)
        bounds = "; ".join(filter(None, (says, quoted_values)))
        claim_text = f"{DONE[effect]} {_with_bounds(', '.join(names), bounds)}"
        source_texts = ", ".join(_source_text(source, links) for source in sources)
        yield f"{claim_text[0].upper()}{claim_text[1:]}: {source_texts}"


def title(client: str) -> str:
    """Return a client's name."""
    return clients()[client].title


def hurt(claims: Iterable[Claim]) -> str:
    """Return the affected clients as a phrase, such as "refused by Cursor (60 at most); dropped by
    LangChain".
    """
    worst: dict[str, Claim] = {}
    for claim in sorted(claims, key=lambda claim: EFFECTS.index(claim.effect)):
        # Claims about any model have no client to name.
        if claim.client != ANY:
            worst.setdefault(claim.client, claim)
    said: dict[Effect, dict[str, list[str]]] = {}
    for client, claim in worst.items():
        said.setdefault(claim.effect, {}).setdefault(claim.says, []).append(title(client))
    return "; ".join(f"{DONE[effect]} {_client_list(who)}" for effect, who in said.items())


def _client_list(clients_by_bound: Mapping[str, list[str]]) -> str:
    """Return the clients as text. Clients with the same limit are grouped, and the limit is written
    after each group.
    """
    return ", ".join(
        _with_bounds(", ".join(names), says) for says, names in clients_by_bound.items()
    )


def _with_bounds(names: str, bounds: str) -> str:
    return f"{names} ({bounds})" if bounds else names


def _source_text(source: Source, links: bool) -> str:
    if not links or source.url is None:
        return f"{source.where} ({source.on})"
    return f"[{source.where}]({source.url}) ({source.on})"
