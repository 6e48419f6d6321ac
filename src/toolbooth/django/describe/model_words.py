"""What the rows of a model are called in a sentence: `a company`, `companies`."""

from __future__ import annotations

import re
from typing import Any

NAMES_OF_ROWS = ("name", "title", "display", "slug")
"""Fields by which people know a row."""

_VOWEL_SOUND = re.compile(r"(?!uni|use|usa|util|ur[iln]|eu|one|once)[aeiou]|hour|honor", re.I)
_SPELT_WITH_VOWEL = re.compile(r"[AEFHILMNORSX][A-Z0-9]*\b")
"""An abbreviation whose first letter is spoken with a vowel: `an SLA`."""


def singular(model: Any) -> str:
    """One row of a model."""
    return str(model._meta.verbose_name)


def plural(model: Any) -> str:
    """Several rows of a model. Where the author has not named them, Django only adds an `s`."""
    one, many = singular(model), str(model._meta.verbose_name_plural)
    return _english_plural(one) if many == f"{one}s" else many


def _english_plural(noun: str) -> str:
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return f"{noun}es"
    return f"{noun}s"


def with_article(noun: str) -> str:
    """`a company`, `an estate`, `a user`, `an IP address`."""
    is_abbreviation = noun[:2].isupper()
    sound = _SPELT_WITH_VOWEL if is_abbreviation else _VOWEL_SOUND
    return f"an {noun}" if sound.match(noun) else f"a {noun}"


def joined(nouns: tuple[str, ...]) -> str:
    """`a`, `a and b`, or `a, b and c`."""
    *before, last = nouns
    return f"{', '.join(before)} and {last}" if before else last
