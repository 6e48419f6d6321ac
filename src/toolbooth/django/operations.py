"""One action -> what drf-spectacular says of it: its path and query parameters, its body, its description.

drf-spectacular knows serializers, filters and paginators, and `@extend_schema` is how authors correct it. It is asked
for one action at a time, with a registry of its own: in a shared one, two serializers of one name become one.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, cast

from drf_spectacular import plumbing as untyped_plumbing
from drf_spectacular import settings as untyped_settings
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from rest_framework.serializers import BaseSerializer

from toolbooth.django.discovery import Action

Schema = dict[str, Any]
plumbing: Any = untyped_plumbing
spectacular: Any = untyped_settings

_SETTINGS = {"COMPONENT_SPLIT_REQUEST": True, "OAS_VERSION": "3.1.1", "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False}
_lock = threading.RLock()
_JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What can be sent to one action."""

    path: dict[str, Schema]
    key: str
    """What `pk` in the path is called in the model."""
    query: dict[str, Schema]
    required_query: frozenset[str]
    body: Schema | None
    """None: the action takes no body."""
    media_type: str
    serializer: BaseSerializer[Any] | None
    """What reads the body."""
    description: str
    returns: Schema | None
    faults: tuple[str, ...] = field(default=())
    """What drf-spectacular could not make out."""


@contextmanager
def describing() -> Generator[None]:
    """drf-spectacular's settings are global to the process: one thread at a time, and only while this is open."""
    with _lock, spectacular.patched_settings(_SETTINGS):
        yield


def operation(action: Action) -> Operation | None:
    """The operation of an action; None where `@extend_schema(exclude=True)` hides it. Call within `describing`."""
    view = cast("Any", SchemaGenerator().create_view(action.callback, action.method))
    schema = view.schema if isinstance(view.schema, AutoSchema) else AutoSchema()
    schema.view = view
    view.request = plumbing.build_mock_request(action.method, action.path, view, None)
    registry = plumbing.ComponentRegistry()
    with _listening() as faults:
        raw = schema.get_operation(action.path, action.regex, "/", action.method, registry)
    if raw is None:
        return None
    components: Schema = registry.build({}).get("schemas", {})
    reader = _Reader(components)
    parameters = [reader.plain(each) for each in raw.get("parameters", ())]
    body, media_type = _body(raw, reader)
    return Operation(
        path=_named(parameters, "path"),
        key=_key(view),
        query=_named(parameters, "query"),
        required_query=frozenset(each["name"] for each in parameters if each["in"] == "query" and each.get("required")),
        body=body,
        media_type=media_type,
        serializer=_serializer(schema) if body is not None else None,
        description=raw.get("description") or raw.get("summary") or "",
        returns=_returns(raw, reader),
        faults=tuple(faults),
    )


@contextmanager
def _listening() -> Generator[list[str]]:
    """What drf-spectacular complains of meanwhile: it writes that to standard error, and counts it."""
    heard: list[str] = []
    before = _complaints()
    with redirect_stderr(StringIO()):
        yield heard
    heard += [text for text, count in _complaints().items() if count > before.get(text, 0)]


def _complaints() -> dict[str, int]:
    stats: Any = GENERATOR_STATS
    return {**stats._warn_cache, **stats._error_cache}


def _named(parameters: list[Schema], place: str) -> dict[str, Schema]:
    made: dict[str, Schema] = {}
    for each in parameters:
        if each["in"] == place:
            said = {"description": each["description"]} if each.get("description") else {}
            made[each["name"]] = {**each.get("schema", {"type": "string"}), **said}
    return made


def _key(view: Any) -> str:
    model: Any = getattr(getattr(view, "queryset", None), "model", None)
    return model._meta.pk.name if model is not None else "id"


def _body(raw: Schema, reader: _Reader) -> tuple[Schema | None, str]:
    content = cast("Schema", raw.get("requestBody", {})).get("content", {})
    if not content:
        return None, _JSON
    media_type = _JSON if _JSON in content else next(iter(content))
    return reader.plain(content[media_type].get("schema", {})), media_type


def _returns(raw: Schema, reader: _Reader) -> Schema | None:
    for status, response in cast("Schema", raw.get("responses", {})).items():
        content = response.get("content", {}).get(_JSON)
        if str(status).startswith("2") and content and "schema" in content:
            return reader.plain(content["schema"])
    return None


def _serializer(schema: Any) -> BaseSerializer[Any] | None:
    found = schema.get_request_serializer()
    if isinstance(found, Mapping):
        found = next(iter(cast("Mapping[str, Any]", found).values()), None)
    made: Any = found() if isinstance(found, type) else found
    return cast("BaseSerializer[Any]", made) if isinstance(made, BaseSerializer) else None


class _Reader:
    """Puts what `$ref` names where it is named, and folds an `allOf` of one into its place."""

    def __init__(self, components: Schema) -> None:
        self.components = components
        self.open: list[str] = []

    def plain(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.plain(each) for each in cast("list[Any]", node)]
        if not isinstance(node, dict):
            return node
        table = cast("Schema", node)
        if isinstance(table.get("$ref"), str):
            return {**self._named(table["$ref"]), **self._rest(table, "$ref")}
        parts = table.get("allOf")
        if isinstance(parts, list) and len(cast("list[Any]", parts)) == 1:
            return {**self.plain(parts[0]), **self._rest(table, "allOf")}
        return self._rest(table)

    def _rest(self, table: Schema, *without: str) -> Schema:
        return {
            key: self.plain(each) for key, each in table.items() if key not in without and not key.startswith("x-spec")
        }

    def _named(self, ref: str) -> Schema:
        name = ref.rpartition("/")[2]
        if name in self.open or name not in self.components:  # a serializer within itself: an open object ends it
            return {"type": "object", "additionalProperties": True}
        self.open.append(name)
        made = self.plain(self.components[name])
        self.open.pop()
        return made
