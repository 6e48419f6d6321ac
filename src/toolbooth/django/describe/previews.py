"""Decides which writes can be previewed. A write qualifies if all code that writes is Django's and
REST framework's own, because that code changes nothing outside of the database. For any other
write, its author can promise this with `@mcp_preview`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import connections, models
from django.db.backends.base.features import BaseDatabaseFeatures
from django.db.models import signals
from rest_framework import serializers
from rest_framework.generics import GenericAPIView

from toolbooth.django.describe import messages
from toolbooth.django.describe.cascades import cascade_of
from toolbooth.django.describe.discovery import Action, is_promised
from toolbooth.django.describe.known_code import OF_EVERY_VIEW, first_own, is_known_throughout
from toolbooth.django.describe.published_models import model_of

_OF_VIEWS = {
    "create": ("post", "create", "perform_create"),
    "update": ("put", "update", "perform_update", "get_object"),
    "partial_update": ("patch", "partial_update", "update", "perform_update", "get_object"),
    "destroy": ("delete", "destroy", "perform_destroy", "get_object"),
}
"""The methods of a view that run in a write, by action. `get_queryset` and the like only read."""

_METHODS = {"create": "POST", "update": "PUT", "partial_update": "PATCH", "destroy": "DELETE"}

_OF_SERIALIZERS = ("save", "create", "update")
_OF_MODELS = ("save", "save_base", "delete")
_OF_MANAGERS = (
    *("create", "bulk_create", "get_or_create", "update_or_create", "update", "bulk_update"),
    *("delete", "_insert", "_update", "_raw_delete", "using", "db_manager"),
)


def obstacle(action: Action, serializer: Any, middleware: Iterable[str] = ()) -> str:
    """Return the reason why a write cannot be previewed. Return an empty text if it can.
    `serializer` reads the body. `middleware` runs around the call, and may do anything.
    """
    if action.method == "GET":
        return messages.ONLY_WRITES_ARE_PREVIEWED
    # The author's promise is only about code. A database without transactions can never roll back.
    reasons = [_of_databases()] if is_promised(action) else _reasons(action, serializer, middleware)
    return _in_words(next(filter(None, reasons), ""))


def obstacle_of_model(model: Any, action: str) -> str:
    """Return the reason why an action on rows of this model cannot be previewed. Return an empty
    text if it can.
    """
    return _in_words(_of_model(model, action))


def obstacle_of_serializer(action: str, serializer: Any) -> str:
    """Return the reason why a write with this serializer cannot be previewed. Return an empty text
    if it can.
    """
    if action == "destroy":
        return ""
    return _in_words(next(filter(None, _of_saves(action, serializer)), ""))


def _in_words(reason: str) -> str:
    return messages.cannot_be_previewed(reason) if reason else ""


def _reasons(action: Action, serializer: Any, middleware: Iterable[str]) -> Iterator[str]:
    yield _of_view(action)
    yield messages.RUNS_MIDDLEWARE if [*middleware] else ""
    yield from _of_serializer(action, serializer)
    yield _of_databases()


# --- the code that runs ---


def _of_view(action: Action) -> str:
    view: Any = action.view
    is_standard = _METHODS.get(action.name) == action.method
    if not is_standard or not issubclass(view, GenericAPIView):
        return messages.OWN_ACTION
    own = first_own(action.view, (*OF_EVERY_VIEW, *_OF_VIEWS[action.name]))
    if own:
        return messages.own_method("view", own)
    return "" if is_known_throughout(action.callback) else messages.DECORATED_VIEW


def _of_serializer(action: Action, serializer: Any) -> Iterator[str]:
    """Yield the obstacles in the serializer and the model of a write."""
    cls: Any = serializer.__class__
    if action.name == "destroy":
        model: Any = model_of(action)
    elif not issubclass(cls, serializers.ModelSerializer):
        yield messages.OWN_SERIALIZER
        return
    else:
        yield from _of_saves(action.name, serializer)
        return
    yield messages.MODEL_NOT_KNOWN if model is None else _of_model(model, action.name)


def _of_saves(action: str, serializer: Any) -> Iterator[str]:
    """Yield the obstacles in a serializer that may save one row or many rows."""
    child = getattr(serializer, "child", serializer)
    for each in (serializer, child):
        own = first_own(each.__class__, _OF_SERIALIZERS)
        yield messages.own_method("serializer", own) if own else ""
    if not isinstance(child, serializers.ModelSerializer):
        return  # it saves nothing, or has its own create()
    model: Any = child.Meta.model
    yield messages.WRITES_FILES if any(_writes_files(child, model)) else ""
    yield _of_model(model, action)
    yield from _of_links(child, model)


def _of_model(model: Any, action: str) -> str:
    """Return the obstacle in the model of a write: a method, a manager or a signal receiver that is
    not Django's.
    """
    own = first_own(model, _OF_MODELS)
    if own:
        return messages.own_method("model", own)
    reason = _of_managers(model._default_manager, model._base_manager)
    if reason:
        return reason
    if action == "destroy":
        return _of_delete(model)
    return messages.HAS_RECEIVERS if any(_receivers_of_save(model)) else ""


def _of_managers(*managers: Any) -> str:
    for manager in managers:
        own = _own_in_manager(manager)
        if own:
            return messages.own_method("manager", own)
    return ""


def _own_in_manager(manager: Any) -> str:
    own = first_own(manager.__class__, _OF_MANAGERS)
    if own:
        return own
    try:
        queryset = manager.get_queryset()  # this runs no query
    except Exception:  # it may need a request
        return "get_queryset"
    # A manager of Django may return a queryset of the project's own class.
    return first_own(queryset.__class__, _OF_MANAGERS)


def _of_delete(model: Any) -> str:
    cascade = cascade_of(model)
    if cascade.has_own_code:
        return messages.OWN_CASCADE
    for each in cascade.models:
        if _has_foreign(each, signals.pre_delete, signals.post_delete):
            return messages.HAS_RECEIVERS
    # Django deletes and unlinks the rows of other models with these managers.
    return _of_managers(*(each._base_manager for each in cascade.models | cascade.unlinked))


def _of_links(serializer: Any, model: Any) -> Iterator[str]:
    """Yield the obstacles in those many-to-many relations of a model that the serializer writes."""
    links = dict(_links(model))
    written = (each.source for each in serializer.fields.values() if not each.read_only)
    for field in filter(None, map(links.get, written)):
        # Setting such a relation updates foreign keys in the other rows, through their managers.
        if field.one_to_many:
            other = field.related_model
            yield _of_managers(other._default_manager, other._base_manager)
            continue
        # `concrete` is not used, because since Django 6.1 it is true for no relation to many rows.
        through = (field if field.auto_created else field.remote_field).through
        if not through._meta.auto_created:  # its rows are deleted like those of any model
            yield _of_managers(through._default_manager) or _of_delete(through)


def _links(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the many-to-many relations of a model, each with the name of its attribute."""
    for field in model._meta.get_fields():
        if field.many_to_many or field.one_to_many:
            yield field.get_accessor_name() if field.auto_created else field.name, field


