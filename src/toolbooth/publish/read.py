"""Reader: converts a JSON Schema to a `Node`, which has alternatives of one JSON type each.

References are followed and combinators are merged, but only at this node. Its children are read
when `write.py` writes the node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from toolbooth.alternatives import NESTS_AGAIN, TOO_DEEP
from toolbooth.jsonvalue import Json, NoSuchPart
from toolbooth.publish.merge import any_of, as_one_object, intersect, restrict_to_values, unite
from toolbooth.publish.nodes import (
    ANY,
    CHILDREN,
    CONSTRAINTS,
    KINDS,
    Branch,
    Node,
    Position,
    array_of,
    object_of,
    values_of,
)
from toolbooth.publish.words import (
    dependencies,
    dependency_phrases,
    describe,
    pattern_phrase,
    phrase_of,
    shorten_list,
)
from toolbooth.references import References
from toolbooth.sample import json_in

MAX_READS = 5_000
"""At most this many schemas are read for one tool. If a schema needs more, it is published with
fewer levels.
"""

MAX_COMBINATORS = 32
"""At most this many combinators (`allOf`, `anyOf`, `oneOf`) are followed inside each other at one
node.
"""

# An untyped schema that has one of these is read as the boundary reads it
# (`compile/json_schema.py`).
_OBJECT_KEYS = frozenset(
    {"properties", "required", "additionalProperties", "patternProperties", "minProperties"}
)
_ARRAY_KEYS = frozenset({"items", "prefixItems", "minItems", "maxItems"})


_SAYS_JSON = re.compile(r"\bjson\b", re.IGNORECASE)
_SAYS_FORM = re.compile(r"\bjson (object|list|array)\b", re.IGNORECASE)


class Reader:
    """Reads the parts of one schema. `reads` counts the parts that were read."""

    def __init__(
        self, root: Json, *, max_depth: int, keeps_annotation: Callable[[str, Any], bool]
    ) -> None:
        self.root = root
        self.max_depth = max_depth
        self.keeps_annotation = keeps_annotation
        self.reads = 0
        self._nodes_by_ref: dict[tuple[str, Position], Node] = {}
        # Up to draft-07, the keywords beside a `$ref` are ignored.
        self._refs_hide_keywords = "draft-0" in str(root.get("$schema"))

    @cached_property
    def _references(self) -> References:
        # Most schemas have no references, so this index is made when it is first needed.
        return References(self.root)

    def read_to_depth(self, schema: Any, position: Position) -> Node:
        """Return the node of a schema. If the node is too deep, leave out its children."""
        node = self.read(schema, position)
        if position.depth >= self.max_depth:
            return _cut(node, TOO_DEEP)
        return node

    def read(self, schema: Any, position: Position) -> Node:
        """Return the node of a schema. If the schema cannot be read, the node allows anything."""
        self.reads += 1
        written = object_of(schema)
        if schema is False or written.get("not") in (True, {}):
            return Node()
        is_too_much = self.reads > MAX_READS or position.combinators > MAX_COMBINATORS
        if not written or is_too_much:
            return ANY
        if self._refs_hide_keywords and "$ref" in written:
            written = {"$ref": written["$ref"], **self._annotations(written)}
        return self._combined_node(written, position)

    def _combined_node(self, schema: Json, position: Position) -> Node:
        node = self._with_target(self._own_node(schema, position), schema, position)
        for part in _parts(schema):
            node = intersect(node, self.read(part, position.inside()))
        for key in ("anyOf", "oneOf"):
            if options := array_of(schema.get(key)):
                node = intersect(node, self._union(options, position))
                # llama.cpp cannot mix `properties` with alternatives (its grammars/README.md), so
                # they become one object.
                node = as_one_object(node, node) if "properties" in schema else node
        for options in _conditions(schema):
            node = as_one_object(intersect(node, self._union(options, position)), node)
        # OpenAPI 3.0 writes `nullable: true` instead of the type `null`.
        if schema.get("nullable") is True:
            node = replace(node, branches=(*node.branches, Branch(kind="null")))
        return node

    def _union(self, options: list[Any], position: Position) -> Node:
        return unite([self.read(option, position.inside()) for option in options])

    # --- the schema's own keywords ---

    def _own_node(self, schema: Json, position: Position) -> Node:
        """Return the node for the schema's own keywords, without its references and combinators."""
        declared = _declared_kinds(schema)
        is_declared = bool(declared)
        branches: list[Branch] = []
        # A schema without a type allows all of them. Each type then gets the constraints that mean
        # something for it: `minLength` restricts only text.
        for kind in declared or KINDS:
            keywords = self._keywords(kind, schema, position)
            branches.append(Branch(kind=kind, keywords=keywords, is_declared=is_declared))
        if "const" in schema or "enum" in schema:
            values = values_of(schema)
            restricted = (restrict_to_values(branch, values) for branch in branches)
            branches = list(filter(None, restricted))
        return Node(branches=tuple(branches), annotations=self._annotations(schema))

    def _annotations(self, schema: Json) -> Json:
        kept = {key: value for key, value in schema.items() if self.keeps_annotation(key, value)}
        # An empty text is dropped, because it would hide the description of the model that the
        # schema refers to.
        if not kept.get("description"):
            kept.pop("description", None)
        if "example" in schema and self.keeps_annotation("examples", []):  # OpenAPI's word for it
            kept.setdefault("examples", [schema["example"]])
        return kept

    def _keywords(self, kind: str, schema: Json, position: Position) -> Json:
        names = [key for key in CONSTRAINTS.get(kind, ()) if _applies(key, kind, schema)]
        kept: Json = {key: schema[key] for key in names}
        if kind == "object":
            kept = self._object_keywords(kept, schema, position)
        elif kind == "array":
            kept = self._array_keywords(kept, schema, position)
        elif kind == "string":
            kept = describe(kept, _content_phrase(schema))
        return describe(kept, phrase_of("not", schema.get("not")))

    def _object_keywords(self, kept: Json, schema: Json, position: Position) -> Json:
        if properties := object_of(schema.get("properties")):
            kept["properties"] = properties
        if required := array_of(schema.get("required")):
            kept["required"] = required
        patterns = object_of(schema.get("patternProperties"))
        if "additionalProperties" in schema:
            extra = schema["additionalProperties"]
            kept["additionalProperties"] = any_of([*patterns.values(), extra])
        for pattern, value in patterns.items():
            kept = describe(kept, pattern_phrase(pattern, value))
        if "propertyNames" in schema:
            for names in self.read(schema["propertyNames"], position.inside()).branches:
                kept = _with_keys(kept, names)
        for phrase in dependency_phrases(schema):
            kept = describe(kept, phrase)
        return kept

    def _array_keywords(self, kept: Json, schema: Json, position: Position) -> Json:
        """Add one schema for all items. The order of a tuple's items is described in words, because
        ChatGPT refuses tuple items (enquire-mcp#354, 2026-07-18).
        """
        if isinstance(schema.get("items"), list):  # a tuple, up to draft 2019-09
            tuple_key, rest_key = "items", "additionalItems"
        else:
            tuple_key, rest_key = "prefixItems", "items"
        prefix = array_of(schema.get(tuple_key))
        rest = schema.get(rest_key, True)
        kept = describe(kept, phrase_of("contains", schema.get("contains")))
        if not prefix:
            return {**kept, "items": rest} if "items" in schema else kept
        # `false` after the tuple means that there may be no further items.
        if rest is False:
            kept["maxItems"] = min(len(prefix), schema.get("maxItems", len(prefix)))
        # If no further items may be sent, their schema is not needed.
        has_rest = kept.get("maxItems", len(prefix) + 1) > len(prefix)
        kept["items"] = any_of([*prefix, rest] if has_rest else prefix)
        labels = [self._label(item, position) for item in prefix]
        is_uniform = len(set(labels)) == 1
        return kept if is_uniform else describe(kept, f"in order: {', '.join(labels)}")

    def _label(self, schema: Any, position: Position) -> str:
        written = object_of(schema)
        label = written.get("title", written.get("type"))
        if isinstance(label, str):
            return label
        branches = self.read(schema, position.inside()).branches
        return "/".join(dict.fromkeys(branch.kind for branch in branches))

    # --- references ---

    def _with_target(self, node: Node, schema: Json, position: Position) -> Node:
        """Return the node, merged with the node that the schema's `$ref` points to."""
        if not isinstance(schema.get("$ref"), str):
            return node
        ref = self._references.absolute(schema, schema["$ref"])
        # The schema refers to itself at the same place, for example in its own `allOf`. That adds
        # nothing.
        if ref in position.refs_here:
            return node
        if (ref, position) not in self._nodes_by_ref:
            read = self.read(self._target(ref), position.inside(ref))
            self._nodes_by_ref[ref, position] = read
        target = self._nodes_by_ref[ref, position]
        if ref in position.refs_above:
            target = _cut(target, NESTS_AGAIN)
        branches = [replace(branch, refs=branch.refs | {ref}) for branch in target.branches]
        annotations = target.annotations
        if "description" in node.annotations:
            # The field's text wins over the model's, as in Pydantic and FastMCP.
            annotations = {**annotations, "description": ""}
        return intersect(node, Node(branches=tuple(branches), annotations=annotations))

    def _target(self, ref: str) -> Any:
        """Return the schema that a reference points to. If it is not in this document, return True,
        which allows anything.
        """
        try:
            return self._references.target(self.root, ref)
        except NoSuchPart:
            return True


