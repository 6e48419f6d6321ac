"""What clients see: a contract's exact JSON Schema goes in, the `inputSchema` to publish comes out.

*exact* is a copy of the schema. *portable* says the same in the words that every client takes at
once (`docs/project/evidence/clients.md` and `wire.md`): a tree without references where each node
has one `type`, or is an `anyOf` of such nodes. What a dropped keyword said is put in words, where
it is short.

Portable never excludes a call that exact admits, null apart, with these limits:

* An array has `items` and no node is untyped, so where anything may stand, arrays in arrays end in
  `ANY_ITEMS`.
* As at the boundary, an untyped schema that speaks of properties (of items) is an object (an
  array), and an object that lists properties and is silent on others is closed. The second matters
  only where alternatives become one object.
* A discriminator's tag is required, as in validation, even if the model has a default for it.

The way there: `_Maker.read` turns a schema into a `_Node`, alternatives of one JSON type each,
whose children are still as written; `_Maker.make` writes a node out and descends. Alternatives meet
or blend before the descent, by putting `allOf` or `anyOf` around their children, so that each child
is read with everything known about it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import unquote

from toolbooth.contract import Contract

Profile: TypeAlias = Literal["portable", "exact"]
Schema: TypeAlias = dict[str, Any]

# Inlining took one tool from 4,500 to 12,500 tokens (fastmcp#3141, 2026-02-11), a Windsurf bridge
# takes 47 KB of definitions (WindsurfAPI#70, 2026-04-26): past these bounds the schema is cut
# nearer to its root.
MAX_DEPTH = 12
MAX_BYTES = 40_000  # or twice the exact schema, where that is more
MAX_READS = 5_000
MAX_NESTED = 32  # combinators inside combinators, at one place
MAX_BRANCHES = 64  # that an allOf of unions may yield, where none of the unions has more
MAX_PHRASE = 80
MAX_LIST = 400

_KINDS = ("string", "number", "boolean", "object", "array", "null")
_NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format")
_CONSTRAINTS: Mapping[str, tuple[str, ...]] = {
    "string": (
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "contentEncoding",
        "contentMediaType",
    ),
    "number": _NUMERIC,
    "integer": _NUMERIC,
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}
_AT_LEAST = frozenset(
    {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "uniqueItems"}
)
_AT_MOST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_ANNOTATIONS = frozenset({"description", "default", "examples", "deprecated"})
_CHILDREN = frozenset({"properties", "required", "additionalProperties", "items"})

# Claude Code sends text for an untyped node (claude-code#82652, 2026-08-15), VS Code refuses an
# array without `items` (vscode#325618, 2026-07-13). So "anything" has to end somewhere, and it ends
# here.
ANY_ITEMS: Mapping[str, Any] = {"anyOf": [{"type": kind} for kind in _KINDS[:4]]}
_ONLY_NULL: Mapping[str, Any] = {"type": "string", "description": "always null"}
# An untyped schema that has one of these is read as the boundary reads it
# (`compile/json_schema.py`).
_OBJECT_KEYS = frozenset(
    {"properties", "required", "additionalProperties", "patternProperties", "minProperties"}
)
_ARRAY_KEYS = frozenset({"items", "prefixItems", "minItems", "maxItems"})


def input_schema(contract: Contract, profile: Profile = "portable") -> dict[str, Any]:
    """The JSON Schema to publish as a tool's `inputSchema`.

    Raises:
        ValueError: there is no such profile.
    """
    if profile not in ("portable", "exact"):
        raise ValueError(
            f"there is no profile {profile!r}; the profiles are 'portable' and 'exact'"
        )
    return (
        portable(contract.listing_schema or contract.schema)
        if profile == "portable"
        else _copied(contract.schema)
    )


def portable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an arguments object, in the form that every client takes."""
    return _copied(_inlined(_copied(schema), MAX_DEPTH))


