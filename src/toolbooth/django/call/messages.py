"""The messages about idempotency keys that the gateway sends to agents."""

from __future__ import annotations

from toolbooth.jsonvalue import quoted

NOTHING_DONE = "Nothing was done."

ANONYMOUS = "cannot be used without credentials: a key belongs to one caller"
NOT_TOLD_APART = "cannot be used here: the server cannot tell this caller from others"
NO_TRANSACTIONS = "cannot be used here: the database has no transactions"
NON_ATOMIC = "cannot be used here: the view runs outside of transactions (non_atomic_requests)"
DURABLE = "cannot be used here: the view commits by itself (transaction.atomic(durable=True))"
CONTENT_NOT_KEPT = (
    "it returns images or other content, which cannot be kept for a key. Its writes were undone"
)
CONTINUES_AFTER_ERROR = (
    "the view continues after an error of the database, which is not possible in a transaction"
)
SWITCHED_OFF = "is switched off on this server"
NOT_MIGRATED = (
    "this server cannot keep idempotency keys yet: its table is missing (manage.py migrate). "
    f"{NOTHING_DONE} Send the call without the key, or try again later"
)


def ends_transaction(statement: str) -> str:
    """The reason why a rollback would not undo a statement: the statement ends the transaction."""
    return f"the view runs {statement}, which ends the transaction"


def table_without_transactions(table: str) -> str:
    """The reason why a rollback would not undo a write to a table: the table has no
    transactions.
    """
    return f"the view writes to the table {quoted(table)}, which has no transactions"


def not_with_key(reason: str) -> str:
    """The message for a call with a key whose view runs a statement that cannot be rolled back."""
    return f"cannot be used here: {reason}"


def not_previewed(reason: str) -> str:
    """The message for a call that cannot be previewed."""
    return f"this call cannot be previewed: {reason}"


def other_database(alias: str, own: str) -> str:
    """The message for a view that writes to another database than the one with the keys."""
    return (
        f"cannot be used here: the view writes to the database {quoted(alias)}, "
        f"and keys are kept in {quoted(own)}"
    )
