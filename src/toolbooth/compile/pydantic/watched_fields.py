"""Finds the fields that come after an author's validator in Pydantic's core schema, at every
depth.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

from toolbooth.compile.pydantic.core_schema import (
    AUTHORED,
    DICTS,
    FIELD_LISTS,
    Config,
    CoreNode,
    alias_paths,
    below,
    extra_of,
    fields_of,
    first_keys,
    is_authors,
    marker_of,
)
from toolbooth.jsonvalue import is_object

_TRANSPARENT = frozenset(("model", "dataclass", "default", "nullable", "function-after", *AUTHORED))
_NEVER_OBJECTS = frozenset(("none", "bool", "int", "float", "str", "literal", "date"))
_LISTS = frozenset(("list", "set", "frozenset", "generator"))

_TYPE: Any = type

_Nodes = list[tuple[CoreNode, Config]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsBehind:
    """The fields of an object that an author's validator passes on, and what is done with
    undeclared keys.
    """

    declared: frozenset[str]
    keep_extra: bool
    """True if the author's model forbids undeclared keys. Then keys that a validator adds are
    refused too.
    """
    report_extra: bool
    """True if there is only one list of fields. It can then report undeclared keys together with
    all other problems.
    """
    last: bool
    """True if no further validator of the author runs between this one and the fields."""


@dataclass(slots=True, eq=False)
class Watched:
    """The declared fields at one path inside a value that an author's validator gets. For a model
    that contains itself, the `Watched` contains itself too.
    """

    fields: FieldsBehind | None = None
    inside: dict[str, Watched] = field(default_factory=dict[str, "Watched"])
    """What is declared for the value of each key. Keys are left out if no fields are declared
    inside their value.
    """
    items: Watched | None = None
    """What is declared for the items of a list."""
    values: Watched | None = None
    """What is declared for the values of an open object."""

    @property
    def is_watched(self) -> bool:
        return not (self.fields is None and self.items is None and self.values is None)

    def has_undeclared(self, value: Any) -> bool:
        """Return True if this object, or an object inside it, has an undeclared key. This method
        runs for every call, so it is written for speed.
        """
        kind = _TYPE(value)
        if kind is list:
            items = self.items
            return items is not None and any(map(items.has_undeclared, value))
        if kind is not dict:
            return is_object(value)  # an outer validator has passed it on, with its history
        if self.fields is None:
            below = self.values
            return below is not None and any(map(below.has_undeclared, value.values()))
        if not value.keys() <= self.fields.declared:
            return True
        for key, place in self.inside.items():
            if key in value and place.has_undeclared(value[key]):
                return True
        return False

    def below(self, step: str | int) -> Watched | None:
        """Return what is declared for the value of a key, or for an item of a list. Return None if
        nothing is.
        """
        if isinstance(step, int):
            return self.items
        return self.values if self.fields is None else self.inside.get(step)


def place_behind(node: CoreNode, config: Config) -> Watched | None:
    """Return what is declared inside a value that an author's validator gets. Return None if there
    are no fields at any depth, or if undeclared keys may be accepted.
    """
    place = _Watches().of([(node, config)])
    return place if place.is_watched else None


class _Watches:
    """Makes each `Watched` only once, even if it contains itself."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, ...], Watched] = {}
        self._unfinished: set[Watched] = set()

    def of(self, nodes: _Nodes) -> Watched:
        """Return what is declared for a value that one of these nodes validates."""
        # The nodes are the key, so that each model is searched only once.
        key = tuple(id(node) for node, _ in nodes)
        if key not in self._made:
            place = self._made[key] = Watched()
            # Marked until it is filled, because a model that contains itself finds its own place
            # meanwhile.
            self._unfinished.add(place)
            self._fill(place, nodes)
            self._unfinished.discard(place)
        return self._made[key]

    def _fill(self, place: Watched, nodes: _Nodes) -> None:
        search = _Search()
        for node, config in nodes:
            search.look(node, config)
        place.fields = search.fields
        if place.fields is not None:
            found = {key: self._below(each) for key, each in search.nodes_by_key().items()}
            place.inside = {key: each for key, each in found.items() if each is not None}
        elif not search.lists:
            place.values = self._below(search.values)
        place.items = self._below(search.items)

    def _below(self, nodes: _Nodes) -> Watched | None:
        """Return what is declared for a value that one of these nodes validates. Return None if
        there are no fields at any depth.
        """
        if not nodes:
            return None
        place = self.of(nodes)
        # A place that is not filled yet contains itself, so it may still get fields.
        return place if place.is_watched or place in self._unfinished else None


@dataclass(slots=True)
class _Search:
    """Searches a core schema for the lists of fields to which a validator may pass an object
    directly.
    """

    lists: _Nodes = field(default_factory=list[tuple[CoreNode, Config]])
    items: _Nodes = field(default_factory=list[tuple[CoreNode, Config]])
    """The nodes that validate the items of a list."""
    values: _Nodes = field(default_factory=list[tuple[CoreNode, Config]])
    """The nodes that validate the values of an open object."""
    init_keys: set[str] = field(default_factory=set[str])
    """The keys that an author's own `__init__` methods accept."""
    has_own_init: bool = False
    in_union: bool = False
    is_authored: bool = False
    is_open: bool = False

    @property
    def fields(self) -> FieldsBehind | None:
        """Return the fields that were found. Return None if there are none, or if undeclared keys
        may be accepted.
        """
        # If one branch of a union accepts undeclared keys, a key may be meant for that branch.
        extras = {extra_of(*each) for each in self.lists}
        if self.is_open or not extras or "allow" in extras:
            return None
        names = (
            key
            for fields, _ in self.lists
            for name, each in fields_of(fields)
            for key in (name, *first_keys(each))
        )
        return FieldsBehind(
            declared=frozenset((*names, *self.init_keys)),
            keep_extra=extras == {"forbid"},
            report_extra=not self.in_union and not self.has_own_init,
            last=not self.is_authored,
        )

    def nodes_by_key(self) -> dict[str, _Nodes]:
        """Return the nodes that validate the value of each key."""
        found: dict[str, _Nodes] = {}
        for fields, config in self.lists:
            inner = Config.of(fields, config)
            for name, each in fields_of(fields):
                # A longer alias path reads only a part of the value of a key.
                aliases = (str(path[0]) for path in alias_paths(each) if len(path) == 1)
                for key in {name, *aliases}:
                    found.setdefault(key, []).append((each["schema"], inner))
        return found

    def look(self, node: CoreNode, config: Config) -> None:
        """Examine a node and the nodes to which it passes its value."""
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
        # `tuple[Item, ...]` has one node for its items, as a list has.
        elif kind in _LISTS or (kind == "tuple" and len(node["items_schema"]) == 1):
            self.items += [(each, config) for each in below(node)]
        elif kind in DICTS:
            self.is_open = True
            self.values += [(node[key], config) for key in ("values_schema",) if key in node]
        # Any other node may accept an object with any keys, so no key is refused there.
        elif kind not in _NEVER_OBJECTS:
            self.is_open = True

    def _note(self, node: CoreNode) -> None:
        if node.get("custom_init"):
            self.has_own_init = True
            params = inspect.signature(node["cls"].__init__).parameters.values()
            self.init_keys |= {each.name for each in params if each.kind is each.KEYWORD_ONLY}
        if node["type"] in AUTHORED and is_authors(node):
            self.is_authored = True
            # It is not known which branch Pydantic will choose, or which keys its validator reads.
            self.is_open = self.is_open or self.in_union
