"""The fields right behind an author's validator, found in Pydantic's core schema."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field

from toolbooth.compile.pydantic.core_schema import (
    AUTHORED,
    FIELD_LISTS,
    Config,
    CoreNode,
    below,
    extra_of,
    fields_of,
    first_keys,
    is_authors,
    marker_of,
)
from toolbooth.compile.pydantic.handed_on import FieldsBehind, ItemsBehind

_TRANSPARENT = frozenset(("model", "dataclass", "default", "nullable", "function-after", *AUTHORED))
_NEVER_OBJECTS = frozenset(("none", "bool", "int", "float", "str", "literal", "list", "date"))
_ITEMS = {"list": "items_schema", "dict": "values_schema"}
_ANY: CoreNode = {"type": "any"}


def fields_behind(node: CoreNode, config: Config) -> FieldsBehind | None:
    """The fields right below an author's validator; None if undeclared keys may be taken there, or
    there are no fields.
    """
    search = _Search()
    search.look(node, config)
    extras = {extra_of(*each) for each in search.lists}
    if search.is_open or not extras or "allow" in extras:
        return None
    names = (
        key
        for fields, _ in search.lists
        for name, each in fields_of(fields)
        for key in (name, *first_keys(each))
    )
    return FieldsBehind(
        declared=frozenset((*names, *search.init_keys)),
        keep_extra=extras == {"forbid"},
        report_extra=not search.in_union and not search.has_own_init,
        last=not search.is_authored,
    )


def items_behind(node: CoreNode, config: Config) -> ItemsBehind | None:
    """The items of a list, or the values of an open object, right below an author's validator, if
    they have fields.
    """
    config = Config.of(node, config)
    while node["type"] in ("default", "nullable", "function-after"):
        node = node["schema"]
    items = _ITEMS.get(node["type"])
    if items is None:
        return None
    fields = fields_behind(node.get(items, _ANY), config)
    return ItemsBehind(fields) if fields is not None and fields.last else None


@dataclass(slots=True)
class _Search:
    """The search for the lists of fields that an object may reach right behind a validator."""

    lists: list[tuple[CoreNode, Config]] = field(default_factory=list[tuple[CoreNode, Config]])
    init_keys: set[str] = field(default_factory=set[str])
    """The keys that overridden `__init__` methods take."""
    has_own_init: bool = False
    in_union: bool = False
    is_authored: bool = False
    is_open: bool = False

    def look(self, node: CoreNode, config: Config) -> None:
        """Look at a node and the ones behind it."""
        config = Config.of(node, config)
        kind = node["type"]
        if kind in FIELD_LISTS:
            self.lists.append((node, config))
        elif kind == "definition-ref":
            self.look(config.definitions[node["schema_ref"]], config)
        elif kind in ("union", "tagged-union"):
            self.in_union = True
            for each in below({"choices": node["choices"]}):
                self.look(each, config)
        elif marker_of(node):
            self.look(node["steps"][0], config)
        elif kind in _TRANSPARENT:
            self._note(node)
            self.look(node["schema"], config)
        elif kind not in _NEVER_OBJECTS:
            self.is_open = True

    def _note(self, node: CoreNode) -> None:
        if node.get("custom_init"):
            self.has_own_init = True
            params = inspect.signature(node["cls"].__init__).parameters.values()
            self.init_keys |= {each.name for each in params if each.kind is each.KEYWORD_ONLY}
        if node["type"] in AUTHORED and is_authors(node):
            self.is_authored = True
            # Which branch is taken is not known, nor is what its own validator reads.
            self.is_open = self.is_open or self.in_union
