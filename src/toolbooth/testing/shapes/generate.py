"""Makes a Hypothesis strategy for the values that a JSON Schema allows.

It supports the schemas that Toolbooth and other hosts publish. For `not`, `if` and `contains`, a
strategy may produce wrong values, so every value is checked against the schema. As at the boundary,
an object that declares properties has no other keys, unless its schema mentions them.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from datetime import UTC
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from toolbooth.examples import said_format
from toolbooth.jsonvalue import Schema
from toolbooth.references import References
from toolbooth.testing.offline_schema import is_schema, offline_validator

Values = SearchStrategy[Any]

DEEP = 4
"""Below this depth, only required values are made. Below twice this depth, no values are made."""

_OBJECT = (
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "propertyNames",
)
_ARRAY = ("items", "prefixItems", "minItems", "maxItems", "uniqueItems")
_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_TEXT = ("minLength", "maxLength", "pattern", "format")
_CHOICES = ("anyOf", "oneOf")
_KINDS = ("string", "integer", "number", "boolean", "null", "array", "object")

_TRICKY = ("", "5", "1.5", "true", "null", "None", "[1]", '{"a": 1}', " a ", "é😀", "2026-01-02")
"""Texts that look like values of another type, or are unusual."""

_texts = st.text(max_size=8) | st.sampled_from(_TRICKY)
_numbers = st.floats(-1e9, 1e9, width=32) | st.integers(-(10**6), 10**6)
_scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | _numbers | _texts
# Values of any type have only a few levels. The portable schema gives each node a type, which
# limits their depth (`publish.ANY_ITEMS`).
_anything = (
    _scalars
    | st.lists(_texts | _numbers | st.booleans(), max_size=3)
    | st.dictionaries(_texts, _scalars, max_size=3)
)

_FORMATS: dict[str, SearchStrategy[str]] = {
    "date": st.dates().map(lambda day: day.isoformat()),
    "date-time": st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.isoformat()),
    "time": st.times(timezones=st.just(UTC)).map(lambda moment: moment.isoformat()),
    "duration": st.integers(1, 99).map("P{}D".format),
    "uuid": st.uuids().map(str),
    "email": st.integers(0, 99).map("ann{}@example.org".format),
    "uri": st.integers(0, 99).map("https://example.org/{}".format),
    "hostname": st.integers(0, 99).map("h{}.example.org".format),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "base64": st.binary(max_size=6).map(lambda data: b64encode(data).decode()),
}


def arguments_for(schema: Schema, *, whole: bool = False) -> SearchStrategy[dict[str, Any]]:
    """Return a strategy for arguments that the schema allows. With `whole`, they have every
    declared field.

    Raises:
        ContractError: if the schema refers to a file or URL, or is not a JSON Schema.
    """
    maker = _StrategyMaker(Document(schema), whole=whole)
    admits = offline_validator(schema).is_valid
    made = maker.make({"type": "object", **schema, **({} if _is_open(schema) else _CLOSED)}, 0)
    return made.filter(lambda value: isinstance(value, dict) and admits(value))


_CLOSED = {"additionalProperties": False}


def _is_open(schema: Schema) -> bool:
    return any(
        key in schema
        for key in ("additionalProperties", "patternProperties", "$ref", *_CHOICES, "allOf")
    )


class Document:
    """One schema document. `resolve` returns a part of it with its references resolved."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.references = References(root)

    def resolve(self, schema: Any) -> dict[str, Any]:
        """Return a schema, merged with the target of its reference and with all parts of its
        `allOf`.
        """
        written: dict[str, Any] = dict(schema) if is_schema(schema) else {}
        parts = [self.resolve(each) for each in written.pop("allOf", ())]
        if isinstance(ref := written.pop("$ref", None), str):
            parts.append(self.resolve(self.references.target(schema, ref)))
        for part in parts:
            written = both(written, part)
        return written


