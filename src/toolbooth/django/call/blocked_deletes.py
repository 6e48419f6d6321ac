"""Names the rows that prevent a delete. Only rows that the caller can list are named."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import DO_NOTHING, PROTECT, RESTRICT, ProtectedError, RestrictedError

from toolbooth.django import messages
from toolbooth.django.call.caller import Caller
from toolbooth.django.call.shown_links import shows_one_of
from toolbooth.django.call.visible_rows import VisibleRows, in_words, rows_of
from toolbooth.django.describe.cascades import cascade_of
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.published_models import model_of
from toolbooth.errors import ToolError

logger = logging.getLogger("toolbooth.django")

MOST_NAMED = 10
"""At most this many rows of one kind are named."""

_MOST_LOOKED_AT = 1_000
"""The most rows of one kind that are searched for rows the caller can list."""


def refusal_of(
    error: ProtectedError | RestrictedError,
    who: Caller,
    tool: str,
    action: Action,
    path_values: Mapping[str, Any],
) -> ToolError:
    """Return the error for an action that could not delete rows, because other rows refer to
    them.
    """
    if isinstance(error, ProtectedError):
        rows: Iterable[Any] = error.protected_objects
    else:
        rows = error.restricted_objects
    visible = VisibleRows(who=who, published=who.models, path_values=path_values)
    # An action other than a delete may have made other changes before it failed.
    is_undone = action.method == "DELETE"
    return ToolError(tool, _blocked_by(rows, visible, model_of(action), is_undone=is_undone))


def refused_by_database(row: Any, visible: VisibleRows) -> str:
    """Return the reason why the database did not delete a row. The reason names the rows that refer
    to the deleted row by a foreign key with `DO_NOTHING`. Return an empty text if there are no such
    rows.
    """
    rows = list(_left_to_the_database(row))
    return _blocked_by(rows, visible, type(row), is_undone=True) if rows else ""


def _left_to_the_database(row: Any) -> Iterator[Any]:
    for relation in row._meta.get_fields(include_hidden=True):
        if getattr(relation, "on_delete", None) is DO_NOTHING and relation.auto_created:
            # A default manager may hide rows, such as archived ones, whose foreign keys the
            # database still checks.
            rows = relation.related_model._base_manager.using(row._state.db)
            yield from rows.filter(**{relation.field.name: row})[:_MOST_LOOKED_AT]


def _blocked_by(rows: Iterable[Any], visible: VisibleRows, own: Any, *, is_undone: bool) -> str:
    by_model: dict[Any, set[Any]] = {}
    for row in rows:
        # A row of a proxy model is also a row of its concrete model. One set for both counts it
        # once.
        by_model.setdefault(row._meta.concrete_model, set()).add(row.pk)
    kinds: list[str] = []
    has_others = False
    for model, keys in by_model.items():
        found = _found(visible, model, keys, list(_blocking_links(model, own)))
        # Rows that the caller cannot list are mentioned, but without a kind or a number.
        has_others = has_others or found.count < len(keys)
        if found.count:
            plural = visible.published.plural(model)
            kinds.append(messages.rows_of_kind(plural, found.names[:MOST_NAMED], found.count))
    is_direct = own is None or all(_refers_to(own, model) for model in by_model)
    return messages.blocked_by(
        kinds, has_others=has_others, is_direct=is_direct, is_undone=is_undone
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows of one model that prevent the delete and that the caller can list."""

    names: list[str]
    """The keys and names of the first rows, if a view shows them."""
    count: int


def _found(
    visible: VisibleRows, model: Any, keys: set[Any], links: Iterable[tuple[str, ...]]
) -> _Found:
    looked_at = list(keys)[:_MOST_LOOKED_AT]
    names: Mapping[Any, str] = {}
    counted: set[Any] = set()
    for view in visible.views(model):
        try:
            # The message shows that a named row refers to another row. The view must show this link
            # too.
            if not all(shows_one_of(view, each) for each in links):
                continue
            listed = rows_of(view)
            # A query that fails must not spoil the transaction of the call.
            with transaction.atomic(using=listed.db):
                rows = listed.filter(pk__in=looked_at)
                counted.update(rows.values_list("pk", flat=True))
                named = {row.pk: in_words(view, row) for row in rows.order_by("pk")[:MOST_NAMED]}
        except Exception:  # the view may list its rows by its own code
            logger.debug("the rows of %r cannot be named", model, exc_info=True)
        else:
            # If several views list a row, it has the name that the first of them shows.
            names = {**named, **names}
    return _Found([each for each in names.values() if each], len(counted))


def _blocking_links(model: Any, own: Any) -> Iterator[tuple[str, ...]]:
    """Yield the two attributes of each foreign key of `model` that may prevent a delete of `own`,
    such as `("owner", "owner_id")`.
    """
    gone = None if own is None else cascade_of(own).models
    for key in model._meta.concrete_fields:
        blocks = getattr(key.remote_field, "on_delete", None) in (PROTECT, RESTRICT, DO_NOTHING)
        if blocks and (gone is None or key.related_model._meta.concrete_model in gone):
            yield key.name, key.attname


def _refers_to(own: Any, model: Any) -> bool:
    """Return True if rows of a model refer to rows of the model `own`, or of one of its parents."""
    targets = {own._meta.concrete_model, *own._meta.get_parent_list()}
    return any(each.is_relation and each.related_model in targets for each in model._meta.fields)
