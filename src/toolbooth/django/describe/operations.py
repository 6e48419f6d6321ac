"""One action -> what drf-spectacular says of it: its path and query parameters, its body, its
description.

drf-spectacular knows serializers, filters and paginators, and `@extend_schema` is how authors
correct it. It is asked for one action at a time, with a registry of its own: in a shared one, two
serializers of one name become one.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, cast

from drf_spectacular import plumbing as untyped_plumbing
from drf_spectacular import settings as untyped_settings
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.generics import GenericAPIView
from rest_framework.serializers import BaseSerializer
from rest_framework.test import APIRequestFactory

from toolbooth.django.call.bodies import FORM, JSON, MULTIPART, is_json
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.paging import ANYTHING, Bound, bounds, is_off
from toolbooth.jsonvalue import Json

plumbing: Any = untyped_plumbing
spectacular: Any = untyped_settings

_SETTINGS = {
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_NO_READ_ONLY_REQUIRED": True,
    "OAS_VERSION": "3.1.1",
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SORT_OPERATION_PARAMETERS": False,
}
_BODIES = ("POST", "PUT", "PATCH")
_SHOWING = ("list", "retrieve")
JSON_API = "application/vnd.api+json"
_lock = threading.RLock()


class Unknowable(Exception):
    """What the action takes cannot be known, so it is not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of an address, or a header."""

    schema: Json
    required: bool = False
    joined: bool = False
    """Several values stand in the query as one, with commas."""
    choices: tuple[str, ...] = ()
    """All that it takes. What is no choice is often ignored in silence, so it is not let through.
    """
    bound: Bound | None = None
    """Of a parameter of the paginator: what it takes."""
    idle: str = ""
    """Characters that say nothing in it, as spaces do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How the serializer that reads the body is found for one caller."""

    serializer: type[BaseSerializer[Any]] | None = None
    """Only where the view itself would give another one."""
    dynamic: bool = False
    """Its fields may be others for another caller."""

    def of(self, view: Any) -> Any:
        """The serializer, as the view would make it for its request."""
        if self.serializer is None:
            return view.get_serializer()
        return self.serializer(context=plumbing.build_serializer_context(view))


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What can be sent to one action."""

    action: Action
    path: dict[str, Parameter]
    query: dict[str, Parameter]
    headers: dict[str, Parameter]
    key: str
    """What `pk` in the path is called in the model."""
    body: Json | None
    """None: the action takes no body."""
    definitions: dict[str, Json]
    """What the body refers to where it contains itself."""
    media_type: str
    serializer: BaseSerializer[Any] | None
    """What reads the body."""
    reader: Reader
    description: str
    lists: bool
    """It answers with a list of rows."""
    shows: bool
    """It answers with what the view's serializer shows."""
    leaves_body_open: bool = False
    """A DELETE of which the author declares neither a body nor that there is none."""
    faults: tuple[str, ...] = field(default=())
    """What drf-spectacular could not make out."""


@contextmanager
def describing() -> Generator[None]:
    """drf-spectacular's settings are global to the process: one thread at a time, and only while
    this is open.
    """
    with _lock, spectacular.patched_settings(_SETTINGS), GENERATOR_STATS.silence():
        yield


def operation(action: Action) -> Operation | None:
    """The operation of an action; None where `@extend_schema(exclude=True)` hides it. Call within
    `describing`.

    Raises:
        Unknowable: it takes a body of which nothing is known.
    """
    before = _complaints()
    generator = SchemaGenerator()  # holds what the view refers to only weakly
    view = cast("Any", generator.create_view(action.callback, action.method))
    view.request = APIRequestFactory().generic(
        action.method, action.path
    )  # what a view has before it knows more
    view.request = plumbing.build_mock_request(action.method, action.path, view, None)
    schema = _asking(view)
    registry = plumbing.ComponentRegistry()
    raw = cast(
        "Json | None", schema.get_operation(action.path, action.regex, "/", action.method, registry)
    )
    if raw is None:
        return None
    reader = _Reader(registry.build({}).get("schemas", {}))
    parameters = [reader.plain(each) for each in raw.get("parameters", ())]
    body, media_type = _body(raw, reader)
    if body is None and action.method in _BODIES:
        _must_be_known(schema)
    serializer = _serializer(schema, media_type) if body is not None else None
    return Operation(
        action=action,
        path=_named(parameters, "path"),
        query=_bound(
            _named(parameters, "query") | dict(_told_better(view, parameters)), schema.paging
        ),
        headers=_named(parameters, "header"),
        key=_key(view),
        body=body,
        definitions=reader.definitions,
        media_type=media_type,
        serializer=serializer,
        reader=_reader(view, serializer),
        description=raw.get("description") or raw.get("summary") or "",
        lists=action.method == "GET" and bool(schema._is_list_view()),
        shows=action.name in _SHOWING and action.method == "GET" and _shows(view),
        leaves_body_open=schema.leaves_body_open,
        faults=tuple(_new(before)) if body is not None or parameters else (),
    )


