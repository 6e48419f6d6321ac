"""Counts the rows that a call deletes or changes, in the statements that it sends to the databases.

No signal is used: a receiver of `post_delete` would switch off Django's fast deletes. Rows that a
database deletes by itself (triggers, `ON DELETE CASCADE`) are not counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from typing import Any, Literal, TypeVar

from django.apps import apps
from django.db import connections, transaction
from django.db.models import CASCADE, ForeignKey
from django.db.models.expressions import RawSQL

_Answer = TypeVar("_Answer")

Kind = Literal["deleted", "unlinked", "changed"]

CountVisible = Callable[[Any, str, RawSQL, frozenset[str]], Callable[[], int]]
"""A function that is called before a statement deletes or changes rows. Its arguments are the
model, the alias of the database, a query for the keys of the rows, and the columns that are changed
(none for a delete). It returns a second function, which is called after the statement and returns
the number of rows in which the caller can see the change.
"""

_DELETE = re.compile(
    r"\s*DELETE\s+(?:\S+\s+)?FROM\s+(?P<table>\S+)(?P<rest>\s.*)?",  # MySQL: DELETE t FROM t JOIN
    re.S | re.I,
)
_UPDATE = re.compile(
    r"\s*UPDATE\s+(?P<table>\S+)\s+SET\s+(?P<set>.*?)(?P<rest>\s+(?:WHERE|ORDER\s+BY)\s.*)?",
    re.S | re.I,
)
_INNERMOST = re.compile(r"\([^()]*\)")
_SAVEPOINT = re.compile(r"(?P<back>ROLLBACK TO )?SAVEPOINT (?P<name>\S+)")


@dataclass(slots=True, kw_only=True)
class RowChange:
    """The rows that one statement deleted or changed."""

    kind: Kind
    model: Any
    alias: str
    count: int
    visible: int
    """The number of these rows in which the caller can see the change."""
    is_preparing: bool
    """True if Django only clears the foreign keys of rows that it is about to delete, because this
    database checks foreign keys at once.
    """
    is_kept: bool = False
    """True if the transaction of the change has been committed, or if there was no transaction."""

    def keep(self) -> None:
        """Note that the transaction of this change was committed."""
        self.is_kept = True


@dataclass(slots=True)
class RowChanges:
    """The rows that the statements of a call delete or change."""

    visible: CountVisible
    _noted: dict[str, list[RowChange]] = field(default_factory=dict[str, list[RowChange]])
    """The changes by database. Each database has its own transactions."""
    _savepoints: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    _is_asking: bool = False
    """True while our own query is running."""

    def kept(self) -> list[RowChange]:
        """Return the changes that were not rolled back."""
        noted = chain.from_iterable(self._noted.values())
        kept = [each for each in noted if each.is_kept or _is_open(each.alias)]
        deleted = Counter[Any]()
        prepared = Counter[Any]()
        for each in kept:
            deleted[each.model] += each.count * (each.kind == "deleted")
            prepared[each.model] += each.count * each.is_preparing
        # MySQL checks foreign keys at once, so Django sets them to NULL and then deletes the rows.
        # Both statements are about the same rows, which count as deleted.
        gone = {model for model, count in prepared.items() if count <= deleted[model]}
        return [each for each in kept if not (each.is_preparing and each.model in gone)]

    def execute(self, run: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:  # Django's
        """Run a statement, and note the rows that it changed. Django calls this method for each
        statement.
        """
        text = str(sql)
        alias: str = context["connection"].alias
        found = None if self._is_asking else _change_in(text)
        if found is None:
            self._note_savepoint(alias, text)
            return run(sql, params, many, context)
        # Databases quote names in different ways: `"task"`, or with backticks on MySQL.
        model = _models_by_table().get(found.table.strip('"`[]'))
        # With many sets of parameters, one query cannot select all the rows.
        keys = None if many else _keys(model, alias, found, params)
        # Asked before the statement runs, because deleted rows cannot be counted.
        visible = self._visible(model, alias, keys, found.columns)
        result = run(sql, params, many, context)
        count: int = context["cursor"].rowcount
        if model is not None and count > 0:
            change = RowChange(
                kind=_kind(model, found),
                model=model,
                alias=alias,
                count=count,
                visible=self._asking(visible),
                is_preparing=_is_preparing(model, alias, found),
            )
            self._note(change)
        return result

    def _visible(
        self, model: Any, alias: str, keys: RawSQL | None, columns: frozenset[str]
    ) -> Callable[[], int]:
        if model is None or keys is None:
            return int
        return self._asking(partial(self.visible, model, alias, keys, columns))

    def _asking(self, ask: Callable[[], _Answer]) -> _Answer:
        """Run `ask` without noting the queries that it sends, and return its result."""
        self._is_asking = True
        try:
            return ask()
        finally:
            self._is_asking = False

    def _note(self, change: RowChange) -> None:
        self._noted.setdefault(change.alias, []).append(change)
        if connections[change.alias].in_atomic_block:
            transaction.on_commit(change.keep, using=change.alias)
        else:
            change.keep()

    def _note_savepoint(self, alias: str, text: str) -> None:
        found = _SAVEPOINT.fullmatch(text)
        if found is None:
            return
        noted = self._noted.setdefault(alias, [])
        place = (alias, found["name"])
        if found["back"]:
            # A rollback to a savepoint undoes the changes after it.
            del noted[self._savepoints.get(place, len(noted)) :]
        else:
            self._savepoints[place] = len(noted)


@contextmanager
def counting_rows(visible: CountVisible) -> Generator[RowChanges]:
    """A context that notes the rows that statements delete or change in any database."""
    changes = RowChanges(visible)
    with ExitStack() as stack:
        for connection in connections.all():
            stack.enter_context(connection.execute_wrapper(changes.execute))
        yield changes


def _is_open(alias: str) -> bool:
    """Return True if a transaction that began before the call is still open in this database."""
    return connections[alias].in_atomic_block


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """The parts of a statement that deletes or changes rows."""

    table: str
    assigned: str
    """The text after SET; empty for a DELETE."""
    columns: frozenset[str]
    """The columns that the statement sets."""
    rest: str
    """The rest of the statement, which selects the rows."""


def _change_in(text: str) -> _Change | None:
    """Return the parts of a statement that deletes or changes rows, or None for any other."""
    # Most statements are queries, and are sorted out before any regular expression runs.
    if text.lstrip()[:6].upper() not in ("DELETE", "UPDATE"):
        return None
    # Subqueries have a WHERE and columns of their own.
    flat = _without_brackets(text)
    found = _DELETE.fullmatch(flat) or _UPDATE.fullmatch(flat)
    if found is None:
        return None
    parts = found.re.groupindex
    rest = text[slice(*found.span("rest"))] if found["rest"] else ""
    if "set" not in parts:
        return _Change(table=found["table"], assigned="", columns=frozenset(), rest=rest)
    columns = (each.partition("=")[0].strip().strip('"`[]') for each in found["set"].split(","))
    return _Change(
        table=found["table"],
        assigned=text[slice(*found.span("set"))],
        columns=frozenset(columns),
        rest=rest,
    )


def _without_brackets(text: str) -> str:
    """Return a statement with all brackets and their contents replaced by dots. Its length is the
    same.
    """
    while True:
        # The innermost brackets come first, because a regular expression cannot match nested ones.
        shorter = _INNERMOST.sub(lambda found: "." * len(found[0]), text)
        if shorter == text:
            return text
        text = shorter


def _keys(model: Any, alias: str, found: _Change, params: Any) -> RawSQL | None:
    """Return a query for the keys of the rows that a statement will delete or change."""
    # With RETURNING, the rest of the statement cannot follow a FROM.
    if model is None or "RETURNING" in found.rest:
        return None
    # Parameters of SET come first; the query for the keys does not have that part.
    skipped = found.assigned.count("%s")
    column = connections[alias].ops.quote_name(model._meta.pk.column)
    query = f"SELECT {found.table}.{column} FROM {found.table}{found.rest}"
    return RawSQL(query, tuple(params or ())[skipped:])


def _kind(model: Any, found: _Change) -> Kind:
    if not found.columns:
        return "deleted"
    keys = {each.column for each in model._meta.concrete_fields if isinstance(each, ForeignKey)}
    # `SET_NULL` sends an UPDATE that sets foreign keys and nothing else.
    return "unlinked" if found.columns <= keys else "changed"


def _is_preparing(model: Any, alias: str, found: _Change) -> bool:
    if not found.columns or connections[alias].features.can_defer_constraint_checks:
        return False
    handlers = {
        each.column: each.remote_field.on_delete
        for each in model._meta.concrete_fields
        if isinstance(each, ForeignKey)
    }
    return all(handlers.get(each) is CASCADE for each in found.columns)


@cache
def _models_by_table() -> dict[str, Any]:
    models = apps.get_models(include_auto_created=True)
    return {each._meta.db_table: each for each in models if not each._meta.proxy}
