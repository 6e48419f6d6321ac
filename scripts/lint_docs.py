"""The rules and clients.toml -> docs/reference/lint-rules.md.

`python scripts/lint_docs.py --write` writes the page; without `--write`, it is printed.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from toolbooth.lint.catalogue import RULES
from toolbooth.lint.evidence import ANY, clients
from toolbooth.lint.explain import evidence, fix_text
from toolbooth.lint.rule import Rule

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "lint-rules.md"

HEAD = """# Lint rules

<!-- Written by scripts/lint_docs.py. Change the rules or src/toolbooth/lint/clients.toml. -->

Every rule of `toolbooth lint`, with its evidence. *Refused*: the tool, or the whole request with
it, fails. *Misread*: calls go wrong, or the model sees something other than the published schema.
*Dropped*: a constraint is left out. The date is that of the report. For code, documentation and
converters it is the day on which they were read or run. [Evidence](../project/evidence/index.md)
explains the sources that are called a report. To use the command, read [Lint](../guides/lint.md).
"""


def page() -> str:
    return "\n".join(
        [HEAD, *_clients(), *_index(), *(line for rule in RULES.values() for line in _rule(rule))]
    )


def _clients() -> Iterator[str]:
    yield "## Clients\n"
    yield "| `--client` | client | claims | newest |"
    yield "|---|---|---|---|"
    for client in clients().values():
        if client.id != ANY:
            newest = max(claim.on for claim in client.claims)
            yield f"| `{client.id}` | {client.title} | {len(client.claims)} | {newest} |"
    yield ""


def _index() -> Iterator[str]:
    yield "## Rules\n"
    yield "| rule | worst | fix | |"
    yield "|---|---|---|---|"
    for rule in RULES.values():
        fix = "yes" if rule.fix else ""
        yield f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {fix} | {rule.title} |"
    yield ""


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}\n"
    yield f"{rule.title} {rule.remedy} {fix_text(rule).replace('--fix', '`--fix`')}\n"
    for line in evidence(rule, links=True):
        yield f"- {line}"
    yield ""


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
