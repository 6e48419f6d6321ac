"""The row that an update changes, as it was before: what the receipt compares with."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from toolbooth.django.call.caller import REFUSALS, Caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import as_json
from toolbooth.django.call.stored_row import StoredRow
from toolbooth.jsonvalue import Json

logger = logging.getLogger("toolbooth.django")

_stock: Any = serializers.Serializer
"""REST framework's own serializer, whose generic type says nothing here."""


@dataclass(frozen=True, slots=True)
class RowBefore:
    """What a row held before it was changed. Only fields that the answer shows too are shown."""

    serializer: Any
    """The one that reads the body, with the fields that are compared."""
    held: Json

    @classmethod
    def of(cls, call: SyncInvocation, who: Caller, sent: Json) -> RowBefore | None:
        """None where the row cannot be read: the view says why, or answers without a comparison."""
        try:
            view = call.view(who, sent)
            row: Any = view.get_object()
            serializer: Any = call.body_serializer.of(view)
            _keep_only(serializer, row, sent)
            return cls(serializer, _representation(serializer, row))
        except REFUSALS:
            return None
        except Exception:
            logger.debug("the row that %s is to change could not be read", call.tool, exc_info=True)
            return None

    def comparison(self, row: StoredRow) -> tuple[list[str], dict[str, tuple[Any, Any]]]:
        """The fields that were sent and are the same as before; and all fields that have changed,
        with their old and new values.
        """
        if row.row is None:
            return [], {}
        if row.is_plain and type(row.saved) is type(self.serializer):
            # Already written, relations included.
            now = as_json({name: each for name, each in row.value.items() if name in self.held})
        else:
            now = _representation(self.serializer, row.row)
        pairs = {name: (each, now.get(name)) for name, each in self.held.items()}
        changed = {name: (old, new) for name, (old, new) in pairs.items() if old != new}
        same = [name for name in row.sent if name in self.held and name not in changed]
        return same, changed

    def has_only(self, others: Iterable[str]) -> bool:
        """Whether the other fields that have changed can only be set by the view itself."""
        return all(self.serializer.fields[name].read_only for name in others)


def _keep_only(serializer: Any, row: Any, sent: Iterable[str]) -> None:
    """Leave the fields that were sent, and those that cost no query."""
    columns = {field.name for field in row._meta.concrete_fields}
    for name, field in list(serializer.fields.items()):
        related = isinstance(field, serializers.BaseSerializer | serializers.RelatedField)
        keyed_only = isinstance(field, serializers.PrimaryKeyRelatedField)
        if name not in sent and not (field.source in columns and (keyed_only or not related)):
            del serializer.fields[name]


def _representation(serializer: Any, row: Any) -> Json:
    # Not the author's own form of it, which may need fields that were left out.
    return as_json(_stock.to_representation(serializer, row))
