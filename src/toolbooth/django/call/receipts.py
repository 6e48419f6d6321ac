"""The answer to a write: which row it was, and which fields were set, defaulted, stored with
another value, or not stored.

Small, and it proves the write: an update that changed nothing says so. `verify: true` gives the
whole object.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from time import monotonic
from typing import Any

import orjson
from django.core.cache import caches
from django.db import transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.crypto import salted_hmac
from rest_framework import serializers

from toolbooth.django import messages
from toolbooth.django.call.caller import Caller, caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import as_json, json_fragment
from toolbooth.django.call.row_before import RowBefore
from toolbooth.django.call.stored_row import Fate, Saves, StoredRow, watching_saves
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import NAMES_OF_ROWS
from toolbooth.django.describe.readers import is_same_class
from toolbooth.jsonvalue import Json
from toolbooth.secret_names import is_secret_name
from toolbooth.server.controls import check_plain, split_controls

logger = logging.getLogger("toolbooth.django")


_WRITES = frozenset(("create", "update", "partial_update"))
_LONGEST = 100
"""Characters of one value in a receipt."""

_ALWAYS = ("set", "defaulted")
"""Parts of a receipt that are shown also where they are empty."""


RECENT_SECONDS = 600
"""How long ago a create was made that another one may repeat."""

_PAUSE = 60
"""Seconds for which a cache that has failed is left alone, so that it does not slow down writes."""

Earlier = Callable[[Any, Json], Json | None]
"""Finds the row that a create may repeat, from the new row and its key."""


def is_receipted(action: Action) -> bool:
    """Whether an action is answered with a receipt, should it write a row."""
    return action.name in _WRITES and action.method in ("POST", "PUT", "PATCH")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptedWrite:
    """A create or an update, answered with a receipt where what it wrote is a row of a model."""

    call: SyncInvocation
    recent: RecentCreates

    def __call__(self, arguments: Json) -> Any:
        """Run the action, and say what became of the row."""
        sent, asked = split_controls(arguments, self.call.arguments.controls)
        who = caller()
        check_plain(asked, has_key=who.has_key)
        write = partial(self._written, who, sent, verify=asked.verify)
        return self.call.within(who, sent, write) if self.call.middleware else write()

    def _written(self, who: Caller, sent: Json, *, verify: bool) -> Any:
        if verify:
            return json_fragment(self.call.result(who, sent), self.call.tool)
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
        except Exception:  # a field that cannot show the row: the call has been made all the same
            logger.exception("no receipt can be written for %r", self.call.tool)
            return json_fragment(value, self.call.tool)

    def _receipt(
        self, row: StoredRow, saves: Saves, before: RowBefore | None, earlier: Earlier
    ) -> Json:
        same, changed = before.comparison(row) if before is not None else ([], {})
        read_back = row.read_back(saves, [name for name in row.sent if name not in same])
        if read_back is not row:
            row = read_back
            same, changed = before.comparison(row) if before is not None else ([], {})
        others = {name: now for name, (_, now) in changed.items() if name not in row.sent}
        fates = row.fates()
        hidden = {name for name in self.call.body_names if fates.get(name) != "stored_as"}
        shown = {name: each for name, each in row.value.items() if name not in hidden}
        identified, shown = as_json([identity(row.value, row.saved, self.call.lookup_field), shown])
        about = _parts(fates, same)
        if self.call.action.method == "POST":
            about["defaulted"] = [name for name in self.call.body_names if name not in row.sent]
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

    def _old_and_new(self, row: StoredRow, changed: Mapping[str, tuple[Any, Any]]) -> Json:
        """The fields that were sent and have changed, if the answer of the view shows them in the
        same form: a serializer of the author's own may mask values.
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
        """A value in the form in which the argument is declared: REST framework writes decimals as
        text.
        """
        declared: Json = self.call.arguments.properties.get(name, {})
        kinds = declared.get("type")
        takes_number = kinds == "number" or (isinstance(kinds, list) and "number" in kinds)
        return _number(value) if takes_number and isinstance(value, str) else _cut(value)


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


