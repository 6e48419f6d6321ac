"""Writes one line to the log `toolbooth.audit` for each call that writes: the user, the
authenticator, the tool, the row, the fields, and the outcome.

A line has names and keys, but no other values. An observer writes the line when the outcome is
known: after the view's transaction or, for a call with many rows, after the transaction of the
whole call. The observer is attached only if the log is enabled.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from toolbooth.boundary.read import text_as_json
from toolbooth.django import messages
from toolbooth.django.call.bulk import keys_in
from toolbooth.django.call.caller import Caller, caller
from toolbooth.django.call.receipts import serializer_of
from toolbooth.django.describe.catalogue import Catalogue, started_catalogue
from toolbooth.django.describe.discovery import Action
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.secret_names import is_secret_name
from toolbooth.server.envelope import id_in
from toolbooth.server.observe import CallRecord
from toolbooth.server.registry import ToolRegistry

audit_log = logging.getLogger("toolbooth.audit")

MOST_KEYS = 10
"""A line has at most this many keys of rows."""

HIDDEN = "[hidden]"

_LONGEST = 100
"""A key, or the id of a request, has at most this many characters."""

_OUTCOMES = {"PUT": "changed", "PATCH": "changed", "DELETE": "deleted"}

_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
"""Matches an integer in the text of a URL."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)

_lock = threading.Lock()


def observe_writes(registry: ToolRegistry) -> None:
    """Write a line to the log for each call of these tools that writes."""
    with _lock:
        # Several threads may serve their first request at the same time.
        if not any(each is _write_line for each, _ in registry.observers):
            registry.observe(_write_line)


def _write_line(record: CallRecord) -> None:
    # The endpoint has checked this too, but an observer stays attached if the log is switched off
    # later.
    if not audit_log.isEnabledFor(logging.INFO):
        return
    who, found = caller(), started_catalogue()
    action = found.actions.get(record.tool)
    has_passed = record.outcome in ("passed", "repaired")
    # Help, and further pages of a result, run no view. A call of a dispatcher may not name an
    # action.
    if action is None or _is_query(found, record.tool) or (has_passed and who.last_run is None):
        return
    line: Json = {
        **_caller(who, action),
        "tool": record.tool,
        "outcome": _outcome(record, who, action),
        "preview": record.preview,
        "codes": _codes(record, who),
        **_rows(who, action, is_preview=record.preview),
        "fields": _fields(who, found, record.tool),
        "request_id": _request_id(who),
        "x_request_id": _cut(who.request.headers.get("X-Request-ID")),
    }
    audit_log.info("%s", messages.audit_line(**line), extra=line)


def _is_query(found: Catalogue, tool: str) -> bool:
    annotations = found.registry.find(tool).annotations
    return bool((annotations or {}).get("readOnlyHint"))


def _caller(who: Caller, action: Action) -> Json:
    user, authenticator = who.known_as(action)
    return {
        "user": _key(getattr(user, "pk", None)),
        "credential": None if authenticator is None else type(authenticator).__name__,
    }


# --- the outcome ---


def _outcome(record: CallRecord, who: Caller, action: Action) -> str:
    if record.outcome == "refused" or _refusal(record, who) is not None:
        return "refused"
    if not _is_written(record, who):
        return "failed"
    if record.preview:
        return "previewed"
    # For an action of another name, such as `clone`, the status 201 shows that it has created a
    # row.
    if action.name == "create" or _status(who) == 201:
        return "created"
    return _OUTCOMES.get(action.method, "done")


def _codes(record: CallRecord, who: Caller) -> list[str]:
    """Return the reasons for a refusal: the codes of the problems, or the status of the view."""
    status = _refusal(record, who)
    codes = record.problems if status is None else (str(status),)
    return list(dict.fromkeys(codes))


def _refusal(record: CallRecord, who: Caller) -> int | None:
    """Return the status with which a view refused the caller or the call. Return None if no view
    refused it.
    """
    if record.outcome != "failed":
        return None
    status = _status(who)
    # `login` is reset as soon as a view recognises the caller. It is still set, so the call failed
    # for lack of credentials.
    if status is None and who.login is not None:
        return 401
    if status is None:
        return who.objected
    return status if 400 <= status < 500 else None


