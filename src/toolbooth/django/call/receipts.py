"""Makes the receipt of a write.

The receipt names the row, and the fields that were set, defaulted, stored with another value, or
not stored. It is short, and shows whether the write changed anything. With `verify: true`, the call
returns the whole object.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any

import orjson
from django.core.cache import caches
from django.db import transaction
from django.db.models import Model
from django.utils.crypto import salted_hmac
from rest_framework import serializers

from toolbooth.boundary.advise import advised
from toolbooth.contract import Contract
from toolbooth.django import messages
from toolbooth.django.call.caller import Caller, caller
from toolbooth.django.call.caller_fields import own_fields
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import as_json, json_fragment
from toolbooth.django.call.row_before import RowBefore
from toolbooth.django.call.stored_row import Fate, Saves, StoredRow, watching_saves
from toolbooth.django.call.taken_form import as_taken
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import NAMES_OF_ROWS
from toolbooth.django.describe.readers import is_same_class
from toolbooth.errors import ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.secret_names import is_secret_name
from toolbooth.server.controls import check_plain, split_controls

logger = logging.getLogger("toolbooth.django")


_WRITES = frozenset(("create", "update", "partial_update"))
_ALWAYS = ("set", "defaulted")
"""Parts of a receipt that are shown even if they are empty."""

_LONGEST = 100
"""The most characters of one value in a receipt."""

RECENT_SECONDS = 600
"""A create may be a repetition of an earlier one that is not older than this."""

_PAUSE = 60
"""After a failure, the cache is not used for this many seconds, so that it does not slow down
writes.
"""

Earlier = Callable[[Any, Json], Json | None]
"""A function that finds an earlier row that a create may repeat. It takes the new row and its key.
"""


def is_receipted(action: Action) -> bool:
    """Return True if an action returns a receipt after it has written a row."""
    return action.name in _WRITES and action.method in ("POST", "PUT", "PATCH")


@dataclass(frozen=True, slots=True)
class Advised:
    """Wraps the function of a call. If it refuses the arguments, the refusal has a corrected
    call.
    """

    contract: Contract
    function: Callable[[Json], Any]

    def __call__(self, arguments: Json) -> Any:
        """Run the call. Raises ToolInputError."""
        try:
            return self.function(arguments)
        except ToolInputError as refused:
            raise advised(self.contract, arguments, refused) from refused.__cause__


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptedWrite:
    """A create or an update that returns a receipt if it wrote a row of a model."""

    call: SyncInvocation
    recent: RecentCreates

    def __call__(self, arguments: Json) -> Any:
        """Run the action. Return the receipt, or the whole object with `verify`."""
        sent, asked = split_controls(arguments, self.call.arguments.controls)
        who = caller()
        check_plain(asked, has_key=who.has_key)
        write = partial(self._written, who, sent, verify=asked.verify)
        return self.call.within(who, sent, write) if self.call.middleware else write()

    def _written(self, who: Caller, sent: Json, *, verify: bool) -> Any:
        if verify:
            shown = self.call.result(who, sent)
            self._remember(who, sent, shown)
            return json_fragment(shown, self.call.tool)
        # A new row has no values before the write.
        before = None if self.call.action.method == "POST" else RowBefore.of(self.call, who, sent)
        body = self.call.keyed_body(who, sent)
        with watching_saves() as saves:
            value = self.call.value(self.call.respond(who, sent, body))
        saved = serializer_of(value)
        if saved is None:
            return json_fragment(value, self.call.tool)
        fields = sent if body is None else body
        names = [name for name in self.call.body_names if name in fields]
        reader = _Reader(call=self.call, who=who, sent=sent, before=before)
        row = StoredRow(
            value=value,
            saved=saved,
            row=saved.instance,
            is_reader=reader.is_saved_by(saved),
            reader=reader.serializer,
            sent={name: fields[name] for name in names},
        )
        try:
            return self._receipt(row, saves, before, partial(self.recent.earlier, who, sent))
        except Exception:  # a field cannot show the row, but the write is done
            logger.exception("no receipt can be written for %r", self.call.tool)
            return json_fragment(value, self.call.tool)

    def _remember(self, who: Caller, sent: Json, value: Any) -> None:
        """Remember a create that returns no receipt. Later creates are compared with it."""
        saved = serializer_of(value)
        if saved is None or self.call.action.method != "POST":
            return
        key = as_json(dict([key_of(value, saved, saved.instance)]))
        self.recent.earlier(who, sent, saved.instance, key)

    def _receipt(
        self, row: StoredRow, saves: Saves, before: RowBefore | None, earlier: Earlier
    ) -> Json:
        same, changed = before.comparison(row) if before is not None else ([], {})
        # A field that still has its old value need not have been saved, so the row is not read
        # again for it.
        read_back = row.read_back(saves, [name for name in row.sent if name not in same])
        # The row was read again, so its values may differ from those compared above.
        if read_back is not row:
            row = read_back
            same, changed = before.comparison(row) if before is not None else ([], {})
        others = {name: now for name, (_, now) in changed.items() if name not in row.sent}
        fates = row.fates()
        # The agent knows the values that were stored as sent. They would only make the receipt
        # longer.
        hidden = {name for name in self.call.body_names if fates.get(name) != "stored_as"}
        shown = {name: each for name, each in row.value.items() if name not in hidden}
        shown |= {name: row.as_taken(name) for name in _of(fates, "stored_as")}
        identified, shown = as_json([identity(row.value, row.saved, self.call.lookup_field), shown])
        about = _parts(fates, same)
        if self.call.action.method == "POST":
            about["defaulted"] = [name for name in self._own_names(row) if name not in row.sent]
            others = {name: each for name, each in shown.items() if name not in row.sent}
            others = {name: each for name, each in others.items() if name not in identified}
            about["note"] = "" if row.sent else messages.ONLY_DEFAULTS
            about["possible_duplicate_of"] = earlier(row.row, identified)
        elif before is not None and before.has_only(others):
            about["note"] = _note_of_update(fates, same)
        about["changed"] = self._old_and_new(row, changed)
        about["stored_as"] = {
            name: self._as_taken(name, shown[name]) for name in _of(fates, "stored_as")
        }
        about["assigned"] = {name: each for name, each in others.items() if _is_short(each)}
        order = [key for key in _ORDER if about.get(key) or (key in about and key in _ALWAYS)]
        return {**identified, **{key: about[key] for key in order}}

    def _own_names(self, row: StoredRow) -> Iterable[str]:
        """Return the names of the body's fields that are published or that this caller may send."""
        names, listed = self.call.body_names, self.call.arguments.properties
        if all(name in listed for name in names):
            return names
        serializer = row.saved if row.is_reader else row.reader()
        own: Mapping[str, Any] = {} if serializer is None else own_fields(serializer)
        return [name for name in names if name in listed or name in own]

    def _old_and_new(self, row: StoredRow, changed: Mapping[str, tuple[Any, Any]]) -> Json:
        """Return the old and the new value of each sent field that has changed. Return no values if
        another serializer or the project's own code makes the response, because that code may mask
        values.
        """
        if not changed or not (row.is_plain and row.is_reader):
            return {}
        names = [name for name in row.sent if name in changed and name in row.value]
        shown = {name: changed[name] for name in names if not is_secret_name(name)}
        return {
            name: {"from": self._as_taken(name, old), "to": self._as_taken(name, new)}
            for name, (old, new) in shown.items()
        }

    def _as_taken(self, name: str, value: Any) -> Any:
        """Return a value as its argument accepts it."""
        arguments = self.call.arguments
        root = {"$defs": arguments.definitions}
        return _cut(as_taken(value, arguments.properties.get(name, {}), root))


