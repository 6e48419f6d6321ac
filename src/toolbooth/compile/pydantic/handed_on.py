"""Compares what an author's validator got with what it passes on to the fields. Finds undeclared
keys that the fields would silently drop.

The author's code may move, copy or rename objects. A sent object is recognised in the result in
three ways: by its log (the dict that was passed to the author's code), by keys from an iteration
over the log, or by its position. If the author's code made a model from the object, `vanished.py`
decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolbooth.compile.pydantic.key_log import KeyLog, logged, origins_of, plain_copy
from toolbooth.compile.pydantic.vanished import (
    Free,
    Names,
    free_objects,
    is_handed_on,
    new_fields,
    removed_keys,
    settle,
)
from toolbooth.compile.pydantic.walked_keys import History, WalkedKey, plain_key
from toolbooth.compile.pydantic.watched_fields import FieldsBehind, Watched
from toolbooth.jsonvalue import JsonPath, is_array, is_mapping, is_object, look_up

Histories = dict[JsonPath, History]
"""Histories by path: one for each sent object inside a value."""

_COLLECTIONS = (list, tuple, set, frozenset)


# --- before the author's code runs ----------------------------------------------------------------


def histories_of(place: Watched, value: Any) -> Histories | None:
    """Return the histories of the objects inside a value. Return None if no history is needed."""
    if place.has_undeclared(value):
        return dict(_histories(place, value, (), {}))
    if place.fields is None or place.fields.last or not is_object(value):
        return None
    # Keys that the author's code adds were not sent, and the next validator must know that.
    return {(): History(value, place.fields.declared)}


def _histories(
    place: Watched, value: Any, path: JsonPath, noticed: dict[int, Any]
) -> Iterator[tuple[JsonPath, History]]:
    if is_object(value) and place.fields is not None:
        content = plain_copy(value)
        # Another validator of the author has passed on its log, and this one continues it.
        if isinstance(value, KeyLog):
            yield path, value.history
        else:
            yield path, History(content, place.fields.declared, noticed=noticed)
        # Only keys with declared fields below them are visited. There are few such keys, but a call
        # may have many other keys.
        parts = [(key, content[key]) for key in place.inside if key in content]
    else:
        parts = list(_parts(value))
    for step, each in parts:
        below = place.below(step)
        if below is not None:
            yield from _histories(below, each, (*path, step), noticed)


def _parts(value: Any) -> Iterator[tuple[str | int, Any]]:
    if is_array(value):
        yield from enumerate(value)
    elif is_object(value):
        yield from value.items()


def logged_value(
    place: Watched | None, value: Any, histories: Histories, path: JsonPath = ()
) -> Any:
    """Return a value to pass to the author's code. Its dicts note which keys the code reads."""
    if place is None:
        return value

    def below(step: str | int, each: Any) -> Any:
        return logged_value(place.below(step), each, histories, (*path, step))

    if is_array(value):
        return [below(index, each) for index, each in enumerate(value)]
    if not is_object(value):
        return value
    # A new dict, because the author's code may change it, and refusals show the call as sent.
    content = {key: below(key, each) for key, each in plain_copy(value).items()}
    return logged(content, histories[path]) if path in histories else content


# --- after it, if no key was undeclared -----------------------------------------------------------


def kept(place: Watched, value: Any, made: Any) -> Any:
    """Return the data for the fields. Used if no history is needed. Undeclared keys in this data
    were added by the author's code and are dropped. If the caller did not send an object, the data
    is passed on unchanged.
    """
    # Without an undeclared key, nothing can be lost.
    if type(made) in (dict, list) and not place.has_undeclared(made):
        return made
    if is_array(made):
        items = place.items
        if items is None or not is_array(value) or not all(map(is_object, value)):
            return made
        # Their order and number may have changed, but each of them was an object.
        no_keys: dict[str, Any] = {}
        sent = value if len(value) == len(made) else [no_keys] * len(made)
        return [kept(items, *each) for each in zip(sent, made, strict=True)]
    if not is_mapping(made) or not is_object(value):
        return made
    content = plain_copy(made)
    if place.fields is not None:
        content = _declared_part(place.fields, content)
    for key, each in content.items():
        below = place.below(key)
        # A value under a key that was not sent is the author's own. It is not compared.
        if below is not None and key in value:
            content[key] = kept(below, value[key], each)
    return content


def _declared_part(fields: FieldsBehind, made: dict[str, Any]) -> dict[str, Any]:
    if fields.keep_extra:
        return made
    return {key: value for key, value in made.items() if key in fields.declared}


# --- after it, if a key was undeclared ------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Object:
    """An object that the author's code passes on. `origins` has the histories of the sent objects
    that it was made from.
    """

    origins: list[History]
    content: dict[str, Any]


