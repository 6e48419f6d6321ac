"""The docs are in plain English: they address you, and they do without the old dialect.

Counted per 1,000 words of prose over all pages together: tables, code, generated pages and evidence
are left out.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

GENERATED = {
    "reference/api.md",
    "reference/cli.md",
    "reference/lint-rules.md",
    "reference/settings.md",
}
LEFT_OUT = ("measured/", "project/")
"""Figures and evidence; and pages for contributors, which are about the code."""

DIALECT = {
    r"what": 2.0,
    r"told|tells?|said|says?": 0.5,
    r"stands?|stood": 0.3,
    r"goes on|go on|comes? to|leads? to": 0.4,
    r"is no [a-z]+": 0.5,
    r"whoever|nobody|whatever": 0.3,
}
"""Words of the old dialect, and how many per 1,000 words there may be. Lower a figure when you can;
never raise one."""

LEAST_YOU = 8.0

NOT_PROSE = re.compile(
    r"<!--.*?-->|^ *```.*?^ *```$|^\|[^\n]*$|^#+ [^\n]*$", re.MULTILINE | re.DOTALL
)
CODE_AND_LINKS = re.compile(r"`[^`]*`|\]\([^)]*\)")
QUOTED = re.compile(r'"[^"\n]*"')


def pages() -> list[Path]:
    found = sorted(DOCS.rglob("*.md"))
    names = {page: page.relative_to(DOCS).as_posix() for page in found}
    kept = [p for p, name in names.items() if name not in GENERATED]
    return [ROOT / "README.md", *(p for p in kept if not names[p].startswith(LEFT_OUT))]


def prose(page: Path) -> str:
    text = NOT_PROSE.sub("", page.read_text(encoding="utf-8"))
    return QUOTED.sub("", CODE_AND_LINKS.sub(" ", text)).lower()


def share(pattern: str, text: str) -> float:
    words = len(re.findall(r"[a-z']+", text))
    return round(1000 * len(re.findall(rf"\b(?:{pattern})\b", text)) / words, 2)


def all_prose() -> str:
    return "\n".join(prose(page) for page in pages())


def test_the_docs_address_the_reader():
    assert share(r"you|your|yours|yourself", all_prose()) >= LEAST_YOU


def test_the_docs_do_without_the_old_dialect():
    text = all_prose()
    over = {pattern: share(pattern, text) for pattern in DIALECT}
    assert {p: found for p, found in over.items() if found > DIALECT[p]} == {}
