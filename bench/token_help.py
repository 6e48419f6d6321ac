"""Reads the whole help of dispatchers, with the calls that an agent would make, and counts the
types in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from token_server import Served

Json = dict[str, Any]
Fields = dict[str, dict[str, Json]]
"""The JSON Schema of each field in help, by the name of the flat tool, then of the field; {} if
help has only its name.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The answers of help."""

    fields: Fields
    tree: str
    """The answer for the first dispatcher that holds several resources, or else the first of all.
    """
    resource: str
    action: str | None
    """None if help has no such level."""


def ours(served: Served) -> Told:
    """Tree, resources and actions of every dispatcher, each page of them."""
    fields: Fields = {}
    shown: dict[str, str] = {}
    for name in served.tools:
        tree, text = _whole(served, name, "resources", {"help": True})
        shown.setdefault("tree", text)
        for resource in tree or [None]:
            way = {} if resource is None else {"resource": resource}
            actions, text = _whole(served, name, "actions", {**way, "help": True})
            shown.setdefault("resource", text)
            for action in actions:
                asked = {**way, "action": action, "help": True}
                fields[f"{resource or name}__{action}"], text = _whole(
                    served, name, "fields", asked
                )
                if action == "create":
                    shown.setdefault("action", text)
    return Told(
        fields=fields, tree=shown["tree"], resource=shown["resource"], action=shown["action"]
    )


def _whole(served: Served, name: str, key: str, asked: Json) -> tuple[Json, str]:
    """One part of the answer over all pages, and the first page unchanged."""
    first = served.call(name, **asked)
    page = first.value
    found: Json = dict(page.get(key, {}))
    while "next_page" in page:
        page = served.call(name, **page["next_page"]).value
        found |= page[key]
    return found, first.text


def theirs(served: Served) -> Told:
    """frisian-mcp's groups: the tree, and for each resource the names of the fields that its
    actions require. It has no more help.
    """
    fields: Fields = {}
    shown: dict[str, str] = {}
    for name in served.tools:
        tree = served.call(name, action="help")
        shown.setdefault("tree", tree.text)
        for resource in tree.value["resources"]:
            told = served.call(name, resource=resource, action="help")
            shown.setdefault("resource", told.text)
            required = told.value.get("requires", {})
            for action in told.value["actions"]:
                fields[f"{resource}__{action}"] = {
                    field: _schema(told.value, field) for field in required.get(action, ())
                }
    return Told(fields=fields, tree=shown["tree"], resource=shown["resource"], action=None)


def _schema(told: Any, field: str) -> Json:
    """Everything in an answer about a field, at any place; {} for nothing."""
    if isinstance(told, dict):
        if isinstance(told.get(field), dict):
            return told[field]
        return next(filter(None, (_schema(each, field) for each in told.values())), {})
    return {}


def typed(flat: dict[str, Json], told: Told) -> Iterator[tuple[str, str, bool]]:
    """Each field of each flat tool, and whether help has all of its schema except the texts."""
    for name, tool in flat.items():
        for field, schema in tool["inputSchema"].get("properties", {}).items():
            yield name, field, _within(schema, told.fields.get(name, {}).get(field))


_JSON_TEXT = "JSON text"
"""The first words of the description of a document, which is listed as text."""


def _within(schema: Any, told: Any) -> bool:
    """Whether one schema contains at least the information of the other. For a document, help lists
    all types that it may have.
    """
    if isinstance(schema, dict) and str(schema.get("description", "")).startswith(_JSON_TEXT):
        return isinstance(told, dict) and "anyOf" in told
    if isinstance(schema, dict) and isinstance(told, dict):
        return all(
            name in told and _within(each, told[name])
            for name, each in schema.items()
            if name != "description"
        )
    if isinstance(schema, list) and isinstance(told, list):
        return len(schema) == len(told) and all(map(_within, schema, told))
    return schema == told
