"""Profile: the base class of all profiles. It writes a schema as one tree without references.

`Profile.write` reads a node (`read.py`), writes it, and continues with its children. This is the
same for every profile. The profiles differ only in the public methods below `write`. In this class,
these methods write standard JSON Schema. A subclass overrides a method if its clients cannot read
the result.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolbooth.contract import Contract
from toolbooth.equal_json import EqualJson, equal_json
from toolbooth.jsonvalue import Json, Schema
from toolbooth.markers import VERBATIM_KEYWORD
from toolbooth.publish.merge import blend_objects, enum_of
from toolbooth.publish.nodes import (
    ANY,
    CHILDREN,
    Branch,
    Node,
    Position,
    copy_json,
    identity,
    without_repeats,
)
from toolbooth.publish.read import MAX_READS, Reader
from toolbooth.publish.words import join_texts

# Inlining took one tool from 4,500 to 12,500 tokens (fastmcp#3141, 2026-02-11), and a Windsurf
# bridge takes 47 KB of definitions (WindsurfAPI#70, 2026-04-26). Past these bounds the schema is
# cut nearer to its root.
MAX_DEPTH = 12
MAX_BYTES = 40_000  # or twice the exact schema, if that is more

ANNOTATIONS = frozenset({"description", "default", "examples", "deprecated"})
"""The keywords that are annotations. They do not restrict values. `title` is left out because it
costs tokens.
"""

NULL: Json = {"type": "null"}


class Profile:
    """One way to write the published schema.

    To write your own, subclass `Portable` (or this class) and override some of the public methods.
    These methods get and return plain JSON. They must not change their arguments. See
    `docs/reference/publishing.md`.
    """

    max_depth: int = MAX_DEPTH
    """The number of nested levels that are published."""
    max_bytes: int = MAX_BYTES
    """A schema with more bytes than this is published with fewer levels."""

    def input_schema(self, contract: Contract) -> Json:
        """Return the `inputSchema` of a tool."""
        return self.write(contract.listing_schema or contract.schema)

    def write(self, schema: Schema) -> Json:
        """Return the schema of an arguments object as this profile writes it."""
        root: Json = copy_json(schema)
        depth = self.max_depth
        while True:
            reader = Reader(root, max_depth=depth, keeps_annotation=self.keeps_annotation)
            written = self._write_root(reader)
            is_too_large = reader.reads > MAX_READS or self._is_too_long(written, root)
            if depth <= 1 or not is_too_large:
                return copy_json(written)
            # Half as deep each time, so 12 levels are written four times at most.
            depth //= 2

    def _is_too_long(self, written: Json, root: Json) -> bool:
        size = len(identity(written))
        return size > self.max_bytes and size > 2 * len(identity(root))

    # --- the methods that a profile may replace ---

    def keeps_annotation(self, key: str, value: Any) -> bool:
        """Return True if an annotation such as `default` is to be published."""
        return key in ANNOTATIONS or (key.startswith("x-") and key != VERBATIM_KEYWORD)

    def write_union(self, options: list[Json]) -> Json:
        """Write a node with several alternatives."""
        return {"anyOf": options}

    def write_nullable(self, node: Json, *, required: bool) -> Json:
        """Write a node that may also be null. `required` is true if the key must be sent."""
        if "anyOf" in node:
            return {**node, "anyOf": [*node["anyOf"], NULL]}
        return {"anyOf": [node, NULL]}

    def write_null(self, *, required: bool) -> Json | None:
        """Write a node that can only be null. `required` is true if the key must be sent. Return
        None to leave the node out.
        """
        return NULL

    def write_open_object(self, node: Json) -> Json:
        """Write an object that accepts any other keys."""
        return {**node, "additionalProperties": True}

    def write_closed_object(self, node: Json) -> Json:
        """Write an object that accepts no other keys."""
        return {**node, "additionalProperties": False}

    def write_open_array(self, node: Json) -> Json:
        """Write an array that is inside a value that may be anything."""
        return node

    def write_typed(self, node: Json) -> Json:
        """Write a node, or one of its alternatives, that has a `type`. The children are already
        written.
        """
        return node

    # --- the walk ---

    def _write_root(self, reader: Reader) -> Json:
        """Write the root. MCP requires `type: object`. Anthropic and OpenAI refuse combinators at
        the root (claude-code#710 2025-04-04, argent#773 2026-08-11), so alternatives are merged
        into one object.
        """
        position = Position()
        node = reader.read_to_depth(reader.root, position)
        objects = blend_objects([branch for branch in node.branches if branch.kind == "object"])
        written = [self._write_branch(reader, branch, position) for branch in objects]
        empty: Json = {"type": "object", "properties": {}}
        return empty | self._write_options(written or [{}], node)

    def _write_node(
        self, reader: Reader, schema: Any, position: Position, *, required: bool
    ) -> Json | None:
        """Write the node of a schema. Return None if no value can be sent for it."""
        node = reader.read_to_depth(schema, position)
        others = [branch for branch in node.branches if branch.kind != "null"]
        is_nullable = len(others) < len(node.branches)
        options = _tidy([self._write_branch(reader, branch, position) for branch in others])
        if not options:
            return self.write_null(required=required) if is_nullable else None
        written = self._write_options(options, node)
        return self.write_nullable(written, required=required) if is_nullable else written

    def _write_options(self, options: list[Json], node: Node) -> Json:
        """Write the alternatives of a node. If there is only one, it becomes the node itself. The
        description of the node comes before the description of the alternative.
        """
        written = options[0] if len(options) == 1 else self.write_union(options)
        text = join_texts(node.annotations.get("description"), written.get("description"))
        written = {**written, **node.annotations}
        if text:
            written["description"] = text
        return written

    def _write_branch(self, reader: Reader, branch: Branch, position: Position) -> Json:
        written: Json = {"type": branch.kind}
        for key, value in branch.keywords.items():
            if key not in CHILDREN:
                written[key] = value
        below = position.below(branch)
        if branch.kind == "object":
            written = self._write_object(reader, written, branch.keywords, below)
        elif branch.kind == "array":
            written = self._write_array(reader, written, branch, below)
        return self.write_typed(written)

    def _write_object(self, reader: Reader, written: Json, keywords: Json, below: Position) -> Json:
        required: list[str] = list(dict.fromkeys(keywords.get("required", [])))
        extra = keywords.get("additionalProperties")
        declared: Json = dict(keywords.get("properties", {}))
        # `required` may name a key that is not in `properties`. This key must still be sent, with
        # any value that undeclared keys may have.
        for name in required:
            declared.setdefault(name, True if extra is None else extra)
        properties: Json = {}
        for name, schema in declared.items():
            child = self._write_property(reader, schema, below, required=name in required)
            if child is not None:
                properties[name] = child
        if properties:
            written["properties"] = properties
        if kept := [name for name in required if name in properties]:
            written["required"] = kept
        return self._write_other_keys(reader, written, extra, below)

    def _write_property(
        self, reader: Reader, schema: Any, below: Position, *, required: bool
    ) -> Json | None:
        """Write the schema of a property. The tools of an API repeat the same few, so they are
        remembered.
        """
        found = equal_json(schema)
        # A reference leads to another part of the document.
        if found is not None and b"$ref" not in found.text:
            written, reads = self._remembered_property(
                self, found, required, below.depth, reader.max_depth
            )
            if reader.reads + reads <= MAX_READS:
                reader.reads += reads
                return written
        return self._write_node(reader, schema, below, required=required)

    # Resources follow one another in a list, so the tools that share a property are close together.
    @staticmethod
    @lru_cache(1024)
    def _remembered_property(
        profile: Profile, schema: EqualJson, required: bool, depth: int, max_depth: int
    ) -> tuple[Json | None, int]:
        """Return a property as a profile writes it, and how many schemas were read."""
        reader = Reader({}, max_depth=max_depth, keeps_annotation=profile.keeps_annotation)
        position = Position(depth=depth)
        written = profile._write_node(reader, schema.value, position, required=required)
        return written, reader.reads

    def _write_other_keys(self, reader: Reader, written: Json, extra: Any, below: Position) -> Json:
        if extra is None:
            return written
        if reader.read(extra, below).branches == ANY.branches:
            return self.write_open_object(written)
        values = self._write_node(reader, extra, below, required=True)
        if values is None:
            return self.write_closed_object(written)
        return {**written, "additionalProperties": values}

    def _write_array(self, reader: Reader, written: Json, branch: Branch, below: Position) -> Json:
        if "items" not in branch.keywords and not branch.is_declared:
            return self.write_open_array(written)
        items = self._write_node(reader, branch.keywords.get("items", True), below, required=True)
        if items is None:
            # No item can be sent, so only the empty array is valid. `items` is still a schema with
            # a type, because `write_typed` of a profile expects that.
            return {**written, "items": self.write_typed({"type": "string"}), "maxItems": 0}
        return {**written, "items": items}


def _tidy(options: list[Json]) -> list[Json]:
    """Return the alternatives without repetitions. Plain enums of one type are merged into one. A
    plain integer is removed if there is a plain number, because every integer is a number.
    """
    values: dict[str, list[Any]] = {}
    for option in options:
        if _is_plain_enum(option):
            values.setdefault(option["type"], []).extend(option["enum"])
    merged = {kind: {"type": kind, **enum_of(kind, each)} for kind, each in values.items()}
    every_option: list[Json] = []
    # A merged enum takes the place of each of its parts. The repeated ones are removed below.
    for option in options:
        every_option.append(merged[option["type"]] if _is_plain_enum(option) else option)
    tidy = without_repeats(every_option)
    # Every integer is a number, so the alternative adds nothing.
    if {"type": "number"} in tidy and {"type": "integer"} in tidy:
        tidy.remove({"type": "integer"})
    return tidy


def _is_plain_enum(option: Json) -> bool:
    return option.keys() == {"type", "enum"}
