"""The readings of a value for which a list or an object is declared: another container, a lone
item, or text that is written in some other way than as JSON.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.cures.scalars import choices_of, is_thousands
from toolbooth.boundary.read import Unreadable, read_json
from toolbooth.boundary.refusals import is_uuid, respelt
from toolbooth.boundary.repairs import Unrepairable, admits
from toolbooth.boundary.repairs import text as read_text
from toolbooth.contract import Limits
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.shape import ObjectShape
from toolbooth.spelling import certain_match

_ITEM_KEYS = frozenset(("item", "items", "element", "elements", "list", "array", "value", "values"))
"""Names of the only key of an object that was sent for a list."""

_PLACEHOLDERS = frozenset(("none", "null", "n/a", "nil", "omit", "undefined", "string", "text"))
"""Placeholders for a value or for no value."""

_MOST_KEYS = 100
"""Keys of an object that are looked at."""

_MOST_PARTS = 10_000
"""Values in one text; more of them are not looked at."""

_PAIRS = (("key", "value"), ("name", "value"))
_FENCE = re.compile(r"```\w*\s*\n(.*?)\n?\s*```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")
_CLOSING_TAG = re.compile(r"</[^\s<>]{1,80}\s*>")
_LINE = re.compile(r"([^:\n]+): (.+)")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_IN_BRACKETS = re.compile(r"\[([^\[\](){}]*)\]|\(([^\[\](){}]*)\)", re.DOTALL)
_SEPARATORS = ",;\n"
_LONGEST = 20_000
"""Characters of a text that is read as Python."""


def container_readings(place: Place, value: Any, limits: Limits) -> Iterator[Any]:
    """Yield the readings of a value where a list or an object is declared."""
    if isinstance(value, str):
        # Where text is declared as well, `"[1, 2]"` may be meant as that text.
        found = list(_written(value, limits)) if "string" not in place.types else []
        yield from (each for each in found if admits(place.shape, each))
        # Text that could be read has no second meaning, such as a list with one text in it.
        if found:
            return
    if "array" in place.types and not is_array(value):
        yield from _lists(place, value, limits)
    if "object" in place.types and not is_object(value):
        yield from _objects(place, value, limits)


# --- lists --------------------------------------------------------------------------------------


def _lists(place: Place, value: Any, limits: Limits) -> Iterator[list[Any]]:
    items = place.items()
    if items is None:
        return
    if is_object(value):
        # `{"0": "a", "1": "b"}` is a list that a client has written as an object.
        if list(value) == [str(index) for index in range(len(value))] and value:
            yield list(value.values())
        inner = next(iter(value.values())) if _is_item_key(place, value) else None
        if is_array(inner):
            yield inner
        elif is_object(inner) and _is_lone_item(items, inner):
            yield [inner]
    elif isinstance(value, str):
        yield from _separated(items, value, limits)
        if "string" in items.types:
            if not any(each in value for each in _SEPARATORS) and _is_item(items, value):
                yield [value]
            elif len(found := choices_of(items, value)) == 1:
                yield found
            return
    if _is_lone_item(items, value):
        yield [value]


def _is_item_key(place: Place, value: Json) -> bool:
    """Whether the only key of an object says "list", or repeats the name of the field, also in the
    singular: `{"lines": {"line": [...]}}`, as XML is written.
    """
    if len(value) != 1:
        return False
    [key] = value
    name = str(place.path[-1]) if place.path else ""
    return key in _ITEM_KEYS or certain_match(key, (name,)) is not None


def _is_lone_item(items: Place, value: Any) -> bool:
    if not is_object(value) or items.shape.opaque:
        return admits(items.shape, value)
    # Values that are wrong in it are cured by themselves.
    forms = items.shape.objects
    return bool(value) and any(_has_fields(form, value) for form in forms)


def _has_fields(form: ObjectShape, value: Json) -> bool:
    """Whether every key of an object is declared, or certainly means a declared one."""
    return form.additional is not None or all(
        key in form.fields or respelt(key, form) is not None for key in islice(value, _MOST_KEYS)
    )


def _is_item(items: Place, value: str) -> bool:
    constants = items.shape.constants
    if constants is not None:
        return value in constants
    # Text that looks like JSON or Python, but could not be read, is not an item; nor is a
    # placeholder.
    return value.strip()[:1] not in ("", "{", "[", "(", "<") and value.lower() not in _PLACEHOLDERS


def _separated(items: Place, value: str, limits: Limits) -> Iterator[list[Any]]:
    """Numbers, UUIDs or choices with commas or line ends between them, and JSON in lines."""
    lines = [line.strip() for line in value.strip().splitlines()]
    # JSON Lines: one object in each line.
    if "object" in items.types and len(lines) > 1:
        read = [_json(line, limits) for line in lines if line]
        if all(map(is_object, read)):
            yield read
        return
    parts = _parts(items, value)
    is_bracketed = value.strip()[:1] in ("[", "(")
    # Text without a separator is a lone item, which `_lists` yields by itself. In brackets,
    # `[word]` is a list with one item.
    fewest = 2 if _is_text(items) and not is_bracketed else 1
    if not fewest <= len(parts) <= _MOST_PARTS:
        return
    made = [_separate(items, part, limits) for part in parts]
    if None not in made:
        yield made


def _parts(items: Place, value: str) -> list[str]:
    """What is between the separators of a text: one kind of them. Empty if the only comma may be
    one of a number.
    """
    inside = _IN_BRACKETS.fullmatch(value.strip())
    bare = (inside[1] or inside[2] or "").strip() if inside else value.strip()
    if not _is_text(items) and may_be_one_number(items, bare):
        return []
    # A comma or semicolon at the end of a line belongs to the line break.
    lines = re.split(r"[,;]?\s*\n", bare)
    parts = lines
    if len(lines) == 1:
        # With both signs, one of them may belong to the values.
        if "," in bare and ";" in bare:
            return []
        parts = bare.split(";" if ";" in bare else ",")
    return [part.strip() for part in parts if part.strip()]


def may_be_one_number(items: Place, text: str) -> bool:
    """Whether text with commas may be one number: `1,000`, or `0,5` where fractions may be sent."""
    is_decimal = "number" in items.types and _DECIMAL_COMMA.fullmatch(text) is not None
    return is_decimal or is_thousands(text)


def _is_text(items: Place) -> bool:
    return "string" in items.types


def _separate(items: Place, part: str, limits: Limits) -> Any:
    """One of several values in a text; None if it is not of the declared kind."""
    if items.shape.constants is not None:
        found = choices_of(items, part)
        return found[0] if len(found) == 1 else None
    if items.format == "uuid":
        bare = part.strip("\"'")
        return bare if is_uuid(bare) else None
    if _NUMBER.fullmatch(part) and not _is_text(items):
        # Python raises an exception for integers with more digits than its limit.
        if len(part) > limits.max_digits:
            return None
        number = float(part) if "." in part else int(part)
        return number if admits(items.shape, number) else None
    return None


# --- objects ------------------------------------------------------------------------------------


def _objects(place: Place, value: Any, limits: Limits) -> Iterator[Any]:
    yield from _only_field(place, value, limits)
    if not place.is_map_of_text():
        return
    if is_array(value):
        pairs = [_pair(each) for each in value]
    elif isinstance(value, str):
        is_bracketed = value.strip()[:1] in ("{", "[", "(")  # which could not be read
        lines = [] if is_bracketed else list(filter(str.strip, value.splitlines()))
        pairs = [_pair_in_line(line) for line in lines]
    else:
        return
    made = {str(pair[0]).strip(): pair[1] for pair in pairs if pair is not None}
    # Of two pairs with the same key, one value would be lost.
    if pairs and len(made) == len(pairs):
        yield made


def _only_field(place: Place, value: Any, limits: Limits) -> Iterator[Any]:
    """A scalar for an object that has one field and no other: `"web"` for `{"type": "web"}`
    (cloudwego/eino-examples#118, microsoft/agent-framework#982).
    """
    [form] = place.shape.objects
    if len(form.fields) != 1 or form.additional is not None or is_array(value) or value is None:
        return
    [(name, field)] = form.fields.items()
    inner = Place(field.shape, place.root, (*place.path, name))
    if isinstance(value, str) and "string" not in inner.types:
        read = read_text(inner.shape, value, limits)
        if not isinstance(read, Unrepairable):
            yield {name: read[0]}
    elif admits(inner.shape, value) and (not isinstance(value, str) or _is_item(inner, value)):
        yield {name: value}


def _pair_in_line(line: str) -> tuple[Any, Any] | None:
    found = _LINE.fullmatch(line)
    return None if found is None else (found[1], found[2])


def _pair(value: Any) -> tuple[Any, Any] | None:
    """A key and a text, as a list of two or as an object."""
    if is_array(value) and len(value) == 2 and isinstance(value[0], str):
        return value[0], value[1]
    if is_object(value):
        for names in _PAIRS:
            if value.keys() == set(names) and isinstance(value[names[0]], str):
                return value[names[0]], value[names[1]]
    return None


# --- text ---------------------------------------------------------------------------------------


def _written(text: str, limits: Limits) -> Iterator[Any]:
    """Yield the values in a text that is almost JSON, or Python."""
    bare = text.strip().removeprefix("\ufeff").strip()
    fence = _FENCE.fullmatch(bare)
    bare = fence[1].strip() if fence else bare
    if bare[:1] not in ("{", "[", "("):
        return
    bare = _without_closing_tags(bare)
    # From strict to lenient, so that text that is JSON is never read as something else.
    found = _json(bare, limits)
    if found is None:
        found = _json(_TRAILING_COMMA.sub(r"\1", bare), limits)
    if found is None and len(bare) <= _LONGEST:
        found = _python(bare)
    if found is not None:
        yield found


def _without_closing_tags(text: str) -> str:
    """The text without the tags at its end, which close the call and not the value: `]</parameter>`
    (anomalyco/opencode#1373).
    """
    while found := _CLOSING_TAG.fullmatch(text, text.rfind("</")):
        text = text[: found.start()].rstrip()
    return text


def _json(text: str, limits: Limits) -> Any:
    try:
        return read_json(text.encode(), limits)[0]
    except Unreadable:
        return None


def _python(text: str) -> Any:
    """A Python literal as JSON; None if it is none, or if JSON would lose something of it."""
    try:
        # Not `ast.literal_eval`, which would also read sets and bytes, and keep one of two equal
        # keys.
        return _literal(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _literal(node: ast.expr) -> Any:
    """Raises ValueError for everything that JSON has not, and for a key that is sent twice."""
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_literal(each) for each in elements]
        case ast.Dict(keys=keys, values=values):
            names = list(map(_key, keys))
            if len(set(names)) < len(names):
                raise ValueError
            return dict(zip(names, map(_literal, values), strict=True))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Constant(value=str() as text):
            text.encode()  # half a surrogate pair is text for Python alone
            return text
        case ast.Constant(value=bool() | int() | float() | None as constant):
            return constant
        case _:
            raise ValueError


def _key(node: ast.expr | None) -> str:
    match node:
        case ast.Constant(value=str() as name):
            return name
        case _:
            raise ValueError
