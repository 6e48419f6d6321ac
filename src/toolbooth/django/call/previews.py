"""Previews a write (`preview: true`). The write runs completely, and is rolled back. The result is
the receipt that the write would have returned.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from django.db import DatabaseError, connections
from django.http import HttpRequest

from toolbooth.boundary.render import json_of
from toolbooth.django import messages
from toolbooth.django.call import messages as call_messages
from toolbooth.django.call.asked_serializer import asked_serializer
from toolbooth.django.call.caller import REFUSALS, Caller, caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.key_limits import is_nested_durable
from toolbooth.django.call.replies import refusal
from toolbooth.django.call.running_serializer import WATCH
from toolbooth.django.call.throttle_counts import count_again
from toolbooth.django.call.transactions import Transaction, is_after_error
from toolbooth.django.call.undoable_statements import NotUndoable, only_undoable
from toolbooth.django.describe.discovery import is_promised
from toolbooth.django.describe.previews import (
    has_transactions,
    is_dummy,
    obstacle,
    obstacle_of_model,
    obstacle_of_serializer,
)
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import split_controls

_MARK: Json = {"preview": True, "written": "nothing"}
"""The first keys of the receipt of a preview."""

_AFTER_ERROR = call_messages.not_previewed(call_messages.CONTINUES_AFTER_ERROR)

_NOT_FOR_THE_WRITE = ("preview", "idempotency_key")
"""Control arguments that are not passed to the write: a preview claims no key."""


class _NotKnown(BaseException):
    """Ends a preview if the view's serializer may do more than write rows. It derives from
    BaseException, so that a project's own `except Exception` does not catch it.
    """

    def __init__(self, why: str) -> None:
        self.why = why


def previewable(call: SyncInvocation, run: Callable[[Json], Any]) -> Callable[[Json], Any]:
    """Return the function of a call, wrapped in `Previewable` if the tool has `preview`."""
    name = call.arguments.called("preview")
    return run if name is None else Previewable(call=call, run=run, name=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewable:
    """A write that can be previewed."""

    call: SyncInvocation
    run: Callable[[Json], Any]
    """Makes the write, and returns its receipt."""
    name: str
    """The name of `preview` in this tool."""

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
        # The rows of a bulk create are left out: they are not among the view's own arguments.
        beside = {key: value for key, value in sent.items() if key in self.call.arguments.slots}
        self._must_be_let_in(who, beside)
        try:
            with _kept_request(who.request):
                return _marked(self._rolled_back(who, beside, others))
        finally:
            count_again(partial(self.call.view, who, beside))

    def _must_be_let_in(self, who: Caller, sent: Json) -> None:
        """Raise the refusal if the view does not let the caller in. This check is outside of the
        transaction, so that counts of failed logins are not rolled back.
        """
        answer = self.call.objection(who, sent)
        # The host's middleware may recognise the caller. Then the view decides inside the
        # middleware.
        if answer is not None and not self.call.middleware:
            raise refusal(answer, self.call.tool, self.call.arguments)

    def _rolled_back(self, who: Caller, sent: Json, others: Json) -> Any:
        with Transaction(connections) as everywhere:
            try:
                # This is checked here, because only now it is known in which databases a
                # transaction has begun.
                self._must_be_possible(everywhere)
                self.call.within(who, sent, partial(self._must_still_be_known, who, sent))
                receipt = self._watched(others, everywhere)
                # The view has caught a database error. Without a preview, the write would continue.
                if everywhere.is_broken():
                    raise self._refusal(_AFTER_ERROR)
                # Deferred constraints are checked at the commit, which a preview never reaches.
                refused = [alias for alias in everywhere.aliases if _is_refused(alias)]
                broken = {alias: _broken_links(alias) for alias in refused}
            except ToolInputError as error:
                raise error.replaced(untouched=True) from error.__cause__
            finally:
                everywhere.undo()
        # SQLite also lists links that were broken before. A commit does not check those.
        if any(links is None or links != _broken_links(alias) for alias, links in broken.items()):
            raise ToolError(self.call.tool, messages.COMMIT_WOULD_FAIL)
        return receipt

    def _watched(self, others: Json, everywhere: Transaction) -> Any:
        """Run the write. The serializers are checked while the view runs, except if the author has
        promised that this view can be previewed.
        """
        is_known = is_promised(self.call.action)
        token = WATCH.set(None if is_known else self._must_only_write)
        try:
            with only_undoable(everywhere.aliases):
                return self.run(others)
        except _NotKnown as found:
            raise self._refusal(found.why) from None
        except NotUndoable as error:
            raise self._refusal(call_messages.not_previewed(error.why)) from error
        except DatabaseError as error:
            if is_after_error(error):
                raise self._refusal(_AFTER_ERROR) from error
            raise
        except RuntimeError as error:
            if is_nested_durable(error):
                raise self._refusal(messages.COMMITS_ITSELF) from error
            raise
        finally:
            WATCH.reset(token)

    def _must_only_write(self, serializer: Any) -> None:
        """Raise _NotKnown if a serializer may do more than write rows. This is checked during the
        call, because the view may choose its serializer by the body.
        """
        found = obstacle_of_serializer(self.call.action.name, serializer)
        if found:
            raise _NotKnown(found)

    def _must_be_possible(self, everywhere: Transaction) -> None:
        """Raise ToolInputError if a database could not roll back its writes."""
        for connection in connections.all():
            is_open = connection.alias in everywhere.aliases
            if not is_dummy(connection) and not (is_open and has_transactions(connection)):
                raise self._refusal(messages.no_transaction_in(connection.alias))

    def _must_still_be_known(self, who: Caller, sent: Json) -> None:
        """Raise ToolInputError if the write can no longer be previewed. Signal receivers may have
        been connected since the tool was described, and this caller's serializer may be another
        one.
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
            return  # the view refuses the call itself
        found = obstacle(action, serializer)
        found = found or (obstacle_of_model(model, action.name) if model is not None else "")
        if found:
            raise self._refusal(found)

    def _refusal(self, why: str) -> ToolInputError:
        problem = Problem(code="invalid", path=(self.name,), message=why)
        return ToolInputError([problem], tool=self.call.tool)


