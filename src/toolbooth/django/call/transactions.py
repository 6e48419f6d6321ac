"""Makes one transaction over several databases."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

from django.db import transaction

logger = logging.getLogger("toolbooth.django")


def is_after_error(error: BaseException) -> bool:
    """Return True if an exception means that a view has continued after a database error. The view
    can do so only outside of a transaction, or if a block `atomic()` around the failed statement
    catches the error.
    """
    cause: Any = error.__cause__
    # psycopg 3 has `sqlstate`, psycopg2 has `pgcode`.
    code = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    return isinstance(error, transaction.TransactionManagementError) or code == "25P02"


class Transaction:
    """One transaction over several databases: all its changes are kept, or none. Inside an open
    transaction it is a savepoint.
    """

    def __init__(self, aliases: Iterable[str]) -> None:
        self.aliases: list[str] = []
        self._asked = aliases
        self._open = ExitStack()

    def __enter__(self) -> Transaction:
        for alias in self._asked:
            try:
                # In a transaction that is already open, this is a savepoint, which can be undone
                # alone.
                self._open.enter_context(transaction.atomic(using=alias))
            except Exception:  # a database that cannot be reached cannot be written to
                logger.debug("the database %r cannot be reached", alias, exc_info=True)
            else:
                self.aliases.append(alias)
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def is_broken(self) -> bool:
        """Return True if an error has made one of these transactions unusable."""
        return any(transaction.get_rollback(using=alias) for alias in self.aliases)

    def undo(self) -> None:
        """Roll back all changes of this transaction when it ends."""
        for alias in self.aliases:
            transaction.set_rollback(True, using=alias)