class HandOn:
    """Compares the data that the author's code passes on with the data that was sent. Stores the
    lost keys in `lost` of each history.
    """

    def __init__(self, place: Watched, sent: Any, histories: Histories) -> None:
        self._place = place
        self._sent = sent
        self._histories = histories
        self._identified: set[History] = set()
        """The sent objects that were recognised by their log, or by a key from an iteration."""
        self._settled: dict[History, JsonPath] = {}
        """The sent objects that were found in the passed data, each with its path there."""
        self._undeclared = {
            key for each in histories.values() for key in each.unread(each.declared)
        }
        self._names: Names = set()
        """The keys that the author's code passes on as values, such as in `{"names": list(d)}`."""
        self._free: list[Free] = []

    def pass_on(self, made: Any) -> Any:
        """Return the data for the fields, or for the author's next validator."""
        read = {history: set(history.read) for history in self._histories.values()}
        objects = self._read(made)
        for history in self._histories.values():
            history.read = read[history]  # the author's own mapping reads keys to return them
            history.lost = {}
        passed = self._value(self._place, objects, (), aligned=True)
        gone = {
            path: history
            for path, history in self._histories.items()
            if history not in self._settled
        }
        settle(gone, self._free, self._names)
        return passed

    def with_lost(self, passed: Any) -> Any:
        """Add the lost keys to the data for the fields, so that the fields report them. Return None
        if the fields would report them at a wrong path.
        """
        for path, history in self._histories.items():
            if not history.lost:
                continue
            fields = self._fields_at(path)
            if self._settled.get(history) != path or fields is None or not fields.report_extra:
                return None
        for path, history in self._histories.items():
            if history.lost:
                look_up(passed, path).update(history.lost)
        return passed

    def _fields_at(self, path: JsonPath) -> FieldsBehind | None:
        place: Watched | None = self._place
        for step in path:
            place = None if place is None else place.below(step)
        return None if place is None else place.fields

    def _read(self, made: Any) -> Any:
        """Return the same data, but with an `_Object` in place of each mapping."""
        if is_mapping(made):
            # An empty object has no key that could be lost. All empty objects are equal.
            origins = [each for each in origins_of(made) if each.sent]
            self._identified.update(origins)
            return _Object(
                origins, {key: self._read(each) for key, each in plain_copy(made).items()}
            )
        if type(made) in _COLLECTIONS:
            return type(made)(map(self._read, made))
        if isinstance(made, WalkedKey):
            self._names.add((made.history, made.name))
        return plain_key(made)

    def _value(self, place: Watched | None, made: Any, path: JsonPath, *, aligned: bool) -> Any:
        """Convert one value back, and compare it with what was sent. `aligned` is true if the parts
        of the value are still at the positions at which they were sent.
        """
        if isinstance(made, _Object):
            if place is not None and place.fields is not None:
                return self._object(place, place.fields, made, path, aligned=aligned)
            self._settled.update(dict.fromkeys(made.origins, path))  # an open object keeps all keys
            return self._content(place, made, path, aligned=aligned)
        if type(made) in _COLLECTIONS:
            below = None if place is None else place.items
            aligned = aligned and self._has_the_same_order(made, path)
            return type(made)(
                self._value(below, each, (*path, index), aligned=aligned)
                for index, each in enumerate(made)
            )
        # This is an instance that the author's code has made, or a plain value.
        self._free += free_objects(made, path if aligned else None)
        return made

    def _has_the_same_order(self, made: Any, path: JsonPath) -> bool:
        """Return False if the items of a list were certainly reordered. The sign is an undeclared
        key in one item that was sent in another item.
        """
        sent = look_up(self._sent, path)
        if not is_array(sent) or len(sent) != len(made):
            return False
        for index, each in enumerate(made):
            history = self._histories.get((*path, index))
            if history is not None and isinstance(each, _Object) and not each.origins:
                strange = each.content.keys() - history.sent.keys()
                if not strange.isdisjoint(self._undeclared):
                    return False
        return True

    def _content(
        self, place: Watched | None, made: _Object, path: JsonPath, *, aligned: bool
    ) -> dict[str, Any]:
        content: dict[str, Any] = {}
        for key, each in made.content.items():
            below = None if place is None else place.below(key)
            content[key] = self._value(below, each, (*path, key), aligned=aligned)
        return content

    def _object(
        self, place: Watched, fields: FieldsBehind, made: _Object, path: JsonPath, *, aligned: bool
    ) -> Any:
        content = self._content(place, made, path, aligned=aligned)
        origins = made.origins
        at_position = self._histories.get(path) if aligned else None
        # If a log has already recognised an object elsewhere, that object is not the one at this
        # position.
        if not origins and at_position is not None and at_position not in self._identified:
            origins = [at_position]
        if not origins:
            self._free.append(Free(path=path if aligned else None, values=content))
            return content
        self._settled.update(dict.fromkeys(origins, path))
        # Another validator of the author runs before the fields, so it gets a log too.
        if not fields.last:
            return logged(content, origins[0])
        for history in origins:
            history.lost |= self._lost(history, fields, content, is_copy=bool(made.origins))
        return _declared_part(fields, content)

    def _lost(
        self, history: History, fields: FieldsBehind, content: dict[str, Any], *, is_copy: bool
    ) -> dict[str, Any]:
        """Return the unread keys that the fields would drop. If the author's code copied the sent
        object, a key that is missing in the copy was removed on purpose.
        """
        unread = history.unread(fields.declared)
        removed = unread if is_copy else removed_keys(history, unread, content)
        new = new_fields(history, content)
        return {
            key: value
            for key, value in unread.items()
            if (key in content or key not in removed)
            and (history, key) not in self._names
            and not is_handed_on(key, value, new)
        }