def _is_written(record: CallRecord, who: Caller) -> bool:
    """Return True if the view has made the write, even if its response could not be sent."""
    if who.bulk is not None:
        return who.bulk[1] is not None
    status = _status(who)
    return record.outcome != "failed" or (status is not None and status < 400)


def _status(who: Caller) -> int | None:
    return None if who.last_run is None else who.last_run[1].status_code


# --- rows ---


def _rows(who: Caller, action: Action, *, is_preview: bool) -> Json:
    """Return the key of the row. For many rows, return the number of rows and the first keys. In a
    preview of a create the row has no key.
    """
    is_made = not (is_preview and action.name == "create")
    if who.bulk is None:
        return {"row": _row(who, action) if is_made else None, "count": None, "rows": None}
    sent, made = who.bulk
    keys = None if made is None or not is_made else keys_in(made)
    first = [_key(each) for each in (keys or [])[:MOST_KEYS]]
    return {"row": None, "count": len(sent if keys is None else keys), "rows": first}


def _row(who: Caller, action: Action) -> Any:
    saved = None if who.last_run is None else serializer_of(_data(who.last_run[1]))
    is_own = action.name in ("create", "update", "partial_update")
    if saved is not None and is_own:
        return _key(saved.instance.pk)
    if action.name == "create":
        return None  # the URL names another row, if any
    kwargs = who.kwargs_of(action)
    view: Any = action.view
    name: str = getattr(view, "lookup_url_kwarg", None) or getattr(view, "lookup_field", "pk")
    if name not in kwargs:
        # The last value in a URL is the nearest to the row: 5 in `/projects/3/tasks/5/`.
        name = ["", *kwargs][-1]
    key = HIDDEN if is_secret_name(name) else _key(kwargs.get(name))
    has_run = 200 <= (_status(who) or 0) < 400
    # A refused call may have any text in the place of a key.
    return key if has_run or isinstance(key, int) or _is_uuid(key) else None


def _is_uuid(key: Any) -> bool:
    return isinstance(key, str) and _UUID.fullmatch(key) is not None


def _data(response: Any) -> Any:
    return getattr(response, "data", None)


def _key(value: Any) -> Any:
    """Return a key as the log shows it. E-mail addresses are hidden, because some projects use them
    as keys.
    """
    if value is None or isinstance(value, int):
        return value
    text = str(value)
    # The URL has the key `"5"` as text, and the row has it as a number. Both are logged as a
    # number.
    if _NUMBER.fullmatch(text):
        return int(text)
    return HIDDEN if "@" in text else _cut(text)


# --- fields ---


def _fields(who: Caller, found: Catalogue, tool: str) -> list[str]:
    """Return the names of the sent fields that the tool declares. Undeclared names are left out,
    because they could be any text.
    """
    declared = found.body_names.get(tool)
    if declared is None:
        shape = found.registry.find(tool).contract.shape
        declared = [name for form in shape.objects for name in form.fields]
    sent = set(_names(who, declared))
    return [name for name in declared if name in sent]


def _names(who: Caller, declared: Iterable[str]) -> Iterator[str]:
    if who.bulk is not None:
        for row in who.bulk[0]:
            yield from row
    # The body that the view got has the declared names. In the arguments as sent, the fields may
    # still be inside a wrapper or under a misspelt name.
    elif who.last_run is not None and who.last_run[2] is not None:
        yield from who.last_run[2]
    else:
        yield from _names_sent(text_as_json(who.sent), set(declared))


def _names_sent(sent: Any, declared: set[str]) -> Iterator[str]:
    """Yield the keys of a refused call. If the tool does not declare a key, also yield the keys
    inside its value, because the value may hold the arguments: `params` of a dispatcher, a wrapper,
    or a list of rows.
    """
    if not is_object(sent):
        return
    for name, value in sent.items():
        yield name
        inner = text_as_json(value)
        objects = inner if is_array(inner) else [inner]
        for each in objects if name not in declared else ():
            yield from each if is_object(each) else ()


# --- the message ---


def _request_id(who: Caller) -> Any:
    """Return the id of the JSON-RPC message."""
    found = None if who.message is None else id_in(who.message.body)
    # JSON-RPC allows any text as an id, of any length.
    return found if isinstance(found, int) else _cut(found)


def _cut(value: Any) -> str | None:
    return None if value is None else str(value)[:_LONGEST]
