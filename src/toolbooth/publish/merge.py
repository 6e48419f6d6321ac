"""Merges several nodes into one node. The result is for values that fit all of the nodes, or for
values that fit any of them.

The children of a branch are not read yet. So the schemas of a child are combined with `allOf` or
`anyOf`, and the combined child is read later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.publish.nodes import (
    ANY,
    NUMERIC_CONSTRAINTS,
    TEXT_CONSTRAINTS,
    Branch,
    Node,
    array_of,
    has_kind,
    identity,
    is_same,
    object_of,
    without_repeats,
)
from toolbooth.publish.words import combinations_phrase, describe, join_texts, phrase_of

MAX_BRANCHES = 64
"""An `allOf` of unions has at most this many branches, unless one of the unions has more."""

_LARGER_WINS = frozenset(
    {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "uniqueItems"}
)
_SMALLER_WINS = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


# --- all of them --------------------------------------------------------------------------------


def intersect(left: Node, right: Node) -> Node:
    """Return the node for values that fit both nodes. If that node would have too many branches,
    return only one of the two nodes. That one allows more.
    """
    annotations = describe(
        right.annotations | left.annotations, right.annotations.get("description")
    )
    return Node(branches=_shared_branches(left.branches, right.branches), annotations=annotations)


def _shared_branches(left: tuple[Branch, ...], right: tuple[Branch, ...]) -> tuple[Branch, ...]:
    # "Anything" adds no restriction, so the other side is the whole answer.
    if left == ANY.branches:
        return right
    if right == ANY.branches:
        return left
    fewest, most = min(left, right, key=len), max(left, right, key=len)
    if len(fewest) > MAX_BRANCHES:
        return fewest
    # Every pair of alternatives is tried: two unions of 8 make 64. Most pairs have different types
    # and allow nothing.
    pairs = [(one, other) for other in right for one in left]
    met = tuple(both for pair in pairs if (both := _intersect_branches(*pair)))
    return met if len(met) <= max(len(most), MAX_BRANCHES) else fewest


def _intersect_branches(left: Branch, right: Branch) -> Branch | None:
    """Return the branch for values that fit both, or None if no value does."""
    kinds = {left.kind, right.kind}
    if len(kinds) > 1 and kinds != {"integer", "number"}:
        return None
    # A value that must be an integer and a number is an integer.
    kind = left.kind if len(kinds) == 1 else "integer"
    merged = left.keywords
    for key, value in right.keywords.items():
        merged = _add_keyword(merged, key, value)
    if kind == "object":
        merged = merged | _merge_properties([left.keywords, right.keywords], all_of, closed=False)
    if "enum" in merged:
        merged = {**merged, "enum": [value for value in merged["enum"] if has_kind(value, kind)]}
        if not merged["enum"]:
            return None
    return Branch(
        kind=kind,
        keywords=merged,
        refs=left.refs | right.refs,
        is_declared=left.is_declared or right.is_declared,
    )


def _add_keyword(keywords: Json, key: str, value: Any) -> Json:
    """Add a keyword. If the keyword is already there, combine both values, or describe the second
    one in words.
    """
    if key not in keywords:
        return {**keywords, key: value}
    known = keywords[key]
    if key in _LARGER_WINS:
        return {**keywords, key: max(known, value)}
    if key in _SMALLER_WINS:
        return {**keywords, key: min(known, value)}
    if key == "enum":
        allowed = set(map(identity, value))
        return {**keywords, key: [each for each in known if identity(each) in allowed]}
    if key in ("items", "additionalProperties"):
        return {**keywords, key: all_of([known, value])}
    if key == "required":
        return {**keywords, key: list(dict.fromkeys([*known, *value]))}
    if key == "description":
        return describe(keywords, value)
    is_constraint = key in TEXT_CONSTRAINTS or key in NUMERIC_CONSTRAINTS
    # Two different patterns cannot be one keyword, and `allOf` is not written. The second one is
    # added in words.
    if is_constraint and not is_same(known, value):
        return describe(keywords, f"{key} {value}")
    return keywords


def all_of(schemas: list[Any]) -> Any:
    """Return a schema for values that fit all of these schemas."""
    if any(schema is False for schema in schemas):
        return False
    limiting = without_repeats([schema for schema in schemas if schema not in (True, {})])
    if len(limiting) > 1:
        return {"allOf": limiting}
    return limiting[0] if limiting else True


def restrict_to_values(branch: Branch, values: list[Any]) -> Branch | None:
    """Return the branch with only those of `values` that have its type; None if there are none.

    Vertex refuses an enum of objects or arrays (reportportal#25, 2025-07-30).
    """
    own = [value for value in values if has_kind(value, branch.kind)]
    if not own:
        return None
    if branch.kind == "null":
        # `null` is the only value of its type, so no `enum` is needed.
        return replace(branch, is_declared=True)
    if branch.kind in ("object", "array"):
        keywords = describe(branch.keywords, phrase_of("only", {"enum": own}))
        return replace(branch, keywords=keywords, is_declared=True)
    is_undeclared_number = branch.kind == "number" and not branch.is_declared
    # `{"enum": [1, 2]}` without a type lists only integers, so the type can be narrower than
    # `number`.
    is_whole = is_undeclared_number and all(has_kind(value, "integer") for value in own)
    kind = "integer" if is_whole else branch.kind
    keywords = branch.keywords | enum_of(kind, own)
    return replace(branch, kind=kind, keywords=keywords, is_declared=True)


def enum_of(kind: str, values: list[Any]) -> Json:
    """Return the `enum` for these values. If both booleans are allowed, return no `enum`, because
    the type is enough.
    """
    distinct = without_repeats(values)
    return {} if kind == "boolean" and len(distinct) == 2 else {"enum": distinct}


# --- any of them --------------------------------------------------------------------------------


def unite(nodes: list[Node]) -> Node:
    """Return the node for values that fit any of these nodes. Repeated branches are removed."""
    distinct: dict[tuple[str, str, frozenset[str]], Branch] = {}
    for node in nodes:
        for plain in node.branches:
            branch = _annotate(plain, node.annotations)
            distinct[branch.kind, identity(branch.keywords), branch.refs] = branch
    return Node(branches=tuple(distinct.values()))


def _annotate(branch: Branch, annotations: Json) -> Branch:
    """Return the branch, and add the annotations of the node to it."""
    keywords = annotations | branch.keywords
    text = join_texts(annotations.get("description"), branch.keywords.get("description"))
    if text:
        keywords["description"] = text
    return replace(branch, keywords=keywords)


def as_one_object(node: Node, others: Node) -> Node:
    """Merge the objects of `node` into one. Then add the branches of `others` that are not
    objects.
    """
    objects = [branch for branch in node.branches if branch.kind == "object"]
    rest = [branch for branch in others.branches if branch.kind != "object"]
    return replace(node, branches=(*blend_objects(objects), *rest))


def blend_objects(branches: list[Branch]) -> list[Branch]:
    """Merge alternative objects into one with all properties. A property is required if all objects
    require it. The description says in words which properties belong together.
    """
    if len(branches) < 2:
        return branches
    every = [branch.keywords for branch in branches]
    blended = _keywords_of_all(every) | _merge_properties(every, any_of, closed=True)
    blended["required"] = _required_by_all(every)
    extras = [keywords.get("additionalProperties") for keywords in every]
    # An object without `additionalProperties` does not mention other keys. If one object does not,
    # the merged one does not either, unless another object allows any keys.
    if True in extras or None not in extras:
        blended["additionalProperties"] = any_of(extras)
    keywords = describe(blended, combinations_phrase(every))
    # Only references that lead to every alternative are certainly above the children.
    refs = frozenset[str].intersection(*(branch.refs for branch in branches))
    return [Branch(kind="object", keywords=keywords, refs=refs, is_declared=True)]


def _keywords_of_all(every: list[Json]) -> Json:
    first, *others = every

    def is_shared(key: str) -> bool:
        return all(is_same(first[key], other.get(key)) for other in others)

    return {key: value for key, value in first.items() if is_shared(key)}


def _required_by_all(every: list[Json]) -> list[str]:
    first, *others = [array_of(keywords.get("required")) for keywords in every]
    shared = set(first).intersection(*others)
    return [name for name in first if name in shared]


def _merge_properties(
    every: list[Json], combine: Callable[[list[Any]], Any], *, closed: bool
) -> Json:
    """Return all properties. For each property, the schemas from all objects are combined.

    If `closed` is true, an object that lists properties and has no `additionalProperties` allows no
    other properties.
    """
    known_by_each: list[tuple[Json, Any]] = []
    for keywords in every:
        properties = object_of(keywords.get("properties"))
        is_silent_open = not (closed and properties)
        extra = keywords.get("additionalProperties", is_silent_open)
        known = dict(properties)
        for name in array_of(keywords.get("required")):  # required, but not listed
            known.setdefault(name, keywords.get("additionalProperties", True))
        known_by_each.append((known, extra))
    merged: Json = {}
    for properties, _ in known_by_each:
        for name in properties:
            if name not in merged:
                merged[name] = combine([known.get(name, extra) for known, extra in known_by_each])
    return {"properties": merged} if merged else {}


def any_of(schemas: list[Any]) -> Any:
    """Return a schema for values that fit any of these schemas."""
    if any(schema in (True, {}) for schema in schemas):
        return True
    distinct = {identity(schema): schema for schema in schemas if schema is not False}

    def narrows_another(schema: Json) -> bool:
        return any(identity(part) in distinct for part in array_of(schema.get("allOf")))

    # "A, or A and B" is the same as "A". Conditions that repeat properties have this form.
    kept = [schema for schema in distinct.values() if not narrows_another(schema)]
    if len(kept) > 1:
        return {"anyOf": kept}
    return kept[0] if kept else False
