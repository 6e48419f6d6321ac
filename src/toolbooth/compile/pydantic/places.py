"""Finds the path in the arguments at which the author's code raised an exception. Nothing is
validated again. The schema and the arguments are searched side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import is_
from traceback import walk_tb
from typing import Any, NamedTuple

from toolbooth.compile.pydantic.core_schema import (
    DICTS,
    FIELD_LISTS,
    CoreNode,
    alias_paths,
    below,
    fields_of,
)
from toolbooth.jsonvalue import JsonPath, is_array, is_object

_NOTE = "__toolbooth_noted__"
_ABSENT: Any = object()
_ANY: CoreNode = {"type": "any"}


class Noted(NamedTuple):
    """A note that is stored in an exception. It shows which function of the author raised the
    exception.
    """

    node: CoreNode
    value: Any
    """The argument of the function."""
    is_default: bool
    """True if the function makes a default, because no value was sent."""


class _Place(NamedTuple):
    path: JsonPath
    value: Any


def note(error: Exception, noted: Noted) -> None:
    """Store in an exception which function raised it. If several guards do so, the innermost
    function counts.
    """
    # An exception passes every guard on its way up, and the first one is the innermost.
    vars(error).setdefault(_NOTE, noted)


def place_of(
    error: Exception, node: CoreNode, value: Any, definitions: Mapping[str, CoreNode]
) -> tuple[JsonPath, bool]:
    """Return the path at which an exception was raised in a value that `node` validated. Also
    return True if the function made a default. If several paths are possible, return their common
    beginning.
    """
    # The note is removed, because the author may raise the same exception object again.
    noted: Noted | None = vars(error).pop(_NOTE, None)
    wanted = _was_running(error) if noted is None else partial(is_, noted.node)
    found = list(_places(node, _Place((), value), wanted, definitions))
    absent = [each for each in found if each.value is _ABSENT]
    if noted is not None and noted.is_default:
        return _common(absent or found), True
    sent = [each for each in found if each.value is not _ABSENT]
    if noted is None:
        return _common(sent or absent), False
    # One function may validate several fields, but only one of them had this value.
    same = [each for each in sent if _is_same(each.value, noted.value)]
    return _common(same[:1] or sent or absent), False


def _was_running(error: Exception) -> Callable[[CoreNode], bool]:
    """Return a function that checks if code of a node raised an exception without a note. Such code
    is a method that Pydantic calls (`__init__`, `model_post_init`, `__hash__`, `_missing_` of an
    enum), or one of Pydantic's own functions.
    """
    running: list[Any] = []
    for frame, _ in walk_tb(error.__traceback__):
        # The first variable of a method is its instance or class, which shows the owner of the
        # method.
        first = frame.f_locals.get(next(iter(frame.f_code.co_varnames), ""))
        running += [frame.f_code, first if isinstance(first, type) else type(first)]
    ids = set(map(id, running))

    def was_running(node: CoreNode) -> bool:
        function: Any = node["function"] if node["type"].startswith("function-") else {}
        called = function.get("function")
        # A `functools.partial` has its function in `func`.
        code = getattr(getattr(called, "func", called), "__code__", None)
        return id(code) in ids or id(node.get("cls")) in ids

    return was_running


def _common(places: list[_Place]) -> JsonPath:
    """Return the common beginning of the paths of all places."""
    if not places:
        return ()
    first, *others = (each.path for each in places)
    end = len(first)
    while any(each[:end] != first[:end] for each in others):
        end -= 1
    return first[:end]


def _is_same(sent: Any, value: Any) -> bool:
    try:
        return sent is value or bool(sent == value)
    except Exception:  # the author's own comparison may run here
        return False


def _places(
    node: CoreNode,
    at: _Place,
    wanted: Callable[[CoreNode], bool],
    definitions: Mapping[str, CoreNode],
    refs: frozenset[str] = frozenset(),
) -> Iterator[_Place]:
    """Yield the places (paths and values) inside a value that a wanted node validates. If a value
    has a wrong type, such as text for an object, nothing inside it is a place. `refs` has the
    definitions that were followed so far.
    """
    if wanted(node):
        yield at
    for child, place in _children(node, at, definitions):
        # Inside a part of the value, a definition may be followed again. The walk still ends,
        # because the value is finite.
        if place is not at:
            yield from _places(child, place, wanted, definitions)
        elif node["type"] != "definition-ref":
            yield from _places(child, at, wanted, definitions, refs)
        elif node["schema_ref"] not in refs:
            yield from _places(child, at, wanted, definitions, refs | {node["schema_ref"]})


def _children(
    node: CoreNode, at: _Place, definitions: Mapping[str, CoreNode]
) -> Iterator[tuple[CoreNode, _Place]]:
    """Yield the children of a node, with the parts of the value that they validate."""
    kind, value = node["type"], at.value
    if kind == "definition-ref":
        yield definitions[node["schema_ref"]], at
    # Nothing was sent for this model, so it has no fields to walk.
    elif (kind in FIELD_LISTS and value is _ABSENT) or (kind == "nullable" and value is None):
        return
    elif kind in FIELD_LISTS and is_object(value):
        for name, field in fields_of(node):
            yield field["schema"], _field_place(name, field, at)
    elif kind in DICTS and is_object(value):
        for key, each in value.items():
            yield node.get("keys_schema", _ANY), _Place((*at.path, key, "[key]"), key)
            yield node.get("values_schema", _ANY), _Place((*at.path, key), each)
    elif "items_schema" in node and is_array(value):
        # A list has one node for all items; a tuple has one for each position.
        items = list(below({"items_schema": node["items_schema"]}))
        for index, each in enumerate(value):
            yield items[min(index, len(items) - 1)], _Place((*at.path, index), each)
    else:
        for child in below(node):
            yield child, at


def _field_place(name: str, field: CoreNode, at: _Place) -> _Place:
    """Return the path and value of a field in the sent object. It is looked up by alias or by name.
    If the field is missing, return the path at which it should be.
    """
    # Pydantic looks for the aliases first, in their order.
    paths = [*alias_paths(field), [name]]
    for steps in paths:
        value = at.value
        for step in steps:
            value = _part(value, step)
        if value is not _ABSENT:
            return _Place((*at.path, *steps), value)
    return _Place((*at.path, *paths[0]), _ABSENT)


def _part(value: Any, step: str | int) -> Any:
    try:
        return value[step]
    except (LookupError, TypeError):
        return _ABSENT