def _number(text: str) -> Any:
    """The number in a text, if it is the same number."""
    try:
        number = float(text)
        is_same = Decimal(repr(number)) == Decimal(text)
    except (ValueError, InvalidOperation):
        return _cut(text)
    return number if is_same else _cut(text)


def _of(fates: Mapping[str, Fate], fate: Fate) -> list[str]:
    return [name for name, each in fates.items() if each == fate]


def _parts(fates: Mapping[str, Fate], same: list[str]) -> Json:
    """The fields that were sent, by their fate."""
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
    """The note about an update that changed nothing; empty if it did."""
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
        """Whether the serializer that the view answered with is this one."""
        reader: Any = self.call.body_serializer.cls
        return type(saved) is reader or is_same_class(saved, reader)

    def serializer(self) -> Any:
        """None if it cannot be made."""
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
    """The serializer whose row a view answered with; None where the answer is something else."""
    serializer: Any = getattr(value, "serializer", None)
    is_for_one = issubclass(type(serializer), serializers.Serializer)
    has_row = is_for_one and isinstance(serializer.instance, Model)
    return serializer if has_row else None


def identity(value: Mapping[str, Any], saved: Any, lookup_field: str) -> Json:
    """Which row it is: its key, what it is looked up by, and what people call it."""
    name, key = key_of(value, saved, saved.instance)
    fields: Json = {name: key}
    if lookup_field in value:
        fields.setdefault(lookup_field, value[lookup_field])
    called = next((each for each in NAMES_OF_ROWS if isinstance(value.get(each), str)), None)
    if called is not None:
        fields.setdefault(called, _cut(value[called]))
    return fields


def key_of(value: Mapping[str, Any], serializer: Any, row: Any) -> tuple[str, Any]:
    """The name and the value of a row's key, as the serializer gives it, or else as the model has
    it.
    """
    pk: str = row._meta.pk.name
    for name, field in serializer.fields.items():
        if field.source in (pk, "pk") and name in value:
            return name, value[name]
    return pk, row.pk


# --- creates that may have been sent twice ---


@dataclass(slots=True, kw_only=True)
class RecentCreates:
    """What callers have created with one tool in the last minutes, in Django's cache: one read and
    one write of a cache are cheaper than two queries, and nothing depends on them. The cache holds
    hashes of arguments and keys of rows.
    """

    tool: str
    cache: str
    _paused_until: float = 0.0

    def earlier(self, who: Caller, sent: Json, row: Any, shown: Json) -> Json | None:
        """The key and the time of a row that the same caller has made with the same arguments; None
        if there is none. From now on, `row` is the last one. `shown` begins with its key.
        """
        user = _user_of_run(who)
        # Callers without a key of their own cannot be told apart.
        is_known = getattr(user, "pk", None) is not None
        if not is_known or row is None or monotonic() < self._paused_until:
            return None
        try:
            name = self._name(user, sent)
            key = dict([next(iter(shown.items()))])
            entry = [row.pk, {**key, "time": timezone.now().isoformat(timespec="seconds")}]
            found: Any = caches[self.cache].get(name)
            # A row that is rolled back is not kept.
            keep = partial(self._keep, name, entry)
            transaction.on_commit(keep, using=row._state.db, robust=True)
            if found is None or who.has_key or not _is_other(found[0], row):
                return None
            return found[1]
        except Exception:  # the row is made, whatever the cache says
            self._pause()
            return None

    def _name(self, user: Any, sent: Json) -> str:
        """The name of an entry: a hash of who creates what."""
        of_caller = [type(user).__qualname__, str(user.pk), self.tool]
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
    """The user for whom the view has run."""
    response = None if who.last_run is None else who.last_run[1]
    context: Any = getattr(response, "renderer_context", None)
    return None if context is None else context["request"].user


def _is_other(key: Any, row: Any) -> bool:
    """Whether a key is that of another row that is still there."""
    model: Any = row.__class__
    return key != row.pk and model._base_manager.using(row._state.db).filter(pk=key).exists()


# --- long values ---


def _is_short(value: Any) -> bool:
    return not isinstance(value, dict | list) and len(str(value)) <= _LONGEST


def _cut(value: Any) -> Any:
    if _is_short(value):
        return value
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return value if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
