"""Fixes schemas automatically: writes them as the portable profile does, or adds constraints to
descriptions.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.lint.schemas import SchemaNode, as_dict, as_list, nodes
from toolbooth.publish import Portable, portable

PHRASES: Mapping[str, str] = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matching {}",
    "format": "format: {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "uniqueItems": "no item twice",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
    "enum": "one of {}",
}


def as_portable(schema: Any) -> Json:
    """Return the schema as the portable profile writes it, which every client accepts. See
    `publish`.
    """
    return portable(as_dict(schema))


class _ButUntyped(Portable):
    """Writes schemas like the portable profile, but without a type for values that may be anything.

    The portable profile writes such a value as a union of all types. Claude Code handles this
    better, but Gemini refuses objects there, and llama.cpp treats every value as text.
    """

    def write_union(self, options: list[Json]) -> Json:
        """Return an empty schema if the union has all types."""
        types = {option["type"] for option in options}
        is_plain = all(option.keys() <= {"type", "items"} for option in options)
        return {} if is_plain and types == _ANY_TYPES else super().write_union(options)

    def write_open_array(self, node: Json) -> Json:
        """Return the array unchanged, without added `items`."""
        return node

    def write_typed(self, node: Json) -> Json:
        """Return a typed schema. Empty `items` are removed."""
        written = super().write_typed(node)
        if written["type"] == "array" and written.get("items") == {}:
            return {key: value for key, value in written.items() if key != "items"}
        return written


_BUT_UNTYPED = _ButUntyped()
# The portable form has no null, and `number` includes the integers.
_ANY_TYPES = {"string", "number", "boolean", "object", "array"}


def as_portable_but_untyped(schema: Any) -> Json:
    """Return the schema as the portable profile writes it, but without a type for values that may
    be anything.
    """
    return _BUT_UNTYPED.write(as_dict(schema))


def in_words(choose: Callable[[SchemaNode], Mapping[str, bool]]) -> Callable[[Any], Json]:
    """Return a fix that adds keywords to descriptions. `choose` gets a node and returns the
    keywords to add. A keyword with the value True is also removed from the schema.
    """

    def fix(schema: Any) -> Json:
        # A copy is changed, because `apply.py` may still choose the original.
        made = copy.deepcopy(as_dict(schema))
        # All nodes are collected first, because the changes below must not affect the walk.
        for node in list(nodes(made)):
            for key, remove in choose(node).items():
                say(node.keywords, phrase(key, node.keywords[key]))
                # A keyword is removed if some clients refuse the tool because of it. If clients
                # only ignore the keyword, it stays for other clients that enforce it.
                if remove:
                    del node.keywords[key]
        return made

    return fix


def say(keywords: Json, more: str) -> None:
    """Add a phrase to the description in `keywords`."""
    text = keywords.get("description")
    keywords["description"] = f"{text} ({more})" if isinstance(text, str) and text else more


def phrase(key: str, value: Any) -> str:
    """Return the phrase for a keyword, such as "at least 1" for `minimum`."""
    return PHRASES[key].format(value_text(value))


def value_text(value: Any) -> str:
    """Return a value as it is written in a sentence."""
    if isinstance(value, list):
        return ", ".join(value_text(item) for item in as_list(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
