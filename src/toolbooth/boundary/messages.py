"""The messages of a refusal. The agent reads them in order to send the call again. Also the
messages for a result that cannot be sent. Messages about undeclared keys are in `keys/messages.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from toolbooth.errors import Edit, LeaveOut, Move, Rename, Rewrite, Split, called
from toolbooth.jsonvalue import (
    JsonPath,
    listed,
    path_text,
    quoted,
    shorten,
    text_in_quotes,
    write_json,
)
from toolbooth.secret_names import may_be_secret_name
from toolbooth.shape import ArrayShape, JsonType, Shape, Temporal, json_type

ECHO = 80
"""A message repeats at most this many characters of a value."""

_TYPES = {
    "object": "an object",
    "array": "an array",
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}

_TIMES: dict[Temporal, str] = {
    "date": "a date",
    "date-time": "a date and time",
    "time": "a time",
    "duration": "a duration",
    "any": "a date or time",
}

_MOST_CHOICES = 20
"""A message lists at most this many choices."""

NOT_TAKEN = "must be left out"
"""The reason if the schema allows no value at all here."""

MISSING = "is required, but was not sent"
UNREADABLE_VALUE = "its value could not be read"
"""The message if the author's code raised an exception while it read the value."""

NOT_AN_OBJECT = "the arguments must be one JSON object"
SECRET = "is not valid; details of a secret are hidden"
AMBIGUOUS = "can be read in more than one way; send every value in its own JSON type"
LOSSY_NUMBER = "is a number too large or too small to hold"
INEXACT_INTEGER = (
    "arrived as a floating-point number, which does not hold every integer of this size; "
    "send its digits without a point and without an exponent"
)
LOST_FRACTION = "would lose its fraction, because it has too many digits"
LOSSY_TEXT = "holds a number with more digits than can be read"

DUPLICATE_KEY = "the same key is sent twice"
TOO_DEEP = "nested deeper than any tool reads"
TOO_MANY_DIGITS = "an integer has more digits than can be read"


def echo(value: Any) -> str:
    """Return a value as the agent sent it, shortened."""
    if isinstance(value, str):
        # JSON keeps the quotes, so the agent can distinguish "5" from 5.
        return shorten(text_in_quotes(value[:ECHO]), ECHO)
    return shorten(str(value).lower() if isinstance(value, bool) else str(value), ECHO)


# --- bytes that cannot be read ------------------------------------------------------------------


def too_large(sent: int, most: int) -> str:
    """Report a call with more bytes than the limit."""
    return f"{sent:,} bytes were sent; at most {most:,} are accepted"


def deeper_than(levels: int) -> str:
    """Report a call that is nested deeper than the limit."""
    return f"nested deeper than {levels} levels"


def too_many_values(most: int) -> str:
    """Report a call with more values than the limit."""
    return f"has more than {most:,} values; send them in several calls"


def too_complex(most: int, *, alone: bool) -> str:
    """Report nested unions without a tag that would take too long to check. `alone` is true if this
    field exceeds the limit by itself.
    """
    together = "" if alone else ", with the other fields,"
    return (
        f"is nested so deep that{together} more than {most:,} combinations of forms would have to "
        "be tried; send it less deep"
    )


UNCHECKED = "would take too long to check"
"""The reason if a corrected call is not shown because it would take too long to check."""


def more_digits_than(most: int) -> str:
    """Report an integer with more digits than the limit."""
    return f"an integer has more than {most} digits"


_NOT_JSON = (
    ("EOF", "it ends too early"),
    ("key must be a string", "a key must be text in double quotes"),
    ("trailing comma", "a comma is followed by no value"),
    ("trailing characters", "there is more text after its end"),
    ("control character", "text contains a line break or another control character; escape it"),
    ("unexpected end of hex escape", "an escape is half of a surrogate pair"),
    ("invalid unicode code point", "bytes are not UTF-8"),
    ("expected value", "a value is expected"),
    ("expected ident", "a value is expected"),
)
"""Our own words for the parser's errors. The keys are the beginnings of the parser's messages."""


def not_json(reason: str, word: str, path: JsonPath | None) -> str:
    """Report bytes that are not JSON. `word` is where the parser stopped, if it is known."""
    meant = next((said for start, said in _NOT_JSON if reason.startswith(start)), reason)
    # Some models write Python and send single quotes. jiter only calls them an unexpected value.
    if word == "'":
        meant = "text must be in double quotes"
    elif word:
        meant = f"{word} is not a JSON value"
    return at_place("not valid JSON", f" {meant}", path)


def at_place(message: str, detail: str, path: JsonPath | None) -> str:
    """Add the path to a message about text that cannot be parsed."""
    where = "" if path is None else f", at {path_text(path)}"
    return f"{message}:{detail}{where}"


# --- keys ---------------------------------------------------------------------------------------


