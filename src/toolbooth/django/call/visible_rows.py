"""Finds the rows that a caller can read over the API: those in the querysets of the views that list
them for this caller.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import unwrap
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.urls import get_resolver, get_urlconf
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from toolbooth.django.call.caller import Caller
from toolbooth.django.call.inner_request import inner_request
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import NAMES_OF_ROWS
from toolbooth.django.describe.published_models import ModelClass, PublishedModels, path_names
from toolbooth.django.resolve import resolve
from toolbooth.jsonvalue import is_mapping, quoted

logger = logging.getLogger("toolbooth.django")

_NONE = Q(pk__in=())


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleRows:
    """The rows that one caller can read. Views whose URL needs values that this call does not have
    are not asked.
    """

    who: Caller
    published: PublishedModels
    path_values: Mapping[str, Any]
    _views: dict[ModelClass, list[Any]] = field(default_factory=dict[ModelClass, list[Any]])

    def count(self, model: Any, alias: str, keys: RawSQL) -> int:
        """Return the number of the rows with these keys that the caller can read."""
        try:
            # A query that fails must not spoil the transaction of the call.
            with transaction.atomic(using=alias):
                rows = model._base_manager.using(alias).filter(pk__in=keys)
                return rows.filter(self._condition(model)).count()
        except Exception:
            logger.debug("the rows of %r cannot be counted", model, exc_info=True)
            return 0

    def views(self, model: ModelClass) -> list[Any]:
        """Return the views that list rows of a model for this caller, ready to be asked."""
        if model not in self._views:
            actions = self.published.lists.get(model, ())
            found = (self._view(action) for action in actions)
            self._views[model] = [view for view in found if view is not None]
        return self._views[model]

    def _view(self, action: Action) -> Any:
        """Return the view of an action that lists rows. None if the caller may not list them, if
        the URL needs other values, or if the rows can only be known by running the view.
        """
        names = path_names(action)
        if not names <= self.path_values.keys():
            return None
        values = {name: str(self.path_values[name]) for name in names}
        path = action.path.format(**values)
        try:
            request = inner_request(self.who.request, action.method, path)
            request.resolver_match = resolve(get_resolver(get_urlconf()), path)
            view = self.who.listing_view(action, request.resolver_match.kwargs, request)
        except Exception:
            return None
        # A project's own list may leave out rows of the queryset. Then it is enough if each row can
        # be read by its key.
        cls = action.view
        return view if is_stock_list(cls) or is_stock_retrieve(cls) else None

    def _condition(self, model: Any) -> Q:
        """Return the condition for the rows that the caller can read."""
        if model._meta.auto_created:
            # A row that links two others can be read if both of them can.
            ends = [each for each in model._meta.concrete_fields if each.is_relation]
            # The table of a ManyToManyField has exactly two foreign keys.
            first, second = (self._linked(each) for each in ends)
            return first & second
        condition = _NONE
        for view in self.views(model):
            condition |= Q(pk__in=rows_of(view).values("pk"))
        for name in self.published.nested.get(model, ()):
            condition |= self._linked(model._meta.get_field(name))
        return condition

    def _linked(self, key: Any) -> Q:
        """Return the condition for the rows whose foreign key refers to a row that the caller can
        read.
        """
        condition = _NONE
        for view in self.views(key.related_model):
            condition |= Q(**{f"{key.name}__in": rows_of(view).values("pk")})
        return condition


def rows_of(view: Any) -> Any:
    """Return the rows that a view lists, on all of its pages."""
    # Without an order, which costs time in a subquery.
    return view.filter_queryset(view.get_queryset()).order_by()


def is_stock_list(cls: Any) -> bool:
    """Whether views of a class list the rows of their queryset, by their own serializer."""
    return _is_stock(cls, "list", ListModelMixin)


def is_stock_retrieve(cls: Any) -> bool:
    """Whether views of a class show one row of their queryset, by their own serializer."""
    return _is_stock(cls, "retrieve", RetrieveModelMixin)


def _is_stock(cls: Any, name: str, mixin: Any) -> bool:
    method: Any = getattr(cls, name, None)
    # A decorated method, such as one whose responses are cached, still runs the stock code.
    return method is not None and unwrap(method) is getattr(mixin, name)


def in_words(view: Any, row: Any, wanted: str = "") -> str:
    """Return a row as its key and its name, as its view shows them; empty if it shows neither. The
    key is the field `wanted`, if that is shown, or else the view's lookup field.
    """
    serializer = view.get_serializer(row)
    shown: Any = serializer.data
    if not is_mapping(shown):
        return ""
    keys = (_shown_as(each, serializer, shown, row) for each in (wanted, view.lookup_field))
    key = next((each for each in keys if each is not None), None)
    names = (shown.get(each) for each in NAMES_OF_ROWS)
    # If the key is the name, such as a slug, it is not repeated.
    name = next((each for each in names if isinstance(each, str) and each != key), "")
    if key is None:
        return quoted(name) if name else ""
    return f'{key} ("{name}")' if name else str(key)


def _shown_as(source: str, serializer: Any, shown: Mapping[str, Any], row: Any) -> Any:
    """Return the value of a column, under the name that the serializer shows it by."""
    if source in shown:
        return shown[source]
    columns = ("pk", row._meta.pk.name) if source in ("pk", row._meta.pk.name) else (source,)
    fields: Mapping[str, Any] = getattr(serializer, "fields", {})
    names = (name for name, each in fields.items() if each.source in columns)
    return next((shown[name] for name in names if name in shown), None)
