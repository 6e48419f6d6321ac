"""Reading Pydantic's core schema: its nodes, their configuration and aliases, and rewriting the
nodes below one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from toolbooth.markers import METADATA_KEY, Marker

Node = dict[str, Any]

DICTS = frozenset(("dict", "ordered-dict", "counter"))
REWRITES = ("strip_whitespace", "to_lower", "to_upper")
FIELD_LISTS = frozenset(("model-fields", "typed-dict", "dataclass-args"))
_CHILDREN = (
    *(
        "schema",
        "items_schema",
        "keys_schema",
        "values_schema",
        "extras_schema",
        "fields",
        "steps",
        "choices",
    ),
    *("json_schema", "python_schema", "lax_schema", "strict_schema", "definitions"),
)
AUTHORED = frozenset(("function-before", "function-wrap"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the enclosing model's configuration says, as far as the wire is concerned."""

    extra: str = "ignore"
    strict: bool = False
    by_name: bool = False
    by_alias: bool = True
    numbers_as_text: bool = False
    rewrites: tuple[str, ...] = ()
    """How text is stripped or re-cased, so that two keys may become one."""
    exact_types: bool = True
    """Whether validation takes an integer only as such; else it also takes 5.0, which the gate
    calls an integer.
    """

    @staticmethod
    def of(node: Node, outer: Config) -> Config:
        """The configuration inside `node`: its own where it brings one, else the enclosing."""
        raw = node.get("config")
        if raw is None:
            return outer
        return replace(
            outer,
            extra=raw.get("extra_fields_behavior") or "ignore",
            strict=bool(raw.get("strict")),
            by_name=bool(raw.get("validate_by_name")),
            by_alias=raw.get("validate_by_alias") is not False,
            numbers_as_text=bool(raw.get("coerce_numbers_to_str")),
            rewrites=tuple(how for how in REWRITES if raw.get(f"str_{how}")),
        )


DEFAULTS = Config()
LENIENT = Config(exact_types=False)


def marker_of(node: Node) -> Marker | None:
    """The Toolbooth marker that this node was made for, if any."""
    metadata = cast("dict[str, Any] | None", node.get("metadata"))
    return metadata.get(METADATA_KEY) if metadata and node["type"] == "chain" else None


def is_authors(node: Node) -> bool:
    """Whether a function node runs the author's code; Pydantic builds several of its own types from
    functions.
    """
    function = node["function"]["function"]
    function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] not in ("pydantic", "pydantic_core")


def extra_of(node: Node, config: Config) -> str:
    """What a list of fields does with undeclared keys."""
    return node.get("extra_behavior") or Config.of(node, config).extra


def each_child(node: Node, rewrite: Callable[[Any], Any]) -> Node:
    """A copy of `node` in which every node right below it is rewritten."""
    return {
        key: _each(value, rewrite) if key in _CHILDREN else value for key, value in node.items()
    }


def _each(children: Any, rewrite: Callable[[Any], Any]) -> Any:
    """Apply `rewrite` to a child, a list of them, a table of them, or labelled ones."""
    if isinstance(children, dict):
        table = cast("dict[Any, Any]", children)
        if isinstance(table.get("type"), str):
            return rewrite(table)
        return {key: _each(child, rewrite) for key, child in table.items()}
    if isinstance(children, list):
        return [_each(child, rewrite) for child in cast("list[Any]", children)]
    if isinstance(children, tuple):
        child, label = cast("tuple[Any, Any]", children)
        return rewrite(child), label
    return children


def below(node: Node) -> Iterator[Node]:
    """Every node right below `node`."""
    for key in _CHILDREN:
        if key in node:
            yield from _nodes(node[key])


def _nodes(children: Any) -> Iterator[Node]:
    if isinstance(children, dict):
        table = cast("dict[Any, Any]", children)
        if isinstance(table.get("type"), str):
            yield table
        else:
            for child in table.values():
                yield from _nodes(child)
    elif isinstance(children, list | tuple):  # a tuple is a node with its label
        for child in cast("list[Any]", children):
            yield from _nodes(child)


def fields_of(node: Node) -> Iterable[tuple[str, Node]]:
    """The fields of a list of fields, by Python name, whichever way the node keeps them."""
    if node["type"] == "dataclass-args":
        return [(field["name"], field) for field in node["fields"] if field.get("init", True)]
    return cast("dict[str, Node]", node["fields"]).items()


def alias_paths(field: Node) -> list[list[str | int]]:
    """Every path by which a field may be sent by alias, first choice first."""
    alias: Any = field.get("validation_alias")
    if alias is None:
        return []
    if isinstance(alias, str):
        return [[alias]]
    return alias if isinstance(alias[0], list) else [alias]


def first_keys(field: Node) -> list[str]:
    """The top-level keys by which a field may be sent by alias."""
    return [str(path[0]) for path in alias_paths(field)]
