"""Which writes can be previewed: those of which it is known that they do nothing outside the
database, because all code that writes is Django's and REST framework's own. For any other, its
author can promise it with `@mcp_preview`.
"""

from __future__ import annotations

import functools
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
from toolbooth.django.describe.published_models import model_of

_OF_EVERY_VIEW = (
    *("dispatch", "initialize_request", "initial", "handle_exception", "finalize_response"),
    *("get_success_headers", "get_exception_handler"),
)
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

_PACKAGES = ("django", "rest_framework", "toolbooth")
"""Whose code does what it is known to do."""


def obstacle(action: Action, serializer: Any, middleware: Iterable[str] = ()) -> str:
    """Why a write cannot be previewed; empty if it can. `serializer` reads its body, `middleware`
    runs around it and may do anything.
    """
    if action.method == "GET":
        return messages.ONLY_WRITES_ARE_PREVIEWED
    reasons = [_of_databases()] if is_promised(action) else _reasons(action, serializer, middleware)
    return _in_words(next(filter(None, reasons), ""))


def obstacle_of_model(model: Any, action: str) -> str:
    """The same for the model of the rows that an action writes."""
    return _in_words(_of_model(model, action))


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
    own = _first_own(action.view, (*_OF_EVERY_VIEW, *_OF_VIEWS[action.name]))
    if own:
        return messages.own_method("view", own)
    return "" if all(map(_is_known, _wrappers(action.callback))) else messages.DECORATED_VIEW


def _wrappers(callback: Any) -> Iterator[Any]:
    """A view function, and what its decorators are wrapped around."""
    while callback is not None:
        yield callback
        callback = getattr(callback, "__wrapped__", None)


def _of_serializer(action: Action, serializer: Any) -> Iterator[str]:
    """What is wrong with the serializer and the model of a write."""
    cls: Any = serializer.__class__
    if action.name == "destroy":
        model: Any = model_of(action)
    elif not issubclass(cls, serializers.ModelSerializer):
        yield messages.OWN_SERIALIZER
        return
    else:
        own = _first_own(serializer.__class__, _OF_SERIALIZERS)
        yield messages.own_method("serializer", own) if own else ""
        model = serializer.Meta.model
        yield messages.WRITES_FILES if any(_writes_files(serializer, model)) else ""
    yield messages.MODEL_NOT_KNOWN if model is None else _of_model(model, action.name)


def _of_model(model: Any, action: str) -> str:
    """What is wrong with the model of a write: methods, managers or receivers of signals that are
    not Django's.
    """
    own = _first_own(model, _OF_MODELS)
    if own:
        return messages.own_method("model", own)
    for manager in (model._default_manager, model._base_manager):
        own = _own_in_manager(manager)
        if own:
            return messages.own_method("manager", own)
    if action == "destroy":
        return _of_delete(model)
    return messages.HAS_RECEIVERS if any(_receivers_of_save(model)) else ""


def _own_in_manager(manager: Any) -> str:
    own = _first_own(manager.__class__, _OF_MANAGERS)
    if own:
        return own
    try:
        queryset = manager.get_queryset()  # which asks no database
    except Exception:  # it looks at the request, perhaps
        return "get_queryset"
    return _first_own(queryset.__class__, _OF_MANAGERS)


def _of_delete(model: Any) -> str:
    cascade = cascade_of(model)
    if cascade.has_own_code:
        return messages.OWN_CASCADE
    for each in cascade.models:
        if _has_foreign(each, signals.pre_delete, signals.post_delete):
            return messages.HAS_RECEIVERS
    return ""


@functools.lru_cache(maxsize=1024)  # many models have the same managers
def _first_own(cls: Any, names: tuple[str, ...]) -> str:
    """The first of these methods that is not Django's or REST framework's; empty if all are."""
    for name in names:
        owner = next((each for each in cls.__mro__ if name in vars(each)), None)
        if owner is not None and not _is_of_packages(owner.__module__):
            return name
    return ""


def _is_known(function: Any) -> bool:
    """Whether a function is defined in one of the known packages. `functools.wraps` changes its
    `__module__`, but not its globals.
    """
    if isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    found: Any = getattr(function, "__globals__", None)
    if found is None:
        return _is_of_packages(type(function).__module__)
    return _is_of_packages(found.get("__name__", ""))


def _is_of_packages(module: str) -> bool:
    return module.partition(".")[0] in _PACKAGES


# --- signals ---


def _receivers_of_save(model: Any) -> Iterator[bool]:
    """Whether somebody else is told of the save of a row, or of its links to many rows."""
    for each in {model, model._meta.concrete_model}:
        yield _has_foreign(each, signals.pre_save, signals.post_save)
    for field in model._meta.get_fields(include_hidden=True):
        link: Any = getattr(field, "remote_field", None) if field.concrete else field
        through: Any = getattr(link, "through", None) if field.many_to_many else None
        if through is not None:
            yield _has_foreign(through, signals.m2m_changed)


def _has_foreign(sender: Any, *of: Any) -> bool:
    """Whether a signal of a model has a receiver that is not Django's."""
    return any(not _is_known(each) for signal in of for each in _receivers(signal, sender))


def _receivers(signal: Any, sender: Any) -> Iterator[Callable[..., Any]]:
    live: Any = signal._live_receivers(sender)
    # Sync and async ones, since Django 5.0.
    for each in live:
        yield from each if isinstance(each, list) else [each]


# --- files and databases ---


def _writes_files(serializer: Any, model: Any) -> Iterator[bool]:
    columns = {each.name: each for each in model._meta.get_fields()}
    for field in serializer.fields.values():
        is_file = isinstance(field, serializers.FileField)
        is_file = is_file or isinstance(columns.get(field.source), models.FileField)
        yield is_file and not field.read_only


def _of_databases() -> str:
    return "" if all(map(has_transactions, connections.all())) else messages.NO_TRANSACTIONS


def has_transactions(connection: Any) -> bool:
    """Whether what is written to a database can be rolled back. One that cannot be reached counts
    as such here; a call finds out.
    """
    if is_dummy(connection):
        return True  # there is none
    kinds: tuple[type, ...] = connection.features.__class__.__mro__
    owner = next(each for each in kinds if "supports_transactions" in vars(each))
    if owner is BaseDatabaseFeatures:
        return False  # Django would create a table to find out
    try:
        return bool(connection.features.supports_transactions)
    except Exception:
        return True


def is_dummy(connection: Any) -> bool:
    """Whether the project has declared no database under this alias."""
    engine: str = connection.settings_dict["ENGINE"]
    return engine == "django.db.backends.dummy"