# --- parts of a schema --------------------------------------------------------------------------


def _declared_kinds(schema: Json) -> list[str]:
    """Return the JSON types that a schema declares, or else the types that its keywords imply."""
    written = schema.get("type")
    names = array_of(written) or [written]
    declared = [kind for kind in names if kind in KINDS or kind == "integer"]
    # The listed values decide on the types (`restrict_to_values`).
    if declared or "const" in schema or "enum" in schema:
        return declared
    implied = (("object", _OBJECT_KEYS), ("array", _ARRAY_KEYS))
    return [kind for kind, keys in implied if schema.keys() & keys]


def _applies(key: str, kind: str, schema: Json) -> bool:
    """Return True if the schema has the constraint `key`, and the constraint applies to the JSON
    type `kind`.
    """
    if key not in schema:
        return False
    if key == "format":
        return kind == "string" or "type" in schema
    # Draft-04 booleans fail in Windsurf and Mistral (pdf-reader-mcp#107, 2025-07-11; #63,
    # 2025-05-22).
    return key == "uniqueItems" or not isinstance(schema[key], bool)


def _parts(schema: Json) -> list[Any]:
    """Return the schemas that a value must also fit: those of `allOf`, and one that requires the
    tag of a discriminator.
    """
    parts = array_of(schema.get("allOf"))
    tag = object_of(schema.get("discriminator")).get("propertyName")
    if tag is not None and ("oneOf" in schema or "anyOf" in schema):
        return [*parts, {"type": list(KINDS), "required": [tag]}]
    return parts


