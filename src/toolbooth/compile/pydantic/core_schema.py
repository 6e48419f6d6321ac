"""Reads Pydantic's core schema: its nodes, their configuration and their aliases. Also rewrites the
children of a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from typing_extensions import TypeIs

from toolbooth.jsonvalue import is_array
from toolbooth.markers import METADATA_KEY, Marker, Unpack

CoreNode = dict[str, Any]
"""One node of Pydantic's core schema."""

DICTS = frozenset(("dict", "ordered-dict", "counter"))
REWRITES = ("strip_whitespace", "to_lower", "to_upper")
FIELD_LISTS = frozenset(("model-fields", "typed-dict", "dataclass-args"))
_CHILDREN = (
    "schema",
    "items_schema",
    "keys_schema",
    "values_schema",
    "extras_schema",
    "fields",
    "steps",
    "choices",
    "json_schema",
    "python_schema",
    "lax_schema",
    "strict_schema",
    "definitions",
)
AUTHORED = frozenset(("function-before", "function-wrap"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of the surrounding model that decide which JSON is accepted."""

    extra: str = "ignore"
    strict: bool = False
    by_name: bool = False
    by_alias: bool = True
    numbers_as_text: bool = False
    rewrites: tuple[str, ...] = ()
    """How the model changes text: by stripping it, or by changing its case. Two keys may become
    equal in this way.
    """
    exact_types: bool = True
    """True if the validation accepts only 5 for an integer. Otherwise it also accepts 5.0, which is
    an integer in JSON Schema.
    """
    definitions: Mapping[str, CoreNode] = field(default_factory=dict[str, CoreNode], compare=False)
    """The nodes that `definition-ref` nodes refer to."""
    as_json: bool = False
    """True if the validation parses JSON itself, and False if it gets parsed values."""

    @staticmethod
    def of(node: CoreNode, outer: Config) -> Config:
        """Return the configuration that applies inside `node`. This is its own configuration, or
        else the outer one.
        """
        raw = node.get("config")
        if raw is None:
            return outer
        # Only our own settings are taken from the outer configuration. In Pydantic, a nested model
        # does not inherit the configuration of the outer model.
        return replace(
            outer,
            extra=raw.get("extra_fields_behavior") or "ignore",
            strict=bool(raw.get("strict")),
            by_name=bool(raw.get("validate_by_name")),
            by_alias=raw.get("validate_by_alias") is not False,
            numbers_as_text=bool(raw.get("coerce_numbers_to_str")),
            rewrites=tuple(how for how in REWRITES if raw.get(f"str_{how}")),
        )


AS_SENT = "<as sent>"
OWN_LABELS = frozenset((AS_SENT, "<pointed>", "<digits>", "<rewritten>", "<unreadable>"))
"""Labels of the choices that Toolbooth adds to a core schema. Pydantic writes them into the paths
of errors.
"""

DEFAULTS = Config()
LENIENT = Config(exact_types=False)
AS_JSON = Config(as_json=True)


def marker_of(node: CoreNode) -> Marker | None:
    """Return the Toolbooth marker that created this node. Return None if the node is not from a
    marker.
    """
    metadata: dict[str, Any] | None = node.get("metadata")
    # A marker makes a chain of its own (`markers.py`): metadata on a model's node would be shared
    # by all uses of the model.
    return metadata.get(METADATA_KEY) if metadata and node["type"] == "chain" else None


def without_unpack(node: CoreNode) -> CoreNode:
    """Return the same schema without `Unpack` markers. They are removed at any depth."""
    if isinstance(marker_of(node), Unpack):
        return without_unpack(node["steps"][0])
    return each_child(node, without_unpack)


def is_authors(node: CoreNode) -> bool:
    """Return True if a function node runs the author's code. Pydantic builds some of its own types
    from functions.
    """
    function = node["function"]["function"]
    # A classmethod validator is a bound method. Only its function has the module.
    function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] not in ("pydantic", "pydantic_core")


def extra_of(node: CoreNode, config: Config) -> str:
    """Return the `extra` setting for a list of fields. It decides if undeclared keys are ignored,
    allowed or forbidden.
    """
    return node.get("extra_behavior") or Config.of(node, config).extra


def each_child(node: CoreNode, rewrite: Callable[[Any], Any]) -> CoreNode:
    """Return a copy of `node` with all its children rewritten."""
    made = dict(node)
    for key in _CHILDREN:
        if key in made:
            made[key] = _each(made[key], rewrite)
    return made


def with_children(node: CoreNode, rewrite: Callable[[Any], Any]) -> CoreNode:
    """Return `node` with all its children rewritten. If no child has changed, return the same
    object.
    """
    made = node
    for key in _CHILDREN:
        if key in node:
            children = _each(node[key], rewrite)
            if not _are_same(children, node[key]):
                made = {**made, key: children}
    return made


def _are_same(made: Any, before: Any) -> bool:
    """Return True if two lists, dicts or nodes contain the same objects."""
    if made is before:
        return True
    if is_table(made) and not is_node(made):
        return all(map(_are_same, made.values(), before.values()))
    if is_array(made) or is_labelled(made):
        return all(map(_are_same, made, before))
    return False


def _each(children: Any, rewrite: Callable[[Any], Any]) -> Any:
    """Apply `rewrite` to `children`, which may be one child, a list, a dict, or a list with
    labels.
    """
    if is_table(children):
        if is_node(children):
            return rewrite(children)
        return {key: _each(child, rewrite) for key, child in children.items()}
    if is_array(children):
        return [_each(child, rewrite) for child in children]
    if is_labelled(children):
        child, label = children
        return rewrite(child), label
    return children


def below(node: CoreNode) -> Iterator[CoreNode]:
    """Yield the children of `node`."""
    for key in _CHILDREN:
        if key in node:
            yield from _nodes(node[key])


def _nodes(children: Any) -> Iterator[CoreNode]:
    if is_table(children):
        if is_node(children):
            yield children
        else:
            for child in children.values():
                yield from _nodes(child)
    elif is_array(children) or is_labelled(children):
        for child in children:
            yield from _nodes(child)


def is_table(value: Any) -> TypeIs[dict[Any, Any]]:
    """Return True if a dict in a core schema is a node, or a dict of nodes by name or tag."""
    return isinstance(value, dict)


def is_node(table: dict[Any, Any]) -> bool:
    """Return True if a dict in a core schema is a node. A node has a text under "type". In a dict
    of nodes, the value under "type" is itself a node.
    """
    return isinstance(table.get("type"), str)


def is_labelled(value: Any) -> TypeIs[tuple[Any, Any]]:
    """Return True if a part of a core schema is a tuple of a node and its label."""
    return isinstance(value, tuple)


def fields_of(node: CoreNode) -> Iterable[tuple[str, CoreNode]]:
    """Return the fields in a node that lists fields, by Python name. Pydantic has several types of
    such nodes.
    """
    if node["type"] == "dataclass-args":
        # A dataclass may have fields that are never sent (`init=False`).
        return [(field["name"], field) for field in node["fields"] if field.get("init", True)]
    fields: dict[str, CoreNode] = node["fields"]
    return fields.items()


def alias_paths(field: CoreNode) -> list[list[str | int]]:
    """Return every alias path of a field, the published one first."""
    alias: Any = field.get("validation_alias")
    if alias is None:
        return []
    if isinstance(alias, str):
        return [[alias]]
    # One `AliasPath` is a list of steps, `AliasChoices` a list of such lists.
    return alias if isinstance(alias[0], list) else [alias]


def first_keys(field: CoreNode) -> list[str]:
    """Return the first keys of all alias paths of a field."""
    return [str(path[0]) for path in alias_paths(field)]
