"""What a write is answered with: which row it was, what was set, what was defaulted, what was
stored otherwise.

Small, and it proves the write: an update that changed nothing says so. `verify: true` gives the
whole object.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.db.models import Model
from rest_framework import serializers

from toolbooth.django import messages
from toolbooth.django.call.caller import REFUSALS, Caller, caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import as_json, json_fragment
from toolbooth.django.describe.discovery import Action
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.server.controls import split_controls

logger = logging.getLogger("toolbooth.django")


_stock: Any = serializers.Serializer
"""REST framework's own serializer, whose generic type says nothing here."""

_FORMS = (serializers.RelatedField, serializers.BaseSerializer, serializers.SerializerMethodField)
"""Fields that may show a row in other words than it is sent in."""

_WRITES = frozenset(("create", "update", "partial_update"))
_CALLED = ("name", "title", "display", "slug")
"""Fields by which people know a row."""

_ALWAYS = ("set", "defaulted")
"""Parts of a receipt that are shown also where they are empty."""

_LONGEST = 100
"""Characters of one value in a receipt."""


def is_receipted(action: Action) -> bool:
    """Whether an action is answered with a receipt, should it write a row."""
    return action.name in _WRITES and action.method in ("POST", "PUT", "PATCH")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptedWrite:
    """A create or an update, answered with a receipt where what it wrote is a row of a model."""

    call: SyncInvocation

    def __call__(self, arguments: Json) -> Any:
        """Run the action, and say what became of the row."""
        sent, asked = split_controls(arguments, self.call.arguments.controls)
        who = caller()
        is_compared = not asked.verify and self.call.action.method != "POST"
        before = _Before.of(self.call, who, sent) if is_compared else None
        value = self.call.result(who, sent)
        saved = None if asked.verify else serializer_of(value)
        if saved is None:
            return json_fragment(value, self.call.tool)
        return self._receipt(value, saved, sent, before)

    def _receipt(
        self, value: Mapping[str, Any], saved: Any, sent: Json, before: _Before | None
    ) -> Json:
        body = self.call.body_names
        names = [name for name in body if name in sent]
        shown = {name: each for name, each in value.items() if name in names or name not in body}
        row, stored = as_json([identity(value, saved, self.call.lookup_field), shown])
        about: Json = {"set": names}
        others: Json = {}
        if before is not None:
            about, others = before.comparison(value, saved, names)
        elif self.call.action.method == "POST":
            about["defaulted"] = [name for name in body if name not in sent]
            if not names:
                about["note"] = messages.ONLY_DEFAULTS
            others = {
                name: each for name, each in stored.items() if name not in names and name not in row
            }
        stored_as = _differences({name: sent[name] for name in names}, stored, saved.fields)
        if "note" in about and stored_as:
            about["note"] = messages.STORED_SOMETHING_ELSE
        about["stored_as"] = stored_as
        about["set"] = [name for name in about["set"] if name not in stored_as]
        about["assigned"] = {name: each for name, each in others.items() if _is_short(each)}
        parts = {key: each for key, each in about.items() if each or key in _ALWAYS}
        return {**row, **parts}


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
    called = next((each for each in _CALLED if isinstance(value.get(each), str)), None)
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


# --- an update, compared ---


@dataclass(frozen=True, slots=True)
class _Before:
    """What a row held before it was changed; read only to be compared, never shown."""

    serializer: Any
    """The one that reads the body, with the fields that are compared."""
    held: Json

    @classmethod
    def of(cls, call: SyncInvocation, who: Caller, sent: Json) -> _Before | None:
        """None where the row cannot be read: the view says why, or answers without a comparison."""
        try:
            view = call.view(who, sent)
            row: Any = view.get_object()
            serializer: Any = call.body_serializer.of(view)
            _keep_only(serializer, row, sent)
            return cls(serializer, _representation(serializer, row))
        except REFUSALS:
            return None
        except Exception:
            logger.debug("the row that %s is to change could not be read", call.tool, exc_info=True)
            return None

    def comparison(
        self, value: Mapping[str, Any], saved: Any, names: list[str]
    ) -> tuple[Json, Json]:
        """What was set and what was the same, of what was sent; and what else is another now."""
        is_stock = saved.__class__.to_representation is _stock.to_representation
        if is_stock and type(saved) is type(self.serializer):  # already written, relations included
            now = as_json({name: each for name, each in value.items() if name in self.held})
        else:
            now = _representation(self.serializer, saved.instance)
        same = [name for name in names if name in self.held and self.held[name] == now.get(name)]
        others = {name: now.get(name) for name, each in self.held.items() if each != now.get(name)}
        about: Json = {"set": [name for name in names if name not in same]}
        if same:
            about["unchanged"] = same
        if not about["set"] and all(self.serializer.fields[name].read_only for name in others):
            about["note"] = messages.HELD_ALL_THIS if names else messages.NO_FIELD_SENT
        return about, {name: each for name, each in others.items() if name not in names}


