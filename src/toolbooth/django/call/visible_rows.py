"""Finds the rows that a caller can read over the API: the rows in the querysets of the views that
list them for this caller.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.urls import get_resolver, get_urlconf

from toolbooth.django.call.caller import Caller
from toolbooth.django.call.inner_request import inner_request
from toolbooth.django.call.shown_links import nested_in, shows_one_of
from toolbooth.django.call.stock_views import begin, is_stock_list, lets_in, shows_each_row
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import NAMES_OF_ROWS
from toolbooth.django.describe.published_models import ModelClass, PublishedModels, path_names
from toolbooth.django.resolve import resolve
from toolbooth.jsonvalue import is_mapping, quoted

logger = logging.getLogger("toolbooth.django")

_NONE = Q(pk__in=())

_MOST_COMPARED = 1_000
"""At most this many rows without a visible change are searched for again after a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleRows:
    """The rows that one caller can read. A view is left out if its URL needs values that this call
    does not have.
    """

    who: Caller
    published: PublishedModels
    path_values: Mapping[str, Any]
    _views: dict[ModelClass, list[Any]] = field(default_factory=dict[ModelClass, list[Any]])

    def count(
        self, model: Any, alias: str, keys: RawSQL, columns: frozenset[str]
    ) -> Callable[[], int]:
        """Return a function that counts the rows whose change the caller can see. Call that
        function after the statement.

        `keys` selects the rows that the statement deletes or changes, and `columns` are the columns
        that it changes. If `columns` is empty, the statement deletes the rows.
        """
        try:
            # A query that fails must not spoil the transaction of the call.
            with transaction.atomic(using=alias):
                rows = model._base_manager.using(alias).filter(pk__in=keys)
                if columns:
                    return self._changed(model, rows, alias, _attributes(model, columns))
                number = rows.filter(self._condition(model)).count()
                return lambda: number
        except Exception:
            logger.debug("the rows of %r cannot be counted", model, exc_info=True)
            return _none

    def _changed(
        self, model: Any, rows: Any, alias: str, attributes: frozenset[str]
    ) -> Callable[[], int]:
        """Return a function that counts the rows in which the caller can see the change. Rows that
        disappear for the caller because of the change are counted too.
        """
        in_field = self._condition(model, attributes)
        shown: int = rows.filter(in_field).count()
        unshown = rows.filter(self._condition(model)).exclude(in_field)
        others = list(unshown.values_list("pk", flat=True)[:_MOST_COMPARED])

        def number() -> int:
            if not others:
                return shown
            left = model._base_manager.using(alias).filter(pk__in=others)
            return shown + len(others) - left.filter(self._condition(model)).count()

        return number

    def views(self, model: ModelClass) -> list[Any]:
        """Return the views that list rows of a model for this caller. They have not run."""
        if model not in self._views:
            actions = self.published.lists.get(model, ())
            found = (self._view(action) for action in actions)
            self._views[model] = [view for view in found if view is not None]
        return self._views[model]

    def _view(self, action: Action) -> Any:
        """Return the view of an action that lists rows. Return None if the caller may not list the
        rows, if the URL needs values that the call lacks, or if only running the view would show
        its rows.
        """
        names = path_names(action)
        if not names <= self.path_values.keys() or not lets_in(action.callback):
            return None
        values = {name: str(self.path_values[name]) for name in names}
        path = action.path.format(**values)
        try:
            request = inner_request(self.who.request, action.method, path)
            request.resolver_match = resolve(get_resolver(get_urlconf()), path)
            view = self.who.listing_view(action, request.resolver_match.kwargs, request)
            begin(view)
        except Exception:
            return None
        if is_stock_list(type(view)):
            return view
        # A list by the project's own code may leave out rows of the queryset. Then it is enough
        # that each of them can be read by its key.
        return view if shows_each_row(view) else None

    def _condition(self, model: Any, attributes: frozenset[str] = frozenset()) -> Q:
        """Return the condition for the rows that the caller can read. If `attributes` is given,
        only views that show one of these attributes are used.
        """
        if model._meta.auto_created:
            return self._of_links(model)
        condition = _NONE
        for view in self.views(model):
            if not attributes or shows_one_of(view, attributes):
                condition |= Q(pk__in=rows_of(view).values("pk"))
        for name in self.published.nested.get(model, ()):
            key = model._meta.get_field(name)
            for view in self.views(key.related_model):
                parents = rows_of(view)
                nested = nested_in(view, parents, key, attributes)
                if nested is not None:
                    of_parents = Q(**{f"{name}__in": parents.values("pk")})
                    condition |= of_parents & Q(pk__in=nested.values("pk"))
        return condition

    def _of_links(self, model: Any) -> Q:
        """Return the condition for the rows of a ManyToManyField's table that the caller can read.
        Each of these rows links two rows. The caller must be able to list both linked rows, and one
        of the two lists must show its links.
        """
        owner: Any = model._meta.auto_created
        # The table has two foreign keys: one to the rows with the field, and one to the linked
        # rows.
        field = next(
            each for each in owner._meta.many_to_many if each.remote_field.through is model
        )
        keys = [
            model._meta.get_field(name())
            for name in (field.m2m_field_name, field.m2m_reverse_field_name)
        ]
        names = (field.name, field.remote_field.get_accessor_name() or "")
        condition = _NONE
        for this, that, name in zip(keys, reversed(keys), names, strict=True):
            for view in self.views(this.related_model):
                if shows_one_of(view, [name]):
                    rows = rows_of(view).values("pk")
                    condition |= Q(**{f"{this.name}__in": rows}) & self._linked(that)
        return condition

    def _linked(self, key: Any) -> Q:
        """Return the condition for the rows whose foreign key `key` refers to a row that the caller
        can read.
        """
        condition = _NONE
        for view in self.views(key.related_model):
            condition |= Q(**{f"{key.name}__in": rows_of(view).values("pk")})
        return condition


def rows_of(view: Any) -> Any:
    """Return the rows that a view lists, on all of its pages."""
    # The order is removed, because it costs time in a subquery.
    return view.filter_queryset(view.get_queryset()).order_by()


def _none() -> int:
    return 0


def _attributes(model: Any, columns: frozenset[str]) -> frozenset[str]:
    """Return the names of the fields with these columns, such as `owner` and `owner_id`."""
    fields = [each for each in model._meta.concrete_fields if each.column in columns]
    return frozenset(name for each in fields for name in (each.name, each.attname))


def in_words(view: Any, row: Any, wanted: str = "") -> str:
    """Return the key and the name of a row as text, such as `5 ("Ada")`. Both are as the view shows
    them; if the view shows neither, the text is empty. The key is the field `wanted`, or the view's
    lookup field if the view does not show `wanted`.
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
    """Return the value of a column as the serializer shows it. The serializer may show the column
    under another name.
    """
    if source in shown:
        return shown[source]
    columns = ("pk", row._meta.pk.name) if source in ("pk", row._meta.pk.name) else (source,)
    fields: Mapping[str, Any] = getattr(serializer, "fields", {})
    names = (name for name, each in fields.items() if each.source in columns)
    return next((shown[name] for name in names if name in shown), None)
