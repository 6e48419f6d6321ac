"""Stores idempotency keys in the database. In the transaction of the write, the row of the key is
inserted first.

The row is unique, so another call with the same key waits for that transaction. If the transaction
is committed, the other call finds the row with the receipt. If the transaction is rolled back, the
other call inserts its own row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, Literal

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, IntegrityError, connections, router, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from toolbooth.django.call import messages
from toolbooth.django.call.lock_waits import LockWait, is_contention
from toolbooth.errors import ToolError
from toolbooth.server.idempotency import Claim, InFlight, KeyReused, KeyUse

_SALT = "toolbooth.django.idempotency"

Point = Literal[
    "before-claim",
    "between-claim-and-write",
    "between-write-and-commit",
    "between-commit-and-answer",
]
"""A point of a call with a key. Tests end the process there."""

_at_point: Callable[[Point], None] | None = None
"""Only for tests: called by `reached`. The package never sets it."""


def reached(point: Point) -> None:
    """Report to a test that a call with a key has reached this point."""
    if _at_point is not None:
        _at_point(point)


def used_key_model() -> Any:
    """Return the model, which can be imported only after the apps are loaded."""
    return apps.get_model("toolbooth", "UsedKey")


def alias_of_keys() -> str:
    """Return the alias of the database with the table of keys."""
    return router.db_for_write(used_key_model())


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStore:
    """Stores the idempotency keys of a project in its database."""

    kept_seconds: int
    wait_seconds: float

    @contextmanager
    def claim(self, use: KeyUse) -> Generator[Claim]:
        """Claim a key. The code inside this context runs in the transaction that has claimed the
        key.

        Raises:
            KeyReused: the key was used with other arguments.
            InFlight: another call with this key did not end in time.
            ToolError: the database has no table of keys.
        """
        reached("before-claim")
        alias = alias_of_keys()
        now = timezone.now()
        age = timedelta(seconds=self.kept_seconds)
        row = used_key_model()(
            # Only hashes are stored: the table shows neither keys nor arguments.
            claim=_hash_of_claim(use),
            tool=use.tool,
            arguments=_hashes_of_arguments(use)[0],
            created=now,
            expires=now + age,
        )
        claimed = self._claimed(row, use, alias)
        if isinstance(claimed, Claim):
            yield claimed
            return
        # Without USE_TZ the times of rows have no time zone, but an agent needs one.
        claim = Claim(retry_until=datetime.now(UTC) + age)
        committed: list[bool] = []
        try:
            with claimed:
                # This hook is the first, so that it has run even if another one fails.
                transaction.on_commit(partial(committed.append, True), using=alias)
                reached("between-claim-and-write")
                yield claim
                # The call has ended without a receipt, so nothing was written under the key. It
                # stays free.
                if claim.receipt is None:
                    transaction.set_rollback(True, using=alias)
                elif not _rows(alias).filter(claim=row.claim).update(receipt=claim.receipt):
                    # The view has ignored a deadlock. MariaDB has then rolled back all earlier
                    # statements, including the key.
                    raise InFlight(self.wait_seconds)
                reached("between-write-and-commit")
        except DatabaseError as error:
            # The view is done, but another transaction prevents the commit. All changes are rolled
            # back.
            is_undone = claim.receipt is not None and not committed
            if is_undone and is_contention(error, connections[alias].vendor):
                raise InFlight(self.wait_seconds) from error
            raise
        reached("between-commit-and-answer")

    def _claimed(self, row: Any, use: KeyUse, alias: str) -> Claim | ExitStack:
        """Claim the key, and return the open transaction. If an earlier call with the key is
        committed, return the claim of that call.
        """
        ends = monotonic() + self.wait_seconds
        try:
            while (left := ends - monotonic()) > 0:
                begun = _inserted(row, alias, left)
                if begun is not None:
                    return begun
                found = _committed(row.claim, use, alias)
                if found is not None:
                    return found
                row.pk = None  # the other call was rolled back, or its key has expired
        except DatabaseError as error:
            if not is_contention(error, connections[alias].vendor):
                if has_table():
                    raise
                raise ToolError(use.tool, messages.NOT_MIGRATED) from error
            raise InFlight(self.wait_seconds) from error
        raise InFlight(self.wait_seconds)


def _inserted(row: Any, alias: str, seconds: float) -> ExitStack | None:
    """Begin a transaction, insert the row, and return the open transaction. Return None if there is
    a committed row for the key. Raises DatabaseError.
    """
    with ExitStack() as stack:
        wait = stack.enter_context(LockWait(connections[alias], seconds))
        try:
            with ExitStack() as begun:
                begun.enter_context(transaction.atomic(using=alias))
                wait.inside()
                # This statement is the first, so that SQLite waits for its lock. It sends no
                # signals.
                _rows(alias).bulk_create([row])
                wait.restore()
                # The transaction stays open. The write runs in it, and `claim` closes it.
                return begun.pop_all()
        except IntegrityError:
            return None


def _committed(name: str, use: KeyUse, alias: str) -> Claim | None:
    """Return the claim of an earlier call with this key. Return None if there is no such call, or
    if its row has expired. Raises KeyReused.
    """
    found = _rows(alias).filter(claim=name).first()
    if found is None:
        return None
    if found.expires <= timezone.now():
        # With the time in the condition, the row of a newer call is never deleted.
        _rows(alias).filter(pk=found.pk, expires=found.expires).delete()
        return None
    if found.arguments not in _hashes_of_arguments(use):
        raise KeyReused
    return Claim(retry_until=found.expires, first=bytes(found.receipt))


def has_table() -> bool:
    """Return True if the table of keys exists. A migration creates it."""
    names = connections[alias_of_keys()].introspection.table_names()
    return used_key_model()._meta.db_table in names


def _rows(alias: str) -> Any:
    return used_key_model()._base_manager.using(alias)


def _hash_of_claim(use: KeyUse) -> str:
    """Return the hash of a key. The hash does not depend on `SECRET_KEY`, so that the key is still
    found after a change of `SECRET_KEY`.
    """
    return hashlib.sha256(json.dumps([use.caller, use.tool, use.key]).encode()).hexdigest()


def _hashes_of_arguments(use: KeyUse) -> list[str]:
    """Return one hash of the arguments for each secret of the project. The first hash is made with
    the current secret.
    """
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [
        salted_hmac(_SALT, use.arguments, secret=each, algorithm="sha256").hexdigest()
        for each in secrets
    ]


def remove_expired(batch: int) -> int:
    """Remove expired keys in batches of `batch` keys. Return the number of removed keys."""
    alias = alias_of_keys()
    removed = 0
    while True:
        expired = _rows(alias).filter(expires__lte=timezone.now()).order_by("expires")
        # In batches, because a long delete would hold its locks while calls wait.
        keys = list(expired.values_list("pk", flat=True)[:batch])
        if not keys:
            return removed
        removed += _rows(alias).filter(pk__in=keys).delete()[0]