_ORDER = (
    "set",
    "changed",
    "defaulted",
    "unchanged",
    "accepted",
    "note",
    "stored_as",
    "not_stored",
    "assigned",
    "possible_duplicate_of",
)
"""The parts of a receipt, in their order."""


def _of(fates: Mapping[str, Fate], fate: Fate) -> list[str]:
    return [name for name, each in fates.items() if each == fate]


def _parts(fates: Mapping[str, Fate], same: list[str]) -> Json:
    """Return the names of the sent fields by outcome, such as
    `{"set": ["title"], "unchanged": []}`.
    """
    not_stored = _of(fates, "not_stored")
    newly_set = [name for name in _of(fates, "set") if name not in same]
    unchanged = [name for name in same if name not in not_stored]
    return {
        "set": newly_set,
        "unchanged": unchanged,
        "accepted": _of(fates, "accepted"),
        "not_stored": not_stored,
    }


def _note_of_update(fates: Mapping[str, Fate], same: list[str]) -> str:
    """Return the note about an update that changed nothing, or an empty text."""
    if any(name not in same and fate != "not_stored" for name, fate in fates.items()):
        return ""
    if not fates:
        return messages.NO_FIELD_SENT
    found = set(fates.values())
    if "stored_as" in found:
        return messages.STORED_SOMETHING_ELSE
    return messages.STORED_NOTHING if "not_stored" in found else messages.HELD_ALL_THIS


@dataclass(slots=True, kw_only=True)
class _Reader:
    """The serializer that reads the body for this caller. It is made only if it is needed."""

    call: SyncInvocation
    who: Caller
    sent: Json
    before: RowBefore | None

    def is_saved_by(self, saved: Any) -> bool:
        """Return True if `saved`, the serializer of the response, has the same class."""
        reader: Any = self.call.body_serializer.cls
        return type(saved) is reader or is_same_class(saved, reader)

    def serializer(self) -> Any:
        """Return the serializer, or None if it cannot be made."""
        if self.before is not None:
            return self.before.serializer
        try:
            return self.call.body_serializer.of(self.call.view(self.who, self.sent))
        except Exception:
            logger.debug(
                "%s: the serializer of its body is not known", self.call.tool, exc_info=True
            )
            return None


