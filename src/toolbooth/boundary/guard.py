"""What may not pass, and how it is said: every sentence here is written for the agent that must send again."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from toolbooth.boundary.decode import recased, type_of
from toolbooth.boundary.paths import Path, at, listed, quoted, write_json
from toolbooth.contract import ArrayShape, JsonType, ObjectShape, Shape
from toolbooth.gate import NUMBER_AS_TEXT

ECHO = 80
"""At most this many characters of a value are echoed."""

_SAMPLE = 400
"""Names longer than this, or more of them, are not compared: nothing useful is near them."""

_NUMBER_TEXT = re.compile(NUMBER_AS_TEXT)

_ARTICLES = {
    "object": "an object",
    "array": "an array",
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def wrapper(key: str, value: Any, inner: dict[str, Any], path: Path) -> str:
    """An undeclared key that holds an object: what it is, why it happens, what to send instead."""
    form = "a nested object as JSON text" if isinstance(value, str) else "a nested object"
    level = "at the top level" if not path else f"directly in {at(path)}"
    fields = (
        f"send {listed(tuple(inner), 12)} {level}, not inside {quoted(key)}" if inner else f"leave {quoted(key)} out"
    )
    return (
        f"{quoted(key)} is not a declared field and holds {form}: most likely a wrapper as in REST APIs. Flat: {fields}"
    )


def misspelt_object(form: ObjectShape, key: str) -> str | None:
    """An undeclared key that holds an object, and is a declared one but for its spelling."""
    near = nearest(key, form)
    if near is None or not form.fields[near].shape.objects:
        return None
    return f"{quoted(key)} is not a declared field and holds a nested object; did you mean {quoted(near)}?"


def innermost(form: ObjectShape, inner: dict[str, Any]) -> dict[str, Any]:
    """What a wrapper holds when the wrappers inside it are taken off too."""
    while len(inner) == 1:
        key, value = next(iter(inner.items()))
        if key in form.fields or not isinstance(value, dict):
            break
        inner = cast("dict[str, Any]", value)
    return inner


def unknown(form: ObjectShape, key: str) -> str:
    """An undeclared key: the nearest declared name, if there is one."""
    near = nearest(key, form)
    return f"there is no field {quoted(key)}" + (f"; did you mean {quoted(near)}?" if near else "")


def never_read(form: ArrayShape) -> str:
    """An item of an array of which only some are read."""
    ends = [f"the first {len(form.prefix)}"] if form.prefix else []
    ends += [f"the last {form.last}"] if form.last else []
    return f"only {' and '.join(ends)} items are read"


def conflicting(key: str, other: str) -> str:
    """Two keys for one field."""
    return f"{quoted(key)} and {quoted(other)} name the same field; send one of them"


def wrong_type(shape: Shape, value: Any, reason: str = "") -> str:
    """A value whose JSON type is not declared here."""
    wanted = wants(shape)
    if reason:
        return f"must be {wanted}, but {reason}"
    kind = type_of(value)
    if kind in ("object", "array", "null") or shape.hides:
        return f"must be {wanted}, got {_ARTICLES[kind]}"
    return (
        f"must be {wanted}, got {echo(value)}"
        if kind == "boolean"
        else f"must be {wanted}, got {_ARTICLES[kind]} {echo(value)}"
    )


def wants(shape: Shape) -> str:
    """The declared types in words."""
    return _wants(shape.types, timelike=shape.timelike, json_text=shape.json_text)


@lru_cache
def _wants(types: frozenset[JsonType], *, timelike: bool, json_text: bool) -> str:
    if json_text:  # published as text, so text is what the agent is told to send
        kinds = sorted(types - {"null"})
        asked = f"JSON text of {' or '.join(_ARTICLES[kind] for kind in kinds)}"
        return f"{asked} or null" if "null" in types else asked
    kinds = sorted(types - ({"integer"} if "number" in types else set()))
    if timelike and "string" in kinds:
        return " or ".join("a date or time as ISO 8601 text" if kind == "string" else _ARTICLES[kind] for kind in kinds)
    return " or ".join(_ARTICLES[kind] for kind in kinds) or "nothing"


def number_for_time(value: str) -> str:
    """A bare number where a date or time is declared: seconds or milliseconds would be a guess."""
    return f"must be a date or time as ISO 8601 text, got the number {echo(value)}"


def is_number_text(value: str) -> bool:
    """Whether text is nothing but a number."""
    return _NUMBER_TEXT.search(value) is not None


def is_delicate(literal: str) -> bool:
    """Whether a number is written with more than a float keeps; `1.10` and `1.1` are the same number."""
    return "e" in literal.lower() or len(literal.lstrip("-")) > 16


def is_lossy(number: float, literal: Any) -> bool:
    """Whether a float has become infinite, or zero though it was not."""
    if number in (float("inf"), float("-inf")):
        return True
    return number == 0 and Decimal(str(literal)) != 0


def wraps_declared(form: ObjectShape, inner: dict[str, Any] | None) -> bool:
    """In an open object a key is a wrapper only when all that it holds are declared names."""
    return bool(inner) and all(key in form.fields for key in inner or ())


def names_inside(inner: dict[str, Any]) -> set[str]:
    """Every key found inside a wrapper, wrappers within it included."""
    names = set(inner)
    for each in inner.values():
        if isinstance(each, dict):
            names |= names_inside(each)  # pyright: ignore[reportUnknownArgumentType]
    return names


def possible_forms(forms: Sequence[ObjectShape], value: dict[str, Any]) -> list[ObjectShape]:
    """The forms of a union that an object may be, the likeliest first. A tag that all forms have decides."""
    if len(forms) == 1:
        return list(forms)
    tags = set[str].intersection(
        *({key for key, each in form.fields.items() if each.shape.constants} for form in forms)
    )
    sent = [tag for tag in tags if tag in value]
    tagged = [form for form in forms if all(value[tag] in (form.fields[tag].shape.constants or ()) for tag in sent)]
    inside = names_inside(value)
    return sorted(tagged or forms, key=lambda form: -len(inside & form.fields.keys()))


def nearest(name: str, form: ObjectShape) -> str | None:
    """The one declared name that is plainly meant: the same but for case and separators, or a near miss."""
    return _nearest(name, form) if len(name) <= _SAMPLE else None


@lru_cache(maxsize=1024)  # agents make the same slip again and again
def _nearest(name: str, form: ObjectShape) -> str | None:
    return near_name(name, islice(form.fields, _SAMPLE))


def near_name(name: str, names: Iterable[str]) -> str | None:
    """The one of these names that is plainly meant."""
    wanted = recased(name)
    table: dict[str, str] = {}
    for each in names:
        table.setdefault(recased(each), each)
    if wanted in table:
        return table[wanted]
    close = difflib.get_close_matches(wanted, list(table), n=2, cutoff=0.75)
    if not close or (len(close) == 2 and _likeness(wanted, close[0]) == _likeness(wanted, close[1])):
        return None
    return table[close[0]]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, one).ratio()


def echo(value: Any) -> str:
    """A value as the agent sent it, cut short."""
    if isinstance(value, str):
        shown = write_json(value)
    else:
        shown = str(value).lower() if isinstance(value, bool) else str(value)
    return shown if len(shown) <= ECHO else shown[: ECHO - 1] + "…"