def _complaints() -> dict[str, int]:
    stats: Any = GENERATOR_STATS
    return {**stats._warn_cache, **stats._error_cache}


def _new(before: Mapping[str, int]) -> list[str]:
    """What drf-spectacular has complained of since."""
    return [text for text, count in _complaints().items() if count > before.get(text, 0)]


def _must_be_known(schema: Any) -> None:
    """An action without a body is fine; one whose body drf-spectacular gave up on is not."""
    before = _complaints()
    if schema.get_request_serializer() is None and (told := _new(before)):
        reason = told[0].partition("(Exception: ")[2].rstrip(")")
        why = f"finding its serializer failed ({reason})" if reason else "it has no serializer"
        raise Unknowable(f"{why}; give it one, or describe it with @extend_schema")


# --- drf-spectacular's schema of a view, whichever class the project uses ---


class _Asked(AutoSchema):
    """Asked only for what can be sent."""

    paging: Mapping[str, Bound] = {}
    """The paginator's parameters."""
    declared_request: Any = None
    """What reads the body of a DELETE, as its author declares it."""

    def _get_response_bodies(self, direction: Any = "response") -> Json:
        return {}

    def _get_format_parameters(self) -> list[Json]:
        return []  # the answer's format is JSON, whatever the view could render

    def _resolve_path_parameters(self, variables: list[str]) -> list[Json]:
        asked = cast("Any", super())
        typed = {name: self._converted(name) for name in variables}
        return [
            each
            for name in variables
            for each in typed[name] or asked._resolve_path_parameters([name])
        ]

    def _converted(self, name: str) -> list[Json]:
        """What `<int:pk>` says. drf-spectacular would look for it under the name that its documents
        give to `pk`.
        """
        regex = cast("Any", self).path_regex.replace(f":{name}>", ":found>")
        found = plumbing.resolve_django_path_parameter(regex, "found", [])
        # That it is text says nothing about an address.
        return [{**found, "name": name}] if found and found["schema"] != {"type": "string"} else []

    def _get_pagination_parameters(self) -> list[Json]:
        own, asked = cast("Any", self), cast("Any", super())
        paginator = own._get_paginator()
        if is_off(paginator):
            return []
        found = cast("list[Json]", asked._get_pagination_parameters())
        self.paging = {each["name"]: ANYTHING for each in found} | (
            bounds(paginator) if found else {}
        )
        return found

    def get_auth(self) -> list[Json]:
        return []

    def _get_request_body(self, direction: Any = "request") -> Any:
        own, asked = cast("Any", self), cast("Any", super())
        if own.method != "DELETE":
            return asked._get_request_body(direction)
        self.declared_request = self.get_request_serializer()
        if self.declared_request is None:
            return None
        own.method = "POST"  # drf-spectacular knows of no body for a DELETE
        try:
            return asked._get_request_body(direction)
        finally:
            own.method = "DELETE"

    def get_request_serializer(self) -> Any:
        # `@extend_schema(methods=["DELETE"])` does not apply while the method is called POST.
        if self.declared_request is not None:
            return self.declared_request
        return cast("Any", super()).get_request_serializer()

    def _get_serializer_name(
        self, serializer: Any, direction: Any, bypass_extensions: bool = False
    ) -> str:
        """Two serializers of one name, one perhaps within the other, are two."""
        name = cast("Any", super())._get_serializer_name(serializer, direction, bypass_extensions)
        classes: dict[Any, str] = self.__dict__.setdefault("classes", {})
        return name + classes.setdefault(serializer.__class__, str(len(classes) or ""))


class _NothingDeclared(AutoSchema):
    """Comes after what authors declare: what is asked of this, they left open."""

    leaves_body_open: bool = False
    """A DELETE of which the author declares neither a body nor that there is none."""

    def get_request_serializer(self) -> Any:
        """The view's own serializer; it says nothing of a DELETE, whose body must be declared."""
        own, asked = cast("Any", self), cast("Any", super())
        if own.method != "DELETE":
            return asked.get_request_serializer()
        self.leaves_body_open = True
        return None


