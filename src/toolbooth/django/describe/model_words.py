"""The nouns for the rows of a model in a sentence: `a company`, `companies`."""

from __future__ import annotations

import re
from typing import Any

NAMES_OF_ROWS = ("name", "title", "display", "slug")
"""Fields by which people know a row."""

# The article depends on the sound: `a user`, but `an hour`.
_VOWEL_SOUND = re.compile(r"(?!uni|use|usa|util|ur[iln]|eu|one|once)[aeiou]|hour|honor", re.I)
_SPELT_WITH_VOWEL = re.compile(r"[AEFHILMNORSX][A-Z0-9]*\b")
"""An abbreviation whose first letter is pronounced with a vowel at its beginning: `an SLA`."""


def singular(model: Any) -> str:
    """Return the noun for one row of a model."""
    return str(model._meta.verbose_name)


def plural(model: Any) -> str:
    """Return the noun for several rows of a model. If the author has not set a plural, it is made
    here, because Django only adds an `s`.
    """
    one, many = singular(model), str(model._meta.verbose_name_plural)
    return _with_ending(one) if many == f"{one}s" else many


def model_of_view(view: Any) -> Any:
    """Return the model that the class of a view names. For a proxy, return its concrete model.
    Return None if the class names no model.
    """
    model = shown_model(view)
    return None if model is None else model._meta.concrete_model


def shown_model(view: Any) -> Any:
    """Return the model that the class of a view names, which may be a proxy. Return None if the
    class names no model.
    """
    queryset: Any = getattr(view, "queryset", None)
    meta: Any = getattr(getattr(view, "serializer_class", None), "Meta", None)
    model: Any = getattr(queryset, "model", None) or getattr(meta, "model", None)
    return None if getattr(model, "_meta", None) is None else model


def names_of_rows(model: Any) -> tuple[str, ...]:
    """Return the names that a resource for this model may have."""
    return singular(model), plural(model), model.__name__, str(model._meta.verbose_name_plural)


def english_singular(nouns: str) -> str:
    """Return the singular of a noun: `company` for `companies`. A singular noun is not changed."""
    # Of several words only the last one changes: `sales_people` becomes `sales_person`.
    *_, last = re.split(r"[\W_]+", nouns.lower())
    if last in _IRREGULAR:
        return nouns[: -len(last)] + _IRREGULAR[last]
    if last in _SAME_IN_PLURAL | _SINGULAR or not _PLURAL.search(nouns):
        return nouns
    if re.search(r"[^aeiou]ies$", nouns):
        return f"{nouns[:-3]}y"
    return nouns[:-2] if re.search(r"(ss|[^ao]us|x|ch|sh)es$", nouns) else nouns[:-1]


def english_plural(noun: str) -> str:
    """Return the plural of a noun: `companies` for `company`. A plural noun is not changed."""
    *_, last = re.split(r"[\W_]+", noun.lower())
    if last in _SAME_IN_PLURAL or english_singular(noun) != noun:
        return noun
    several = next((many for many, one in _IRREGULAR.items() if one == last), None)
    return _with_ending(noun) if several is None else noun[: -len(last)] + several


# Words such as `address`, `status` and `analysis` are singular.
_PLURAL = re.compile(r"[^sui]s$", re.IGNORECASE)
_SINGULAR = frozenset(("alias", "atlas", "bias", "canvas", "gas"))
"""Nouns that end in `s` and are not plural."""
_SAME_IN_PLURAL = frozenset(
    (
        *("data", "feedback", "info", "information", "media", "metadata", "news"),
        *("series", "settings", "species", "staff", "statistics", "stats"),
    )
)
_IRREGULAR = {
    "aliases": "alias",
    "apis": "api",
    "caches": "cache",
    "children": "child",
    "cookies": "cookie",
    "menus": "menu",
    "movies": "movie",
    "people": "person",
    "skus": "sku",
}


def _with_ending(noun: str) -> str:
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return f"{noun}es"
    return f"{noun}s"


def with_article(noun: str) -> str:
    """Return a noun with its article: `a company`, `an estate`, `a user`, `an IP address`."""
    # `SLA` and `IP address` begin with letters that are spoken one by one, `Invoice` does not.
    is_abbreviation = noun[:2].isupper()
    sound = _SPELT_WITH_VOWEL if is_abbreviation else _VOWEL_SOUND
    return f"an {noun}" if sound.match(noun) else f"a {noun}"


def joined(nouns: tuple[str, ...]) -> str:
    """Return nouns as one phrase: `a`, `a and b`, or `a, b and c`."""
    *before, last = nouns
    return f"{', '.join(before)} and {last}" if before else last