def _conditions(schema: Json) -> Iterator[list[Any]]:
    """Yield two alternatives for each condition. In the first, the condition and its consequence
    apply; in the second, neither does.
    """
    if "if" in schema:
        # The second alternative does not exclude the condition, so this allows more than JSON
        # Schema does. Calls are checked against the exact schema.
        yield [{"allOf": [schema["if"], schema.get("then", True)]}, schema.get("else", True)]
    every = object_of(schema.get("dependentSchemas")) | object_of(schema.get("dependencies"))
    for name, needed in every.items():
        if not isinstance(needed, list):
            yield [{"required": [name], "allOf": [needed]}, True]
    declared = object_of(schema.get("properties"))
    for name, names in dependencies(schema):
        # Fields that are declared are shown anyway, and a phrase in the description connects them
        # (`dependency_phrases`). Any other key would not be shown at all.
        if not declared.keys() >= {name, *names}:
            yield [{"required": [name, *names]}, True]


def _with_keys(kept: Json, names: Branch) -> Json:
    """Return the keywords of an object, and add its `propertyNames` in words. If `propertyNames` is
    a list of choices, declare each choice as a field instead, because more clients can read fields.
    """
    if names.kind != "string":
        return kept
    choices = names.keywords.get("enum")
    values = kept.get("additionalProperties", False)
    if choices and values is not False and "properties" not in kept:
        properties = dict.fromkeys(choices, values)
        return {**kept, "properties": properties, "additionalProperties": False}
    return describe(kept, phrase_of("keys:", names.keywords))


def _content_phrase(schema: Json) -> str | None:
    """Return words that describe the JSON in a text. Return None if the description of the text
    already does so.
    """
    said = str(schema.get("description"))
    is_said = _SAYS_JSON.search(said) and (_SAYS_FORM.search(said) or any(json_in(said)))
    return None if is_said else phrase_of("JSON text:", schema.get("contentSchema"))


def _cut(node: Node, reason: str) -> Node:
    """Return the node without its children. `reason` is added to its description."""
    branches = [_without_children(branch, reason) for branch in node.branches]
    return replace(node, branches=tuple(branches))


def _without_children(branch: Branch, reason: str) -> Branch:
    kept = {key: value for key, value in branch.keywords.items() if key not in CHILDREN}
    if len(kept) == len(branch.keywords):
        return branch
    names = ", ".join(branch.keywords.get("properties", {}))
    text = shorten_list(f"{reason}: {names}" if names else reason)
    return replace(branch, keywords=describe(kept, text), is_declared=False)