def never_read(form: ArrayShape) -> str:
    """Report an array item that the author's model would not read."""
    ends = [f"the first {len(form.prefix)}"] if form.prefix else []
    ends += [f"the last {form.last}"] if form.last else []
    return f"only {' and '.join(ends)} items are read"


def conflicting(key: str, other: str) -> str:
    """Report two keys that mean the same field."""
    return f"{quoted(key)} and {quoted(other)} name the same field; send one of them"


def swallowed(names: tuple[str, ...], end: int, tags: str) -> str:
    """Report a text that contains other arguments. `end` is where the text should end."""
    shown = listed(names, 8)
    were, own = (
        ("were", "arguments of their own") if len(names) > 1 else ("was", "its own argument")
    )
    length = "1 character" if end == 1 else f"{end:,} characters"
    return (
        f"contains the tags of {shown}, which {were} not sent. The text probably ends after "
        f"{length}, before {echo(tags)}. Send {shown} as {own}"
    )


# --- values -------------------------------------------------------------------------------------


def wrong_type(shape: Shape, value: Any, reason: str = "", *, shows: bool = True) -> str:
    """Report a value with a wrong JSON type. With `shows`, the message repeats the value."""
    wanted = f"must be {wants(shape)}" if shape.types else NOT_TAKEN
    if reason:
        return f"{wanted}, but {reason}"
    kind = json_type(value)
    # Objects and arrays may be long, and null is already named as a type.
    if kind in ("object", "array", "null") or not (shows and _is_shown(shape, value)):
        return f"{wanted}, got {_TYPES[kind]}"
    if kind == "boolean":
        return f"{wanted}, got {echo(value)}"
    return f"{wanted}, got {_TYPES[kind]} {echo(value)}"


def _is_shown(shape: Shape, value: Any) -> bool:
    """Return False for a secret. A text that was sent for an object is also secret if it names one:
    `Cookie: …`.
    """
    is_text_for_object = isinstance(value, str) and bool(shape.objects)
    return not shape.has_secret and not (is_text_for_object and may_be_secret_name(value))


def not_exact(shape: Shape, value: Any) -> str:
    """Report a wrong value of an argument that is never repaired."""
    return f"{wrong_type(shape, value)}; this argument is never corrected automatically"


def name_it(message: str, fields: tuple[str, ...], value: str) -> str:
    """Advise sending a text as one of the fields of an object, such as `{"name": "Acme"}`."""
    objects = (shorten(write_json({field: value}), ECHO) for field in fields)
    return f"{message}; send {' or '.join(objects)}"


def wants(shape: Shape) -> str:
    """Return the declared types in words. Null is left out, so that agents do not send null."""
    if shape.constants and not shape.objects and not shape.arrays:
        return choices(shape.constants)
    uuid = bool(shape.named_by)
    return _wants(shape.types, temporal=shape.temporal, json_text=shape.json_text, uuid=uuid)


@lru_cache
def _wants(types: frozenset[JsonType], *, temporal: Temporal, json_text: bool, uuid: bool) -> str:
    # null is named if nothing else may be sent.
    types = types - {"null"} or types
    if json_text:  # published as text, so the agent should send text
        return f"JSON text of {' or '.join(_TYPES[kind] for kind in sorted(types))}"
    # An integer is also a number, so "an integer or a number" would repeat itself.
    kinds = sorted(types - ({"integer"} if "number" in types else set()))
    names = dict(_TYPES)
    if temporal:
        names["string"] = f"{_TIMES[temporal]} as ISO 8601 text"
    if uuid:
        names["string"] = "a UUID"
    return " or ".join(names[kind] for kind in kinds) or "nothing"


def choices(constants: Iterable[Any]) -> str:
    """List the accepted values. A long list is cut and ends with "and 3 more"."""
    # null is left out, as in `wants`.
    values = [each for each in dict.fromkeys(map(write_json, constants)) if each != "null"]
    if len(values) > _MOST_CHOICES:
        return f"{', '.join(values[:_MOST_CHOICES])} or {len(values) - _MOST_CHOICES} others"
    return " or ".join(filter(None, (", ".join(values[:-1]), *values[-1:])))


