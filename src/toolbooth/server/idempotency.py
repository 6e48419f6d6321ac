"""Idempotency keys: a call that is sent again under the same key runs once.

In: who calls which tool, under which key, with which arguments. Out: the receipt of the call that
ran, which a store keeps. `MemoryStore` is for one process; the Django gateway has a table.
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
"""For how long a key is known by default."""

WAIT_SECONDS = 5.0
"""How long a call waits by default for another one that runs under the same key."""

_MOST_KEPT = 10_000


class KeyReused(Exception):
    """The key was used for a call with other arguments."""


class InFlight(Exception):
    """A call with this key is still running. Nothing was done; the call may be sent again after
    `seconds`.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, ceil(seconds))
        super().__init__(self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """One call with a key."""

    caller: str
    tool: str
    key: str
    arguments: bytes
    """The arguments after repair, from `canonical`, without control arguments. Stores keep a keyed
    hash of them.
    """


@dataclass(slots=True, kw_only=True)
class Claim:
    """A key that is claimed for one call. The call runs only if there is no `first` receipt, and
    then keeps its own.
    """

    retry_until: datetime
    first: bytes | None = None
    """The receipt of the call that has run under this key."""
    receipt: bytes | None = None

    def keep(self, receipt: bytes) -> None:
        """Have this receipt kept, as the last thing that the call does."""
        self.receipt = receipt


class KeyStore(Protocol):
    """Remembers which keys were used."""

    def claim(self, use: KeyUse) -> AbstractContextManager[Claim]:
        """Claim a key while a call runs. If the call raises, or keeps no receipt, the key is free
        again. Raises KeyReused and InFlight.
        """
        ...


def run_once(store: KeyStore, use: KeyUse, run: Callable[[], bytes]) -> bytes:
    """Return the JSON that `run` returns, or that it returned for an earlier call with this key.

    Raises:
        KeyReused: the key was used for other arguments.
        InFlight: a call with this key is still running.
    """
    with store.claim(use) as claim:
        # The call is not made again. Its first answer is given, marked as a repetition, so that the
        # agent does not count it twice.
        if claim.first is not None:
            return with_fields(claim.first, {"repeated": True})
        receipt = with_fields(run(), {"retry_until": claim.retry_until.isoformat()})
        # Last of all: an exception before this leaves the key free, and the call can be sent again.
        claim.keep(receipt)
    return receipt


def with_fields(receipt: bytes, more: Json) -> bytes:
    """The JSON of an object with more fields, unless it has fields of these names; other JSON as it
    is.
    """
    found = jiter.from_json(receipt)
    if not is_object(found):
        return receipt
    added = {name: value for name, value in more.items() if name not in found}
    if not added:
        return receipt
    comma = b"," if found else b""
    # The receipt itself is not written again: it keeps every digit.
    return receipt.rstrip()[:-1] + comma + json_bytes(added)[1:]


def canonical(arguments: Any) -> bytes:
    """JSON that is the same for the same arguments: `1.0` is the number `1`, and the order of keys
    does not matter.
    """
    plain = _plain(arguments)
    # Without spaces and with sorted keys, equal arguments are equal bytes. `str` writes values that
    # came from the author's types.
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), default=str).encode()


def _plain(value: Any) -> Any:
    """A value with a letter before each text and number, so that `"1"` and `1` are not the same."""
    if is_object(value):
        return {str(key): _plain(each) for key, each in value.items()}
    if is_array(value):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return f"t{value}"
    # A boolean is an int in Python.
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return f"n{_digits(value)}"
    return value


def _digits(value: float | Decimal) -> str:
    """A number as its digits and an exponent. Nothing is rounded: two numbers that differ in their
    40th digit are two different arguments.
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
    """None while the call is running."""


@dataclass(slots=True, kw_only=True)
class MemoryStore:
    """Keys in the memory of this process, for a server that has only one. They are lost when it
    ends.
    """

    kept_seconds: int = KEPT_SECONDS
    wait_seconds: float = WAIT_SECONDS
    most: int = _MOST_KEPT
    """Keys that are kept. The oldest ones are dropped first."""
    _entries: dict[tuple[str, str, str], _Entry] = field(
        default_factory=dict[tuple[str, str, str], _Entry], init=False
    )
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False)
    _secret: bytes = field(default_factory=lambda: os.urandom(32), init=False)

    @contextmanager
    def claim(self, use: KeyUse) -> Generator[Claim]:
        """Claim a key while a call runs. Raises KeyReused and InFlight."""
        name = (use.caller, use.tool, use.key)
        # A keyed hash, so that the store keeps no arguments: they may hold secrets.
        entry = self._entry(name, hmac.digest(self._secret, use.arguments, hashlib.sha256))
        claim = Claim(retry_until=entry.expires, first=entry.receipt)
        if claim.first is not None:
            yield claim
            return
        try:
            yield claim
        # A cancelled call is one that failed, even if it had kept a receipt. Its key is free again.
        except BaseException:
            claim.receipt = None
            raise
        finally:
            self._end(name, entry, claim.receipt)

    def _entry(self, name: tuple[str, str, str], arguments: bytes) -> _Entry:
        """The entry of a call that has run, or a new one."""
        ends = monotonic() + self.wait_seconds
        with self._changed:
            while True:
                now = datetime.now(UTC)
                found = self._entries.get(name)
                # An entry without a receipt is never dropped for its age: its call is still
                # running.
                if found is None or (found.receipt is not None and found.expires <= now):
                    self._drop_old(now)
                    made = _Entry(arguments, now + timedelta(seconds=self.kept_seconds))
                    self._entries.pop(name, None)
                    self._entries[name] = made
                    return made
                if found.receipt is not None:
                    # In constant time, since callers choose the arguments.
                    if not hmac.compare_digest(found.arguments, arguments):
                        raise KeyReused
                    return found
                # Every change wakes all calls that wait, also for other keys. Each looks again
                # until its own time is over.
                if not self._changed.wait(ends - monotonic()) and monotonic() >= ends:
                    raise InFlight(self.wait_seconds)

    def _end(self, name: tuple[str, str, str], entry: _Entry, receipt: bytes | None) -> None:
        with self._changed:
            entry.receipt = receipt
            if receipt is None:
                self._entries.pop(name, None)
            # Waiting calls look again: they find the receipt, or claim the key that is free again.
            self._changed.notify_all()

    def _drop_old(self, now: datetime) -> None:
        """Make room for one more. The entries are in the order in which they expire."""
        for name in tuple(self._entries):
            entry = self._entries[name]
            if entry.receipt is None:
                continue
            if entry.expires > now and len(self._entries) < self.most:
                break
            del self._entries[name]
