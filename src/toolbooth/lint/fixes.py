"""The fixes that need no author: the portable form of a schema, and keywords put in words."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.lint.schemas import SchemaNode, as_dict, as_list, nodes
from toolbooth.publish import portable

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
    """The schema in the form that every client takes: see `publish`."""
    return portable(as_dict(schema))


def in_words(choose: Callable[[SchemaNode], Mapping[str, bool]]) -> Callable[[Any], Json]:
    """A fix that says keywords in the description. `choose` names those of a node, and whether they
    are taken out.
    """

    def fix(schema: Any) -> Json:
        made = copy.deepcopy(as_dict(schema))
        # All first: what is changed below must not move the walk.
        for node in list(nodes(made)):
            for key, remove in choose(node).items():
                say(node.keywords, phrase(key, node.keywords[key]))
                if remove:
                    del node.keywords[key]
        return made

    return fix


def say(keywords: Json, more: str) -> None:
    """Add a phrase to a description."""
    text = keywords.get("description")
    keywords["description"] = f"{text} ({more})" if isinstance(text, str) and text else more


def phrase(key: str, value: Any) -> str:
    """What a keyword says, in words."""
    return PHRASES[key].format(value_text(value))


def value_text(value: Any) -> str:
    """A value as it would stand in a text."""
    if isinstance(value, list):
        return ", ".join(value_text(item) for item in as_list(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
