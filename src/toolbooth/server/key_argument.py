"""Reads the idempotency key of a call. It may be an argument, or be sent in
`_meta.toolbooth.idempotency_key`.
"""

from __future__ import annotations

from typing import Any

import jiter
import orjson

from toolbooth.boundary.render import META_KEY
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import JsonPath, is_object
from toolbooth.server import messages
from toolbooth.server.controls import CONTROL_ARGUMENTS

KEY = "idempotency_key"

IN_META: JsonPath = ("_meta", META_KEY, KEY)

_NOT_SENT = object()


def key_of_call(tool: str, name: str | None, argument: str | None, own: Any) -> str | None:
    """Return the idempotency key of a call. Return None if the call has no key. `name` is the name
    of the argument and `argument` its value. `own` is what `_meta` contains for this server.

    Raises:
        ToolInputError: if the key is not valid, or if the argument and `_meta` have different keys.
    """
    found = own.get(KEY, _NOT_SENT) if is_object(own) else _NOT_SENT
    if found is _NOT_SENT:
        return argument
    schema = CONTROL_ARGUMENTS[KEY].schema
    least, most = schema["minLength"], schema["maxLength"]
    if not isinstance(found, str) or not least <= len(found) <= most:
        problem = Problem(code="invalid", path=IN_META, message=messages.not_a_key(least, most))
        raise ToolInputError([problem], tool=tool)
    # The same key twice is harmless. With two different keys, it is not clear which one counts.
    if argument is not None and argument != found:
        path = IN_META if name is None else (name,)
        problem = Problem(code="invalid", path=path, message=messages.TWO_KEYS)
        raise ToolInputError([problem], tool=tool)
    return found


def refuse_key(tool: str, own: Any) -> None:
    """Raise ToolInputError if `_meta` has a key. This is for tools that do not accept keys: the
    caller would repeat the call, and it would run twice.
    """
    if key_of_call(tool, None, None, own) is not None:
        problem = Problem(code="invalid", path=IN_META, message=messages.KEY_NOT_TAKEN)
        raise ToolInputError([problem], tool=tool)


def value_of_receipt(receipt: bytes) -> Any:
    """Return the value that a receipt contains. An object is returned as its JSON text. Any other
    value is parsed.
    """
    return orjson.Fragment(receipt) if receipt.startswith(b"{") else jiter.from_json(receipt)
