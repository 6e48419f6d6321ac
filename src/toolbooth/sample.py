"""Makes one value for a JSON Schema, as a person would write an example. The same schema always
gives the same value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolbooth.jsonvalue import Json, Schema, is_array, is_mapping, write_json

_DEEPEST = 8
"""Below this depth, values are left out. Optional values are left out earlier."""

_FILLED = 2
"""At this many levels from the top, an empty default is not used as an example."""

_LARGEST = 10**9
"""The largest number in an example, if the schema has no bound."""

_MOST = 1000
"""An example has at most this many characters in a text and items in an array."""

_TEXTS = {
    "date": "2026-11-15",
    "date-time": "2026-11-15T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "PT5M",
    "uuid": "0c2d8bd6-7a3c-4c57-9d3f-6f0f5c1a2b3d",
    "email": "ann@example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


_QUOTES = re.compile(r"(?:JSON text:|keys:|keys matching \S+:|contains|not) $")
"""The words in a description that come before a quoted schema (`publish/words.py`, `phrase_of`)."""

_KEYWORDS = frozenset(
    (
        *("type", "enum", "const", "format", "pattern", "minLength", "maxLength"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
        *("properties", "required", "additionalProperties", "propertyNames"),
        *("minProperties", "maxProperties", "anyOf", "oneOf", "allOf", "not"),
    )
)


def _refuse(constant: str) -> Any:
    # Python's decoder reads `NaN` and `Infinity`, which are not JSON. An example that has them
    # would be published as it is.
    raise ValueError(constant)


_decoder = json.JSONDecoder(parse_constant=_refuse)


def example_of(schema: Schema, *, bare: bool = False) -> dict[str, Any]:
    """Return an object with the required fields. If no field is required, the object has only the
    first field; with `bare` it is empty.
    """
    return {} if bare and not schema.get("required") else _Maker(root=schema).object(schema, 0)


def sample_value(schema: Any, root: Schema, *, by_type: bool = False) -> Any:
    """Return a value for one schema inside the document `root`. The value may not match a
    `pattern`. With `by_type`, ignore the author's examples and defaults, which may be wrong.
    """
    return _Maker(root=root, by_type=by_type).value(schema, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """Makes the sample values for the schemas of one document."""

    root: Schema
    by_type: bool = False

    def value(self, schema: Any, depth: int) -> Any:
        written = _resolved(schema, self.root)
        for choices in _fixed(written) if self.by_type else _given(written, depth):
            if choices:
                return choices[0]
        kind = _kind(written)
        match kind:
            case "object":
                return {} if depth > _DEEPEST else self.object(written, depth)
            case "array":
                return [] if depth > _DEEPEST else self._array(written, depth)
            case "string" if written.get("contentMediaType") == "application/json":
                return write_json(self.value(written.get("contentSchema", {}), depth + 1))
            case _:
                return scalar(kind, written)

    def object(self, schema: Schema, depth: int) -> dict[str, Any]:
        fields: Schema = schema.get("properties", {})
        names = schema.get("required") or list(fields)[:1]
        made = {name: self.value(fields.get(name, {}), depth + 1) for name in names}
        others = schema.get("additionalProperties")
        # This is an open object, such as `dict[str, int]`. Without a key, the sample would not show
        # the values.
        if not made and (others is True or isinstance(others, Mapping)):
            keys = schema.get("propertyNames", {"const": "name"})
            made[self.value(keys, depth + 1)] = self.value(others, depth + 1)
        return made

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        prefix: Any = schema.get("prefixItems", ())
        least = max(1, _count(schema, "minItems"))
        items = [*prefix, *[schema.get("items", {})] * (least - len(prefix))]
        return [self.value(each, depth + 1) for each in items]


def _given(schema: Schema, depth: int) -> Iterator[Any]:
    """Yield lists of values that the author wrote, beginning with the most useful list."""
    yield schema.get("examples")
    yield schema.get("enum")
    given = [schema[key] for key in _GIVEN if key in schema]
    # At the top, an empty default would show nothing to an agent. At deeper levels it makes the
    # example shorter.
    yield [each for each in given if depth > _FILLED or each not in _EMPTY]
    yield _in_text(schema)


def given_values(schema: Schema) -> Iterator[Any]:
    """Yield the values that an author wrote as examples, the most useful first. Empty values are
    left out.
    """
    for values in _given(schema, 0):
        yield from (each for each in values or () if each not in _EMPTY)


def _fixed(schema: Schema) -> Iterator[Any]:
    """Yield the values of `const` and `enum`."""
    yield schema.get("enum")
    yield [schema["const"]] if "const" in schema else []


def _in_text(schema: Schema) -> list[Any]:
    """Return the objects and arrays in the description that serve as examples."""
    wanted = {"object": dict, "array": list}.get(_kind(schema))
    if wanted is None:
        return []
    found = json_in(str(schema.get("description", "")))
    return [value for value in found if isinstance(value, wanted) and is_filled(value)]


_GIVEN = ("const", "example", "default")
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def _kind(schema: Schema) -> str:
    """Return the type of a schema. If the schema has several types, return the first that is not
    null.
    """
    kinds: Any = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kinds, str):
        return kinds
    return next((each for each in kinds if each != "null"), "null")


def _resolved(schema: Any, root: Schema) -> Schema:
    """Return the schema with its references resolved. If there are several alternatives, return the
    first that is not null.
    """
    given: Schema = schema
    written: Json = dict(given) if isinstance(schema, Mapping) else {}
    for _ in range(_DEEPEST):
        if isinstance(ref := written.pop("$ref", None), str):
            # Pydantic and `publish/` write only references of this form. Any other counts as an
            # empty schema.
            named = root.get("$defs", {}).get(ref.rpartition("/")[2])
            # Keywords beside the reference belong to this one field, so they win over those of the
            # model: its own default, for example.
            written = {**_as_object(named), **written}
        for key in ("anyOf", "oneOf", "allOf"):
            # The sample for `int | None` is an integer.
            options = [each for each in written.pop(key, ()) if each != {"type": "null"}]
            if options:
                written = {**_as_object(options[0]), **written}
    return written


def _as_object(schema: Any) -> Schema:
    """Return a schema as a dict. The schemas true and false become empty."""
    return schema if is_mapping(schema) else {}


def scalar(kind: str, schema: Schema) -> Any:
    """Return a value of a simple type, within its bounds and different from the default."""
    if kind == "boolean":
        # A sample that is equal to the default would look as if the argument had no effect.
        return schema.get("default") is not True
    if kind in ("integer", "number"):
        return _number(kind, schema)
    if kind == "null":
        return None
    text = _TEXTS.get(schema.get("format", ""), "text")
    text = text.ljust(_count(schema, "minLength"), "x")
    return text[: _count(schema, "maxLength")] if "maxLength" in schema else text


def _count(schema: Schema, key: str) -> int:
    """Return a number of characters or items, which JSON may write as 2.0. It is at most `_MOST`:
    a schema that somebody else wrote may ask for a billion.
    """
    return min(int(schema.get(key, 0)), _MOST)


def _number(kind: str, schema: Schema) -> Any:
    """Return the default plus one, or a small number, within the bounds."""
    default = schema.get("default")
    step = schema.get("multipleOf")
    small = 2 if kind == "integer" else 2.5
    wanted = default + 1 if isinstance(default, int) else small
    least, most = _bounds(schema, step or 1)
    if least is None:
        least = wanted
    most = _LARGEST if most is None else max(most, least)
    made = min(max(wanted, least), most)
    # Rounded up: a lower multiple could be below the minimum.
    return made if not step else -(-made // step) * step


def _bounds(schema: Schema, step: Any) -> tuple[Any, Any]:
    """Return the smallest and the largest number that the schema allows. None means that there is
    no such bound.
    """
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None and "exclusiveMinimum" in schema:
        least = schema["exclusiveMinimum"] + step
    if most is None and "exclusiveMaximum" in schema:
        most = schema["exclusiveMaximum"] - step
    return least, most


# --- examples that an author wrote --------------------------------------------------------------


def json_in(text: str) -> Iterator[Any]:
    """Yield every JSON object and array in a text, except the schemas that `publish` quotes in
    descriptions.
    """
    position = 0
    while position < len(text):
        # Most brackets in a description are not JSON, such as `{name}` in a path. Then the search
        # continues at the next character.
        if text[position] not in "{[":
            position += 1
            continue
        try:
            value, end = _decoder.raw_decode(text, position)
        except RecursionError:  # nested too deep for an example
            return
        except ValueError:
            position += 1
            continue
        if not (_QUOTES.search(text, 0, position) and _is_schema(value)):
            yield value
        position = end


def _is_schema(value: Any) -> bool:
    return is_mapping(value) and value.keys() <= _KEYWORDS


def is_filled(value: Any) -> bool:
    """Return True if an example shows at least one value. `{}`, `[]`, `[{}]` and `{"a": null}` do
    not.
    """
    if is_mapping(value):
        return any(map(is_filled, value.values()))
    if is_array(value):
        return any(map(is_filled, value))
    return value is not None and value != ""