def serializer_of(value: Any) -> Any:
    """Return the serializer of a response with one row of a model. Return None for any other
    response.
    """
    serializer: Any = getattr(value, "serializer", None)
    is_for_one = issubclass(type(serializer), serializers.Serializer)
    has_row = is_for_one and isinstance(serializer.instance, Model)
    return serializer if has_row else None


def identity(value: Mapping[str, Any], saved: Any, lookup_field: str) -> Json:
    """Return the fields that identify a row: its key, its lookup field, and its name."""
    name, key = key_of(value, saved, saved.instance)
    fields: Json = {name: key}
    if lookup_field in value:
        fields.setdefault(lookup_field, value[lookup_field])
    called = next((each for each in NAMES_OF_ROWS if isinstance(value.get(each), str)), None)
    if called is not None:
        fields.setdefault(called, _cut(value[called]))
    return fields


def key_of(value: Mapping[str, Any], serializer: Any, row: Any) -> tuple[str, Any]:
    """Return the name and the value of a row's key, as the serializer shows them. If the serializer
    does not show the key, return the name and the value of the model's primary key.
    """
    pk: str = row._meta.pk.name
    for name, field in serializer.fields.items():
        if field.source in (pk, "pk") and name in value:
            return name, value[name]
    return pk, row.pk


# --- creates that may have been sent twice ---


@dataclass(slots=True, kw_only=True)
class RecentCreates:
    """The creates of each caller with one tool in the last minutes, kept in Django's cache.

    The cache is enough: one read and one write cost less than two queries, and a lost entry does no
    harm. An entry holds a hash of the arguments and the key of the row.
    """

    tool: str
    cache: str
    _paused_until: float = 0.0

    def earlier(self, who: Caller, sent: Json, row: Any, shown: Json) -> Json | None:
        """Remember the new row `row`. Return the key and the time of an earlier row that the same
        caller has created with the same arguments. Return None if there is none. The first entry of
        `shown` is the key of `row`.
        """
        user = _user_of_run(who)
        # Without a key, callers cannot be distinguished.
        is_known = getattr(user, "pk", None) is not None
        if not is_known or row is None or monotonic() < self._paused_until:
            return None
        try:
            name = self._name(user, who.request.get_host(), sent)
            key = dict([next(iter(shown.items()))])
            entry = [row.pk, {**key, "time": datetime.now(UTC).isoformat(timespec="seconds")}]
            found: Any = caches[self.cache].get(name)
            # The entry is written at the commit, so that a row that is rolled back is not
            # remembered.
            keep = partial(self._keep, name, entry)
            transaction.on_commit(keep, using=row._state.db, robust=True)
            # With an idempotency key, repeated calls are recognised by that key.
            if found is None or who.has_key or not _is_other(found[0], row):
                return None
            return found[1]
        except Exception:  # the row is made, even if the cache fails
            self._pause()
            return None

    def _name(self, user: Any, host: str, sent: Json) -> str:
        """Return the name of a cache entry: a hash of the caller, the host, the tool and the
        arguments. The host is part of it because projects may have one tenant for each host, and
        the same user id at another host may be another user.
        """
        of_caller = [type(user).__qualname__, str(user.pk), host, self.tool]
        # Hashed with the project's secret: short arguments could be guessed from a plain hash.
        text = json.dumps([of_caller, sent], sort_keys=True, default=str)
        return f"toolbooth:{salted_hmac(__name__, text, algorithm='sha256').hexdigest()}"

    def _keep(self, name: str, entry: list[Any]) -> None:
        try:
            caches[self.cache].set(name, entry, RECENT_SECONDS)
        except Exception:
            self._pause()

    def _pause(self) -> None:
        logger.warning("the cache %r failed for recent creates", self.cache, exc_info=True)
        self._paused_until = monotonic() + _PAUSE


def _user_of_run(who: Caller) -> Any:
    """Return the user for whom the view has run."""
    response = None if who.last_run is None else who.last_run[1]
    context: Any = getattr(response, "renderer_context", None)
    return None if context is None else context["request"].user


def _is_other(key: Any, row: Any) -> bool:
    """Return True if a key belongs to a row other than `row`, and that other row still exists."""
    model: Any = row.__class__
    return key != row.pk and model._base_manager.using(row._state.db).filter(pk=key).exists()


def _is_short(value: Any) -> bool:
    """Return True if a value is a scalar that is short enough to be shown whole."""
    return not isinstance(value, dict | list) and len(str(value)) <= _LONGEST


def _cut(value: Any) -> Any:
    """Return a value, or the beginning of its text if it is long."""
    if _is_short(value):
        return value
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return value if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
