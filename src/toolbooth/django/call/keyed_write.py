"""Makes a write with an idempotency key only once, even if it is sent several times."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import connections

from toolbooth.boundary.render import json_of, pieces_of
from toolbooth.django.call import messages
from toolbooth.django.call.caller import REFUSALS, Caller, caller
from toolbooth.django.call.caller_identity import identity_parts
from toolbooth.django.call.identities import Identity
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.key_limits import (
    WrittenElsewhere,
    is_nested_durable,
    limit_of_keys,
    only_writing_to,
)
from toolbooth.django.call.replies import refusal
from toolbooth.django.call.stock_views import begin
from toolbooth.django.call.throttle_counts import count_again
from toolbooth.django.call.transactions import is_after_error
from toolbooth.django.call.undoable_statements import NotUndoable, only_undoable
from toolbooth.django.call.used_keys import DatabaseStore, alias_of_keys
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.discovery import Action
from toolbooth.errors import Problem, ProblemCode, ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server import messages as server_messages
from toolbooth.server.controls import control_names, split_controls
from toolbooth.server.idempotency import KeyReused, KeyUse, canonical, run_once
from toolbooth.server.key_argument import IN_META, KEY, key_of_call, value_of_receipt

Write = Callable[[Json], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedWrite:
    """A function that runs a write. With an idempotency key, the write is made only once."""

    tool: str
    action: Action
    controls: Mapping[str, str]
    """The control arguments: their names in this tool, and in `CONTROL_ARGUMENTS`."""
    write: Write
    identify: Callable[[Caller, Json], Identity]
    """Returns the identity of a caller that the view lets in. Raises the refusal of any other
    caller.
    """
    view: Callable[[Caller, Json], Any]
    """Returns the view of a call before it runs."""
    store: DatabaseStore
    is_off: bool
    """True if the project has switched keys off."""

    def __call__(self, arguments: Json) -> Any:
        """Make the write. If the call has a key with which the write was made before, return the
        earlier receipt.
        """
        sent, asked = split_controls(arguments, self.controls)
        who = caller()
        key = key_of_call(self.tool, self._name, asked.idempotency_key, who.own_meta)
        # A preview is rolled back, so it must not use up the key.
        if key is None or asked.preview:
            return self.write(arguments)
        return self._once(who, key, sent, arguments)

    @property
    def _name(self) -> str | None:
        return next((name for name, own in self.controls.items() if own == KEY), None)

    def _once(self, who: Caller, key: str, sent: Json, arguments: Json) -> Any:
        if self.is_off:
            raise self._refusal(messages.SWITCHED_OFF)
        identity = self.identify(who, sent)
        parts = identity_parts(identity, who.request)
        # Without an identity, a key could return the receipt of another caller.
        if not parts:
            is_anonymous = identity[2] is None
            raise self._refusal(messages.ANONYMOUS if is_anonymous else messages.NOT_TOLD_APART)
        alias = alias_of_keys()
        limit = limit_of_keys(self.action, alias)
        if limit is not None:
            raise self._refusal(limit.message)
        # The key is handled here. With this flag, `check_plain` lets the write pass.
        who.has_key = True
        # In a project with one tenant for each host, the same id may be another user at another
        # host.
        name = json.dumps([who.request.get_host(), *parts])
        # `sent` has no control arguments: with `verify: true` it is still the same write.
        use = KeyUse(caller=name, tool=self.tool, key=key, arguments=canonical(sent))
        begun: list[bool] = []
        try:
            receipt = run_once(self.store, use, partial(self._receipt, arguments, alias, begun))
        except ToolInputError as error:
            self._rolled_back(who, sent, begun)
            # The transaction was rolled back, so the agent may send the call again.
            raise error.replaced(untouched=True) from error.__cause__
        except Exception as error:
            self._rolled_back(who, sent, begun)
            told = self._told(error, alias)
            if told is None:
                raise
            raise told from error
        if not begun:
            self._must_still_be_let_in(who, sent, identity)
        return value_of_receipt(receipt)

    def _must_still_be_let_in(self, who: Caller, sent: Json, identity: Identity) -> None:
        """Raise the refusal if the project's own `initial` refuses the caller. `identify` has
        checked only the permissions of the view. A repeated call does not run the view, so its
        `initial` must run here.
        """
        view = self.view(who, sent)
        # The caller is known already, so the password is not hashed again.
        view.request.user, view.request.auth, view.request._authenticator = identity
        try:
            begin(view)
        except REFUSALS as error:
            raise refusal(view.handle_exception(error), self.tool) from error

    def _rolled_back(self, who: Caller, sent: Json, begun: list[bool]) -> None:
        _forget_run(who)
        # If a call has only waited for another call, throttles have not counted it.
        if begun:
            count_again(partial(self.view, who, sent))

    def _receipt(self, arguments: Json, alias: str, begun: list[bool]) -> bytes:
        begun.append(True)
        with only_writing_to(alias), only_undoable([alias]):
            value = self.write(arguments)
        # The table stores receipts as JSON, so pictures and files would be lost.
        if pieces_of(value) is not None:
            raise ToolError(self.tool, messages.CONTENT_NOT_KEPT)
        return json_of(value)

    def _told(self, error: Exception, alias: str) -> ToolInputError | None:
        """Return the refusal for an error about a key, or None for any other error."""
        if isinstance(error, KeyReused):
            return self._refusal(server_messages.KEY_REUSED, "key-reused")
        if isinstance(error, WrittenElsewhere):
            return self._refusal(messages.other_database(error.alias, alias))
        if isinstance(error, NotUndoable):
            return self._refusal(messages.not_with_key(error.why))
        # In a project that runs each request in a transaction, the view fails without a key too.
        if is_after_error(error) and not connections[alias].settings_dict["ATOMIC_REQUESTS"]:
            return self._refusal(messages.not_with_key(messages.CONTINUES_AFTER_ERROR))
        return self._refusal(messages.DURABLE) if is_nested_durable(error) else None

    def _refusal(self, why: str, code: ProblemCode = "invalid") -> ToolInputError:
        # A tool may lack the argument. Then the key was sent in `_meta`.
        path = IN_META if self._name is None else (self._name,)
        return ToolInputError([Problem(code=code, path=path, message=why)], tool=self.tool)


def with_key(call: SyncInvocation, write: Write, chosen: Configuration) -> Write:
    """Return a view's write, wrapped so that it takes a key."""
    return KeyedWrite(
        tool=call.tool,
        action=call.action,
        controls=call.arguments.controls,
        write=write,
        identify=partial(_identified, call),
        view=partial(_view, call),
        store=store_of(chosen),
        is_off=is_off(chosen),
    )


