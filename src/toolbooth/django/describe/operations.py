"""Describes one action: its parameters, its body and its description."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import AutoField
from pydantic import BaseModel
from rest_framework.generics import GenericAPIView
from rest_framework.serializers import BaseSerializer

from toolbooth.contract import Contract
from toolbooth.django.describe import messages
from toolbooth.django.describe.declared_bodies import (
    LEFT_TO_THE_VIEW,
    DeclaredBody,
    WrongBody,
    plain_body,
)
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.extra_context import NO_CONTEXT, ExtraContext
from toolbooth.django.describe.kinds import Kinds, flat_body, joined_kinds, serializers_of_kinds
from toolbooth.django.describe.lenient_schema import (
    from_class_of_view,
    is_bare,
    original_class,
    readable,
)
from toolbooth.django.describe.openapi import References, Unknowable, body_in
from toolbooth.django.describe.parameters import (
    Parameter,
    parameters_in,
    path_parameters,
    query_parameters,
)
from toolbooth.django.describe.readers import has_own_code, is_made_from, is_same_class
from toolbooth.django.describe.spectacular import (
    complaints,
    complaints_since,
    plumbing,
    schema_of,
)
from toolbooth.django.describe.two_users import chooses_fields, have_same_fields, superuser
from toolbooth.jsonvalue import Json, is_object

logger = logging.getLogger("toolbooth.django")

_METHODS_WITH_BODY = ("POST", "PUT", "PATCH")
_ACTIONS_WITH_ROWS = ("list", "retrieve")


@dataclass(frozen=True, slots=True, kw_only=True)
class BodySerializer:
    """Makes the serializer that reads the body for one caller."""

    cls: type[BaseSerializer[Any]] | None = None
    """The class of the serializer when it was described."""
    declared: type[BaseSerializer[Any]] | None = None
    """The class to use, if the view itself would choose another one."""
    dynamic: bool = False
    """Whether the fields of the serializer may differ between callers."""
    kinds: tuple[type[BaseSerializer[Any]], ...] = ()
    """The class that reads each kind, if the body has several kinds."""
    kind: str = ""
    """The name of the field that contains the kind. The serializers need not declare this field."""

    def of(self, view: Any, *row: Any) -> Any:
        """Return the serializer that the view would make for its request."""
        if self.declared is None:
            return _made_by(view, *row)
        return self.declared(*row, context=plumbing.build_serializer_context(view))


def _made_by(view: Any, *row: Any) -> Any:
    try:
        return view.get_serializer(*row)
    except TypeError:  # its `__init__` requires an instance; for a create it is None
        return view.get_serializer(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The parameters and the body of one action, with its description."""

    action: Action
    path: dict[str, Parameter]
    query: dict[str, Parameter]
    headers: dict[str, Parameter]
    key: str
    """The name of the model's primary key."""
    assigns_key: bool
    """True if a new row gets its key automatically, so that callers do not choose it."""
    body: Json | None
    """None if the action takes no body."""
    takes_list: bool
    """Whether the whole body is a list."""
    definitions: dict[str, Json]
    """The schemas in the body that contain themselves, by name."""
    media_type: str
    serializer: BaseSerializer[Any] | None
    """The serializer that reads the body."""
    reader: type[BaseSerializer[Any]] | None
    """The class by which the view reads the body, if only a subclass of it is documented."""
    declares_own: bool | None
    """Whether the view's schema class declares the body for this action alone; None if it was not
    asked.
    """
    kinds: Kinds | None
    """The fields of each kind, if the body has several kinds."""
    plain: Contract | None
    """Validates the body instead of a serializer. The view gets plain data."""
    body_serializer: BodySerializer
    description: str
    lists: bool
    """Whether the action answers with a list of rows."""
    shows: str
    """The first field of a row, if the view's serializer makes the rows; otherwise empty."""
    leaves_body_open: bool = False
    """True if the author declares neither a body nor that there is none. The action is then called
    without a body.
    """
    faults: tuple[str, ...] = ()
    """The problems that drf-spectacular reported."""

    @property
    def body_is_undeclared(self) -> bool:
        """True if the method usually has a body, but the action does not declare one."""
        return self.leaves_body_open and self.action.method in _METHODS_WITH_BODY


