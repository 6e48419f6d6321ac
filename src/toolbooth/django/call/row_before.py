"""Reads the row of an update before the view changes it. The receipt compares the old values with
the new ones.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from toolbooth.django.call.caller import REFUSALS, Caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import as_json
from toolbooth.django.call.same_value import is_unchanged
from toolbooth.django.call.stock_views import begin, is_stock_list, is_stock_retrieve, lets_in
from toolbooth.django.call.stored_row import StoredRow
from toolbooth.django.call.visible_rows import VisibleRows, rows_of
from toolbooth.django.describe.date_forms import showing_as_taken
from toolbooth.jsonvalue import Json

logger = logging.getLogger("toolbooth.django")

_stock: Any = serializers.Serializer
"""REST framework's own serializer, as Any because its generic type is of no use here."""

_stock_of_model: Any = serializers.ModelSerializer

_FIELDS = (_stock.get_fields, _stock_of_model.get_fields)
"""Methods that find the same fields for every caller."""


@dataclass(frozen=True, slots=True)
class RowBefore:
    """The values of a row before an update. Fields that the caller cannot read are left out."""

    serializer: Any
    """The serializer that reads the body, with the fields that are compared."""
    held: Json

    @classmethod
    def of(cls, call: SyncInvocation, who: Caller, sent: Json) -> RowBefore | None:
        """Return the row of an update. Return None if the caller cannot read the row: the view then
        refuses the call, or the receipt lacks the comparison.
        """
        try:
            view = call.view(who, sent)
            found = _as_read(call, who, sent, view)
            if found is None:
                return None
            row, reader = found
            serializer: Any = call.body_serializer.of(view)
            # Every other field could cost a query.
            _keep_only(serializer, row, sent)
            held = _representation(serializer, row)
            names = set(_shown(serializer, held, reader, row))
            return cls(serializer, {name: each for name, each in held.items() if name in names})
        except REFUSALS:
            return None
        # The comparison is an extra of the receipt: the update must not fail because of it.
        except Exception:
            logger.debug("the row that %s is to change could not be read", call.tool, exc_info=True)
            return None

    def comparison(self, row: StoredRow) -> tuple[list[str], dict[str, tuple[Any, Any]]]:
        """Return the sent fields that are unchanged, and all changed fields with their old and new
        values.
        """
        if row.row is None:
            return [], {}
        is_same = type(row.saved) is type(self.serializer)
        fields: Mapping[str, Any] = self.serializer.fields
        as_taken = all(showing_as_taken(fields[name]) is fields[name] for name in self.held)
        if row.is_plain and is_same and as_taken:
            # The response has these values, relations included: no query is needed.
            now = as_json({name: each for name, each in row.value.items() if name in self.held})
        else:
            now = _representation(self.serializer, row.row)
        pairs = {name: (each, now.get(name)) for name, each in self.held.items()}
        changed = {
            name: pair for name, pair in pairs.items() if not is_unchanged(*pair, fields[name])
        }
        same = [name for name in row.sent if name in self.held and name not in changed]
        return same, changed

    def has_only(self, others: Iterable[str]) -> bool:
        """Return True if callers cannot send any of these changed fields, so that the view itself
        must have set them.
        """
        return all(self.serializer.fields[name].read_only for name in others)


def _as_read(call: SyncInvocation, who: Caller, sent: Json, view: Any) -> tuple[Any, Any] | None:
    """Return the row, and the serializer that shows the row to this caller. The row is read by a
    GET of the same URL. If REST framework's own code does not answer that GET, the row is looked up
    in a list. Return None if no list has the row.

    Raises:
        REFUSALS: the caller may not read the row.
    """
    callback: Any = call.action.callback
    actions: Any = getattr(callback, "actions", None)
    has_get = hasattr(callback.cls, "get") if actions is None else actions.get("get") == "retrieve"
    if has_get and lets_in(callback) and is_stock_retrieve(callback.cls):
        detail = call.reading_view(who, sent, view)
        begin(detail)
        return detail.get_object(), detail.get_serializer()
    # REST framework's own code does not show the row by a GET at this address. A list may show it.
    row = view.get_object()
    visible = VisibleRows(who=who, published=who.models, path_values=view.kwargs)
    for each in visible.views(row._meta.concrete_model):
        if is_stock_list(type(each)) and rows_of(each).filter(pk=row.pk).exists():
            return row, each.get_serializer()
    return None


def _shown(serializer: Any, held: Json, reader: Any, row: Any) -> Iterable[str]:
    """Return the fields that both `reader` and `serializer` show with the same value."""
    cls: Any = reader.__class__
    # The project's own code may mask or compute values. Only fields that both serializers show in
    # the same form are compared.
    if cls.to_representation is not _stock.to_representation:
        shown = as_json(reader.to_representation(row))
        return [name for name, value in held.items() if name in shown and shown[name] == value]
    # Both have the same class, and no code of the project can choose other fields for `reader`.
    if type(serializer) is cls and cls.__init__ is _stock.__init__ and cls.get_fields in _FIELDS:
        return held
    read = {each.field_name: each for each in reader._readable_fields}
    own = serializer.fields
    return [name for name in held if name in read and _is_same_field(own[name], read[name])]


def _is_same_field(one: Any, other: Any) -> bool:
    """Return True if two fields show the same value in the same form."""
    if one is None or other is None:
        return one is other
    is_same_part = all(
        _is_same_field(getattr(one, name, None), getattr(other, name, None))
        # The parts of a list and of a relation to many rows.
        for name in ("child", "child_relation")
    )
    return type(one) is type(other) and one.source == other.source and is_same_part


def _keep_only(serializer: Any, row: Any, sent: Iterable[str]) -> None:
    """Remove all fields except those that were sent, and those that cost no query."""
    columns = {field.name for field in row._meta.concrete_fields}
    for name, field in list(serializer.fields.items()):
        related = isinstance(field, serializers.BaseSerializer | serializers.RelatedField)
        keyed_only = isinstance(field, serializers.PrimaryKeyRelatedField)
        if name not in sent and not (field.source in columns and (keyed_only or not related)):
            del serializer.fields[name]


def _representation(serializer: Any, row: Any) -> Json:
    # The author's own `to_representation` may need fields that were removed.
    shown: Json = _stock.to_representation(serializer, row)
    for name, field in serializer.fields.items():
        taken = showing_as_taken(field)
        if taken is not field and shown.get(name) is not None:
            shown[name] = taken.to_representation(field.get_attribute(row))
    return as_json(shown)
