"""Makes one transaction over several databases."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

from django.db import transaction

logger = logging.getLogger("toolbooth.django")


def is_after_error(error: BaseException) -> bool:
    """Return True if an exception means that a view has continued after an error of the database.
    That is only possible outside of a transaction, or with a block `atomic()` around the statement.
    """
    cause: Any = error.__cause__
    # psycopg 3 has `sqlstate`, psycopg2 has `pgcode`.
    code = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    return isinstance(error, transaction.TransactionManagementError) or code == "25P02"


class Transaction:
    """One transaction over these databases, or a part of one: all its changes are kept, or none."""

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
        """Mark all changes of this part to be rolled back."""
        for alias in self.aliases:
            transaction.set_rollback(True, using=alias)