def with_key_of_function(
    tool: str, action: Action, controls: Mapping[str, str], chosen: Configuration
) -> KeyedWrite:
    """Return a function that takes a key. Its `write` must be set afterwards."""
    return KeyedWrite(
        tool=tool,
        action=action,
        controls=controls,
        write=_nothing,
        identify=partial(_identified_for_function, tool, action),
        view=lambda who, _: who.view(action),
        store=store_of(chosen),
        is_off=is_off(chosen),
    )


def _nothing(_: Json) -> None:
    """The placeholder of a write that is not set yet."""


def store_of(chosen: Configuration) -> DatabaseStore:
    """Return the store with the keys of a project."""
    return DatabaseStore(kept_seconds=chosen.key_age, wait_seconds=chosen.key_wait)


def is_off(chosen: Configuration) -> bool:
    """Return True if a project has switched keys off."""
    return KEY not in control_names(chosen.arguments)


def _identified(call: SyncInvocation, who: Caller, sent: Json) -> Identity:
    """Return the identity of a caller that the view lets in. Raises the refusal if the view refuses
    the caller.
    """
    # The view is checked again for each repetition. A caller without the permission for the write
    # must not get its receipt either.
    answer = call.objection(who, sent)
    if answer is not None:
        raise refusal(answer, call.tool, call.arguments)
    request = _view(call, who, sent).request
    return request.user, request.auth, request.successful_authenticator


def _view(call: SyncInvocation, who: Caller, sent: Json) -> Any:
    """Return the view of a call before it runs."""
    slots = call.arguments.slots
    # The body is left out: a list of rows is not among the view's own arguments.
    of_request = {
        name: each for name, each in sent.items() if name in slots and slots[name].part != "body"
    }
    return call.view(who, of_request)


def _identified_for_function(tool: str, action: Action, who: Caller, _: Json) -> Identity:
    answer = who.objection(action)
    if answer is not None:
        raise refusal(answer, tool)
    request = who.admitted_view(action, {}).request
    return request.user, request.auth, request.successful_authenticator


def _forget_run(who: Caller) -> None:
    """Forget that a view has run, because its write was rolled back. The view may have returned a
    success.
    """
    # The run of a view that has refused the call is kept: the audit log takes the reason from it.
    if who.last_run is not None and who.last_run[1].status_code < 400:
        who.last_run = None
    if who.bulk is not None:
        who.bulk = (who.bulk[0], None)