# --- signals ---


def _receivers_of_save(model: Any) -> Iterator[bool]:
    """Yield True if saving a row triggers signal receivers of the project, otherwise False. There
    is one value for the model, and one for each of its many-to-many relations.
    """
    for each in {model, model._meta.concrete_model}:
        yield _has_foreign(each, signals.pre_save, signals.post_save)
    for field in model._meta.get_fields(include_hidden=True):
        # A field has the model of the links in its `remote_field`. A relation of another model has
        # it in its own `through`.
        link: Any = field if hasattr(field, "through") else getattr(field, "remote_field", None)
        through: Any = getattr(link, "through", None) if field.many_to_many else None
        if through is not None:
            yield _has_foreign(through, signals.m2m_changed)


def _has_foreign(sender: Any, *of: Any) -> bool:
    """Return True if a signal of a model has a receiver that is not Django's."""
    receivers = (each for signal in of for each in _receivers(signal, sender))
    return not all(map(is_known_throughout, receivers))


def _receivers(signal: Any, sender: Any) -> Iterator[Callable[..., Any]]:
    live: Any = signal._live_receivers(sender)
    # Since Django 5.0 these are two lists: the sync receivers and the async ones.
    for each in live:
        yield from each if isinstance(each, list) else [each]


# --- files and databases ---


def _writes_files(serializer: Any, model: Any) -> Iterator[bool]:
    columns = {each.name: each for each in model._meta.get_fields()}
    for field in serializer.fields.values():
        is_file = isinstance(field, serializers.FileField)
        # A field of another kind may fill the column too, such as an image as base64 text.
        is_file = is_file or isinstance(columns.get(field.source), models.FileField)
        yield is_file and not field.read_only


def _of_databases() -> str:
    return "" if all(map(has_transactions, connections.all())) else messages.NO_TRANSACTIONS


def has_transactions(connection: Any) -> bool:
    """Return True if writes to a database can be rolled back. Also return True if the database
    cannot be reached; the call itself then fails.
    """
    if is_dummy(connection):
        return True  # there is no database
    kinds: tuple[type, ...] = connection.features.__class__.__mro__
    owner = next(each for each in kinds if "supports_transactions" in vars(each))
    if owner is BaseDatabaseFeatures:
        return False  # Django would create a table to find out
    try:
        return bool(connection.features.supports_transactions)
    except Exception:
        return True


def is_dummy(connection: Any) -> bool:
    """Return True if the project has declared no database under this alias."""
    engine: str = connection.settings_dict["ENGINE"]
    return engine == "django.db.backends.dummy"
