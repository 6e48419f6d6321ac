"""Limits how long a statement waits for a row that another transaction has locked. The limit is set
while a key is claimed, and removed before the view runs.
"""

from __future__ import annotations

from math import ceil
from typing import Any

_POSTGRESQL_CODES = frozenset(("55P03", "40P01", "40001", "57014"))
"""Lock timeout, deadlock, serialization failure, and a statement that took too long."""

_MYSQL_CODES = frozenset((1205, 1213, 1020, 1969, 3024))
"""Lock timeout, deadlock, a row that has changed, and the time limits of MariaDB and MySQL."""

_SQLITE_CODES = frozenset((5, 6))
"""SQLITE_BUSY and SQLITE_LOCKED."""


def is_contention(error: BaseException, vendor: str) -> bool:
    """Return True if a database error was caused by another transaction."""
    # Django wraps the exception of the driver, which has the code.
    cause: Any = error.__cause__
    match vendor:
        case "postgresql":
            # psycopg 3 has `sqlstate`, psycopg2 has `pgcode`.
            code = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
            return code in _POSTGRESQL_CODES
        case "mysql":
            return bool(error.args) and error.args[0] in _MYSQL_CODES
        case "sqlite":
            # The low byte is the code; the other bytes are details of it.
            return getattr(cause, "sqlite_errorcode", 0) & 0xFF in _SQLITE_CODES
        case _:
            return False


class LockWait:
    """Limits how long the statements of one connection wait for locks. Open it before the
    transaction begins, call `inside` first in the transaction, and call `restore` before the view
    runs.
    """

    def __init__(self, connection: Any, seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds
        self._before: Any = None
        """The setting before the change, or None if it is not changed."""

    def __enter__(self) -> LockWait:
        match self._connection.vendor:
            # This is set before the transaction, which may begin with a lock.
            case "sqlite":
                before = self._value("PRAGMA busy_timeout")
                self._execute(f"PRAGMA busy_timeout = {int(self._seconds * 1000)}")
                self._before = before
            case "mysql":
                before = self._value("SELECT @@innodb_lock_wait_timeout")
                # MySQL takes whole seconds, and at least one.
                seconds = max(1, ceil(self._seconds))
                self._execute(f"SET innodb_lock_wait_timeout={seconds}")
                self._before = before
            case _:
                pass
        return self

    def inside(self) -> None:
        """Limit the waits of a transaction that has begun. This is for PostgreSQL, where the
        setting is valid for one transaction.
        """
        if self._connection.vendor == "postgresql":
            before = self._value("SELECT current_setting('lock_timeout')")
            # 0 would mean no limit.
            self._set_postgresql(f"{max(1, int(self._seconds * 1000))}ms")
            self._before = before

    def restore(self) -> None:
        """Restore the setting that was valid before."""
        # `__exit__` restores too. After the first time there is nothing left to do.
        before, self._before = self._before, None
        if before is None:
            return
        match self._connection.vendor:
            case "sqlite":
                self._execute(f"PRAGMA busy_timeout = {before}")
            case "mysql":
                self._execute(f"SET innodb_lock_wait_timeout={before}")
            case _:
                self._set_postgresql(before)

    def __exit__(self, *_: object) -> None:
        # On PostgreSQL, the end of the transaction has restored it.
        if self._connection.vendor != "postgresql":
            self.restore()

    def _set_postgresql(self, value: str) -> None:
        with self._connection.cursor() as cursor:
            # `true`: the setting ends with the transaction.
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [value])

    def _execute(self, sql: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)

    def _value(self, sql: str) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()[0]
