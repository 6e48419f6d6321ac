"""Reads the parameters and the body of an OpenAPI operation, without references."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise

from toolbooth.django.call.bodies import JSON, MULTIPART, URLENCODED, is_json
from toolbooth.django.describe import messages
from toolbooth.jsonvalue import Json, is_array, is_object

JSON_API = "application/vnd.api+json"

_MEDIA_TYPES = (JSON, "", URLENCODED, MULTIPART)
"""The media types, the best first. The empty text represents all other names of JSON."""


class Unknowable(Exception):
    """Raised if the input of an action cannot be known. Such an action is not published."""


def body_in(raw: Json, references: References) -> tuple[Json | None, str]:
    """Return the schema of the body and its media type. The schema is None if the operation takes
    no body.

    Raises:
        Unknowable: the body is a JSON:API document, which holds the fields in `data`.
    """
    content: Json = raw.get("requestBody", {}).get("content", {})
    if not content:
        return None, JSON
    # Many views accept JSON and forms. JSON keeps numbers, null and nested values as they are.
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
    """Return the same schema in plain JSON types. Projects also use lazy strings and subclasses of
    `str`.
    """
    if is_object(value):
        return {as_plain(key): as_plain(each) for key, each in value.items()}
    if isinstance(value, Promise):
        value = str(value)
    if isinstance(value, str):
        # A subclass of `str`, such as a safe string of Django, becomes a plain one.
        return str.__str__(value)
    if is_array(value):
        return [as_plain(each) for each in value]
    return value


class References:
    """Replaces every `$ref` by the schema that it names. Also replaces an `allOf` that contains
    only one schema by that schema.
    """

    def __init__(self, components: Json) -> None:
        self.components = components
        self.definitions: dict[str, Json] = {}
        """Schemas that contain themselves, by name. References to them are kept."""
        self._open: list[str] = []

    def inlined(self, node: Any) -> Any:
        """Return a schema, or a part of one, without references."""
        if is_array(node):
            return [self.inlined(each) for each in node]
        if not is_object(node):
            return node
        if isinstance(node.get("$ref"), str):
            # Keywords beside a reference, such as the description of this field, replace those of
            # the component.
            return {**self._component(node["$ref"]), **self._without("$ref", node)}
        parts = node.get("allOf")
        if is_array(parts) and len(parts) == 1:
            return {**self.inlined(parts[0]), **self._without("allOf", node)}
        return self._without("", node)

    def _without(self, keyword: str, node: Json) -> Json:
        made: Json = {}
        for key, each in node.items():
            # drf-spectacular marks schemas with keys such as `x-spec-enum-id` for its own use.
            if key != keyword and not key.startswith("x-spec"):
                made[key] = self.inlined(each)
        return made

    def _component(self, reference: str) -> Json:
        name = reference.rpartition("/")[2]
        if name in self._open:  # a serializer within itself
            # The schema is still being read. The outer call enters it when it is complete.
            self.definitions.setdefault(name, {})
            return {"$ref": f"#/$defs/{name}"}
        self._open.append(name)
        made = self.inlined(self.components.get(name, {}))
        self._open.pop()
        if name in self.definitions:
            self.definitions[name] = made
        return made
