"""An operation of an OpenAPI document -> its parameters and its body, without references."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise

from toolbooth.django.call.bodies import JSON, MULTIPART, URLENCODED, is_json
from toolbooth.django.describe import messages
from toolbooth.jsonvalue import Json, is_array, is_object

JSON_API = "application/vnd.api+json"

_MEDIA_TYPES = (JSON, "", URLENCODED, MULTIPART)
"""The best first. An empty one stands for JSON by another name."""


class Unknowable(Exception):
    """What the action takes cannot be known, so it is not published."""


def body_in(raw: Json, references: References) -> tuple[Json | None, str]:
    """The schema of the body and its media type; no schema if the operation takes no body.

    Raises:
        Unknowable: it takes documents of another kind than its fields.
    """
    content: Json = raw.get("requestBody", {}).get("content", {})
    if not content:
        return None, JSON
    media_type = min(content, key=_rank)
    body = references.inlined(content[media_type].get("schema", {}))
    if media_type == JSON_API and "data" not in body.get("properties", {}):
        raise Unknowable(messages.TAKES_JSON_API)
    return body, media_type


def _rank(media_type: str) -> int:
    if media_type in _MEDIA_TYPES:
        return _MEDIA_TYPES.index(media_type)
    return _MEDIA_TYPES.index("") if is_json(media_type) else len(_MEDIA_TYPES)


def as_plain(value: Any) -> Any:
    """The same schema in plain JSON types: projects have lazy texts and other kinds of text."""
    if is_object(value):
        return {as_plain(key): as_plain(each) for key, each in value.items()}
    if isinstance(value, Promise):
        value = str(value)
    if isinstance(value, str):
        return str.__str__(value)
    if is_array(value):
        return [as_plain(each) for each in value]
    return value


class References:
    """Puts the schema that a `$ref` names in its place, and an `allOf` of one schema too."""

    def __init__(self, components: Json) -> None:
        self.components = components
        self.definitions: dict[str, Json] = {}
        """Schemas that contain themselves: these are named."""
        self._open: list[str] = []

    def inlined(self, node: Any) -> Any:
        """The same schema, or part of one, without references."""
        if is_array(node):
            return [self.inlined(each) for each in node]
        if not is_object(node):
            return node
        if isinstance(node.get("$ref"), str):
            return {**self._component(node["$ref"]), **self._without("$ref", node)}
        parts = node.get("allOf")
        if is_array(parts) and len(parts) == 1:
            return {**self.inlined(parts[0]), **self._without("allOf", node)}
        return self._without("", node)

    def _without(self, keyword: str, node: Json) -> Json:
        made: Json = {}
        for key, each in node.items():
            if key != keyword and not key.startswith("x-spec"):
                made[key] = self.inlined(each)
        return made

    def _component(self, reference: str) -> Json:
        name = reference.rpartition("/")[2]
        if name in self._open:  # a serializer within itself
            self.definitions.setdefault(name, {})
            return {"$ref": f"#/$defs/{name}"}
        self._open.append(name)
        made = self.inlined(self.components.get(name, {}))
        self._open.pop()
        if name in self.definitions:
            self.definitions[name] = made
        return made
