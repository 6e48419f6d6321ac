"""The author's mistakes, each with its remedy; and warnings about tools that work, but leave agents
guessing.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from toolbooth.errors import ContractWarning
from toolbooth.jsonvalue import Schema, is_mapping
from toolbooth.shape import ObjectShape, Shape

PUBLISHED_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
"""The names that every client takes (Vertex is the strictest: docs/project/evidence/clients.md)."""

RESERVED_NAMES = frozenset(("config", "run_manager", "callbacks", "runtime", "self"))
"""Swallowed by LangChain before they reach a server (langchain#40535, 2026-09-16; the last two:
run, 2026-11-15).
"""


def not_a_model(owner: str) -> str:
    """The mistake of a marker on a type that has no fields."""
    return f"{owner} is marked Unpack() but is not a model with fields; remove the marker"


def name_mistakes(form: ObjectShape) -> Iterable[str]:
    """Published names that some client would refuse or swallow."""
    for name in form.names:
        if not PUBLISHED_NAME.fullmatch(name):
            yield (
                f"{name!r} is not a name every client takes (letters, digits, _; 64 at most); "
                "give it an alias"
            )
        if name in RESERVED_NAMES:
            yield (
                f"{name!r} is reserved: LangChain swallows it on the way; "
                "rename it or give it an alias"
            )


def type_mistakes(shape: Shape, json_texts: list[tuple[str, Shape]]) -> Iterable[str]:
    """Types that no JSON can bring, and JsonText where text is taken as it is."""
    for owner, each in json_texts:
        if each.opaque or "string" in each.types:
            yield (
                f"{owner}: JsonText() needs a type without text in it, an object or an array; "
                "text is taken as it is"
            )
    for name, field in shape.objects[0].fields.items():
        if not field.shape.types:
            yield (
                f"{name!r} has a type that JSON cannot carry; "
                "annotate it otherwise, or have the host inject it"
            )


def warn_of_untyped(owner: str, schema: Any) -> None:
    """Agents cannot see what an open dict or an untyped list is to hold: an example must say it
    (docs/project/evidence/parameter-transformation.md)."""
    for name, node in _properties((schema, *schema.get("$defs", {}).values())):
        branches = list(_branches(node))
        if any(map(_is_untyped, branches)) and not any(map(_has_example, branches)):
            warnings.warn(
                f"{owner}: {name!r} is an open object or untyped list without an example; "
                "put one in its description, or use JsonText(example=...)",
                ContractWarning,
                stacklevel=_frames_of_ours(),
            )


def _properties(nodes: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    """Every property of these objects and of those that stand in them, by name."""
    for node in nodes:
        for name, each in node.get("properties", {}).items():
            yield name, each
            yield from _properties(_branches(each))


def _branches(schema: Any) -> Iterable[Schema]:
    """A schema, its alternatives, and the schemas of its items and undeclared keys."""
    if is_mapping(schema):
        yield schema
        items, additional = schema.get("items"), schema.get("additionalProperties")
        for each in (*schema.get("anyOf", ()), items, additional):
            yield from _branches(each)


def _frames_of_ours() -> int:
    """How far up the caller's own line is, for a warning that points at it."""
    frame, depth = sys._getframe(1), 1  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("toolbooth."):
        frame, depth = frame.f_back, depth + 1
    return depth


def _is_untyped(node: Schema) -> bool:
    if node.get("contentMediaType") == "application/json" and "contentSchema" not in node:
        return True
    if node.get("type") == "object":
        return "properties" not in node and node.get("additionalProperties", True) is True
    return node.get("type") == "array" and not node.get("items") and not node.get("prefixItems")


def _has_example(node: Schema) -> bool:
    return "examples" in node or any(
        sign in str(node.get("description", "")) for sign in ("e.g.", "{", "[")
    )
