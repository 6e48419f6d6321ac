"""Idempotency keys: if a call is sent again with the same key, it does not run again.

In: the caller, the tool, the key and the arguments. Out: the receipt of the call that ran. A store
keeps the receipts. `MemoryStore` is for a server with one process; the Django gateway uses a
database table.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import ceil
from time import monotonic
from typing import Any, Protocol

import jiter

from toolbooth.jsonvalue import Json, is_array, is_object, json_bytes

KEPT_SECONDS = 24 * 60 * 60
"""A key is stored for this many seconds by default."""

WAIT_SECONDS = 5.0
"""If a call with the same key is still running, a new call waits this many seconds by default."""

_MOST_KEPT = 10_000


class KeyReused(Exception):
    """Raised if the key was already used for a call with other arguments."""


class InFlight(Exception):
    """Raised if a call with this key is still running. The new call had no effect, and may be
    repeated after `seconds`.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, ceil(seconds))
        super().__init__(self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """The use of a key in one call."""

    caller: str
    tool: str
    key: str
    arguments: bytes
    """The arguments after repair, without control arguments, as `canonical` writes them. Stores
    keep only a keyed hash of them.
    """


@dataclass(slots=True, kw_only=True)
class Claim:
    """A key that is claimed for one call. If `first` is None, the call runs and then stores a
    receipt. Otherwise it does not run, because `first` is the receipt of an earlier call.
    """

    retry_until: datetime
    first: bytes | None = None
    """The receipt of an earlier call with this key."""
    receipt: bytes | None = None

    def keep(self, receipt: bytes) -> None:
        """Store the receipt. This must be the last step of a call."""
        self.receipt = receipt


class KeyStore(Protocol):
    """Stores which keys were used, and their receipts."""

    def claim(self, use: KeyUse) -> AbstractContextManager[Claim]:
        """Claim a key while a call runs. If the call raises an exception or stores no receipt, the
        key becomes free again. Raises KeyReused and InFlight.
        """
        ...


def run_once(store: KeyStore, use: KeyUse, run: Callable[[], bytes]) -> bytes:
    """Call `run` and return the JSON that it returns. If there was an earlier call with this key,
    return the JSON of that call and do not call `run`.

    Raises:
        KeyReused: if the key was used for other arguments.
        InFlight: if a call with this key is still running.
    """
    with store.claim(use) as claim:
        # The call is not run again. The first answer is returned and marked as a repetition, so
        # that the agent does not count it twice.
        if claim.first is not None:
            return with_fields(claim.first, {"repeated": True})
        receipt = with_fields(run(), {"retry_until": claim.retry_until.isoformat()})
        # This comes last: after an exception before it, the key is free and the call can be sent
        # again.
        claim.keep(receipt)
    return receipt


def with_fields(receipt: bytes, more: Json) -> bytes:
    """Add fields to a JSON object. If the object already has one of these fields, or if the JSON is
    not an object, return the JSON unchanged.
    """
    found = jiter.from_json(receipt)
    if not is_object(found):
        return receipt
    added = {name: value for name, value in more.items() if name not in found}
    if not added:
        return receipt
    comma = b"," if found else b""
    # The receipt itself is not parsed, so it keeps every digit.
    return receipt.rstrip()[:-1] + comma + json_bytes(added)[1:]


def canonical(arguments: Any) -> bytes:
    """Write arguments so that equal arguments give equal bytes. `1.0` and `1` are equal, and the
    order of keys does not matter.
    """
    plain = _plain(arguments)
    # Without spaces and with sorted keys, equal arguments give equal bytes. `str` writes values of
    # the author's types.
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), default=str).encode()


def _plain(value: Any) -> Any:
    """Return the value with a letter before each text and each number, so that `"1"` and `1`
    differ.
    """
    if is_object(value):
        return {str(key): _plain(each) for key, each in value.items()}
    if is_array(value):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return f"t{value}"
    # A boolean is also an int in Python, so it is checked first.
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return f"n{_digits(value)}"
    return value


def _digits(value: float | Decimal) -> str:
    """Return a number as its digits and an exponent. Nothing is rounded: numbers that differ only
    in the 40th digit are different arguments.
    """
    number = Decimal(value if isinstance(value, int) else str(value))
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return str(value)  # infinity, or not a number
    text = "".join(map(str, digits))
    significant = text.rstrip("0")
    if not significant:
        return "0"
    places = exponent + len(text) - len(significant)
    return f"{'-' if sign else ''}{significant}E{places}"


# --- one process ---


@dataclass(slots=True)
class _Entry:
    arguments: bytes
    expires: datetime
    receipt: bytes | None = None
    """The receipt of the call. None while the call is running."""


@dataclass(slots=True, kw_only=True)
class MemoryStore:
    """Stores keys in memory, for a server with only one process. When the process ends, the keys
    are lost.
    """

    kept_seconds: int = KEPT_SECONDS
    wait_seconds: float = WAIT_SECONDS
    most: int = _MOST_KEPT
    """The largest number of keys that are stored. The oldest keys are dropped first."""
    _entries: dict[tuple[str, str, str], _Entry] = field(
        default_factory=dict[tuple[str, str, str], _Entry], init=False
    )
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False)
    _secret: bytes = field(default_factory=lambda: os.urandom(32), init=False)

    @contextmanager
    def claim(self, use: KeyUse) -> Generator[Claim]:
        """Claim a key while a call runs. Raises KeyReused and InFlight."""
        name = (use.caller, use.tool, use.key)
        # The store keeps only a keyed hash of the arguments, because they may contain secrets.
        entry = self._entry(name, hmac.digest(self._secret, use.arguments, hashlib.sha256))
        claim = Claim(retry_until=entry.expires, first=entry.receipt)
        if claim.first is not None:
            yield claim
            return
        try:
            yield claim
        # A cancelled call counts as failed, even if it had kept a receipt. Its key becomes free
        # again.
        except BaseException:
            claim.receipt = None
            raise
        finally:
            self._end(name, entry, claim.receipt)

    def _entry(self, name: tuple[str, str, str], arguments: bytes) -> _Entry:
        """Return the entry of an earlier call with this key, or a new entry if there was no such
        call.
        """
        ends = monotonic() + self.wait_seconds
        with self._changed:
            while True:
                now = datetime.now(UTC)
                found = self._entries.get(name)
                # An entry without a receipt never expires, because its call is still running.
                if found is None or (found.receipt is not None and found.expires <= now):
                    self._drop_old(now)
                    made = _Entry(arguments, now + timedelta(seconds=self.kept_seconds))
                    self._entries.pop(name, None)
                    self._entries[name] = made
                    return made
                if found.receipt is not None:
                    # Compared in constant time, because callers choose the arguments.
                    if not hmac.compare_digest(found.arguments, arguments):
                        raise KeyReused
                    return found
                # Every change wakes all waiting calls, also those for other keys. Each one checks
                # its key again until its time is over.
                if not self._changed.wait(ends - monotonic()) and monotonic() >= ends:
                    raise InFlight(self.wait_seconds)

    def _end(self, name: tuple[str, str, str], entry: _Entry, receipt: bytes | None) -> None:
        with self._changed:
            entry.receipt = receipt
            if receipt is None:
                self._entries.pop(name, None)
            # Waiting calls wake up. They find the receipt, or claim the free key.
            self._changed.notify_all()

    def _drop_old(self, now: datetime) -> None:
        """Make room for one more entry. The entries that expire first are dropped."""
        for name in tuple(self._entries):
            entry = self._entries[name]
            if entry.receipt is None:
                continue
            if entry.expires > now and len(self._entries) < self.most:
                break
            del self._entries[name]
