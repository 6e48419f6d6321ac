"""Makes the receipt of a delete. The receipt has the numbers of rows that the call has deleted,
unlinked or changed, for each model. Rows that the caller cannot list are not counted.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import IntegrityError

from toolbooth.django import messages
from toolbooth.django.call.blocked_deletes import refused_by_database
from toolbooth.django.call.caller import Caller, caller
from toolbooth.django.call.changed_rows import RowChange, counting_rows
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import json_fragment
from toolbooth.django.call.visible_rows import VisibleRows
from toolbooth.django.describe.published_models import PublishedModels, model_of
from toolbooth.errors import ToolError
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import check_plain, split_controls

logger = logging.getLogger("toolbooth.django")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptedDelete:
    """A delete that returns a receipt of its effects on rows."""

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
        # The views that list rows authenticate the caller too. With this, a password is hashed only
        # once.
        self.call.recognise(who, sent)
        visible = VisibleRows(who=who, published=who.models, path_values=values)
        with counting_rows(visible.count) as changes:
            try:
                response = self.call.respond(who, sent)
            except IntegrityError as error:
                # Other constraints raise the same exception. Then the database's own error is
                # passed on.
                raise self._refused(who, sent, visible) or error from error
        value = self.call.value(response)
        receipt = self._receipt(changes.kept(), who.models)
        # Most deletes return no content. Then the receipt is the whole result.
        if getattr(response, "data", None) is None:
            return receipt
        # The view's own response is kept. The receipt is added only if no key is in both.
        if not changes.kept() or not value.keys().isdisjoint(receipt):
            return json_fragment(value, self.call.tool)
        return json_fragment({**value, **receipt}, self.call.tool)

    def _refused(self, who: Caller, sent: Json, visible: VisibleRows) -> ToolError | None:
        """Return the error for a delete that the database refused because of other rows. Return
        None if there are no such rows.
        """
        try:
            why = refused_by_database(self.call.view(who, sent).get_object(), visible)
        except Exception:  # the row cannot be read any more
            logger.debug("%s: what prevents it is not known", self.call.tool, exc_info=True)
            return None
        return ToolError(self.call.tool, why) if why else None

    def _receipt(self, changes: list[RowChange], published: PublishedModels) -> Json:
        own = model_of(self.call.action)
        counted = _Counted(published, own)
        for change in changes:
            counted.add(change)
        kinds = counted.kinds()
        notes: list[str] = []
        if counted.keeps_own_row:
            notes.append(messages.ROW_KEPT)
        elif not kinds and not counted.has_others:
            notes.append(messages.NO_ROW_DELETED)
        if counted.has_others:
            notes.append(messages.OTHERS_TOO)
        # `deleted` is there even if it is empty, so that an agent sees that an archiving delete has
        # deleted nothing.
        receipt: Json = {"deleted": {}, **kinds}
        return {**receipt, "note": " ".join(notes)} if notes else receipt


class _Counted:
    """Counts the changed rows of each model that the caller could read. The "own row" is the row
    that the call asks to delete.
    """

    def __init__(self, published: PublishedModels, own: Any) -> None:
        self._shown: dict[str, Counter[str]] = {
            kind: Counter() for kind in ("deleted", "unlinked", "changed")
        }
        self._published = published
        self._own = own
        self._kinds_of_own: set[str] = set()
        self._kinds_of_part: set[str] = set()
        """The kinds of changes to those columns of the own row that are in a parent's table. The
        caller cannot list the rows of that table.
        """
        self._unseen_of_own: set[str] = set()
        """The kinds of changes to rows of the own row's model that the caller cannot list."""
        self._deleted: Counter[Any] = Counter()
        """The deleted rows that are shown, by model."""
        self._hidden: Counter[Any] = Counter()
        """The deleted or unlinked rows that are not shown, by model."""

    @property
    def keeps_own_row(self) -> bool:
        return bool(self._kinds_of_own) and "deleted" not in self._kinds_of_own

    @property
    def has_others(self) -> bool:
        """True if the call affected rows that the caller could not read."""
        return any(count > self._parts(model) for model, count in self._hidden.items())

    def _parts(self, model: Any) -> int:
        """Return how many rows in the table of a parent model are parts of deleted rows of derived
        models. Callers do not see these parts as separate rows.
        """
        derived = (each for each in self._deleted if model in each._meta.get_parent_list())
        return sum(self._deleted[each] for each in derived)

    def add(self, change: RowChange) -> None:
        is_own = change.model is self._own
        is_part = self._is_part_of_own(change.model)
        # The visible rows are counted by a separate query, and another transaction may change rows
        # between the two statements.
        shown = min(change.count, change.visible)
        hidden = change.count - shown
        if is_own or is_part:
            self._kinds_of_own.add(change.kind)
        if shown:
            self._shown[change.kind][self._published.plural(change.model)] += shown
        elif is_own:
            self._unseen_of_own.add(change.kind)
        elif is_part and change.kind != "deleted":
            self._kinds_of_part.add(change.kind)
            # One of these rows is a part of the caller's own row, which is counted in `kinds`.
            hidden -= 1
        if change.kind == "deleted":
            self._deleted[change.model] += shown
        # A change in a row that is not published may have another reason, such as the time of the
        # last login.
        if change.kind != "changed":
            self._hidden[change.model] += hidden

    def _is_part_of_own(self, model: Any) -> bool:
        """Return True if this model is a parent of the own row's model. Then a part of the own row
        is stored in the parent's table.
        """
        return self._own is not None and model in self._own._meta.get_parent_list()

    def _count_own(self, kind: str) -> None:
        """Count the own row, even if the caller cannot list it."""
        name = self._published.plural(self._own)
        if self._shown[kind][name]:
            return
        self._shown[kind][name] = 1
        if kind == "deleted":
            self._deleted[self._own] += 1
        if kind != "changed":
            self._hidden[self._own] -= 1

    def kinds(self) -> Json:
        """Return the numbers of rows, by the kind of change and the plural name of the model."""
        for kind in self._unseen_of_own:
            self._count_own(kind)
        for kind in self._kinds_of_part:
            own = self._published.plural(self._own)
            self._shown[kind][own] = max(1, self._shown[kind][own])
        return {kind: dict(found) for kind, found in self._shown.items() if found}
