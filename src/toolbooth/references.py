"""Finds the targets of references inside one JSON Schema document: pointers, anchors and `$id`s.

Other documents are never fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from toolbooth.jsonvalue import NoSuchPart, Schema, is_array, is_mapping, resolve_pointer

_SUBSCHEMAS = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "oneOf",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""The keywords whose value is a schema, or an array of schemas."""

_TABLES = frozenset(
    {
        "$defs",
        "definitions",
        "dependencies",
        "dependentSchemas",
        "patternProperties",
        "properties",
    }
)
"""The keywords whose value is an object with a schema under each key."""


class References:
    """Finds the targets of the references in one document."""

    def __init__(self, document: Any) -> None:
        self._parts: dict[str, Any] = {"": document}
        """The parts of the document by address, such as `https://a.example/s`. A part with an
        anchor has the address `https://a.example/s#name`.
        """
        self._bases: dict[int, str] = {}
        """The base address for the references in a schema. The key is the `id()` of the schema."""
        self._dynamic_anchors: dict[str, list[Any]] = {}
        waiting: list[tuple[Any, str]] = [(document, "")]
        while waiting:
            schema, base = waiting.pop()
            # A schema that an author builds in Python may contain the same dict in several places,
            # or itself.
            if is_mapping(schema) and id(schema) not in self._bases:
                base = self._note(schema, base)
                waiting += [(each, base) for each in subschemas(schema)]
        self._root_base = self._bases.get(id(document), "")

    def _note(self, schema: Schema, base: str) -> str:
        """Store the address and the anchors of one schema. Return the base address for the
        references in it.
        """
        own = schema.get("$id")
        if isinstance(own, str) and own.startswith("#"):  # an anchor, up to draft-07
            self._parts.setdefault(base + own, schema)
        elif isinstance(own, str):
            base = urldefrag(urljoin(base, own)).url
            self._parts.setdefault(base, schema)
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(key), str):
                self._parts.setdefault(f"{base}#{schema[key]}", schema)
        if isinstance(schema.get("$dynamicAnchor"), str):
            # Several schemas may have the same dynamic anchor, and the path to the reference
            # decides between them. With only one, there is nothing to decide.
            self._dynamic_anchors.setdefault(schema["$dynamicAnchor"], []).append(schema)
        self._bases[id(schema)] = base
        return base

    def target(self, schema: Schema, ref: str) -> Any:
        """Return the target of `ref`, a reference in `schema`.

        Raises:
            NoSuchPart: if the target is not in the document.
        """
        address, fragment = self._address(schema, ref)
        # A fragment that begins with a slash is a JSON pointer. Any other is the name of an anchor.
        if fragment and not fragment.startswith("/"):
            return self._part(f"{address}#{unquote(fragment)}")
        return resolve_pointer(self._part(address), f"#{fragment}")

    def absolute(self, schema: Schema, ref: str) -> str:
        """Return the reference `ref` in `schema`, rewritten so that it has the same target at the
        root.
        """
        address, fragment = self._address(schema, ref)
        return f"#{fragment}" if address == self._root_base else f"{address}#{fragment}"

    def _address(self, schema: Schema, ref: str) -> tuple[str, str]:
        base = self._bases.get(id(schema), self._root_base)
        # `urljoin("urn:uuid:1", "#a")` returns only `#a`, because it does not know the scheme
        # `urn`.
        address, fragment = urldefrag(base + ref if ref.startswith("#") else urljoin(base, ref))
        return address, fragment

    def dynamic_target(self, schema: Schema, ref: str) -> Any:
        """Return the target of a `$dynamicRef`, if only one schema of the document can be meant.

        Raises:
            NoSuchPart: if several schemas can be meant, or the target is not in the document.
        """
        target = self.target(schema, ref)
        name = target.get("$dynamicAnchor") if is_mapping(target) else None
        if len(self._dynamic_anchors.get(str(name), ())) > 1:
            raise NoSuchPart(ref)
        return target

    def _part(self, address: str) -> Any:
        if address not in self._parts:
            raise NoSuchPart(address)
        return self._parts[address]


def subschemas(schema: Schema) -> Iterator[Any]:
    """Yield the schemas directly below a schema."""
    for key, value in schema.items():
        if key in _TABLES and is_mapping(value):
            yield from value.values()
        elif key in _SUBSCHEMAS:
            yield from value if is_array(value) else (value,)
