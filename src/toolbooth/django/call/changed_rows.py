"""Which rows a call deletes or changes, counted in the statements that it sends to the databases.

No signal is used: a receiver of `post_delete` would switch off Django's fast deletes. Rows that a
database deletes by itself (triggers, `ON DELETE CASCADE`) are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from django.apps import apps
from django.db import connections, transaction
from django.db.models import ForeignKey
from django.db.models.expressions import RawSQL

Kind = Literal["deleted", "unlinked", "changed"]

CountVisible = Callable[[Any, str, RawSQL], int]
"""Counts the rows with these keys that the caller can read: of a model, in a database."""

_DELETE = re.compile(r"\s*DELETE\s+FROM\s+(?P<table>\S+)(?:\s+WHERE\s+(?P<where>.*))?", re.S | re.I)
_UPDATE = re.compile(
    r"\s*UPDATE\s+(?P<table>\S+)\s+SET\s+(?P<set>.*?)\s+WHERE\s+(?P<where>.*)", re.S | re.I
)
_COLUMN = re.compile(r"[\"`]?(\w+)[\"`]? = ")
_SAVEPOINT = re.compile(r"(?P<back>ROLLBACK TO )?SAVEPOINT (?P<name>\S+)")


@dataclass(slots=True, kw_only=True)
class RowChange:
    """The rows that one statement deleted or changed."""

    kind: Kind
    model: Any
    alias: str
    count: int
    visible: int
    """How many of them the caller could read before."""
    is_kept: bool = False
    """The transaction that they were changed in has been committed, or there is none."""

    def keep(self) -> None:
        """The transaction is committed."""
        self.is_kept = True


@dataclass(slots=True)
class RowChanges:
    """The rows that the statements of a call delete or change."""

    visible: CountVisible
    _noted: list[RowChange] = field(default_factory=list[RowChange])
    _savepoints: dict[str, int] = field(default_factory=dict[str, int])
    _is_asking: bool = False
    """A query of ours is running."""

    def kept(self) -> list[RowChange]:
        """The changes that were not rolled back."""
        return [each for each in self._noted if each.is_kept or _is_open(each.alias)]

    def execute(self, run: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:  # Django's
        """Run a statement, and note what it did. It is called by Django for each statement."""
        text = str(sql)
        found = None if self._is_asking else _DELETE.fullmatch(text) or _UPDATE.fullmatch(text)
        if found is None:
            self._note_savepoint(text)
            return run(sql, params, many, context)
        model = _models_by_table().get(found["table"].strip('"`[]'))
        alias: str = context["connection"].alias
        keys = None if many else _keys(model, alias, found, params)
        visible = self._visible(model, alias, keys)
        result = run(sql, params, many, context)
        count: int = context["cursor"].rowcount
        if model is not None and count > 0:
            self._note(_kind(model, found), model, alias, count, visible)
        return result

    def _visible(self, model: Any, alias: str, keys: RawSQL | None) -> int:
        if model is None or keys is None:
            return 0
        self._is_asking = True
        try:
            return self.visible(model, alias, keys)
        finally:
            self._is_asking = False

    def _note(self, kind: Kind, model: Any, alias: str, count: int, visible: int) -> None:
        change = RowChange(kind=kind, model=model, alias=alias, count=count, visible=visible)
        self._noted.append(change)
        # Runs at once if there is no transaction.
        transaction.on_commit(change.keep, using=alias)

    def _note_savepoint(self, text: str) -> None:
        found = _SAVEPOINT.fullmatch(text)
        if found is None:
            return
        if found["back"]:
            del self._noted[self._savepoints.get(found["name"], len(self._noted)) :]
        else:
            self._savepoints[found["name"]] = len(self._noted)


@contextmanager
def counting_rows(visible: CountVisible) -> Generator[RowChanges]:
    """While this is open, the statements of all databases are counted."""
    changes = RowChanges(visible)
    with ExitStack() as stack:
        for connection in connections.all():
            stack.enter_context(connection.execute_wrapper(changes.execute))
        yield changes


def _is_open(alias: str) -> bool:
    """Whether the changes can still be committed: the transaction began before the call."""
    return connections[alias].in_atomic_block


def _keys(model: Any, alias: str, found: re.Match[str], params: Any) -> RawSQL | None:
    """Selects the keys of the rows that a statement will delete or change."""
    if model is None or "RETURNING" in found[0]:
        return None
    parts = found.groupdict()
    where = f" WHERE {parts['where']}" if parts["where"] else ""
    skipped = parts.get("set", "").count("%s")
    column = connections[alias].ops.quote_name(model._meta.pk.column)
    return RawSQL(f"SELECT {column} FROM {parts['table']}{where}", tuple(params or ())[skipped:])


def _kind(model: Any, found: re.Match[str]) -> Kind:
    columns = set(_COLUMN.findall(found.groupdict().get("set", "")))
    if not columns:
        return "deleted"
    keys = {each.column for each in model._meta.concrete_fields if isinstance(each, ForeignKey)}
    return "unlinked" if columns <= keys else "changed"


@cache
def _models_by_table() -> dict[str, Any]:
    models = apps.get_models(include_auto_created=True)
    return {each._meta.db_table: each for each in models if not each._meta.proxy}
