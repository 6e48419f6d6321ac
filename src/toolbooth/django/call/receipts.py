"""What a write is answered with: which row it was, what was set, what was defaulted, what was
stored otherwise.

Small, and it proves the write: an update that changed nothing says so. `verify: true` gives the
whole object.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import orjson
from django.db.models import Model
from rest_framework import serializers

from toolbooth.django.call.caller import REFUSALS, Caller, caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import as_json, encoded
from toolbooth.django.describe.discovery import Action
from toolbooth.jsonvalue import Json
from toolbooth.server.results.arguments import taken_apart

logger = logging.getLogger("toolbooth.django")


_stock: Any = serializers.Serializer
"""REST framework's own serializer, whose generic type says nothing here."""

_FORMS = (serializers.RelatedField, serializers.BaseSerializer, serializers.SerializerMethodField)
"""Fields that may show a row in other words than it is sent in."""

_WRITES = frozenset(("create", "update", "partial_update"))
_CALLED = ("name", "title", "display", "slug")
"""Fields by which people know a row."""

_LONGEST = 100
"""Characters of one value in a receipt."""


def is_receipted(action: Action) -> bool:
    """Whether an action is answered with a receipt, should it write a row."""
    return action.name in _WRITES and action.method in ("POST", "PUT", "PATCH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipted:
    """A create or an update, answered with a receipt where what it wrote is a row of a model."""

    call: SyncInvocation

    def __call__(self, arguments: Json) -> Any:
        """Run the action, and say what became of the row."""
        sent, asked = taken_apart(arguments, self.call.arguments.protocol)
        who = caller()
        before = (
            None
            if asked.verify or self.call.action.method == "POST"
            else _Before.of(self.call, who, sent)
        )
        value = self.call.value(self.call.respond(who, sent))
        saved = None if asked.verify else saved_by(value)
        return encoded(
            value if saved is None else self._receipt(value, saved, sent, before), self.call.tool
        )

    def _receipt(
        self, value: Mapping[str, Any], saved: Any, sent: Json, before: _Before | None
    ) -> Json:
        body = list(self.call.arguments.named("body").values())
        names = [name for name in body if name in sent]
        stored = as_json(
            {name: each for name, each in value.items() if name in names or name not in body}
        )
        made = identity(value, saved, self.call.action)
        told: Json = {"set": names}
        others: Json = {}
        if before is not None:
            told, others = before.compared(value, saved, names)
        elif self.call.action.method == "POST":
            told["defaulted"] = [name for name in body if name not in sent]
            if not names:
                told["note"] = "No field was sent: the row has nothing but defaults."
            others = {
                name: each
                for name, each in stored.items()
                if name not in names and name not in made
            }
        told["stored_as"] = _otherwise({name: sent[name] for name in names}, stored, saved.fields)
        if "note" in told and told["stored_as"]:
            told["note"] = "Nothing changed: the view stored something else."
        told["set"] = [name for name in told["set"] if name not in told["stored_as"]]
        told["assigned"] = {name: each for name, each in others.items() if _is_short(each)}
        return {
            **made,
            **{key: each for key, each in told.items() if each or key in ("set", "defaulted")},
        }


def saved_by(value: Any) -> Any:
    """The serializer whose row a view answered with; None where the answer is something else."""
    serializer: Any = getattr(value, "serializer", None)
    is_row = isinstance(serializer, serializers.Serializer) and isinstance(
        cast("Any", serializer).instance, Model
    )
    return cast("Any", serializer) if is_row else None


def identity(value: Mapping[str, Any], saved: Any, action: Action) -> Json:
    """Which row it is: its key, what it is looked up by, and what people call it."""
    name, key = keyed(value, saved, saved.instance)
    made: Json = {name: key}
    lookup: str = getattr(action.view, "lookup_field", "pk")
    if lookup in value:
        made.setdefault(lookup, value[lookup])
    called = next((each for each in _CALLED if isinstance(value.get(each), str)), None)
    if called is not None:
        made.setdefault(called, _cut(value[called]))
    return as_json(made)


def keyed(value: Mapping[str, Any], serializer: Any, row: Any) -> tuple[str, Any]:
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
            return cls(serializer, _held(serializer, row))
        except REFUSALS:
            return None
        except Exception:
            logger.debug("the row that %s is to change could not be read", call.tool, exc_info=True)
            return None

    def compared(self, value: Mapping[str, Any], saved: Any, names: list[str]) -> tuple[Json, Json]:
        """What was set and what was the same, of what was sent; and what else is another now."""
        plain = cast("Any", type(saved)).to_representation is _stock.to_representation
        if plain and type(saved) is type(self.serializer):  # already written, relations included
            now = as_json({name: each for name, each in value.items() if name in self.held})
        else:
            now = _held(self.serializer, saved.instance)
        same = [name for name in names if name in self.held and self.held[name] == now.get(name)]
        others = {name: now.get(name) for name, each in self.held.items() if each != now.get(name)}
        told: Json = {"set": [name for name in names if name not in same]}
        if same:
            told["unchanged"] = same
        if not told["set"] and all(self.serializer.fields[name].read_only for name in others):
            told["note"] = "Nothing changed: " + (
                "the row held all this already." if names else "no field was sent."
            )
        return told, {name: each for name, each in others.items() if name not in names}


def _keep_only(serializer: Any, row: Any, sent: Iterable[str]) -> None:
    """Leave the fields that were sent, and those that cost no query."""
    columns = {field.name for field in row._meta.concrete_fields}
    for name, field in list(serializer.fields.items()):
        related = isinstance(field, serializers.BaseSerializer | serializers.RelatedField)
        keyed_only = isinstance(field, serializers.PrimaryKeyRelatedField)
        if name not in sent and not (field.source in columns and (keyed_only or not related)):
            del serializer.fields[name]


def _held(serializer: Any, row: Any) -> Json:
    # Not the author's own form of it, which may need fields that were left out.
    return as_json(_stock.to_representation(serializer, row))


# --- what was sent, and what was stored ---


def _otherwise(sent: Json, stored: Json, fields: Mapping[str, Any]) -> Json:
    """What was stored otherwise than it was sent: a trimmed text, a field that the view overrules."""
    shown = {name: each for name, each in sent.items() if name in stored}
    return _short(
        {
            name: stored[name]
            for name in shown
            if not _same(sent[name], stored[name], fields.get(name))
        }
    )


def _same(sent: Any, stored: Any, field: Any) -> bool:
    """Whether a value was stored as it was sent. Dates, numbers and keys have more than one form."""
    if sent == stored and isinstance(sent, bool) == isinstance(stored, bool):
        return True
    if isinstance(field, serializers.JSONField):
        return False
    if _is_only_shown(field):
        return True  # sent by key and shown in some other form: nothing says that it is another row
    if isinstance(sent, Mapping):
        return _same_object(cast("Json", sent), stored, field)
    if isinstance(stored, Mapping):  # a row that is sent by key and shown whole
        return str(cast("Json", stored).get("id", sent)) == str(sent)
    if isinstance(sent, list) or isinstance(stored, list):
        lists = isinstance(sent, list) and isinstance(stored, list)
        return lists and _same_list(cast("list[Any]", sent), cast("list[Any]", stored), field)
    if isinstance(field, serializers.CharField | serializers.RelatedField) or field is None:
        return str(sent) == str(stored) and not isinstance(sent, bool)
    try:
        return field.to_internal_value(sent) == field.to_internal_value(stored)
    except Exception:  # shown in a form that it does not take
        return str(sent) == str(stored)


def _is_only_shown(field: Any) -> bool:
    one: Any = getattr(field, "child_relation", field)
    return isinstance(one, _FORMS) and bool(cast("Any", one).read_only)


def _same_object(sent: Json, stored: Any, field: Any) -> bool:
    if not isinstance(stored, Mapping):
        return True  # it named a row, which was found: what is stored is its key
    fields: Mapping[str, Any] = getattr(field, "fields", {})
    table = cast("Json", stored)
    return all(
        _same(each, table[name], fields.get(name)) for name, each in sent.items() if name in table
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
    return {name: each if _is_short(each) else _cut(each) for name, each in values.items()}


def _is_short(value: Any) -> bool:
    return not isinstance(value, dict | list) and len(str(value)) <= _LONGEST


def _cut(value: Any) -> Any:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return value if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
