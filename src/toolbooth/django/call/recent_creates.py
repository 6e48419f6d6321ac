"""Creates without an idempotency key that may have been sent twice: the receipt says so.

The hashes of recent creates are kept in Django's cache, not in the database: one read and one write
of a cache are cheaper than two queries, and nothing depends on them. They hold no arguments. If the
cache forgets or fails, the write is made all the same, and its receipt mentions no duplicate.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from django.core.cache import caches
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from toolbooth.django.call.caller import Caller
from toolbooth.django.call.caller_identity import identity_parts
from toolbooth.django.describe.discovery import Action
from toolbooth.jsonvalue import Json
from toolbooth.server.idempotency import canonical

logger = logging.getLogger("toolbooth.django")

RECENT_SECONDS = 600
"""How long ago a create was made that another one may repeat."""

_PAUSE = 60
"""Seconds for which a cache that has failed is left alone, so that it does not slow down writes."""

_SALT = "toolbooth.django.recent_creates"


@dataclass(slots=True)
class RecentCreates:
    """What callers have created in the last minutes."""

    cache: str
    _paused_until: float = 0.0

    def earlier(
        self, who: Caller, action: Action, tool: str, sent: Json, row: Any, shown: Json
    ) -> Json | None:
        """The key and the time of a row that the same caller has made with the same arguments; None
        if there is none. From now on, `row` is the last one; `shown` has its key.
        """
        user, authenticator = who.known_as(action)
        # Another caller without a key of its own could be somebody else.
        if getattr(user, "pk", None) is None or monotonic() < self._paused_until:
            return None
        parts = identity_parts((user, None, authenticator), who.request)
        text = json.dumps([*parts, tool, canonical(sent).decode()])
        name = f"toolbooth:{salted_hmac(_SALT, text, algorithm='sha256').hexdigest()}"
        entry = [row.pk, shown, timezone.now().isoformat(timespec="seconds")]
        try:
            found = caches[self.cache].get(name)
            # A row that is rolled back is not kept.
            keep = partial(self._keep, name, entry)
            transaction.on_commit(keep, using=row._state.db, robust=True)
            return None if found is None or not _is_other(found[0], row) else _told(found)
        except Exception:
            self._pause()
            return None

    def _keep(self, name: str, entry: list[Any]) -> None:
        try:
            caches[self.cache].set(name, entry, RECENT_SECONDS)
        except Exception:
            self._pause()

    def _pause(self) -> None:
        logger.warning("the cache %r failed for recent creates", self.cache, exc_info=True)
        self._paused_until = monotonic() + _PAUSE


def _is_other(key: Any, row: Any) -> bool:
    """Whether the key is that of another row that is still there."""
    if key == row.pk:
        return False
    model: Any = type(row)
    return model._base_manager.using(row._state.db).filter(pk=key).exists()


def _told(found: list[Any]) -> Json:
    return {**found[1], "time": found[2]}
