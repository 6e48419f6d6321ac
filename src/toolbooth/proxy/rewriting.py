"""Writes repaired arguments. Every part that was not repaired is copied from the text that the
client sent, so that numbers keep their digits.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.proxy.message import items, json_text, members
from toolbooth.server.redact import as_text


def rewritten(sent: str, value: Any) -> str:
    """Return a value as JSON. `sent` is the JSON text from which the value was made."""
    if sent[:1] == '"' and not isinstance(value, str):
        sent = _in_text(sent)
    if is_object(value) and sent[:1] == "{":
        return _object(sent, value)
    if is_array(value) and sent[:1] == "[":
        return _array(sent, value)
    return sent if _is_same(sent, value) else as_text(value)


def _in_text(sent: str) -> str:
    """Return the JSON in a JSON string: for `"[1]"`, return `[1]`. The JSON may have been encoded
    several times.
    """
    while sent[:1] == '"':
        try:
            sent = str(json.loads(sent)).strip()
        except ValueError:
            return sent
    return sent


def _object(sent: str, value: Json) -> str:
    spans = members(sent, 0)
    written = {
        key: rewritten(sent[start:end], value[key])
        for key, (start, end) in spans.items()
        if key in value
    }
    # Keys that a repair has renamed or added come last.
    written |= {key: as_text(each) for key, each in value.items() if key not in spans}
    return "{" + ",".join(f"{json_text(key)}:{text}" for key, text in written.items()) + "}"


def _array(sent: str, value: list[Any]) -> str:
    before = items(sent, 0)
    if len(before) != len(value):
        return as_text(value)
    return "[" + ",".join(map(rewritten, before, value)) + "]"


def _is_same(sent: str, value: Any) -> bool:
    """Return True if the JSON text `sent` has this value. The text can then be copied unchanged."""
    if isinstance(value, str):
        return sent[:1] == '"' and json.loads(sent) == value
    if value is None or isinstance(value, bool) or sent[:1] not in "-0123456789":
        return sent == as_text(value)
    try:
        if Decimal(sent) == Decimal(as_text(value)):
            return True
        # A float may have been read from more digits than it can hold.
        return isinstance(value, float) and float(sent) == value
    except (InvalidOperation, ValueError, OverflowError):
        return False
