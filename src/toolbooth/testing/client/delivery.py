"""Converts the arguments that a test writes to the arguments that a client delivers. Reports every
value that JSON cannot contain.

A direct call in Python does not show what clients do: Python passes dates, tuples, integer keys and
models unchanged, but clients cannot send them. Some client libraries convert such objects, which
hides the difference. Here they are an error, with a remedy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

from pydantic import SecretBytes, SecretStr
from pydantic_core import to_json

from toolbooth.contract import Contract
from toolbooth.jsonvalue import JsonPath, is_array, is_object, path_text, shorten
from toolbooth.publish import input_schema
from toolbooth.testing.client.javascript import UNDEFINED, stringify
from toolbooth.testing.client.strict import fill_keys
from toolbooth.testing.offline_schema import refuse_outside_references

Host = Literal["json", "js"]
Fill = Literal["openai-strict"]

_ECHO = 120
"""At most this many characters of the remedy are shown."""


class NotJson(TypeError):
    """Raised if no client could send these arguments. `faults` has a line for each wrong value."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


def wire(
    arguments: Any,
    host: Host = "json",
    fill: Fill | None = None,
    *,
    schema: Mapping[str, Any] | Contract | None = None,
) -> Any:
    """Return the arguments exactly as a real client delivers them.

    They are not validated. Use `call_over_wire` to test a tool with them.

    With `host="js"`, they are sent through JavaScript, the language of most clients: 1.0 arrives as
    1, integers beyond 2**53 are rounded, keys such as "2" come first, NaN arrives as null, and
    `UNDEFINED` does not arrive. With `fill="openai-strict"`, they are written as a model in strict
    mode writes them: with every declared key, in the order of `schema`. Keys that you leave out get
    null.

    Raises:
        NotJson: with every value that JSON cannot contain, its path, and what a client sends
        instead.
        ContractError: if the schema refers to a file or URL.
    """
    if host not in ("json", "js"):
        raise ValueError(f"host={host!r}: there is 'json' and 'js'")
    if fill not in (None, "openai-strict"):
        raise ValueError(f"fill={fill!r}: there is 'openai-strict'")
    faults: list[str] = []
    try:
        read = _ClientJson(host, faults).read(arguments, ())
    except RecursionError:
        raise NotJson(
            ["$: refers to itself, or is nested deeper than a client could write"]
        ) from None
    if faults:
        raise NotJson(faults)
    sent = stringify(read) if host == "js" else read
    if fill is None:
        return sent
    written = fill_keys(sent, _published_schema(schema))
    # Filling writes the keys in the order of the schema. A JavaScript client puts keys such as "2"
    # first again when it sends them.
    return stringify(written) if host == "js" else written


def _published_schema(schema: Mapping[str, Any] | Contract | None) -> Mapping[str, Any]:
    if schema is None:
        raise ValueError(
            "fill needs the schema that the model was shown: schema=, an inputSchema or a Contract"
        )
    if isinstance(schema, Contract):
        refuse_outside_references(schema.schema, schema.name)
        return input_schema(schema)
    return schema


class _ClientJson:
    """Copies values that JSON can contain, and notes all others."""

    def __init__(self, host: Host, faults: list[str]) -> None:
        self.host = host
        self.faults = faults

    def read(self, value: Any, path: JsonPath) -> Any:
        # This comes before the test for `int`: `True` is an `int` in Python, and would be sent as
        # 1.
        if value is None or isinstance(value, bool):
            return value
        # This comes before the test for `Enum`, because UNDEFINED is a member of an Enum.
        if value is UNDEFINED:
            return self._undefined(path)
        if isinstance(value, Enum):  # some are also text or numbers, and arrive as that
            return self._fault(path, _not_json(value))
        # Subclasses, such as Django's SafeString, are sent as plain text. A client has no such
        # types.
        if isinstance(value, str):
            return self._text(str(value), path)
        if isinstance(value, int):
            return self._integer(int(value), path)
        if isinstance(value, float):
            return self._number(float(value), path)
        if is_object(value):
            return self._object(value, path)
        if is_array(value):
            return [self.read(each, (*path, index)) for index, each in enumerate(value)]
        return self._fault(path, _not_json(value))

    def _object(self, table: dict[Any, Any], path: JsonPath) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in table.items():
            if isinstance(key, str) and not isinstance(key, Enum):
                made[self._text(str(key), path)] = self.read(value, (*path, str(key)))
            else:
                self._fault(path, _not_a_key(key))
        return made

    def _text(self, text: str, path: JsonPath) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            if self.host == "json":
                return self._fault(
                    path, "half a surrogate pair is no text; only a JavaScript client can send it"
                )
            # This joins the two halves of a surrogate pair.
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return text

    def _integer(self, number: int, path: JsonPath) -> Any:
        try:
            str(number)
        except ValueError:
            if self.host == "json":
                most = sys.get_int_max_str_digits()
                return self._fault(
                    path, f"an integer of more than {most:,} digits can neither be written nor read"
                )
        # JavaScript has only doubles. It reads such a number as Infinity, which `stringify` sends
        # as null.
        return number

    def _number(self, number: float, path: JsonPath) -> Any:
        if self.host == "json" and not math.isfinite(number):
            name = "NaN" if math.isnan(number) else "Infinity"
            return self._fault(
                path, f'{name} is not JSON; a JavaScript client sends null (host="js")'
            )
        return number

    def _undefined(self, path: JsonPath) -> Any:
        if self.host == "json":
            return self._fault(
                path, 'UNDEFINED exists in JavaScript alone (host="js"); leave the key out'
            )
        if not path:
            return self._fault(path, "the arguments as a whole cannot be UNDEFINED; leave them out")
        return UNDEFINED

    def _fault(self, path: JsonPath, words: str) -> Any:
        self.faults.append(f"{path_text(path)}: {words}")
        # The value is never used, because `wire` raises an error if there is a fault. Any JSON
        # value lets the function continue, so that one error lists all faults.
        return ""


def _not_json(value: Any) -> str:
    kind = type(value).__name__
    instead = _instead(value)
    if instead:
        return f"{kind} is not JSON; a client sends {instead}"
    return f"{kind} is not JSON, and no client sends one"


def _instead(value: Any) -> str | None:
    """Return the JSON that a client sends instead of this Python object. Return None if there is no
    such JSON.
    """
    if isinstance(value, SecretStr | SecretBytes):
        return "the text within"
    # `to_json` would consume a generator that the test may still need.
    if isinstance(value, Iterator):
        return "a list"
    # Pydantic writes a Decimal as text, `"1.5"`. A client sends the number, `1.5`.
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    try:
        text = to_json(value, by_alias=True).decode()
    except Exception:  # an author's serializer may raise anything; then no form is shown
        return None
    return shorten(text, _ECHO)


def _not_a_key(key: Any) -> str:
    sent = key.value if isinstance(key, Enum) else key
    words = f"the key {key!r} is of type {type(key).__name__}, and keys are text"
    if not isinstance(sent, str | int | float | None):
        return words
    # Keys of JSON are always text: the client of a dict `{1: ...}` or `{None: ...}` sends the keys
    # "1" or "null".
    text = sent if isinstance(sent, str) else to_json(sent).decode()
    return f"{words}; a client sends {to_json(text).decode()}"