def count_of(count: int, noun: str) -> str:
    """Return `1 item` or `2 items`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def number_for_time(shape: Shape, value: str) -> str:
    """Report a bare number that was sent for a date or time. Reading it as seconds or milliseconds
    would be a guess.
    """
    return f"must be {wants(shape)}, got the number {echo(value)}"


def unreadable_text(reason: str, *, single_quotes: bool) -> str:
    """Report JSON text that cannot be parsed. An object or an array is declared there."""
    hint = "; JSON wants double quotes" if single_quotes else ""
    return f"holds text that cannot be read as JSON ({reason}{hint})"


# --- errors of the author's validation; more are in `values/messages.py` --------------------------


def of_group(message: str, keys: tuple[str, ...]) -> str:
    """Report an error about a model whose fields were flattened. `keys` are these fields."""
    return f"{message} (of {listed(keys, 8)})"


def with_value(message: str, value: Any) -> str:
    """Report an error together with the value that was sent."""
    return f"{message}; got {echo(value)}"


# --- the whole refusal --------------------------------------------------------------------------


MOST_COUNTED = 10_000
"""After this many problems, the rest of the call is not examined."""


def _number(count: int) -> str:
    return str(count) if count <= MOST_COUNTED else f"more than {MOST_COUNTED}"


def head(count: int, tool: str, target: Iterable[str], *, untouched: bool) -> str:
    """Return the first line of a refusal."""
    noun = "problems" if count > 1 else "problem"
    named = [shorten(each, 70) for each in target]
    owner = f" of {called(shorten(tool, 70), named)}" if tool else ""
    done = " Nothing was done." if untouched else ""
    return f"Refused: {_number(count)} {noun} in the arguments{owner}.{done}"


def same_in_rows(message: str, count: int, others: Sequence[str], *, at_least: bool) -> str:
    """Add how many items of an array have this mistake, and the paths of the first ones."""
    times = f"the same {'at least ' if at_least else ''}{count} times"
    also = f", also at {', '.join(others)}" if others else ""
    return f"{message} ({times}{also})"


def more_problems(count: int) -> str:
    """Return the line with the number of problems that are not listed."""
    return f"- and {count} more" if count < MOST_COUNTED else "- and many more"


def send_instead(call: bytes) -> str:
    """Return the corrected call, with the words before it."""
    return f"Send instead: {call.decode()}"


def form(call: str) -> str:
    """Return the line with an example of a call, with placeholders for its values."""
    return f"Form: {call}"


NOTHING_ARRIVED = (
    "No arguments arrived. Some clients drop all of them when one is empty text: "
    "leave that one out."
)


def repaired(repairs: Iterable[tuple[str, str]]) -> str:
    """Return the line that lists the repairs, each with its code and its path."""
    return f"Accepted with a repair: {', '.join(f'{path} ({code})' for code, path in repairs)}."


def left_out(edits: Iterable[LeaveOut]) -> str:
    """Return the line that lists the values that the corrected call leaves out, with the reason."""
    said = (f"{path_text(each.source)} ({echo(each.value)} means no value)" for each in edits)
    return f"Left out: {', '.join(said)}."


def steps(edits: tuple[Edit, ...]) -> str:
    """Return the edits as a list of steps. Used if the corrected call is not shown."""
    return "To correct it: " + "; ".join(map(edit_text, edits)) + "."


def some_steps(edits: tuple[Edit, ...], done: int, count: int, needed: tuple[str, ...]) -> str:
    """Return the edits as a list of steps, if they correct only some of the problems. Also list the
    fields that are still missing.
    """
    said = "; ".join(map(edit_text, edits))
    rest = f"; still needed: {', '.join(needed)}" if needed else ""
    return f"This corrects {done} of {_number(count)} problems: {said}{rest}."


def edit_text(edit: Edit) -> str:
    """Return one edit in words."""
    if isinstance(edit, Rename):
        return f"rename {path_text(edit.source)} to {quoted(edit.name)}"
    if isinstance(edit, Move):
        return f"move {path_text(edit.source)} to {path_text(edit.target)}"
    if isinstance(edit, Split):
        return f"write {quoted(edit.key)} as {path_text(edit.target)}"
    if isinstance(edit, Rewrite):
        # A `Decimal` cannot be written as JSON. In a sentence, a float is exact enough.
        written = json.dumps(edit.value, ensure_ascii=False, default=float)
        return f"send {path_text(edit.source)} as {shorten(written, ECHO)}"
    if isinstance(edit, LeaveOut):
        return f"leave out {path_text(edit.source)}, because {echo(edit.value)} means no value"
    return f"move {path_text(edit.source)}.* to {path_text(edit.target)}"


# --- a tool that cannot be called ---------------------------------------------------------------


def is_an_async_tool(name: str) -> str:
    """Report an async tool that was called from sync code."""
    return f"{name!r} is an async tool: await handle_bytes_async or handle_arguments_async"


def has_no_function(name: str) -> str:
    """Report a contract without a function, which cannot be called."""
    return f"{name!r} was compiled without a function: pass one to call"


# --- results ------------------------------------------------------------------------------------


def same_key(name: str, keys: Iterable[Any]) -> str:
    """Report two keys of a result that become the same key in JSON. `keys` may be empty."""
    shown = " and ".join(shorten(repr(key), ECHO) for key in keys) or "two keys"
    return f"{shown} are the same key in JSON: {quoted(name)}"


def result_unsendable(reason: str) -> str:
    """Report a result that cannot be written. `reason` may be empty."""
    return f"cannot be sent: {reason}" if reason else "cannot be sent"


def result_unusable(why: str) -> str:
    """Report a tool that ran, but whose result cannot be returned."""
    return f"The tool ran, but its result {why}. Before you call it again, check what it did."
