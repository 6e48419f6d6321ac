"""One action -> what can be sent to it: its parameters and its body, with its description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from rest_framework.generics import GenericAPIView
from rest_framework.serializers import BaseSerializer

from toolbooth.django.describe import messages
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.openapi import References, Unknowable, body_in
from toolbooth.django.describe.parameters import Parameter, parameters_in, query_parameters
from toolbooth.django.describe.spectacular import (
    complaints,
    complaints_since,
    plumbing,
    schema_of,
)
from toolbooth.jsonvalue import Json, is_object

_METHODS_WITH_BODY = ("POST", "PUT", "PATCH")
_ACTIONS_WITH_ROWS = ("list", "retrieve")


@dataclass(frozen=True, slots=True, kw_only=True)
class BodySerializer:
    """How the serializer that reads the body is found for one caller."""

    declared: type[BaseSerializer[Any]] | None = None
    """Only if the view itself would take another one."""
    dynamic: bool = False
    """Its fields may be others for another caller."""

    def of(self, view: Any) -> Any:
        """The serializer, as the view would make it for its request."""
        if self.declared is None:
            return view.get_serializer()
        return self.declared(context=plumbing.build_serializer_context(view))


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
    body_serializer: BodySerializer
    description: str
    lists: bool
    """It answers with a list of rows."""
    shows: bool
    """It answers with what the view's serializer shows."""
    leaves_body_open: bool = False
    """A DELETE of which the author declares neither a body nor that there is none."""
    faults: tuple[str, ...] = ()
    """What drf-spectacular could not make out."""


def operation(action: Action) -> Operation | None:
    """The operation of an action; None if `@extend_schema(exclude=True)` hides it. Call within
    `describing`.

    Raises:
        Unknowable: it takes a body of which nothing is known.
    """
    before = complaints()
    schema = schema_of(action)
    view = schema.view
    registry = plumbing.ComponentRegistry()
    raw: Json | None = schema.get_operation(action.path, action.regex, "/", action.method, registry)
    if raw is None:
        return None
    references = References(registry.build({}).get("schemas", {}))
    parameters = [references.inlined(each) for each in raw.get("parameters", ())]
    body, media_type = body_in(raw, references)
    if body is None and action.method in _METHODS_WITH_BODY:
        _must_be_known(schema)
    serializer = _serializer(schema, media_type) if body is not None else None
    takes_anything = body is not None or bool(parameters)
    is_query = action.method == "GET"
    return Operation(
        action=action,
        path=parameters_in("path", parameters),
        query=query_parameters(view, parameters, schema.paging),
        headers=parameters_in("header", parameters),
        key=_key(view),
        body=body,
        definitions=references.definitions,
        media_type=media_type,
        serializer=serializer,
        body_serializer=_body_serializer(view, serializer),
        description=raw.get("description") or raw.get("summary") or "",
        lists=is_query and bool(schema._is_list_view()),
        shows=is_query and action.name in _ACTIONS_WITH_ROWS and _shows(view),
        leaves_body_open=schema.leaves_body_open,
        faults=tuple(complaints_since(before)) if takes_anything else (),
    )


def _must_be_known(schema: Any) -> None:
    """An action without a body is fine; one whose body drf-spectacular gave up on is not."""
    before = complaints()
    if schema.get_request_serializer() is not None:
        return
    found = complaints_since(before)
    if found:
        reason = found[0].partition("(Exception: ")[2].rstrip(")")
        raise Unknowable(messages.no_serializer(reason))


def _key(view: Any) -> str:
    model = plumbing.get_view_model(view, emit_warnings=False)
    return model._meta.pk.name if model is not None else "id"


# --- serializers ---


def _serializer(schema: Any, media_type: str) -> BaseSerializer[Any] | None:
    found = schema.get_request_serializer()
    if is_object(found):  # one for each media type
        found = found.get(media_type)
    found = getattr(found, "request", found)  # with examples beside it
    made: Any = found() if isinstance(found, type) else found
    return cast("BaseSerializer[Any]", made) if isinstance(made, BaseSerializer) else None


def _body_serializer(view: Any, serializer: Any) -> BodySerializer:
    item: Any = getattr(serializer, "child", serializer)
    if item is None:
        return BodySerializer()
    chosen = _serializer_class(view)
    declared: Any = item.__class__
    if _import_path(chosen) != _import_path(declared):
        return BodySerializer(declared=declared)
    chooses = _has_own_code(view.__class__, "get_serializer", "get_serializer_class")
    changes = _has_own_code(chosen, "__init__", "get_fields", "get_field_names")
    return BodySerializer(dynamic=chooses or changes)


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


def _import_path(cls: Any) -> tuple[str, str] | None:
    """Where a class is defined. A class that a function makes anew each time stays the same."""
    return None if cls is None else (cls.__module__, cls.__qualname__)


def _has_own_code(cls: type, *names: str) -> bool:
    """Whether a project's own code replaces one of REST framework's methods."""
    for name in names:
        module: str = getattr(getattr(cls, name, None), "__module__", None) or "rest_framework"
        if module.partition(".")[0] != "rest_framework":
            return True
    return False
