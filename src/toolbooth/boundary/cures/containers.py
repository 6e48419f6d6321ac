"""The readings of a value for which a list or an object is declared: another container, a lone
item, or text that is written in some other way than as JSON.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.cures.scalars import is_thousands
from toolbooth.boundary.read import Unreadable, read_json
from toolbooth.boundary.refusals import is_uuid
from toolbooth.boundary.repairs import Unrepairable, admits
from toolbooth.boundary.repairs import text as read_text
from toolbooth.contract import Limits
from toolbooth.jsonvalue import Json, is_array, is_object

_ITEM_KEYS = frozenset(("item", "items", "element", "elements", "list", "array", "value", "values"))
"""Names of the only key of an object that was sent for a list."""

_PLACEHOLDERS = frozenset(("none", "null", "n/a", "nil", "omit", "undefined", "string", "text"))
"""Words that stand for a value, or for none."""

_MOST_PARTS = 10_000
"""Values in one text; more of them are not looked at."""

_PAIRS = (("key", "value"), ("name", "value"))
_FENCE = re.compile(r"```\w*\s*\n(.*?)\n?\s*```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")
_CLOSING_TAG = re.compile(r"</[^\s<>]{1,80}\s*>")
_LINE = re.compile(r"([^:\n]+): (.+)")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_SEPARATORS = ",;\n"
_LONGEST = 20_000
"""Characters of a text that is read as Python."""


def container_readings(place: Place, value: Any, limits: Limits) -> Iterator[Any]:
    """What a value may mean where a list or an object is declared."""
    if isinstance(value, str):
        found = list(_written(value, limits)) if "string" not in place.types else []
        yield from (each for each in found if admits(place.shape, each))
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
        if list(value) == [str(index) for index in range(len(value))] and value:
            yield list(value.values())
        inner = next(iter(value.values())) if _is_item_key(value) else None
        if is_array(inner):
            yield inner
        elif is_object(inner) and _is_lone_item(items, inner):
            yield [inner]
    elif isinstance(value, str):
        yield from _separated(items, value, limits)
        if "string" in items.types:
            if not any(each in value for each in _SEPARATORS) and _is_item(items, value):
                yield [value]
            return
    if _is_lone_item(items, value):
        yield [value]


def _is_item_key(value: Json) -> bool:
    return len(value) == 1 and _ITEM_KEYS.issuperset(value)


def _is_lone_item(items: Place, value: Any) -> bool:
    if not is_object(value) or items.shape.opaque:
        return admits(items.shape, value)
    # Values that are wrong in it are cured by themselves.
    forms = items.shape.objects
    is_known = any(
        form.additional is not None or value.keys() <= form.fields.keys() for form in forms
    )
    return is_known and bool(value)


def _is_item(items: Place, value: str) -> bool:
    constants = items.shape.constants
    if constants is not None:
        return value in constants
    # What looks like JSON or Python, but could not be read, is no item; nor is a placeholder.
    return value.strip()[:1] not in ("", "{", "[", "(", "<") and value.lower() not in _PLACEHOLDERS


def _separated(items: Place, value: str, limits: Limits) -> Iterator[list[Any]]:
    """Numbers, UUIDs or choices with commas or line ends between them, and JSON in lines."""
    lines = [line.strip() for line in value.strip().splitlines()]
    if "object" in items.types and len(lines) > 1:
        read = [_json(line, limits) for line in lines if line]
        if all(map(is_object, read)):
            yield read
        return
    parts = [part.strip() for part in re.split(r"[,\n]", value.strip()) if part.strip()]
    if len(parts) < (1 if not _is_text(items) else 2) or is_thousands(value):
        return
    if len(parts) > _MOST_PARTS:
        return
    made = [_separate(items, part, limits) for part in parts]
    if None not in made:
        yield made


def _is_text(items: Place) -> bool:
    return "string" in items.types


def _separate(items: Place, part: str, limits: Limits) -> Any:
    """One of several values in a text; None if it is not of the declared kind."""
    if items.shape.constants is not None:
        return part if part in items.shape.constants else None
    if items.format == "uuid":
        return part if is_uuid(part) else None
    if _NUMBER.fullmatch(part) and not _is_text(items):
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
        lines = filter(str.strip, value.splitlines())
        pairs = [_pair_in_line(line) for line in lines]
    else:
        return
    made = {str(pair[0]).strip(): pair[1] for pair in pairs if pair is not None}
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
    """What a text holds that is almost JSON, or Python."""
    bare = text.strip().removeprefix("\ufeff").strip()
    fence = _FENCE.fullmatch(bare)
    bare = fence[1].strip() if fence else bare
    if bare[:1] not in ("{", "[", "("):
        return
    bare = _without_closing_tags(bare)
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