class _Rearranged(type):
    """A class that is `@extend_schema`'s first and drf-spectacular's next, whatever else it was
    derived from.

    `@extend_schema` derives from the class in DEFAULT_SCHEMA_CLASS, which need not be
    drf-spectacular's.
    """

    def mro(cls) -> list[type]:
        extended = [
            each
            for each in super().mro()[1:]
            if _is_spectaculars(each) and each not in AutoSchema.__mro__
        ]
        return [cls, _Asked, *extended, _NothingDeclared, *AutoSchema.__mro__]


def _is_spectaculars(cls: type) -> bool:
    return issubclass(cls, AutoSchema) or cls.__module__ == "drf_spectacular.utils"


def _asking(view: Any) -> Any:
    """The schema of a view, in a form that can be asked."""
    schema = _rearranged(view.schema.__class__)()
    schema.view = view
    return schema


@lru_cache(4096)
def _rearranged(schema: type) -> Any:
    return _Rearranged("Rearranged", (schema,), {})


def _serializer(schema: Any, media_type: str) -> BaseSerializer[Any] | None:
    found = schema.get_request_serializer()
    if isinstance(found, Mapping):  # one for each media type
        found = cast("Mapping[str, Any]", found).get(media_type)
    found = getattr(found, "request", found)  # with examples beside it
    made: Any = found() if isinstance(found, type) else found
    return cast("BaseSerializer[Any]", made) if isinstance(made, BaseSerializer) else None


def _reader(view: Any, serializer: Any) -> Reader:
    item: Any = getattr(serializer, "child", serializer)
    if item is None:
        return Reader()
    chosen = _serializer_class(view)
    cls = cast("type[Any]", type(item))
    if _written(chosen) != _written(cls):
        return Reader(serializer=cls)
    chooses = _is_own(view.__class__, "get_serializer", "get_serializer_class")
    return Reader(dynamic=chooses or _is_own(chosen, "__init__", "get_fields", "get_field_names"))


def _serializer_class(view: Any) -> Any:
    """The class that the view itself would take; None if it has none, as for a body that is only
    declared.
    """
    if not issubclass(view.__class__, GenericAPIView):
        return None
    try:
        return view.get_serializer_class()
    except Exception:  # it looks at the caller, or there is none
        return None


def _shows(view: Any) -> bool:
    """Whether a view's serializer has fields, as far as can be said without a caller."""
    try:
        return issubclass(view.__class__, GenericAPIView) and bool(view.get_serializer().fields)
    except Exception:  # it looks at the caller, or there is none
        return False


def _written(cls: Any) -> tuple[str, str] | None:
    """Where a class was written: one that is made anew whenever it is asked for is still the same."""
    return None if cls is None else (cls.__module__, cls.__qualname__)


def _is_own(cls: type, *names: str) -> bool:
    """Whether a project's own code stands in place of REST framework's."""
    modules = (
        getattr(getattr(cls, name, None), "__module__", None) or "rest_framework" for name in names
    )
    return not all(
        module.startswith("rest_framework.") or module == "rest_framework" for module in modules
    )


# --- parameters ---


def _named(parameters: list[Json], place: str) -> dict[str, Parameter]:
    return {each["name"]: _parameter(each) for each in parameters if each["in"] == place}


def _parameter(raw: Json) -> Parameter:
    schema = _not_null(raw.get("schema") or {"type": "string"})
    said = str(raw.get("description") or "").strip()
    if said and not said.startswith(_OF_A_KEY) and said not in _GENERAL:
        schema["description"] = said
    items: Json = schema.get("items", schema)
    return Parameter(
        schema=schema,
        required=bool(raw.get("required")),
        joined=raw.get("explode") is False and schema.get("type") == "array",
        choices=tuple(map(str, items.get("enum", ()))),
    )


def _bound(query: dict[str, Parameter], paging: Mapping[str, Bound]) -> dict[str, Parameter]:
    """The parameters, with what the paginator takes for its own."""
    made = dict(query)
    for name, bound in paging.items():
        if name in made:
            made[name] = replace(
                made[name], schema={**made[name].schema, **bound.schema}, bound=bound
            )
    return made


_OF_A_KEY = ("A unique ", "A UUID string identifying ")
"""How drf-spectacular describes the key in an address: its name and type say as much."""