def _keep_only(serializer: Any, row: Any, sent: Iterable[str]) -> None:
    """Leave the fields that were sent, and those that cost no query."""
    columns = {field.name for field in row._meta.concrete_fields}
    for name, field in list(serializer.fields.items()):
        related = isinstance(field, serializers.BaseSerializer | serializers.RelatedField)
        keyed_only = isinstance(field, serializers.PrimaryKeyRelatedField)
        if name not in sent and not (field.source in columns and (keyed_only or not related)):
            del serializer.fields[name]


def _representation(serializer: Any, row: Any) -> Json:
    # Not the author's own form of it, which may need fields that were left out.
    return as_json(_stock.to_representation(serializer, row))


# --- what was sent, and what was stored ---


def _differences(sent: Json, stored: Json, fields: Mapping[str, Any]) -> Json:
    """What was stored otherwise than sent: a trimmed text, a field that the view overrules."""
    others = {
        name: stored[name]
        for name, each in sent.items()
        if name in stored and not _same(each, stored[name], fields.get(name))
    }
    return _short(others)


def _same(sent: Any, stored: Any, field: Any) -> bool:
    """Whether a value was stored as sent. Dates, numbers and keys have more than one form."""
    if sent == stored and isinstance(sent, bool) == isinstance(stored, bool):
        return True
    if isinstance(field, serializers.JSONField):
        return False
    if _is_only_shown(field):
        return True  # sent by key and shown in some other form: nothing says that it is another row
    if is_object(sent):
        return _same_object(sent, stored, field)
    if is_object(stored):  # a row that is sent by key and shown whole
        return str(stored.get("id", sent)) == str(sent)
    if is_array(sent) and is_array(stored):
        return _same_list(sent, stored, field)
    if is_array(sent) or is_array(stored):
        return False
    if isinstance(field, serializers.CharField | serializers.RelatedField) or field is None:
        return str(sent) == str(stored) and not isinstance(sent, bool)
    try:
        return field.to_internal_value(sent) == field.to_internal_value(stored)
    except Exception:  # shown in a form that it does not take
        return str(sent) == str(stored)


def _is_only_shown(field: Any) -> bool:
    one: Any = getattr(field, "child_relation", field)
    read_only: Any = getattr(one, "read_only", False)
    return isinstance(one, _FORMS) and bool(read_only)


def _same_object(sent: Json, stored: Any, field: Any) -> bool:
    if not is_object(stored):
        return True  # it named a row, which was found: what is stored is its key
    fields: Mapping[str, Any] = getattr(field, "fields", {})
    return all(
        _same(each, stored[name], fields.get(name)) for name, each in sent.items() if name in stored
    )


def _same_list(sent: list[Any], stored: list[Any], field: Any) -> bool:
    if isinstance(field, serializers.ManyRelatedField | serializers.MultipleChoiceField):
        # A set, in whatever order; rows named by object are known by their number alone.
        keys = [str(each) for each in sent if not isinstance(each, dict)]
        shown = {str(each) for each in stored if not isinstance(each, dict)}
        return len(set(keys)) <= len(stored) <= len(sent) and (shown.issuperset(keys) or not shown)
    child = getattr(field, "child", None)
    return len(sent) == len(stored) and all(
        _same(*pair, child) for pair in zip(sent, stored, strict=True)
    )


def _short(values: Json) -> Json:
    """With long values cut: `verify` shows them whole."""
    return {name: _cut(each) for name, each in values.items()}


def _is_short(value: Any) -> bool:
    return not isinstance(value, dict | list) and len(str(value)) <= _LONGEST


def _cut(value: Any) -> Any:
    if _is_short(value):
        return value
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return value if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
