"""The rows that were saved while a view ran, with the columns that were written: a receipt need not
read such a row again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import Any

from django.db.models import Model
from django.db.models.signals import post_save

from toolbooth.jsonvalue import is_array, is_object


class Saves:
    """The columns that `save()` wrote, by row."""

    def __init__(self) -> None:
        self._columns: dict[tuple[type, Any], dict[str, Any]] = {}

    def note(self, row: Any, update_fields: Iterable[str] | None) -> None:
        """A row was saved: all of it, or these fields."""
        only = None if update_fields is None else frozenset(update_fields)
        held: dict[str, Any] = row.__dict__
        written = self._columns.setdefault(_key(row), {})
        for field in row._meta.concrete_fields:
            is_written = only is None or field.name in only or field.attname in only
            if is_written and field.attname in held:
                value = held[field.attname]
                is_document = is_object(value) or is_array(value)
                # A document could be changed in place later on.
                written[field.attname] = deepcopy(value) if is_document else value

    def wrote(self, row: Any, source: Sequence[str]) -> bool:
        """Whether the value at a path of attributes was written. True for attributes that
        are not columns: Django reads relations of many rows from the database to show them.
        """
        *path, last = source or ("",)
        for step in path:
            below: Any = getattr(row, step, None)
            if not issubclass(below.__class__, Model):  # the path goes on inside a document
                last = step
                break
            row = below
        fields: Any = row._meta.concrete_fields
        column = next((each.attname for each in fields if last in (each.name, each.attname)), None)
        if column is None:
            return True
        written = self._columns.get(_key(row), {})
        held: dict[str, Any] = row.__dict__
        return column in written and written[column] == held.get(column)


def _key(row: Any) -> tuple[type, Any]:
    return row._meta.concrete_model, row.pk


_watching: ContextVar[Saves | None] = ContextVar("toolbooth_saves", default=None)


@contextmanager
def watching_saves() -> Generator[Saves]:
    """While this is open, rows that are saved are noted."""
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


post_save.connect(_saved, dispatch_uid="toolbooth.django.call.saves")
