"""Finds the writes that do not accept an idempotency key, and groups them by reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolbooth.django.call.key_limits import KeyLimitKind, limit_of_keys
from toolbooth.django.call.keyed_write import is_off
from toolbooth.django.call.messages import ANONYMOUS
from toolbooth.django.call.used_keys import alias_of_keys, has_table
from toolbooth.django.conf import configuration
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.function_views import import_path_of
from toolbooth.django.management.authenticators import authenticators_of
from toolbooth.django.management.doctor import messages
from toolbooth.django.management.doctor.findings import Cause, Finding
from toolbooth.django.management.doctor.places import line_of
from toolbooth.django.management.messages import MIGRATE, NO_TABLE_OF_KEYS

WITHOUT_LOGIN = Cause("key-without-login", messages.WITHOUT_LOGIN, messages.AUTHENTICATE)
NO_TRANSACTIONS = Cause("key-no-transactions", messages.NO_TRANSACTIONS, messages.MOVE_KEYS)
NON_ATOMIC = Cause("key-non-atomic", messages.NON_ATOMIC, messages.MAKE_ATOMIC)
DURABLE = Cause("key-durable", messages.DURABLE, messages.NOT_DURABLE)
OTHER_DATABASE = Cause("key-other-database", messages.OTHER_DATABASE, messages.MOVE_KEYS_TO_WRITES)

_CAUSES: Mapping[KeyLimitKind, Cause] = {
    "no-transactions": NO_TRANSACTIONS,
    "non-atomic": NON_ATOMIC,
    "durable": DURABLE,
    "other-database": OTHER_DATABASE,
}


def keyless_tools() -> Iterator[Finding]:
    """Yield a finding for each write that does not accept an idempotency key."""
    if is_off(configuration()):
        yield Finding("ok", messages.KEYS_OFF)
        return
    if not has_table():
        yield Finding("warning", NO_TABLE_OF_KEYS, MIGRATE)
        return
    alias = alias_of_keys()
    found = [_finding(name, action, alias) for name, action in catalogue().actions.items()]
    keyless = [each for each in found if each is not None]
    yield from keyless
    if not keyless:
        yield Finding("ok", messages.KEYS_TAKEN)


def _finding(tool: str, action: Action, alias: str) -> Finding | None:
    # Tools that are written by hand take keys only if their authors declare it.
    if action.method == "GET" or not action.path:
        return None
    limit = limit_of_keys(action, alias)
    if limit is not None:
        cause, reason, method = _CAUSES[limit.kind], limit.message, limit.method
    # A key belongs to its caller. All anonymous callers would share their keys, and could get the
    # receipt of another's write.
    elif authenticators_of(action) == ():
        cause, reason, method = WITHOUT_LOGIN, ANONYMOUS, None
    else:
        return None
    line = None if method is None else line_of(method)
    place = line or import_path_of(action.view)
    what = messages.key_not_taken(tool, place, reason)
    # Several tools may have one view, so the name of the tool is part of the place.
    return Finding("note", what, cause.cure, cause, f"{place}: {tool}")