def _not_null(schema: Json) -> Json:
    """An address has no null."""
    made = dict(schema)
    if isinstance(made.get("type"), list):
        kinds: list[str] = [kind for kind in made["type"] if kind != "null"]
        made["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "enum" in made:
        made["enum"] = [each for each in made["enum"] if each is not None]
    if isinstance(made.get("items"), dict):
        made["items"] = _not_null(made["items"])
    return made


_GENERAL = frozenset(
    (
        "A page number within the paginated result set.",
        "Number of results to return per page.",
        "The initial index from which to return the results.",
        "The pagination cursor value.",
        "A search term.",
        "Which field to use when ordering the results.",
        "Multiple values may be separated by commas.",
        "Ordering",
    )
)
"""What REST framework says of every parameter of a kind: its name says as much."""


_BETWEEN_WORDS = ",'\""
"""What parts the words of a search, beside spaces."""


def _told_better(view: Any, parameters: list[Json]) -> Iterator[tuple[str, Parameter]]:
    """Search and ordering, of which drf-spectacular says only that they are text."""
    sent = {
        each["name"]
        for each in parameters
        if each["in"] == "query" and each.get("schema") == {"type": "string"}
    }
    for backend in getattr(view, "filter_backends", None) or ():
        filters: Any = backend()
        if isinstance(filters, OrderingFilter) and filters.ordering_param in sent:
            if names := _orderings(filters, view):
                choices = [each for name in names for each in (name, f"-{name}")]
                schema = {"type": "string", "enum": choices}
                yield (
                    filters.ordering_param,
                    Parameter(schema=schema, joined=True, choices=tuple(choices)),
                )
        elif isinstance(filters, SearchFilter) and filters.search_param in sent:
            fields = cast(
                "list[str]", cast("Any", filters).get_search_fields(view, view.request) or []
            )
            said = (
                {"description": f"in {', '.join(name.lstrip('^=@$') for name in fields)}"}
                if fields
                else {}
            )
            yield (
                filters.search_param,
                Parameter(schema={"type": "string", **said}, idle=_BETWEEN_WORDS),
            )


def _orderings(filters: Any, view: Any) -> list[str]:
    try:
        valid = filters.get_valid_fields(view.queryset, view, {"request": view.request})
    except (
        Exception
    ):  # the fields of a model that only a real caller leads to; any text is taken then
        return []
    return [str(name) for name, _ in valid]


def _key(view: Any) -> str:
    model = plumbing.get_view_model(view, emit_warnings=False)
    return model._meta.pk.name if model is not None else "id"


# --- the body ---


def _body(raw: Json, reader: _Reader) -> tuple[Json | None, str]:
    content = cast("Json", raw.get("requestBody", {})).get("content", {})
    if not content:
        return None, JSON
    media_type = min(content, key=_rank)
    body = reader.plain(content[media_type].get("schema", {}))
    if media_type == JSON_API and "data" not in body.get("properties", {}):
        raise Unknowable(
            "it takes JSON:API documents; describe them with @extend_schema, or let it take plain JSON"
        )
    return body, media_type


def _rank(media_type: str) -> int:
    known = (JSON, "", FORM, MULTIPART)
    return (
        known.index(media_type) if media_type in known else 1 if is_json(media_type) else len(known)
    )


class _Reader:
    """Puts what `$ref` names where it is named, and folds an `allOf` of one into its place."""

    def __init__(self, components: Json) -> None:
        self.components = components
        self.open: list[str] = []
        self.definitions: dict[str, Json] = {}

    def plain(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.plain(each) for each in cast("list[Any]", node)]
        if not isinstance(node, dict):
            return node
        table = cast("Json", node)
        if isinstance(table.get("$ref"), str):
            return {**self._named(table["$ref"]), **self._rest(table, "$ref")}
        parts = table.get("allOf")
        if isinstance(parts, list) and len(cast("list[Any]", parts)) == 1:
            return {**self.plain(parts[0]), **self._rest(table, "allOf")}
        return self._rest(table)

    def _rest(self, table: Json, *without: str) -> Json:
        kept = {
            key: each
            for key, each in table.items()
            if key not in without and not key.startswith("x-spec")
        }
        return {key: self.plain(each) for key, each in kept.items()}

    def _named(self, ref: str) -> Json:
        name = ref.rpartition("/")[2]
        if name in self.open:  # a serializer within itself: told once more, by name
            self.definitions.setdefault(name, {})
            return {"$ref": f"#/$defs/{name}"}
        self.open.append(name)
        made = self.plain(self.components.get(name, {}))
        self.open.pop()
        if name in self.definitions:
            self.definitions[name] = made
        return made
