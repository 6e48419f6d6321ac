"""Finds the possible meanings of a value where a list or an object is declared. The value may be
another container, a single item, or text in a form other than JSON.
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
"""If an object is sent where a list is declared, and it has only one key, the key has one of these
names.
"""

_PLACEHOLDERS = frozenset(("none", "null", "n/a", "nil", "omit", "undefined", "string", "text"))
"""Texts that agents send as a placeholder, for some value or for no value."""

_MOST_KEYS = 100
"""At most this many keys of an object are read."""

_MOST_PARTS = 10_000
"""A text with more values than this is not split."""

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
"""A text longer than this is not read as Python."""


def container_readings(place: Place, value: Any, limits: Limits) -> Iterator[Any]:
    """Yield the possible meanings of a wrong value where a list or an object is declared."""
    if isinstance(value, str):
        # If text is declared as well, `"[1, 2]"` may simply be that text.
        found = list(_written(value, limits)) if "string" not in place.types else []
        yield from (each for each in found if admits(place.shape, each))
        # Text that could be parsed has no second meaning, such as a list with this text as its
        # item.
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
        # Some clients write a list as an object: `{"0": "a", "1": "b"}`.
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
    """Return True if the only key of an object is a word for "list", or if it is the name of the
    field or its singular: `{"lines": {"line": [...]}}`. Clients that convert XML send lists like
    this.
    """
    if len(value) != 1:
        return False
    [key] = value
    name = str(place.path[-1]) if place.path else ""
    return key in _ITEM_KEYS or certain_match(key, (name,)) is not None


def _is_lone_item(items: Place, value: Any) -> bool:
    if not is_object(value) or items.shape.opaque:
        return admits(items.shape, value)
    # Wrong values inside it are cured separately.
    forms = items.shape.objects
    return bool(value) and any(_has_fields(form, value) for form in forms)


def _has_fields(form: ObjectShape, value: Json) -> bool:
    """Return True if every key of an object is declared, or certainly means a declared key."""
    return form.additional is not None or all(
        key in form.fields or respelt(key, form) is not None for key in islice(value, _MOST_KEYS)
    )


def _is_item(items: Place, value: str) -> bool:
    constants = items.shape.constants
    if constants is not None:
        return value in constants
    # Text that looks like JSON or Python but could not be parsed is not an item. A placeholder is
    # not one either.
    return value.strip()[:1] not in ("", "{", "[", "(", "<") and value.lower() not in _PLACEHOLDERS


def _separated(items: Place, value: str, limits: Limits) -> Iterator[list[Any]]:
    """Yield the list that a text contains: numbers, UUIDs or choices between commas or line ends,
    or lines of JSON.
    """
    lines = [line.strip() for line in value.strip().splitlines()]
    # JSON Lines: one object in each line.
    if "object" in items.types and len(lines) > 1:
        read = [_json(line, limits) for line in lines if line]
        if all(map(is_object, read)):
            yield read
        return
    parts = _parts(items, value)
    is_bracketed = value.strip()[:1] in ("[", "(")
    # Text without a separator is a single item, which `_lists` yields. With brackets, `[word]` is a
    # list with one item.
    fewest = 2 if _is_text(items) and not is_bracketed else 1
    if not fewest <= len(parts) <= _MOST_PARTS:
        return
    made = [_separate(items, part, limits) for part in parts]
    if None not in made:
        yield made


def _parts(items: Place, value: str) -> list[str]:
    """Split a text at its separators, which must all be of one kind. Return an empty list if the
    only comma may belong to a number.
    """
    inside = _IN_BRACKETS.fullmatch(value.strip())
    bare = (inside[1] or inside[2] or "").strip() if inside else value.strip()
    if not _is_text(items) and may_be_one_number(items, bare):
        return []
    # A comma or semicolon at the end of a line belongs to the line break.
    lines = re.split(r"[,;]?\s*\n", bare)
    parts = lines
    if len(lines) == 1:
        # If a text has both signs, one of them may belong to the values.
        if "," in bare and ";" in bare:
            return []
        parts = bare.split(";" if ";" in bare else ",")
    return [part.strip() for part in parts if part.strip()]


def may_be_one_number(items: Place, text: str) -> bool:
    """Return True if text with commas may be one number: `1,000`, or `0,5` if fractions are
    accepted.
    """
    is_decimal = "number" in items.types and _DECIMAL_COMMA.fullmatch(text) is not None
    return is_decimal or is_thousands(text)


def _is_text(items: Place) -> bool:
    return "string" in items.types


def _separate(items: Place, part: str, limits: Limits) -> Any:
    """Convert one part of a text to a value. Return None if the part does not have the declared
    type.
    """
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
        is_bracketed = value.strip()[:1] in ("{", "[", "(")  # which could not be parsed
        lines = [] if is_bracketed else list(filter(str.strip, value.splitlines()))
        pairs = [_pair_in_line(line) for line in lines]
    else:
        return
    made = {str(pair[0]).strip(): pair[1] for pair in pairs if pair is not None}
    # Of two pairs with the same key, one value would be lost.
    if pairs and len(made) == len(pairs):
        yield made


def _only_field(place: Place, value: Any, limits: Limits) -> Iterator[Any]:
    """If the declared object has only one field, yield the object that a scalar means: `{"type":
    "web"}` for `"web"` (cloudwego/eino-examples#118, microsoft/agent-framework#982).
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
    """Return the key and the value of a pair that was sent as `["a", "b"]` or as `{"key": "a",
    "value": "b"}`.
    """
    if is_array(value) and len(value) == 2 and isinstance(value[0], str):
        return value[0], value[1]
    if is_object(value):
        for names in _PAIRS:
            if value.keys() == set(names) and isinstance(value[names[0]], str):
                return value[names[0]], value[names[1]]
    return None


# --- text ---------------------------------------------------------------------------------------


def _written(text: str, limits: Limits) -> Iterator[Any]:
    """Yield the value of a text that is written in Python, or that is almost JSON."""
    bare = text.strip().removeprefix("\ufeff").strip()
    fence = _FENCE.fullmatch(bare)
    bare = fence[1].strip() if fence else bare
    if bare[:1] not in ("{", "[", "("):
        return
    bare = _without_closing_tags(bare)
    # The strict readers come first, so that JSON is never read as something else.
    found = _json(bare, limits)
    if found is None:
        found = _json(_TRAILING_COMMA.sub(r"\1", bare), limits)
    if found is None and len(bare) <= _LONGEST:
        found = _python(bare)
    if found is not None:
        yield found


def _without_closing_tags(text: str) -> str:
    """Return the text without closing tags of the call at its end, such as the tag in
    `]</parameter>` (anomalyco/opencode#1373).
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
    """Convert a Python literal to JSON. Return None if the text is not a literal, or if JSON cannot
    hold the whole value.
    """
    try:
        # `ast.literal_eval` would also accept sets and bytes, and would drop one of two equal keys.
        return _literal(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _literal(node: ast.expr) -> Any:
    """Return the JSON value of a literal. Raises ValueError if JSON has no such value, or if a key
    is repeated.
    """
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
            text.encode()  # Python accepts half a surrogate pair as text; JSON does not
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