# --- what a commit would refuse ---


def _is_refused(alias: str) -> bool:
    """Return True if the writes violate a constraint that the database checks only at the
    commit.
    """
    connection = connections[alias]
    # Such a database has checked every statement already.
    if not connection.features.can_defer_constraint_checks:
        return False
    try:
        connection.check_constraints()
    except DatabaseError:
        return True
    return False


def _broken_links(alias: str) -> set[Any] | None:
    """Return all foreign keys in a SQLite database that refer to a missing row. Other databases
    check only the foreign keys of this transaction, so return None for them.
    """
    connection = connections[alias]
    if connection.vendor != "sqlite":
        return None
    with connection.cursor() as cursor:
        return set(cursor.execute("PRAGMA foreign_key_check").fetchall())


# --- what is not in a database ---


@contextmanager
def _kept_request(request: HttpRequest) -> Generator[None]:
    """When this context ends, undo all changes to the session, and to the messages for the user.
    Django would save them after the call.
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
            # The session is cleared first, because attributes that the view has added must be
            # removed too.
            _attributes(session).clear()
            _attributes(session).update(of_session)
        if of_storage is not None:
            _attributes(storage).update(of_storage)


def _attributes(of: Any) -> dict[str, Any]:
    return of.__dict__


def _state_of_session(session: Any) -> dict[str, Any]:
    """Return the key of a session, its `modified` flag, and its contents if they have been read."""
    found = dict(_attributes(session))
    # A view may change a list or an object inside the session in place.
    if "_session_cache" in found:
        found["_session_cache"] = deepcopy(found["_session_cache"])
    return found


def _state_of_messages(storage: Any) -> dict[str, Any]:
    """Return the messages that wait for the user."""
    names = ("_queued_messages", "_loaded_data", "used", "added_new")
    # The lists are changed in place, but the messages in them are not.
    return {name: copy(each) for name, each in _attributes(storage).items() if name in names}


# --- the receipt ---


def _marked(receipt: Any) -> Any:
    """Return the receipt, marked as the receipt of a preview."""
    written = json_of(receipt)
    # The mark cannot be added to a list, and must not replace a `preview` of the view's own.
    if written[:1] != b"{" or not _MARK.keys().isdisjoint(orjson.loads(written)):
        written = orjson.dumps({"receipt": orjson.Fragment(written)})
    inside = written[1:]
    comma = b"" if inside == b"}" else b","
    # The parts are joined as bytes, so that numbers keep all their digits.
    return orjson.Fragment(orjson.dumps(_MARK)[:-1] + comma + inside)
