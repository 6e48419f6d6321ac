"""Which rows a caller can read over the API: those in the querysets of the views that list them for
this caller.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.urls import get_resolver, get_urlconf

from toolbooth.django.call.caller import Caller
from toolbooth.django.call.inner_request import inner_request
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import NAMES_OF_ROWS
from toolbooth.django.describe.published_models import ModelClass, PublishedModels, path_names

logger = logging.getLogger("toolbooth.django")

_NONE = Q(pk__in=())


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleRows:
    """The rows that one caller can read. A view whose URL has values that this call does not have
    is not asked.
    """

    who: Caller
    published: PublishedModels
    path_values: Mapping[str, Any]
    _views: dict[ModelClass, list[Any]] = field(default_factory=dict[ModelClass, list[Any]])

    def count(self, model: Any, alias: str, keys: RawSQL) -> int:
        """How many of the rows with these keys the caller can read."""
        try:
            # A query that fails must not spoil the transaction of the call.
            with transaction.atomic(using=alias):
                rows = model._base_manager.using(alias).filter(pk__in=keys)
                return rows.filter(self._condition(model)).count()
        except Exception:
            logger.debug("the rows of %r cannot be counted", model, exc_info=True)
            return 0

    def views(self, model: ModelClass) -> list[Any]:
        """The views that list rows of a model for this caller, ready to be asked."""
        if model not in self._views:
            actions = self.published.lists.get(model, ())
            found = (self._view(action) for action in actions)
            self._views[model] = [view for view in found if view is not None]
        return self._views[model]

    def _view(self, action: Action) -> Any:
        """None if the caller may not list, or only another URL could tell."""
        names = path_names(action)
        if not names <= self.path_values.keys():
            return None
        values = {name: str(self.path_values[name]) for name in names}
        path = action.path.format(**values)
        try:
            request = inner_request(self.who.request, action.method, path)
            request.resolver_match = get_resolver(get_urlconf()).resolve(path)
            return self.who.listing_view(action, request.resolver_match.kwargs, request)
        except Exception:
            return None

    def _condition(self, model: Any) -> Q:
        """True for the rows that the caller can read."""
        if model._meta.auto_created:
            # The rows that link two models can be read if both ends can.
            ends = [each for each in model._meta.concrete_fields if each.is_relation]
            first, second = (self._linked(each) for each in ends)
            return first & second
        condition = _NONE
        for view in self.views(model):
            condition |= Q(pk__in=rows_of(view).values("pk"))
        for name in self.published.nested.get(model, ()):
            condition |= self._linked(model._meta.get_field(name))
        return condition

    def _linked(self, key: Any) -> Q:
        """True for the rows whose foreign key refers to a row that the caller can read."""
        condition = _NONE
        for view in self.views(key.related_model):
            condition |= Q(**{f"{key.name}__in": rows_of(view).values("pk")})
        return condition


def rows_of(view: Any) -> Any:
    """The rows that a view lists, on all of its pages."""
    return view.filter_queryset(view.get_queryset()).order_by()


def in_words(view: Any, row: Any, wanted: str = "") -> str:
    """A row by its key and its name, as its view shows them. The key is the field `wanted`, if that
    is shown, or else what the view looks rows up by.
    """
    shown: Mapping[str, Any] = view.get_serializer(row).data
    lookup: str = view.lookup_field
    key = shown.get(wanted) or shown.get(lookup) or getattr(row, lookup)
    names = (shown.get(each) for each in NAMES_OF_ROWS)
    name = next((each for each in names if isinstance(each, str) and each != key), "")
    return f'{key} ("{name}")' if name else str(key)