def operation(
    action: Action,
    declared: DeclaredBody = LEFT_TO_THE_VIEW,
    context: ExtraContext = NO_CONTEXT,
    user: Any = None,
) -> Operation | None:
    """Return the operation of an action. Return None if `@extend_schema(exclude=True)` hides it.
    Call this within `describing`. `declared` is the body in the settings, and `user` is the user
    for whom the operation is described.

    Raises:
        Unknowable: the action takes a body that cannot be described.
    """
    # drf-spectacular counts for the whole process. Only the difference is about this action.
    before = complaints()
    schema = schema_of(action, declared, context, user)
    view = schema.view
    registry = plumbing.ComponentRegistry()
    raw: Json | None = schema.get_operation(action.path, action.regex, "/", action.method, registry)
    if raw is None:
        return None
    references = References(registry.build({}).get("schemas", {}))
    parameters = [references.inlined(each) for each in raw.get("parameters", ())]
    body, media_type = body_in(raw, references)
    body, kinds = flat_body(body, references)
    # Either there is no body, or drf-spectacular could not find its serializer. In the second case
    # a tool without fields would be wrong.
    if body is None and action.method in _METHODS_WITH_BODY:
        _must_be_known(schema)
    plain = _plain(schema, declared, media_type) if body is not None else None
    serializer: BaseSerializer[Any] | None = None
    reader: type[BaseSerializer[Any]] | None = None
    readers: tuple[type, ...] = ()
    definitions = references.definitions
    takes_list = body is not None and body.get("type") == "array"
    if plain is not None:
        body = dict(plain.schema)
        definitions = body.pop("$defs", {})
        takes_list = declared.is_list
    elif body is not None:
        serializer, reader = _serializer(schema, media_type)
        body, readers = joined_kinds(body, serializer, references)
    takes_anything = body is not None or bool(parameters)
    is_query = action.method == "GET"
    return Operation(
        action=action,
        path=path_parameters(action.path, parameters, _key(view)),
        query=query_parameters(view, parameters, schema.paging),
        headers=parameters_in("header", parameters),
        key=_key(view),
        assigns_key=_assigns_key(view),
        body=body,
        takes_list=takes_list,
        definitions=definitions,
        media_type=media_type,
        serializer=serializer,
        reader=reader,
        declares_own=schema.declares_own,
        plain=plain,
        kinds=kinds,
        body_serializer=_body_serializer(view, serializer, kinds, readers),
        description=raw.get("description") or raw.get("summary") or "",
        lists=is_query and bool(schema._is_list_view()),
        shows=_shows(view, action),
        leaves_body_open=schema.leaves_body_open,
        # Without any input, a complaint can only be about parts that are not published.
        faults=tuple(complaints_since(before)) if takes_anything else (),
    )


def operations(
    action: Action, declared: DeclaredBody, context: ExtraContext
) -> tuple[Operation | None, Operation | None]:
    """Return the operation of an action for an anonymous user, and the operation for a superuser.
    The second is None if both have the same body. Raises the same exceptions as `operation`.
    """
    try:
        first = operation(action, declared, context)
    except Exception:  # there may be a serializer for some callers only
        first = _for_superuser(action, declared, context)
        if first is None:
            raise
        return first, None
    if first is None or not first.body_serializer.dynamic:
        return first, None
    return first, _for_superuser(action, declared, context, other_than=first)


def _for_superuser(
    action: Action,
    declared: DeclaredBody,
    context: ExtraContext,
    other_than: Operation | None = None,
) -> Operation | None:
    user = superuser()
    if user is None:
        return None
    try:
        # Making the serializer takes a fraction of the time of describing it.
        if other_than is not None:
            schema = schema_of(action, declared, context, user)
            schema.declares_own = other_than.declares_own
            serializer = _same_reader(schema.view, other_than)
            if serializer is None:
                serializer, _ = _serializer(schema, other_than.media_type)
            if serializer is None or have_same_fields(other_than.serializer, serializer):
                return None
        return operation(action, declared, context, user)
    except Exception:  # the code of the view needs a user that is in the database
        logger.debug("%s cannot be described for a superuser", action.path, exc_info=True)
        return None


def _must_be_known(schema: Any) -> None:
    """Check that an action really takes no body if drf-spectacular finds no serializer for it.

    Raises:
        Unknowable: drf-spectacular reported a problem, so the action may well take a body.
    """
    before = complaints()
    if schema.get_request_serializer() is not None:
        return
    found = complaints_since(before)
    if found:
        # drf-spectacular writes a cause as `(Exception: ...)` at the end of a complaint.
        reason = found[0].partition("(Exception: ")[2].rstrip(")")
        raise Unknowable(messages.no_serializer(reason))


def _key(view: Any) -> str:
    key = _key_field(view)
    return "id" if key is None else key.name


