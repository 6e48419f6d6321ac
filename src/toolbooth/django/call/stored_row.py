"""Compares each field that was sent with the row in a view's response. The columns that are saved
while the view runs are noted, so a row that was saved completely need not be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.db.models import Model
from django.db.models.signals import post_save
from rest_framework import serializers
from rest_framework.fields import SkipField
from rest_framework.relations import PKOnlyObject

from toolbooth.django.call.replies import as_json
from toolbooth.django.call.same_value import is_same
from toolbooth.django.describe.date_forms import MOMENTS, showing_as_taken
from toolbooth.jsonvalue import Json

Fate = Literal["set", "accepted", "stored_as", "not_stored"]
"""What happened to a field that was sent. `set`: the row shows the sent value. `accepted`: the
field is write-only. `stored_as`: the row shows another value. `not_stored`: the row does not show
the field.
"""

_stock: Any = serializers.Serializer

_SCALARS = frozenset((str, int, float, bool))
_DOCUMENTS: tuple[type, ...] = (dict, list)

_FORMS: tuple[Any, ...] = (
    serializers.RelatedField,
    serializers.ManyRelatedField,
    serializers.BaseSerializer,
    serializers.SerializerMethodField,
)
"""Fields that another serializer may show in a different form."""


class _NotShown(Exception):
    """Raised for a field that a row does not have."""


# --- the columns that were saved ---


class Saves:
    """The columns that `save()` wrote, by row."""

    def __init__(self) -> None:
        self._columns: dict[tuple[type, Any], dict[str, Any]] = {}

    def note(self, row: Any, update_fields: Iterable[str] | None) -> None:
        """Note a row that was saved. With `update_fields`, only these fields were saved."""
        only = None if update_fields is None else frozenset(update_fields)
        held: dict[str, Any] = row.__dict__
        # A view may save a row twice: all of it, then one field with `update_fields`.
        written = self._columns.setdefault(_key(row), {})
        for field in row._meta.concrete_fields:
            is_written = only is None or field.name in only or field.attname in only
            if is_written and field.attname in held:
                value = held[field.attname]
                # A copy, because a document could be changed in place later.
                is_document = isinstance(value, _DOCUMENTS)
                written[field.attname] = deepcopy(value) if is_document else value

    def wrote(self, row: Any, source: Sequence[str]) -> bool:
        """Return True if `save()` wrote the value at a path of attributes. Also return True if the
        attribute is not a column. An example is a many-to-many relation, which Django always reads
        from the database.
        """
        *path, last = source or ("",)
        for step in path:
            below: Any = getattr(row, step, None)
            if not issubclass(below.__class__, Model):  # the rest of the path is inside a document
                last = step
                break
            row = below
        fields: Any = row._meta.concrete_fields
        column = next((each.attname for each in fields if last in (each.name, each.attname)), None)
        if column is None:
            return True
        written = self._columns.get(_key(row), {})
        held: dict[str, Any] = row.__dict__
        # The value is from `__dict__`, because `getattr` would query the database for a deferred
        # field.
        return column in written and written[column] == held.get(column)


def _key(row: Any) -> tuple[type, Any]:
    return row._meta.concrete_model, row.pk


_watching: ContextVar[Saves | None] = ContextVar("toolbooth_saves", default=None)


@contextmanager
def watching_saves() -> Generator[Saves]:
    """A context that notes the rows that are saved."""
    saves = Saves()
    token = _watching.set(saves)
    try:
        yield saves
    finally:
        _watching.reset(token)


def _saved(instance: Any, update_fields: Iterable[str] | None = None, **_: Any) -> None:
    saves = _watching.get()
    if saves is not None:
        saves.note(instance, update_fields)


# With a `dispatch_uid`, importing the module again does not connect a second receiver.
post_save.connect(_saved, dispatch_uid="toolbooth.django.call.stored_row")


# --- the row ---


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRow:
    """A row after a write."""

    value: Mapping[str, Any]
    """The data of the response."""
    saved: Any
    """The serializer of the response."""
    row: Any
    """The row as the view left it, or as it was read back. None if the database has no such row."""
    is_reader: bool
    """True if the serializer of the response also read the body."""
    reader: Callable[[], Any]
    """A function that makes the serializer that reads the body."""
    sent: Json
    """The fields that were sent, with relations by key."""

    @property
    def is_plain(self) -> bool:
        """True if the serializer of the response uses REST framework's own `to_representation`."""
        return self.saved.__class__.to_representation is _stock.to_representation

    def read_back(self, saves: Saves, names: Iterable[str]) -> StoredRow:
        """Return the row as it is in the database. The row is read again only if `save()` did not
        write the values of all these fields.
        """
        fields = self._fields(names)
        if all(saves.wrote(self.row, _source(name, field)) for name, field in fields.items()):
            return self
        # The default manager may hide the row, for example if the write has archived it.
        rows = self.row.__class__._base_manager.using(self.row._state.db).filter(pk=self.row.pk)
        found = None if self.row.pk is None else rows.first()
        if found is None:
            return replace(self, row=None)
        return replace(self, row=found, value=self.saved.to_representation(found))

    def fates(self) -> dict[str, Fate]:
        """Return what happened to each field that was sent."""
        fates: dict[str, Fate] = {}
        stored: Json = {}
        fields = self._fields(self.sent)
        for name, field in fields.items():
            fates[name] = "set"
            if getattr(field, "write_only", False):
                fates[name] = "accepted"
                continue
            try:
                stored[name] = self._stored(name, field)
            except _NotShown:
                fates[name] = "not_stored"
        # Compared as JSON, because the values were sent as JSON: a date in the row is an object.
        for name, value in as_json(stored).items():
            sent = self.sent[name]
            # This is the usual case, and does not need the field. The types must be equal too: in
            # Python `True == 1`.
            is_equal = type(sent) is type(value) in _SCALARS and sent == value
            if not is_equal and not is_same(sent, value, fields[name]):
                # A value that REST does not show is not shown here either.
                fates[name] = "stored_as" if name in self.value else "not_stored"
        return fates

    def as_taken(self, name: str) -> Any:
        """Return the value of a field in the response. Dates are written so that an agent can send
        them again.
        """
        field: Any = self.saved.fields.get(name)
        if not isinstance(field, MOMENTS) or field.read_only:
            return self.value[name]
        try:
            return self._stored(name, field)
        except _NotShown:
            return self.value[name]

    def _fields(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the serializer field for each of these names. The value is None if no field has
        that name.
        """
        own: Mapping[str, Any] = self.saved.fields
        wanted = list(names)
        if self.is_reader or all(name in own and not _is_form(own[name]) for name in wanted):
            return {name: own.get(name) for name in wanted}
        reader = self.reader()
        read: Mapping[str, Any] = {} if reader is None else reader.fields
        return {name: read.get(name) or own.get(name) for name in wanted}

    def _stored(self, name: str, field: Any) -> Any:
        """Return the value of a field in the row. Raises _NotShown."""
        source = _source(name, field)
        if self.row is None or (source and not hasattr(self.row.__class__, source[0])):
            raise _NotShown
        taken = showing_as_taken(field) if isinstance(field, MOMENTS) else field
        is_shown = taken is field and field is self.saved.fields.get(name)
        if name in self.value and self.is_plain and is_shown:
            return self.value[name]
        if field is None:
            return getattr(self.row, name)
        try:
            attribute = field.get_attribute(self.row)
        except (SkipField, AttributeError, KeyError):
            raise _NotShown from None
        # For some relations REST framework passes an object with only the key, to save a query.
        key = attribute.pk if isinstance(attribute, PKOnlyObject) else attribute
        return None if key is None else taken.to_representation(attribute)


def _source(name: str, field: Any) -> list[str]:
    """Return the path of attributes from a row to the value of a field. The path is empty for
    `source="*"`.
    """
    return [name] if field is None else getattr(field, "source_attrs", [name])


def _is_form(field: Any) -> bool:
    return isinstance(field, _FORMS)
