"""`preview: true`: a write that is run whole, and rolled back. The answer is the receipt that it
would have given.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from django.core.cache import caches
from django.core.cache.backends.db import BaseDatabaseCache
from django.db import DatabaseError, connections
from django.http import HttpRequest

from toolbooth.boundary.render import json_of
from toolbooth.django import messages
from toolbooth.django.call.asked_serializer import asked_serializer
from toolbooth.django.call.caller import REFUSALS, Caller, caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import refusal
from toolbooth.django.call.transactions import Transaction
from toolbooth.django.describe.discovery import is_promised
from toolbooth.django.describe.previews import (
    has_transactions,
    is_dummy,
    obstacle,
    obstacle_of_model,
)
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import split_controls

_MARK: Json = {"preview": True, "written": "nothing"}
"""What the receipt of a preview begins with."""

_NOT_FOR_THE_WRITE = ("preview", "idempotency_key")
"""Control arguments that the write itself does not get: a preview claims no key."""


def previewable(call: SyncInvocation, run: Callable[[Json], Any]) -> Callable[[Json], Any]:
    """The function of a call, which may be asked for a preview where the tool takes that."""
    name = call.arguments.called("preview")
    return run if name is None else Previewable(call=call, run=run, name=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewable:
    """A write that can be previewed."""

    call: SyncInvocation
    run: Callable[[Json], Any]
    """Makes the write, and returns its receipt."""
    name: str
    """What `preview` is called here."""

    def __call__(self, arguments: Json) -> Any:
        """Make the write, or preview it."""
        sent, asked = split_controls(arguments, self.call.arguments.controls)
        if not asked.preview:
            return self.run(arguments)
        who = caller()
        known = self.call.arguments.controls
        others = {
            key: value
            for key, value in arguments.items()
            if known.get(key) not in _NOT_FOR_THE_WRITE
        }
        beside = {key: value for key, value in sent.items() if key in self.call.arguments.slots}
        self._must_be_let_in(who, beside)
        try:
            with _kept_request(who.request):
                return _marked(self._rolled_back(who, beside, others))
        finally:
            self._count_throttles(who, beside)

    def _must_be_let_in(self, who: Caller, sent: Json) -> None:
        """Raise what a caller is told whom the view does not let in. It is asked outside of the
        transaction, so that whatever counts failed logins keeps what it counts.
        """
        answer = self.call.objection(who, sent)
        # Inside the middleware, the view may know better.
        if answer is not None and not self.call.middleware:
            raise refusal(answer, self.call.tool, self.call.arguments)

    def _rolled_back(self, who: Caller, sent: Json, others: Json) -> Any:
        with Transaction(connections) as everywhere:
            try:
                self._must_be_possible(everywhere)
                self.call.within(who, sent, partial(self._must_still_be_known, who, sent))
                receipt = self.run(others)
                refused = [alias for alias in everywhere.aliases if _is_refused(alias)]
                broken = {alias: _broken_links(alias) for alias in refused}
            except ToolInputError as error:
                raise error.replaced(untouched=True) from error.__cause__
            finally:
                everywhere.undo()
        # SQLite lists links that were broken before, too: a commit does not look at them.
        if any(links is None or links != _broken_links(alias) for alias, links in broken.items()):
            raise ToolError(self.call.tool, messages.COMMIT_WOULD_FAIL)
        return receipt

    def _must_be_possible(self, everywhere: Transaction) -> None:
        """Raise ToolInputError unless all that is written can be rolled back."""
        for connection in connections.all():
            is_open = connection.alias in everywhere.aliases
            if not is_dummy(connection) and not (is_open and has_transactions(connection)):
                raise self._refusal(messages.no_transaction_in(connection.alias))

    def _must_still_be_known(self, who: Caller, sent: Json) -> None:
        """Raise ToolInputError if something else runs by now: receivers may have been connected
        since, and the serializer may be another one for this caller.
        """
        action = self.call.action
        if is_promised(action):
            return
        serializer = model = None
        try:
            view = self.call.view(who, sent)
            if action.name != "destroy":
                serializer = asked_serializer(view, self.call.body_serializer.of)
            if action.name != "create":
                model = view.get_queryset().model
        except REFUSALS:
            return  # the view says so itself
        found = obstacle(action, serializer)
        found = found or (obstacle_of_model(model, action.name) if model is not None else "")
        if found:
            raise self._refusal(found)

    def _refusal(self, why: str) -> ToolInputError:
        problem = Problem(code="invalid", path=(self.name,), message=why)
        return ToolInputError([problem], tool=self.call.tool)

    def _count_throttles(self, who: Caller, sent: Json) -> None:
        """Have a preview count for throttles whose cache is in a database: there, what the view has
        counted was rolled back.
        """
        if not any(isinstance(each, BaseDatabaseCache) for each in caches.all()):
            return
        with suppress(*REFUSALS):
            view = self.call.view(who, sent)
            for throttle in view.get_throttles():
                # The cache may be a proxy, which has the attributes of the cache but not its class.
                if hasattr(getattr(throttle, "cache", None), "_table"):
                    throttle.allow_request(view.request, view)


# --- what a commit would refuse ---


def _is_refused(alias: str) -> bool:
    """Whether a constraint that is checked at the commit does not hold."""
    connection = connections[alias]
    if not connection.features.can_defer_constraint_checks:
        return False
    try:
        connection.check_constraints()
    except DatabaseError:
        return True
    return False


def _broken_links(alias: str) -> set[Any] | None:
    """All foreign keys of a SQLite database that lead nowhere; None for another database, where
    only those of this transaction are looked at.
    """
    connection = connections[alias]
    if connection.vendor != "sqlite":
        return None
    with connection.cursor() as cursor:
        return set(cursor.execute("PRAGMA foreign_key_check").fetchall())


# --- what is not in a database ---


@contextmanager
def _kept_request(request: HttpRequest) -> Generator[None]:
    """While this is open, what is put into the session, or into the messages for its user, is
    forgotten at the end: Django saves both after the call.
    """
    kept: Any = request
    session: Any = getattr(kept, "session", None)
    storage: Any = getattr(kept, "_messages", None)
    of_session = None if session is None else _state_of_session(session)
    of_storage = None if storage is None else _state_of_messages(storage)
    try:
        yield
    finally:
        if of_session is not None:
            _attributes(session).clear()
            _attributes(session).update(of_session)
        if of_storage is not None:
            _attributes(storage).update(of_storage)


def _attributes(of: Any) -> dict[str, Any]:
    return of.__dict__


def _state_of_session(session: Any) -> dict[str, Any]:
    """The key of a session, whether it was changed, and its contents if they have been read."""
    found = dict(_attributes(session))
    if "_session_cache" in found:
        found["_session_cache"] = deepcopy(found["_session_cache"])
    return found


def _state_of_messages(storage: Any) -> dict[str, Any]:
    """The messages that wait for the user."""
    names = ("_queued_messages", "_loaded_data", "used", "added_new")
    # The lists are changed in place, the messages in them are not.
    return {name: copy(each) for name, each in _attributes(storage).items() if name in names}


# --- the receipt ---


def _marked(receipt: Any) -> Any:
    """The receipt, which says that it is one of a preview."""
    written = json_of(receipt)
    if written[:1] != b"{" or not _MARK.keys().isdisjoint(orjson.loads(written)):
        written = orjson.dumps({"receipt": orjson.Fragment(written)})
    inside = written[1:]
    comma = b"" if inside == b"}" else b","
    return orjson.Fragment(orjson.dumps(_MARK)[:-1] + comma + inside)