class _StrategyMaker:
    """Makes the strategies of one schema document."""

    def __init__(self, document: Document, *, whole: bool) -> None:
        self.document = document
        self.whole = whole

    def make(self, schema: Any, depth: int) -> Values:
        # If a strategy can produce no value, Hypothesis chooses another branch. A schema that
        # requires itself endlessly has no value at all.
        if schema is False or depth > 2 * DEEP:
            return st.nothing()
        written = self.document.resolve(schema)
        for key in _CHOICES:
            if key in written:
                options = self._options(written, key)
                return st.one_of([self.make(each, depth) for each in options])
        if "const" in written or "enum" in written:
            return self._constants(written)
        kinds = _kinds(written)
        if not kinds:
            return _anything
        return st.one_of([self._of(kind, written, depth) for kind in kinds])

    def _options(self, schema: Schema, key: str) -> list[dict[str, Any]]:
        """Return the options of an `anyOf` or `oneOf`. Each is merged with the keywords beside
        it.
        """
        base = {name: value for name, value in schema.items() if name != key}
        return [both(base, self.document.resolve(option)) for option in schema[key]]

    def _constants(self, schema: Schema) -> Values:
        definitions = self.document.root.get("$defs", {})
        # The keywords beside an `enum` count as well, for example those that `allOf` adds:
        # `{"enum": [1, 20], "minimum": 10}` admits only 20.
        fits = offline_validator({**schema, "$defs": definitions}).is_valid
        values: list[Any] = schema["enum"] if "enum" in schema else [schema["const"]]
        choices = list(filter(fits, values))
        return st.sampled_from(choices) if choices else st.nothing()

    def _of(self, kind: str, schema: Schema, depth: int) -> Values:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind == "string" and schema.get("contentMediaType") == "application/json":
            return self.make(schema.get("contentSchema", True), depth + 1).map(json.dumps)
        makers = {"string": _string, "integer": _integer, "number": _number}
        if kind in makers:
            return makers[kind](schema)
        return st.booleans() if kind == "boolean" else st.none()

    def _object(self, schema: Schema, depth: int) -> Values:
        # A key can be required without being declared. Its values are then those of any further
        # key.
        unlisted = dict.fromkeys(
            schema.get("required", ()), schema.get("additionalProperties") or True
        )
        listed = {**unlisted, **schema.get("properties", {})}
        fields = {key: self.make(each, depth + 1) for key, each in listed.items()}
        required = {key: fields[key] for key in schema.get("required", ()) if key in fields}
        others = {
            key: each for key, each in fields.items() if key not in required and not each.is_empty
        }
        if self.whole and depth < DEEP:
            required, others = {**required, **others}, {}
        declared = st.fixed_dictionaries(required, optional=others if depth < DEEP else {})
        further = self._further(schema, depth)
        if further is None:
            return declared
        least = max(0, schema.get("minProperties", 0) - len(required))
        if not least and (depth >= DEEP or further.is_empty):
            return declared
        keys = self._keys(schema).filter(lambda key: key not in fields)
        more = st.dictionaries(
            keys, further, min_size=least, max_size=max(least, schema.get("maxProperties", 2))
        )
        return st.tuples(declared, more).map(lambda parts: {**parts[1], **parts[0]})

    def _further(self, schema: Schema, depth: int) -> Values | None:
        """Return a strategy for the values of undeclared keys. Return None if undeclared keys are
        forbidden.
        """
        patterns = list(schema.get("patternProperties", {}).values())
        extra = schema.get("additionalProperties", "properties" not in schema and not patterns)
        if patterns:
            return st.one_of([self.make(each, depth + 1) for each in patterns])
        return None if extra is False else self.make(extra, depth + 1)

    def _keys(self, schema: Schema) -> SearchStrategy[str]:
        patterns = list(schema.get("patternProperties", {}))
        if patterns:
            return st.one_of([_matching_text(each) for each in patterns])
        names = schema.get("propertyNames")
        if names is None:
            return st.text(min_size=1, max_size=6)
        return self.make({"type": "string", **names}, 0)

    def _array(self, schema: Schema, depth: int) -> Values:
        prefix = [self.make(each, depth + 1) for each in schema.get("prefixItems", ())]
        items = self.make(schema.get("items", not prefix), depth + 1)
        least = max(0, schema.get("minItems", 0) - len(prefix))
        if items.is_empty and least:
            return st.nothing()
        some = 0 if depth >= DEEP or items.is_empty else least + 2
        most = max(least, min(some, schema.get("maxItems", some + len(prefix)) - len(prefix)))
        unique = _identity if schema.get("uniqueItems") else None
        further = st.lists(
            items, min_size=least or int(self.whole and most > 0), max_size=most, unique_by=unique
        )
        if not prefix:
            return further
        return st.tuples(st.tuples(*prefix), further).map(lambda parts: [*parts[0], *parts[1]])


