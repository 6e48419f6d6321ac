"""Finds the objects and arrays of a JSON Schema that an agent cannot write, because neither the
type nor an example shows their contents.

A type shows the contents if it lists choices, declares fields, or has a format such as `uuid`. A
type does not show them if it is plain text, a number, or a `dict` with any keys. An example counts
if it is not empty and fits the schema. It may be in `examples`, in a default, or as JSON in a
description. It may also be a part of the example of the surrounding object or array.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from toolbooth.alternatives import (
    Document,
    Node,
    content_of,
    is_json_text,
    is_plain,
    items_of,
    kind_of,
)
from toolbooth.jsonvalue import Schema, is_array, is_mapping, path_text
from toolbooth.sample import is_filled, json_in
from toolbooth.shape_check import json_schema

_FORMATS = frozenset(
    (
        "base64",
        "base64url",
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "ipv4",
        "ipv4interface",
        "ipv4network",
        "ipv6",
        "ipv6interface",
        "ipv6network",
        "ipvanyaddress",
        "ipvanyinterface",
        "ipvanynetwork",
        "iri",
        "iri-reference",
        "json-pointer",
        "multi-host-uri",
        "regex",
        "relative-json-pointer",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
        "uuid",
        "uuid1",
        "uuid3",
        "uuid4",
        "uuid5",
        "uuid6",
        "uuid7",
        "uuid8",
    )
)
"""The formats that show an agent how to write a text. `password` and `binary` do not, so they are
not listed.
"""

WORDS_OF_FORMATS = {
    "date": "YYYY-MM-DD",
    "time": "HH:MM:SS",
    "duration": "ISO 8601 duration, such as PT5M",
    "uuid": "UUID",
    "uri": "URL",
    "email": "email address",
}
"""How a description names some formats. All other formats are written by their own name."""

_FORMATS_BY_WORDS = {WORDS_OF_FORMATS.get(name, name): name for name in sorted(_FORMATS)}
_OR_NULL = re.compile(r",? \(?or null\)?$")


def said_format(text: str) -> str | None:
    """Return the format that a description names in brackets at its end: `uuid` for `Owner (UUID)`.
    The portable profile writes descriptions in this way. None if no format is named.
    """
    # A required field that may be null has `Whose (UUID) (or null)`. There, the format is in the
    # second brackets from the end.
    words = _OR_NULL.sub("", text).rpartition("(")[2].removesuffix(")")
    return _FORMATS_BY_WORDS.get(words)


def _say_formats(schema: Any) -> bool:
    """Return True if the schema allows text, and each description of text names its format."""
    options: list[Any] = schema.get("anyOf", [schema]) if is_mapping(schema) else []
    texts = [each for each in options if is_mapping(each) and _is_free_text(each)]
    said = (said_format(str(each.get("description", ""))) for each in texts)
    return bool(texts) and None not in said


def _is_free_text(schema: Schema) -> bool:
    is_chosen = "enum" in schema or "const" in schema
    return schema.get("type") == "string" and not is_chosen and "format" not in schema


_FORMS: dict[str | None, type] = {"object": dict, "array": list}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshown:
    """A parameter, or a field inside a parameter, that an agent cannot write because nothing shows
    its contents.
    """

    path: str
    """For example `$.lines[].tags`."""
    description: str
    schema: Schema
    """The alternative whose contents are not shown. References are already followed."""


@dataclass(frozen=True, slots=True)
class _Level:
    """An object or array whose fields are not examined yet."""

    branch: Schema
    path: str
    examples: list[Any]

    def fields(self) -> Iterator[tuple[str, Any, list[Any]]]:
        """Yield each declared field: its name, its schema, and its values in the examples."""
        properties = self.branch.get("properties")
        objects = list(filter(is_mapping, self.examples))
        for name, each in properties.items() if is_mapping(properties) else ():
            yield name, each, [value[name] for value in objects if name in value]

    def inner(self) -> Iterator[tuple[Any, str, list[Any]]]:
        """Yield each schema of values that have no declared name, such as array items, with its
        path and examples.
        """
        objects = filter(is_mapping, self.examples)
        if is_mapping(others := self.branch.get("additionalProperties")):
            values = [value for each in objects for value in each.values()]
            yield others, f"{self.path}.*", values
        items = [item for each in filter(is_array, self.examples) for item in each]
        for each in items_of(self.branch):
            yield each, f"{self.path}[]", items
        if "contentSchema" in self.branch:
            yield self.branch["contentSchema"], self.path, self.examples


class Examples:
    """The examples of values in one JSON Schema document."""

    def __init__(self, document: Any) -> None:
        self.document = Document(document)
        # These sets stop the recursion in a schema that contains itself. With the first one, a
        # field is also reported only once if several parameters share its model.
        self._seen: set[tuple[int, bool]] = set()
        self._asked: set[int] = set()

    def missing(self) -> Iterator[Unshown]:
        """Yield every object and array in the arguments that an agent cannot write."""
        return self.missing_in(self.document.schema)

    def missing_in(self, schema: Any) -> Iterator[Unshown]:
        """Yield every object and array inside one schema of the document that an agent cannot
        write.
        """
        self._seen.clear()
        root = self.document.open(schema)
        examples = self._usable(root, ())
        # The search goes level by level, so a field at several places is reported at the highest
        # one.
        waiting = deque(_Level(each, "$", examples) for each in root.branches)
        while waiting:
            level = waiting.popleft()
            for name, each, around in level.fields():
                path = path_text((name,), level.path)
                found, forms = self._look_at(each, path, around)
                yield from found
                waiting += forms
            waiting += self._inner_levels(level)

    def fitting(self, schema: Any, values: Iterable[Any]) -> list[Any]:
        """Return those of `values` that are examples of an object or array."""
        return self._usable(Node(branches=self.document.open(schema).branches), values)

    # --- types ---

    def tells(self, schema: Any, *, is_named: bool = False) -> bool:
        """Return True if the type, or an example, shows an agent how to write a value. `is_named`
        is true if the value has a key. A key is enough to write plain text or a number.
        """
        # The schema contains itself and is still being examined further up. Its other parts decide,
        # so True is neutral here.
        if id(schema) in self._asked:
            return True
        self._asked.add(id(schema))
        node = self.document.open(schema)
        shown = any(is_filled(each) and self._fits(each, node.branches) for each in node.values)
        shown = shown or node.is_cut or bool(self._usable(node, ()))
        # `quantity` shows how to write a number, so beside a key a plain value needs no example. An
        # object or array still does.
        named = filter(self.is_complex, node.branches) if is_named else node.branches
        if _say_formats(schema):
            named = (each for each in named if kind_of(each) != "string" or "enum" in each)
        found = shown or all(map(self._tells, named))
        self._asked.discard(id(schema))
        return found

    def _tells(self, branch: Schema) -> bool:
        if "enum" in branch or "const" in branch:
            return True
        kind = kind_of(branch)
        if kind == "object":
            return bool(branch.get("properties") or branch.get("required")) or self._names(branch)
        if kind == "array":
            items = list(items_of(branch))
            return bool(items) and all(map(self.tells, items))
        if is_json_text(branch):
            return "contentSchema" in branch and self.tells(branch["contentSchema"])
        return kind == "boolean" or (kind == "string" and branch.get("format") in _FORMATS)

    def _names(self, branch: Schema) -> bool:
        """Return True if the keys of an object are a list of choices, and the type of the values
        shows how to write them.
        """
        keys = self.document.open(branch.get("propertyNames", True)).branches
        if not all("enum" in each or "const" in each for each in keys):
            return False
        others = branch.get("additionalProperties", True)
        return self.document.open(others).is_anything or self.tells(others, is_named=True)

    # --- examples ---

    def _usable(self, node: Node, around: Iterable[Any]) -> list[Any]:
        """Return the usable examples of an object or array. `around` has the values that this
        object or array has in the examples of the surrounding one.
        """
        found = [*around, *node.values]
        for text in node.texts:
            found += json_in(text)
        # A description, with its examples, is about the whole place. So each example is tried with
        # every alternative.
        return [
            example
            for branch in node.branches
            if kind_of(branch) is None or self.is_complex(branch)
            for value in found
            for example in self._as_example(value, branch)
        ]

    def _as_example(self, value: Any, branch: Schema) -> list[Any]:
        """Return `[value]` if the value is an example of a branch. If it is an example of one array
        item, return `[[value]]`. Otherwise return an empty list.
        """
        if is_json_text(branch):
            return self._usable(self.document.open(content_of(branch)), [_read_text(value)])
        if not is_filled(value):
            return []
        if self._fits(value, [branch]):
            return [value]
        is_item = any(self._is_item(value, each) for each in items_of(branch))
        # Authors often describe one row, such as `{"sku": "A1"}`, where a list of rows is declared.
        return [[value]] if is_item else []

    def _is_item(self, value: Any, schema: Any) -> bool:
        is_form = is_mapping(value) or is_array(value)
        return is_form and self._fits(value, self.document.open(schema).branches)

    def _fits(self, value: Any, branches: Iterable[Schema]) -> bool:
        return any(self._fits_one(value, branch) for branch in branches)

    def _fits_one(self, value: Any, branch: Schema) -> bool:
        # The validator gets the branch as a separate document, so it must contain the definitions
        # of its references.
        schema = {**branch, **self.document.definitions}
        try:
            return json_schema().validator_for(schema, offline=True).is_valid(value)
        except ValueError:  # an invalid schema, of which only the type counts
            return isinstance(value, _FORMS.get(kind_of(branch), object))

    def is_complex(self, branch: Schema) -> bool:
        """Return True if a branch accepts an object or an array, also as JSON text."""
        if is_json_text(branch):
            content = self.document.open(content_of(branch))
            kinds = set(map(kind_of, content.branches))
            return not content.is_anything and not kinds.isdisjoint(_FORMS)
        return kind_of(branch) in _FORMS

    # --- descending ---

    def _look_at(
        self, schema: Any, path: str, around: list[Any]
    ) -> tuple[list[Unshown], list[_Level]]:
        """Return two lists. The first has the property, if nothing shows its contents. The second
        has the objects and arrays inside the property.
        """
        if is_mapping(schema) and is_plain(schema):
            return [], []
        node = self.document.open(schema)
        if node.is_anything or node.is_cut or self._is_seen(schema, around):
            return [], []
        examples = self._usable(node, around)
        forms = list(filter(self.is_complex, node.branches))
        levels = [_Level(form, path, examples) for form in forms]
        hidden = itertools.filterfalse(self._tells, forms)
        form = None if examples else next(hidden, None)
        if form is None:
            return [], levels
        text = "".join(node.texts[:1])
        return [Unshown(path=path, description=text, schema=form)], levels

    def _inner_levels(self, level: _Level) -> Iterator[_Level]:
        """Yield the objects and arrays inside a `dict`, an array, or JSON text."""
        for schema, path, examples in level.inner():
            node = self.document.open(schema)
            if not node.is_anything and not self._is_seen(schema, examples):
                yield from (_Level(branch, path, examples) for branch in node.branches)

    def _is_seen(self, schema: Any, examples: list[Any]) -> bool:
        # The same model may have an example at one place and none at another. So it is examined
        # once with examples and once without.
        key = id(schema), bool(examples)
        is_seen = key in self._seen
        self._seen.add(key)
        return is_seen


def _read_text(value: Any) -> Any:
    """Return the JSON value that a text contains. Return any other value unchanged."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    # Any text may be an example. It need not be JSON, and may contain a thousand brackets.
    except (ValueError, RecursionError):
        return value