def _inlined(root: Schema, depth: int) -> Schema:
    maker = _Maker(root, depth)
    made = maker.make_root()
    large = maker.reads > MAX_READS or len(_identity(made)) > max(
        MAX_BYTES, 2 * len(_identity(root))
    )
    return _inlined(root, depth // 2) if large and depth > 1 else made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Branch:
    """One alternative: keywords for one JSON type, children as written; `via` holds the references
    that led here.
    """

    kind: str
    keywords: Schema = field(default_factory=dict[str, Any])
    via: frozenset[str] = frozenset()
    declared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    branches: tuple[_Branch, ...] = ()
    annotations: Schema = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a schema stands: the references followed above it and at the place itself, and how deep
    it is.
    """

    above: frozenset[str] = frozenset({"#"})
    here: frozenset[str] = frozenset()
    depth: int = 0
    nested: int = 0

    def inside(self, *refs: str) -> _Place:
        return replace(self, here=self.here.union(refs), nested=self.nested + 1)

    def below(self, branch: _Branch) -> _Place:
        return _Place(above=self.above | branch.via, depth=self.depth + 1)


_ANY = _Node(branches=tuple(_Branch(kind=kind) for kind in _KINDS))


class _Maker:
    """Makes one schema portable, cut at `depth`; `reads` counts the work."""

    def __init__(self, root: Schema, depth: int) -> None:
        self.root, self.depth, self.reads = root, depth, 0
        self.referred: dict[tuple[str, _Place], _Node] = {}
        # Up to draft-07 what stands beside a `$ref` is ignored.
        self.refs_stand_alone = "draft-0" in str(root.get("$schema"))

    # --- reading: a schema as alternatives of one type each ---

    def read(self, schema: Any, place: _Place) -> _Node:
        self.reads += 1
        written = _dict(schema)
        if schema is False or written.get("not") in (True, {}):
            return _Node()
        elsewhere = _is_resource(schema) and schema is not self.root
        if not written or elsewhere or self.reads > MAX_READS or place.nested > MAX_NESTED:
            return _ANY
        if self.refs_stand_alone and "$ref" in written:
            written = {"$ref": written["$ref"], **_annotations(written)}
        return self._combined(written, place)

    def _combined(self, schema: Schema, place: _Place) -> _Node:
        node = self._referred(self._own(schema, place), schema, place)
        for part in _parts(schema):
            node = _intersection(node, self.read(part, place.inside()))
        for key in ("anyOf", "oneOf"):
            if options := _list(schema.get(key)):
                met = _intersection(node, self._union(options, place))
                # llama.cpp cannot mix `properties` with alternatives (its grammars/README.md): one
                # object then.
                node = _one_object(met, met) if "properties" in schema else met
        for options in _conditions(schema):
            node = _one_object(_intersection(node, self._union(options, place)), node)
        if schema.get("nullable") is True:
            node = replace(node, branches=(*node.branches, _Branch(kind="null")))
        return node

    def _own(self, schema: Schema, place: _Place) -> _Node:
        """What the schema says beside its references and combinators."""
        declared = _declared_kinds(schema)
        branches = [
            _Branch(
                kind=kind, keywords=self._constraints(kind, schema, place), declared=bool(declared)
            )
            for kind in declared or _KINDS
        ]
        if "const" in schema or "enum" in schema:
            branches = [
                kept for branch in branches if (kept := _with_values(branch, _values(schema)))
            ]
        return _Node(branches=tuple(branches), annotations=_annotations(schema))

    def _constraints(self, kind: str, schema: Schema, place: _Place) -> Schema:
        kept = {
            key: schema[key]
            for key in _CONSTRAINTS.get(kind, ())
            if key in schema and _applies(key, kind, schema)
        }
        if kind == "object":
            kept = self._object_constraints(kept, schema, place)
        elif kind == "array":
            kept = self._array_constraints(kept, schema, place)
        elif kind == "string":
            kept = _described(kept, _said("JSON text:", schema.get("contentSchema")))
        return _described(kept, _said("not", schema.get("not")))

    def _object_constraints(self, kept: Schema, schema: Schema, place: _Place) -> Schema:
        said = {
            "properties": _dict(schema.get("properties")),
            "required": _list(schema.get("required")),
        }
        kept |= {key: value for key, value in said.items() if value}
        patterns = _dict(schema.get("patternProperties"))
        if "additionalProperties" in schema:
            kept["additionalProperties"] = _any_of(
                [*patterns.values(), schema["additionalProperties"]]
            )
        for pattern, value in patterns.items():
            kept = _described(
                kept, _said(f"keys matching {pattern}:", value) or f"keys matching {pattern}"
            )
        for names in (
            self.read(schema["propertyNames"], place.inside()).branches
            if "propertyNames" in schema
            else ()
        ):
            kept = _described(
                kept, _said("keys:", names.keywords) if names.kind == "string" else None
            )
        for name, needed in (
            _dict(schema.get("dependentRequired")) | _dict(schema.get("dependencies"))
        ).items():
            kept = _described(
                kept, f"{name} needs {', '.join(_list(needed))}" if _list(needed) else None
            )
        return kept

    def _array_constraints(self, kept: Schema, schema: Schema, place: _Place) -> Schema:
        """ChatGPT refuses tuple items (enquire-mcp#354, 2026-07-18): one schema for all, the order
        in words.
        """
        is_tuple = isinstance(schema.get("items"), list)
        prefix = _list(schema.get("items" if is_tuple else "prefixItems"))
        rest = schema.get("additionalItems" if is_tuple else "items", True)
        kept = _described(kept, _said("contains", schema.get("contains")))
        if not prefix:
            return {**kept, "items": rest} if "items" in schema else kept
        if rest is False:
            kept["maxItems"] = min(len(prefix), schema.get("maxItems", len(prefix)))
        ends = kept.get("maxItems", len(prefix) + 1) <= len(prefix)
        labels = [self._label(item, place) for item in prefix]
        kept["items"] = _any_of(prefix if ends else [*prefix, rest])
        return _described(kept, f"in order: {', '.join(labels)}" if len(set(labels)) > 1 else None)

    def _label(self, schema: Any, place: _Place) -> str:
        if isinstance(label := _dict(schema).get("title", _dict(schema).get("type")), str):
            return label
        return "/".join(
            dict.fromkeys(branch.kind for branch in self.read(schema, place.inside()).branches)
        )

    def _referred(self, node: _Node, schema: Schema, place: _Place) -> _Node:
        ref = schema.get("$ref")
        if not isinstance(ref, str) or ref in place.here:
            return node
        if (ref, place) not in self.referred:
            self.referred[ref, place] = self.read(self._target(ref), place.inside(ref))
        target = self.referred[ref, place]
        if ref in place.above:
            target = _cut(target, "nests the same again")
        target = replace(
            target,
            branches=tuple(replace(branch, via=branch.via | {ref}) for branch in target.branches),
        )
        if (
            "description" in node.annotations
        ):  # the field's text wins over the model's, as in pydantic and FastMCP
            target = replace(target, annotations={**target.annotations, "description": ""})
        return _intersection(node, target)

    def _target(self, ref: str) -> Any:
        """What a reference points to: "anything" if it leaves the document, is an anchor or passes
        a nested `$id`.
        """
        base, _, pointer = ref.partition("#")
        if base not in ("", str(self.root.get("$id")).rstrip("#")) or pointer[:1] not in ("", "/"):
            return True
        found: Any = self.root
        for step in unquote(pointer).split("/")[1:]:
            if _is_resource(found) and found is not self.root:
                return True
            inner = _dict(found) or {str(index): item for index, item in enumerate(_list(found))}
            found = inner.get(step.replace("~1", "/").replace("~0", "~"), True)
        return found

    def _union(self, options: Iterable[Any], place: _Place) -> _Node:
        nodes = [self.read(option, place.inside()) for option in options]
        branches = [
            _annotated(branch, node.annotations) for node in nodes for branch in node.branches
        ]
        distinct = {
            (branch.kind, _identity(branch.keywords), branch.via): branch for branch in branches
        }
        return _Node(branches=tuple(distinct.values()))

    # --- writing: alternatives as a portable schema ---

    def make_root(self) -> Schema:
        """Anthropic and OpenAI refuse combinators at the root (claude-code#710 2025-04-04,
        argent#773 2026-08-11).
        """
        place = _Place()
        node = self.read(self.root, place)
        objects = _blended([branch for branch in node.branches if branch.kind == "object"])
        made: Schema = self._make_branch(objects[0], place) if objects else {}
        empty: Schema = {"type": "object", "properties": {}}
        return empty | _dressed([made], node.annotations, None)

    def make(self, schema: Any, place: _Place, *, say_null: bool) -> Schema | None:
        """The portable form of a schema; None where nothing (or nothing but an optional null) may
        stand.
        """
        node = self.read(schema, place)
        if place.depth >= self.depth:
            node = _cut(node, "nested too deep to show")
        options = _tidied(
            [self._make_branch(branch, place) for branch in node.branches if branch.kind != "null"]
        )
        # Null branches fail in Cursor (cursor#3540, 2025-08-29) and Ollama (netclaw#51,
        # 2026-02-27).
        null = (
            "or null"
            if say_null and any(branch.kind == "null" for branch in node.branches)
            else None
        )
        if not options:
            return dict(_ONLY_NULL) if null else None
        return _dressed(options, node.annotations, null)

    def _make_branch(self, branch: _Branch, place: _Place) -> Schema:
        made: Schema = {"type": branch.kind}
        made |= {key: value for key, value in branch.keywords.items() if key not in _CHILDREN}
        if branch.kind == "object":
            return self._make_object(made, branch.keywords, place.below(branch))
        return (
            self._make_array(made, branch, place.below(branch)) if branch.kind == "array" else made
        )

    def _make_object(self, made: Schema, keywords: Schema, below: _Place) -> Schema:
        required: list[str] = keywords.get("required", [])
        extra = keywords.get("additionalProperties")
        declared: Schema = keywords.get("properties", {})
        declared = declared | {
            name: extra is None or extra for name in required if name not in declared
        }
        children = {
            name: self.make(child, below, say_null=name in required)
            for name, child in declared.items()
        }
        properties = {name: child for name, child in children.items() if child is not None}
        kept = [name for name in dict.fromkeys(required) if name in properties]
        made |= ({"properties": properties} if properties else {}) | (
            {"required": kept} if kept else {}
        )
        if extra is None:
            return made
        # google-genai 3.1.0 raises on a boolean here (python-genai#2393, 2026-05-07): true in
        # words, false not at all.
        if self.read(extra, below).branches == _ANY.branches:
            return _described(made, "more keys allowed" if properties else "any keys")
        values = self.make(extra, below, say_null=True)
        return made if values is None else {**made, "additionalProperties": values}

    def _make_array(self, made: Schema, branch: _Branch, below: _Place) -> Schema:
        if "items" not in branch.keywords and not branch.declared:
            return {**made, "items": ANY_ITEMS}
        items = self.make(branch.keywords.get("items", True), below, say_null=True)
        return (
            {**made, "items": {"type": "string"}, "maxItems": 0}
            if items is None
            else {**made, "items": items}
        )


# --- alternatives ---


def _intersection(left: _Node, right: _Node) -> _Node:
    """What fits both. Past the bound one side stands for both: wider, never narrower."""
    annotations = _described(
        right.annotations | left.annotations, right.annotations.get("description")
    )
    sides = [side.branches for side in (left, right) if side.branches != _ANY.branches] or [
        _ANY.branches
    ]
    fewest, most = min(sides, key=len), max(sides, key=len)
    if len(sides) > 1 and len(fewest) <= MAX_BRANCHES:
        met = tuple(both for other in sides[1] for one in sides[0] if (both := _meet(one, other)))
        fewest = met if len(met) <= max(len(most), MAX_BRANCHES) else fewest
    return _Node(branches=fewest, annotations=annotations)


def _meet(left: _Branch, right: _Branch) -> _Branch | None:
    kinds = {left.kind, right.kind}
    if len(kinds) > 1 and kinds != {"integer", "number"}:
        return None
    kind = left.kind if len(kinds) == 1 else "integer"
    merged = left.keywords
    for key, value in right.keywords.items():
        merged = _with_keyword(merged, key, value) if key in merged else {**merged, key: value}
    if kind == "object":
        merged = merged | _properties_by_name(
            [left.keywords, right.keywords], _all_of, closed=False
        )
    if "enum" in merged:
        merged = {**merged, "enum": [value for value in merged["enum"] if _fits(value, kind)]}
        if not merged["enum"]:
            return None
    return _Branch(
        kind=kind,
        keywords=merged,
        via=left.via | right.via,
        declared=left.declared or right.declared,
    )


def _with_keyword(keywords: Schema, key: str, value: Any) -> Schema:
    """A keyword said twice: both where one can hold both, else the second in words."""
    known = keywords[key]
    if key in _AT_LEAST or key in _AT_MOST:
        return {**keywords, key: max(known, value) if key in _AT_LEAST else min(known, value)}
    if key == "enum":
        shared = {_identity(each) for each in value}
        return {**keywords, key: [each for each in known if _identity(each) in shared]}
    if key in ("items", "additionalProperties"):
        return {**keywords, key: _all_of([known, value])}
    if key == "required":
        return {**keywords, key: list(dict.fromkeys([*known, *value]))}
    if key == "description":
        return _described(keywords, value)
    said = key in (*_CONSTRAINTS["string"], *_NUMERIC) and not _same(known, value)
    return _described(keywords, f"{key} {value}") if said else keywords


def _one_object(met: _Node, others: _Node) -> _Node:
    objects = [branch for branch in met.branches if branch.kind == "object"]
    rest = [branch for branch in others.branches if branch.kind != "object"]
    return replace(met, branches=(*_blended(objects), *rest))


def _blended(branches: list[_Branch]) -> list[_Branch]:
    """Alternative objects as one: all properties, required what all require, the combinations in
    words.
    """
    if len(branches) < 2:
        return branches
    every = [branch.keywords for branch in branches]
    kept = {
        key: value
        for key, value in every[0].items()
        if all(_same(value, other.get(key)) for other in every)
    }
    kept |= _properties_by_name(every, _any_of, closed=True)
    required = [_list(keywords.get("required")) for keywords in every]
    kept["required"] = [name for name in required[0] if all(name in other for other in required)]
    extras = [keywords.get("additionalProperties") for keywords in every]
    if True in extras or None not in extras:
        kept["additionalProperties"] = _any_of(extras)
    common = frozenset[str].intersection(*(branch.via for branch in branches))
    return [
        _Branch(
            kind="object",
            keywords=_described(kept, _combinations(every)),
            via=common,
            declared=True,
        )
    ]


def _combinations(every: list[Schema]) -> str | None:
    labelled = [list(_key_labels(keywords)) for keywords in every]
    shared = set(labelled[0]).intersection(*labelled)
    sets = [", ".join(label for label in labels if label not in shared) for labels in labelled]
    distinct = list(dict.fromkeys(f"({keys})" if keys else "none of these" for keys in sets))
    return _clipped(f"combinations: {' or '.join(distinct)}") if len(distinct) > 1 else None


def _key_labels(keywords: Schema) -> Iterator[str]:
    required, properties = keywords.get("required", []), keywords.get("properties", {})
    if text := keywords.get("description"):
        yield text
    for name in dict.fromkeys([*properties, *required]):
        values = _values(properties.get(name))
        if properties.get(name) is not False:
            yield (
                f"{name}={values[0]}"
                if len(values) == 1
                else name
                if name in required
                else f"{name}?"
            )


def _values(schema: Any) -> list[Any]:
    """The values that a schema names outright."""
    written = _dict(schema)
    if "const" in written or "enum" in written:
        return [written["const"]] if "const" in written else _list(written["enum"])
    inner = [values for part in _list(written.get("allOf")) if (values := _values(part))]
    return inner[0] if inner else []


def _properties_by_name(
    every: list[Schema], combine: Callable[[list[Any]], Any], *, closed: bool
) -> Schema:
    """All properties, each with what every object may hold there. `closed`: an object that lists
    any holds no more.
    """
    listed = [_dict(keywords.get("properties")) for keywords in every]
    silent = [not (closed and properties) for properties in listed]
    extras = [
        keywords.get("additionalProperties", default)
        for keywords, default in zip(every, silent, strict=True)
    ]
    names = dict.fromkeys(name for properties in listed for name in properties)
    rules = {
        name: [known.get(name, extra) for known, extra in zip(listed, extras, strict=True)]
        for name in names
    }
    return (
        {"properties": {name: combine(options) for name, options in rules.items()}} if names else {}
    )


def _all_of(parts: list[Any]) -> Any:
    if any(part is False for part in parts):
        return False
    distinct = list({_identity(part): part for part in parts if part not in (True, {})}.values())
    return {"allOf": distinct} if len(distinct) > 1 else distinct[0] if distinct else True


def _any_of(options: list[Any]) -> Any:
    if any(option in (True, {}) for option in options):
        return True
    distinct = {_identity(option): option for option in options if option is not False}
    # "This, or this and more" is "this": so speak conditions, of the properties that they repeat.
    kept = [
        each
        for each in distinct.values()
        if not any(_identity(part) in distinct for part in _list(each.get("allOf")))
    ]
    return {"anyOf": kept} if len(kept) > 1 else kept[0] if kept else False


def _with_values(branch: _Branch, values: list[Any]) -> _Branch | None:
    """The values of the branch's type. Vertex refuses an enum of objects or arrays
    (reportportal#25, 2025-07-30).
    """
    fitting = [value for value in values if _fits(value, branch.kind)]
    if not fitting:
        return None
    if branch.kind in ("object", "array", "null"):
        text = None if branch.kind == "null" else _said("only", {"enum": fitting})
        return replace(branch, keywords=_described(branch.keywords, text), declared=True)
    whole = (
        branch.kind == "number"
        and not branch.declared
        and all(_fits(value, "integer") for value in fitting)
    )
    kind = "integer" if whole else branch.kind
    return replace(
        branch, kind=kind, keywords=branch.keywords | _enumerated(kind, fitting), declared=True
    )


def _enumerated(kind: str, values: list[Any]) -> Schema:
    distinct = list({_identity(value): value for value in values}.values())
    return {} if kind == "boolean" and len(distinct) == 2 else {"enum": distinct}


def _fits(value: Any, kind: str) -> bool:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return kind == "number" or (kind == "integer" and value == value // 1)
    types = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    return isinstance(value, types.get(kind, ()))


def _cut(node: _Node, words: str) -> _Node:
    return replace(node, branches=tuple(_shallow(branch, words) for branch in node.branches))


def _shallow(branch: _Branch, words: str) -> _Branch:
    kept = {key: value for key, value in branch.keywords.items() if key not in _CHILDREN}
    if len(kept) == len(branch.keywords):
        return branch
    names = ", ".join(branch.keywords.get("properties", {}))
    return replace(
        branch,
        keywords=_described(kept, _clipped(f"{words}: {names}" if names else words)),
        declared=False,
    )


def _declared_kinds(schema: Schema) -> list[str]:
    written = schema.get("type")
    declared = [kind for kind in (_list(written) or [written]) if kind in (*_KINDS, "integer")]
    if declared or "const" in schema or "enum" in schema:
        return declared
    return (
        ["object"]
        if schema.keys() & _OBJECT_KEYS
        else ["array"]
        if schema.keys() & _ARRAY_KEYS
        else []
    )


def _parts(schema: Schema) -> list[Any]:
    tag = _dict(schema.get("discriminator")).get("propertyName")
    tagged = tag is not None and ("oneOf" in schema or "anyOf" in schema)
    return [
        *_list(schema.get("allOf")),
        *([{"type": list(_KINDS), "required": [tag]}] if tagged else []),
    ]


def _conditions(schema: Schema) -> Iterator[list[Any]]:
    """Each condition as alternatives: with its consequence, or without."""
    if "if" in schema:
        yield [{"allOf": [schema["if"], schema.get("then", True)]}, schema.get("else", True)]
    for name, needed in (
        _dict(schema.get("dependentSchemas")) | _dict(schema.get("dependencies"))
    ).items():
        if not isinstance(needed, list):
            yield [{"required": [name], "allOf": [needed]}, True]


# --- the words and the plain parts ---


def _dressed(options: list[Schema], annotations: Schema, null: str | None) -> Schema:
    """One option folded into its node, several as `anyOf`; the node's own text comes first."""
    made: Schema = options[0] if len(options) == 1 else {"anyOf": options}
    text = _say(_say(annotations.get("description"), made.get("description")), null)
    return {**made, **annotations, **({"description": text} if text else {})}


def _tidied(options: list[Schema]) -> list[Schema]:
    """No option twice, plain enums of one type as one, and no plain integer beside a plain number."""
    values: dict[str, list[Any]] = {}
    for option in options:
        if option.keys() == {"type", "enum"}:
            values.setdefault(option["type"], []).extend(option["enum"])
    merged = {kind: {"type": kind, **_enumerated(kind, every)} for kind, every in values.items()}
    tidy = [
        merged[option["type"]] if option.keys() == {"type", "enum"} else option
        for option in options
    ]
    distinct = {_identity(option): option for option in tidy}.values()
    return [
        option
        for option in distinct
        if option != {"type": "integer"} or {"type": "number"} not in distinct
    ]


def _annotated(branch: _Branch, annotations: Schema) -> _Branch:
    text = _say(annotations.get("description"), branch.keywords.get("description"))
    return replace(
        branch, keywords=annotations | branch.keywords | ({"description": text} if text else {})
    )


def _annotations(schema: Schema) -> Schema:
    kept = {
        key: value for key, value in schema.items() if key in _ANNOTATIONS or key.startswith("x-")
    }
    # `default: null` beside required fields made Claude Code send nothing at all (claude-code#3966,
    # 2025-08-09).
    return {
        key: value
        for key, value in kept.items()
        if value is not None and (key, value) != ("description", "")
    }


def _applies(key: str, kind: str, schema: Schema) -> bool:
    if key == "format":
        return kind == "string" or "type" in schema
    # Draft-04 booleans fail in Windsurf and Mistral (pdf-reader-mcp#107, 2025-07-11; #63,
    # 2025-05-22).
    return key == "uniqueItems" or not isinstance(schema[key], bool)


def _described(keywords: Schema, more: str | None) -> Schema:
    text = _say(keywords.get("description"), more)
    return {**keywords, "description": text} if text else keywords


def _say(text: str | None, more: str | None) -> str | None:
    return f"{text} ({more})" if text and more and more not in text else text or more


def _said(word: str, schema: Any) -> str | None:
    """What a keyword that is not published says, in a short phrase or not at all."""
    written = {
        key: value for key, value in _dict(schema).items() if key not in ("title", "description")
    }
    if not written:
        return None
    if written.keys() <= {"type", "const", "enum"} and written.keys() != {"type"}:
        texts = [
            value if isinstance(value, str) else _identity(value) for value in _values(written)
        ]
        return _clipped(f"{word} {' or '.join(texts)}")
    text = str(written.get("type")) if written.keys() == {"type"} else _identity(written)
    return f"{word} {text}" if len(text) <= MAX_PHRASE and "$ref" not in text else None


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_LIST else f"{text[:MAX_LIST]}…"


def _is_resource(schema: Any) -> bool:
    return isinstance(_dict(schema).get("$id"), str)


def _same(left: Any, right: Any) -> bool:
    return _identity(left) == _identity(right)


def _identity(value: Any) -> str:
    """Equal text for equal JSON: 1.0 is 1, true is not."""
    plain = int(value) if isinstance(value, float) and value.is_integer() else value
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, default=str)


def _dict(value: Any) -> Schema:
    return cast("Schema", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in cast("Mapping[str, Any]", value).items()}
    return (
        [_copied(item) for item in cast("list[Any]", value)]
        if isinstance(value, (list, tuple))
        else value
    )
