"""Stops a view before it runs a statement that a rollback would not undo. Such a statement ends the
transaction. On MySQL and MariaDB, it may also commit the transaction, or write to a table without
transactions.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import connections

from toolbooth.django.call import messages

_START = r"(?:\s|\(|/\*.*?\*/|(?:--|\#)[^\n]*\n)*"
"""Matches spaces, brackets and comments before the first word of a statement."""

_ENDS = re.compile(
    _START + r"((?:COMMIT|END|ABORT|BEGIN|START\s+TRANSACTION|PREPARE\s+TRANSACTION"
    r"|ROLLBACK(?!\s+(?:WORK\s+|TRANSACTION\s+)?TO\b))\b)",
    re.I | re.S,
)

_COMMITS_ON_MYSQL = re.compile(
    _START + r"((?:CREATE|DROP)(?!\s+(?:OR\s+REPLACE\s+)?TEMPORARY\b)\b"
    r"|(?:ALTER|TRUNCATE|RENAME|GRANT|REVOKE|FLUSH|ANALYZE|OPTIMIZE|REPAIR|INSTALL|UNINSTALL)\b"
    r"|(?:LOCK|UNLOCK|CHECK)\s+TABLES?\b"
    r"|SET\s+(?:SESSION\s+|@@session\.|@@)?AUTOCOMMIT\b)",
    re.I | re.S,
)
"""Statements that commit the transaction in which they are run."""

_NAME = r"(?:`((?:[^`]|``)+)`|([\w$]+))"
_WRITES_ON_MYSQL = re.compile(
    _START + r"(?:INSERT|REPLACE|UPDATE|DELETE)"
    r"(?:\s+(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|QUICK|IGNORE|INTO|FROM)\b)*"
    rf"\s+{_NAME}(?:\s*\.\s*{_NAME})?",
    re.I | re.S,
)

_HAS_TRANSACTIONS = " ".join(
    (
        "SELECT e.transactions",
        "FROM information_schema.tables t",
        "JOIN information_schema.engines e",
        "USING (engine)",
        "WHERE t.table_schema = COALESCE(%s,DATABASE())",
        "AND t.table_name = %s",
    )
)
"""The query for the engine of a table: YES, NO, or NULL if it is switched off."""


class NotUndoable(Exception):
    """Raised in place of a statement that a rollback would not undo. The statement did not run."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


@contextmanager
def only_undoable(aliases: Iterable[str]) -> Generator[None]:
    """A context in which statements that a rollback would not undo raise NotUndoable. It watches
    the databases `aliases`. The exception is raised again at the end, in case the view has caught
    it.
    """
    found: list[str] = []

    def execute(run: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:  # Django's
        why = _obstacle(context["connection"], str(sql))
        if why is not None:
            found.append(why)
            raise NotUndoable(why)
        return run(sql, params, many, context)

    with ExitStack() as stack:
        for alias in aliases:
            stack.enter_context(connections[alias].execute_wrapper(execute))
        yield
    if found:
        raise NotUndoable(found[0])


def _obstacle(connection: Any, sql: str) -> str | None:
    """Return the reason why a rollback would not undo a statement. Return None for all other
    statements.
    """
    ending = statement_that_ends(connection.vendor, sql)
    if ending is not None:
        return messages.ends_transaction(ending)
    if connection.vendor != "mysql":
        return None
    table = written_table(sql)
    # On these databases each table has an engine of its own. Old tables are often MyISAM.
    if table is not None and not _has_transactions(connection, *table):
        return messages.table_without_transactions(table[1])
    return None


def statement_that_ends(vendor: str, sql: str) -> str | None:
    """Return the first words of a statement that ends the transaction. Return None for any other
    statement.
    """
    found = _ENDS.match(sql)
    if found is None and vendor == "mysql":
        found = _COMMITS_ON_MYSQL.match(sql)
    return None if found is None else " ".join(found[1].upper().split())


def written_table(sql: str) -> tuple[str | None, str] | None:
    """Return the schema and the table that a MySQL statement writes to. The schema is None if the
    statement does not name one. Return None if the statement is not an insert, an update or a
    delete.
    """
    found = _WRITES_ON_MYSQL.match(sql)
    if found is None:
        return None
    first, second = (quoted or plain for quoted, plain in (found.group(1, 2), found.group(3, 4)))
    first, second = (name and name.replace("``", "`") for name in (first, second))
    return (None, first) if second is None else (first, second)


def _has_transactions(connection: Any, schema: str | None, table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_HAS_TRANSACTIONS, [schema, table])
        row = cursor.fetchone()
    # A view of the database has no engine.
    return row is None or row[0] == "YES"
