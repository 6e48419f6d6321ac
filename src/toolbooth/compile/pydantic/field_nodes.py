"""Reads the fields in Pydantic's core schema: their keys and markers, and whether they are
optional, nullable or secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from toolbooth.compile.pydantic.core_schema import Config, CoreNode, alias_paths, marker_of
from toolbooth.jsonvalue import is_object

M = TypeVar("M")

KeyPath = list[str | int]
"""The path of keys and indexes to the value of one field."""


def accepted_paths(name: str, field: CoreNode, config: Config) -> list[KeyPath]:
    """Return every path by which a field may be sent, the published one first."""
    paths: list[KeyPath] = alias_paths(field) if config.by_alias else []
    return [*paths, [name]] if not paths or config.by_name else paths


def is_optional(each: CoreNode) -> bool:
    """Return True if a field may be left out."""
    # Only fields of a TypedDict have this key. Other fields are optional if they have a default.
    return not each["required"] if "required" in each else has_default(each["schema"])


def has_default(node: CoreNode) -> bool:
    """Return True if a schema has a default."""
    while node["type"] != "default":
        if node["type"].startswith("function-") and "schema" in node:
            node = node["schema"]
        elif marker_of(node):
            node = node["steps"][0]
        else:
            return False
    return True


def find_marker(node: CoreNode, marker: type[M]) -> M | None:
    """Return the marker of this type on the field itself. Return None if the field has none."""
    while True:
        found = marker_of(node)
        if isinstance(found, marker):
            return found
        if found is not None:
            node = node["steps"][0]
        elif node["type"] in ("default", "nullable") or (
            node["type"].startswith("function-") and "schema" in node
        ):
            node = node["schema"]
        else:
            return None


def is_nullable(node: CoreNode) -> bool:
    """Return True if null may be sent for a marked model."""
    while marker_of(node):
        node = node["steps"][0]
    return node["type"] == "nullable"


def model_class(node: CoreNode, definitions: Mapping[str, CoreNode]) -> type:
    """Return the class of a marked model. A TypedDict gives `dict`. A type that is not a model
    gives `object`.
    """
    while "cls" not in node:
        if node["type"] == "definition-ref":
            node = definitions[node["schema_ref"]]
        elif marker_of(node):
            node = node["steps"][0]
        elif "schema" in node:
            node = node["schema"]
        else:
            # Every default is an instance of `object`, so only the marker is reported as a mistake.
            return object
    return dict if node["type"] == "typed-dict" else node["cls"]


def is_password(field: CoreNode) -> bool:
    """Return True if the author marked a field as a secret. The mark may be on the field, or on any
    part of its type, such as an `Annotated` inside it.
    """
    node: Any = field
    while node is not None:
        metadata: dict[str, Any] = node.get("metadata") or {}
        # Pydantic keeps `json_schema_extra` and its own additions, such as a description, under
        # different keys of the metadata.
        written: dict[str, Any] = {}
        for key in ("pydantic_js_extra", "pydantic_js_updates"):
            written |= _object_or_empty(metadata.get(key))
        if written.get("format") == "password":
            return True
        node = node["steps"][0] if marker_of(node) else node.get("schema")
    return False


def _object_or_empty(value: Any) -> dict[str, Any]:
    return value if is_object(value) else {}
