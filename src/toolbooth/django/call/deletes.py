"""The answer to a delete: how many rows of each kind are gone, or have lost their link; or which
rows prevent it. Rows that the caller cannot list are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import ProtectedError, RestrictedError

from toolbooth.django import messages
from toolbooth.django.call.caller import Caller, caller
from toolbooth.django.call.changed_rows import RowChange, counting_rows
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import json_fragment
from toolbooth.django.call.visible_rows import VisibleRows, in_words, rows_of
from toolbooth.django.describe.published_models import PublishedModels, model_of
from toolbooth.errors import ToolError
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import check_plain, split_controls

MOST_NAMED = 10
"""Rows that are named if they prevent a delete."""

_MOST_LOOKED_AT = 1_000
"""Rows among which those are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptedDelete:
    """A delete, answered with what it did to the rows of the project."""

    call: SyncInvocation

    def __call__(self, arguments: Json) -> Any:
        """Run the action, and count the rows."""
        sent, asked = split_controls(arguments, self.call.arguments.controls)
        who = caller()
        check_plain(asked, has_key=who.has_key)
        delete = partial(self._deleted, who, sent)
        return self.call.within(who, sent, delete) if self.call.middleware else delete()

    def _deleted(self, who: Caller, sent: Json) -> Any:
        in_path = self.call.arguments.named("path").items()
        values = {name: sent[argument] for name, argument in in_path if argument in sent}
        # The views that list rows are asked too: a password is still hashed only once.
        self.call.recognise(who, sent)
        visible = VisibleRows(who=who, published=who.models, path_values=values)
        with counting_rows(visible.count) as changes:
            try:
                response = self.call.respond(who, sent)
            except (ProtectedError, RestrictedError) as error:
                raise ToolError(self.call.tool, _blocked(error, visible)) from error
        value = self.call.value(response)
        receipt = self._receipt(changes.kept(), who.models)
        if getattr(response, "data", None) is None:
            return receipt
        # The view's own answer stays as it is, and says in its own words what it has said.
        if not changes.kept() or not value.keys().isdisjoint(receipt):
            return json_fragment(value, self.call.tool)
        return json_fragment({**value, **receipt}, self.call.tool)

    def _receipt(self, changes: list[RowChange], published: PublishedModels) -> Json:
        own = model_of(self.call.action)
        counted = _Counted(published, own)
        for change in changes:
            counted.add(change)
        kinds: Json = {kind: dict(found) for kind, found in counted.shown.items() if found}
        notes: list[str] = []
        if counted.only_changed_own_row:
            notes.append(messages.ROW_KEPT)
        elif not kinds and not counted.has_others:
            notes.append(messages.NO_ROW_DELETED)
        if counted.has_others:
            notes.append(messages.OTHERS_TOO)
        receipt: Json = {"deleted": {}, **kinds}
        return {**receipt, "note": " ".join(notes)} if notes else receipt


class _Counted:
    """The rows of each kind that the caller could read."""

    def __init__(self, published: PublishedModels, own: Any) -> None:
        self.shown: dict[str, Counter[str]] = {
            kind: Counter() for kind in ("deleted", "unlinked", "changed")
        }
        self.has_others = False
        """There are rows that the caller could not read."""
        self._published = published
        self._own = own
        self._kinds_of_own: set[str] = set()

    @property
    def only_changed_own_row(self) -> bool:
        return self._kinds_of_own == {"changed"}

    def add(self, change: RowChange) -> None:
        is_own = change.model is self._own
        # The caller has named the row itself, whether or not it could be listed.
        visible = max(change.visible, 1) if is_own else change.visible
        shown = min(change.count, visible)
        if is_own:
            self._kinds_of_own.add(change.kind)
        if shown:
            self.shown[change.kind][self._published.plural(change.model)] += shown
        # A column of a row that is not published may have been changed for reasons of its own, such
        # as the time of the last login.
        if shown < change.count and change.kind != "changed":
            self.has_others = True


# --- what prevents a delete ---


def _blocked(error: ProtectedError | RestrictedError, visible: VisibleRows) -> str:
    if isinstance(error, ProtectedError):
        rows: Iterable[Any] = error.protected_objects
    else:
        rows = error.restricted_objects
    by_model: dict[Any, list[Any]] = {}
    for row in rows:
        by_model.setdefault(row._meta.concrete_model, []).append(row.pk)
    named: list[tuple[str, list[str]]] = []
    count = 0
    for model, keys in by_model.items():
        found = list(_named(visible, model, keys))
        count += len(found)
        if found:
            named.append((visible.published.plural(model), found))
    return messages.blocked_by(named, has_others=count < sum(map(len, by_model.values())))


def _named(visible: VisibleRows, model: Any, keys: list[Any]) -> Iterator[str]:
    """The first of these rows that the caller can list, by key and name."""
    for view in visible.views(model)[:1]:
        found = rows_of(view).filter(pk__in=keys[:_MOST_LOOKED_AT])[:MOST_NAMED]
        yield from (in_words(view, row) for row in found)