def _assigns_key(view: Any) -> bool:
    key = _key_field(view)
    # The default of a UUID key is usually the function `uuid4`.
    return key is not None and (isinstance(key, AutoField) or key.has_default())


def _key_field(view: Any) -> Any:
    """Return the primary key of the view's model. Return None if the view has no model. If the key
    is a `parent_ptr` to a parent model, return the key of the parent.
    """
    model: Any = plumbing.get_view_model(view, emit_warnings=False)
    key: Any = None if model is None else model._meta.pk
    while key is not None and getattr(key.remote_field, "parent_link", False):
        key = key.target_field
    return key


# --- the reader of the body ---


def _plain(schema: Any, declared: DeclaredBody, media_type: str) -> Contract | None:
    """Return the contract of a body that no serializer reads. The contract is made from the
    settings, or from a Pydantic model in `@extend_schema`. Return None if a serializer reads the
    body.
    """
    if declared.is_set:
        return declared.plain
    found = _request(schema, media_type)
    if not isinstance(found, type) or not issubclass(found, BaseModel):
        return None
    try:
        return plain_body(found.__name__, found)
    except WrongBody as error:
        raise Unknowable(str(error)) from error


def _request(schema: Any, media_type: str) -> Any:
    """Return the request that drf-spectacular finds for a media type. It is usually a
    serializer.
    """
    found = schema.get_request_serializer()
    if is_object(found):  # one for each media type
        found = found.get(media_type)
    return getattr(found, "request", found)  # with examples beside it


def _serializer(
    schema: Any, media_type: str
) -> tuple[BaseSerializer[Any] | None, type[BaseSerializer[Any]] | None]:
    """Return the serializer that reads the body, and its class if the view chooses another one than
    its schema class documents.
    """
    found = _request(schema, media_type)
    made: Any = found() if isinstance(found, type) else found
    chosen = _serializer_class(schema.view)
    # A project's schema class may document a subclass, but the view reads with its own class.
    if chosen is not None and is_made_from(chosen, made.__class__):
        return _read_by(chosen, schema.view), chosen
    if not isinstance(made, BaseSerializer):
        return None, None
    return cast("BaseSerializer[Any]", readable(made)), None


def _same_reader(view: Any, described: Operation) -> BaseSerializer[Any] | None:
    """Return the serializer that reads the body for the user of this view, if it has the class that
    was described. Then the documented subclass need not be made again.
    """
    chosen = _serializer_class(view)
    return None if chosen is None or chosen is not described.reader else _read_by(chosen, view)


def _read_by(chosen: Any, view: Any) -> BaseSerializer[Any]:
    return readable(chosen(context=plumbing.build_serializer_context(view)))


def _body_serializer(
    view: Any, serializer: Any, kinds: Kinds | None, readers: tuple[type, ...]
) -> BodySerializer:
    item: Any = getattr(serializer, "child", serializer)
    if item is None:
        return BodySerializer()
    declared = original_class(item)
    if kinds is not None:  # it has no fields itself; the serializers of the kinds have them
        return BodySerializer(cls=declared, kinds=serializers_of_kinds(item), kind=kinds.field)
    if readers:
        return BodySerializer(cls=declared, kinds=readers)
    # A bare serializer replaces one that could not be made here, so the fields of a caller are not
    # known.
    changes = is_bare(item) or chooses_fields(item)
    if not is_same_class(_serializer_class(view), declared):
        return BodySerializer(cls=declared, declared=declared, dynamic=changes)
    # A view often returns another class for administrators.
    chooses = has_own_code(view.__class__, "get_serializer", "get_serializer_class")
    return BodySerializer(cls=declared, dynamic=chooses or changes)


def _serializer_class(view: Any) -> Any:
    """Return the serializer class that the view would use. Return None if the view has none, for
    example because the body is only declared.
    """
    if not issubclass(view.__class__, GenericAPIView):
        return None
    try:
        return view.get_serializer_class()
    except Exception:  # it looks at the caller, or there is none
        return getattr(view, "serializer_class", None)


def _shows(view: Any, action: Action) -> str:
    """Return the name of the first field of the rows. Return an empty text if this depends on the
    caller.
    """
    is_generic = issubclass(view.__class__, GenericAPIView)
    if not is_generic or action.method != "GET" or action.name not in _ACTIONS_WITH_ROWS:
        return ""
    for make in (view.get_serializer, lambda: from_class_of_view(view)):
        try:
            fields: Any = getattr(make(), "fields", {})
        except Exception:  # it looks at the caller, or there is none
            continue
        return next((name for name, field in fields.items() if not field.write_only), "")
    return ""