def _kinds(schema: Schema) -> list[str]:
    said = schema.get("type")
    if said is None:
        hints = {"object": _OBJECT, "array": _ARRAY, "number": _NUMBER, "string": _TEXT}
        hinted = [kind for kind, keys in hints.items() if schema.keys() & set(keys)]
        # Without `type`, `{"minLength": 3}` also admits every number. Its author probably meant
        # text, so only texts are made.
        return hinted[:1]
    kinds = [said] if isinstance(said, str) else list(said)
    return [*kinds, "null"] if schema.get("nullable") is True and "null" not in kinds else kinds


def both(left: Schema, right: Schema) -> dict[str, Any]:
    """Return one schema with the keywords of two schemas, for values that fit both."""
    made = {**left, **right}
    for key in left.keys() & right.keys():
        one, other = left[key], right[key]
        if key in ("properties", "patternProperties", "$defs"):
            common = one.keys() & other.keys()
            shared = {name: {"allOf": [one[name], other[name]]} for name in common}
            made[key] = {**one, **other, **shared}
        elif key == "required":
            made[key] = list(dict.fromkeys([*one, *other]))
        elif key == "type" and one != other:
            # `type` is one name or a list of names. `in` works for both, because no name of a type
            # is part of another.
            made[key] = [kind for kind in _KINDS if kind in one and kind in other]
        elif key in ("items", "additionalProperties") and one != other:
            made[key] = {"allOf": [one, other]}
        elif key in ("description", "title", "default"):
            made[key] = one
    return made


def _identity(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# --- scalars ------------------------------------------------------------------------------------


def _string(schema: Schema) -> Values:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if "pattern" in schema:
        made = _matching_text(schema["pattern"])
    elif (name := _format_of(schema)) in _FORMATS:
        made = _FORMATS[name]
    else:
        bounded = least or most is not None
        made = st.text(min_size=least, max_size=most or least + 8) if bounded else _texts
    return made.filter(partial(_has_length, least, most))


def _format_of(schema: Schema) -> Any:
    """Return the format of a text. The portable profile has written it into the description."""
    return schema.get("format") or said_format(str(schema.get("description", "")))


def _has_length(least: int, most: int | None, text: str) -> bool:
    return least <= len(text) and (most is None or len(text) <= most)


def _matching_text(pattern: str) -> SearchStrategy[str]:
    try:
        # JSON Schema uses the patterns of ECMAScript, where `\d` matches only the ten ASCII digits.
        # In Python, `\d` matches the digits of every script.
        return st.from_regex(re.compile(pattern, re.ASCII))
    except re.error:  # another dialect of patterns; the check of each value applies it
        return st.text(max_size=20)


def _integer(schema: Schema) -> Values:
    least, most = _bounds(schema, step=1)
    # Below 2**53, so that JavaScript and JSON parsers with doubles keep every digit.
    low = -(10**15) if least is None else math.ceil(least)
    # A declared minimum may be greater than our own bound.
    high = max(10**15, low) if most is None else math.floor(most)
    if low > high:
        return st.nothing()
    step = schema.get("multipleOf", 1)
    if step != 1:
        return st.integers(math.ceil(low / step), math.floor(high / step)).map(
            lambda count: count * step
        )
    # 1.0 is an integer: it is the same JSON number.
    whole = st.integers(low, high)
    return whole | whole.map(float) if abs(low) < 2**53 > abs(high) else whole


def _number(schema: Schema) -> Values:
    least, most = _bounds(schema, step=0)
    low = -1e9 if least is None else float(least)
    high = max(1e9, low) if most is None else float(most)
    whole = _integer({"minimum": low, "maximum": high, "multipleOf": schema.get("multipleOf", 1)})
    if "multipleOf" in schema or low > high:
        return whole
    return whole | st.floats(low, high, allow_nan=False)


def _bounds(schema: Schema, *, step: int) -> tuple[Any, Any]:
    """Return the smallest and the greatest allowed value. An exclusive bound is moved by one
    step.
    """
    lows = [schema["minimum"]] if "minimum" in schema else []
    if "exclusiveMinimum" in schema:
        lows.append(schema["exclusiveMinimum"] + step)
    highs = [schema["maximum"]] if "maximum" in schema else []
    if "exclusiveMaximum" in schema:
        highs.append(schema["exclusiveMaximum"] - step)
    return max(lows, default=None), min(highs, default=None)
