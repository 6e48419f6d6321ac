"""Finds out why undeclared keys are no longer there after an author's validator. The validator may
have renamed them, removed them, or made a model that dropped them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from typing_extensions import TypeIs

from toolbooth.compile.pydantic.walked_keys import History, Log
from toolbooth.jsonvalue import JsonPath, is_array, is_object, recased

Names = set[tuple[History, str]]
"""Keys of sent objects that the author's code passes on as values."""

_DICT: Any = dict

_MOST_COMPARED = 10_000
"""At most this many pairs of objects are compared. With more, they are not compared: any object may
have been made from any other.
"""

_SAMPLE = 10
"""In that case, only this many of the made objects are used."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


# --- objects that the author's code has made ------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Free:
    """An instance or an object that the author's code made. It is not known which sent object it
    was made from.
    """

    path: JsonPath | None
    """Its path. None if the objects are no longer at the positions where they were sent."""
    values: dict[str, Any]
    is_model: bool = False
    """True for an instance, which may have dropped undeclared keys."""
    checks_keys: bool = False
    """True for a standard dataclass, which raises an exception for an undeclared key."""
    logs: tuple[History, ...] = ()
    """The histories of sent objects that it contains unchanged."""


def free_objects(made: Any, path: JsonPath | None) -> Iterator[Free]:
    """Yield all instances in a value, at any depth. JSON values and simple values such as dates are
    not instances.
    """
    seen: set[int] = set()
    waiting: list[tuple[Any, JsonPath | None]] = [(made, path)]
    while waiting:
        each, at = waiting.pop()
        # Instances may refer to each other in a cycle.
        if id(each) in seen:
            continue
        seen.add(id(each))
        values = _values_of(each)
        if values is not None:
            yield _instance(each, values, at)
        for step, value in _parts(each if values is None else values):
            waiting.append((value, None if at is None else (*at, step)))


def _parts(value: Any) -> Iterator[tuple[str | int, Any]]:
    if is_object(value):
        yield from _DICT.items(value)
    elif type(value) in (list, tuple, set, frozenset):
        yield from enumerate(value)


def _instance(made: Any, values: dict[str, Any], path: JsonPath | None) -> Free:
    return Free(
        path=path,
        values=values,
        is_model=True,
        # A plain dataclass raises TypeError for an unknown key. One of Pydantic's may drop it.
        checks_keys=is_dataclass(made) and not hasattr(made, "__pydantic_validator__"),
        logs=tuple(each.history for each in values.values() if isinstance(each, Log)),
    )


def _values_of(made: Any) -> dict[str, Any] | None:
    """Return the values that were passed to an instance, by name. Return None if the value is not
    an instance.
    """
    # A date or a Decimal counts as a value, although it is an instance in Python.
    if type(made).__module__.partition(".")[0] in sys.stdlib_module_names:
        return None
    # Only fields that were passed count, because a default does not show which object was sent.
    given: set[str] | None = getattr(made, "__pydantic_fields_set__", None)
    if given is not None:
        extra: dict[str, Any] = getattr(made, "__pydantic_extra__", None) or {}
        return {name: getattr(made, name, None) for name in given} | extra
    if is_dataclass(made):
        return {each.name: getattr(made, each.name, None) for each in fields(made)}
    return getattr(made, "__dict__", None)


# --- the sent object from which an instance was made ----------------------------------------------


def settle(gone: dict[JsonPath, History], free: list[Free], names: Names) -> None:
    """Set `lost` in the histories of objects that the author's code did not pass on. If nothing was
    made from such an object, the code removed the whole object, which is allowed.
    """
    logs = {history for each in free for history in each.logs}
    made_of = _made_of(gone, free)
    for history in gone.values():
        made = made_of.get(history, [])
        if history in logs or not (made or (free and history.given is not None)):
            continue
        unread = history.unread(history.declared)
        dropped = _dropped(history, unread, made)
        dropped -= {key for key in dropped if (history, key) in names}
        history.lost = {key: unread[key] for key in unread if key in dropped}
        _take_out(history.lost, made)


def _take_out(lost: dict[str, Any], made: list[Free]) -> None:
    """Remove lost keys from the objects that the author's code made. The keys are then reported
    only at the path where they were sent.
    """
    for each in made:
        for key in () if each.is_model else lost:
            each.values.pop(key, None)


def _made_of(gone: dict[JsonPath, History], free: list[Free]) -> dict[History, list[Free]]:
    """Return, for each sent object, the objects that may have been made from it. They are matched
    by position, or else by equal values.
    """
    found: dict[History, list[Free]] = {}
    others: list[Free] = []
    # The position comes first, because it is certain. Values may be equal by chance.
    for each in free:
        history = None if each.path is None else gone.get(each.path)
        if history is None:
            others.append(each)
        else:
            found.setdefault(history, []).append(each)
    left = [history for history in gone.values() if history not in found]
    if len(left) * len(others) > _MOST_COMPARED:
        return found | dict.fromkeys(left, others[:_SAMPLE])
    for each in others:
        likeness = {history: _likeness(history, each) for history in left}
        best = max(likeness.values(), default=0)
        # If no value is equal, the best likeness is 0. Then each of these objects may be the right
        # one.
        for history in left:
            if likeness[history] == best:
                found.setdefault(history, []).append(each)
    return found


def _likeness(history: History, made: Free) -> int:
    """Return how many values a sent object and a made object have in common under the same name."""
    names = {recased(name): value for name, value in made.values.items()}
    return sum(
        1
        for key, value in history.sent.items()
        if recased(key) in names and _is_same(names[recased(key)], value)
    )


def _is_same(value: Any, sent: Any) -> bool:
    # Compared as text too, because the code may have turned 5 into "5".
    return value == sent or str(value) == str(sent)


def _dropped(history: History, unread: dict[str, Any], made: list[Free]) -> set[str]:
    """Return the unread keys of a sent object that no object made from it still has."""
    # It was noted which keys Pydantic got, so there is nothing to guess.
    if history.given is not None:
        dropped = unread.keys() & history.given
    else:
        dropped = {key for each in made for key in _dropped_by(each, history, unread)}
    for each in made:
        new = _new_fields(history, each)
        dropped -= {key for key in dropped if is_handed_on(key, unread[key], new)}
        if each.is_model:
            # A model that keeps undeclared keys has not dropped them.
            dropped -= _same_in(each, unread)
    return dropped


def _same_in(made: Free, unread: dict[str, Any]) -> set[str]:
    """Return the keys that a made object still has, with the same value."""
    both = unread.keys() & made.values.keys()
    return {key for key in both if made.values[key] == unread[key]}


def _new_fields(history: History, made: Free) -> dict[str, Any]:
    if not made.is_model:
        return new_fields(history, made.values)
    return {name: value for name, value in made.values.items() if name not in history.sent}


def _dropped_by(made: Free, history: History, unread: dict[str, Any]) -> Collection[str]:
    if made.checks_keys:
        return () if history.walked else unread
    if not made.is_model:
        removed = removed_keys(history, unread, made.values)
        return (unread.keys() - removed) | _same_in(made, unread)
    # If no declared key was sent, the code may compare only with this key, as a special case.
    has_declared = not history.declared.isdisjoint(history.sent)
    return unread.keys() - history.told_apart if has_declared else unread


# --- removed or handed on -------------------------------------------------------------------------


def new_fields(history: History, content: dict[str, Any]) -> dict[str, Any]:
    """Return the declared fields that the author's code added to an object."""
    return {
        name: content[name] for name in history.declared - history.sent.keys() if name in content
    }


def removed_keys(
    history: History, unread: dict[str, Any], content: dict[str, Any]
) -> Collection[str]:
    """Return the keys that the author's code removed on purpose. It does so if it iterates over an
    object and makes a copy without them, or one with renamed keys. Code that only picks the fields
    that it knows does not remove keys on purpose.
    """
    if not history.walked:
        return ()
    if history.given is not None:
        # The code has iterated over the keys and passed on some of them, so the others were
        # removed.
        return unread.keys() - history.given
    if not content or _is_made_in_a_walk(history, content):
        return unread
    return history.told_apart


def _is_made_in_a_walk(history: History, content: dict[str, Any]) -> bool:
    """Return True if an object was made by iterating over the sent object. The sign is that it has
    a key that was not read by name, or the value of such a key.
    """
    unread = {key: value for key, value in history.sent.items() if key not in history.read}
    if not unread.keys().isdisjoint(content):
        return True
    names = {recased(name) for name in content}
    values = {each for each in content.values() if _is_telling(each)}
    new = new_fields(history, content)
    return any(
        recased(key) in names
        or (_is_telling(value) and value in values)
        or is_handed_on(key, value, new)
        or _is_renamed(key, new)
        for key, value in unread.items()
    )


def _is_telling(value: Any) -> bool:
    """Return True if a value is unlikely to occur twice by chance."""
    return isinstance(value, str) and len(value) > 1


def is_handed_on(key: str, value: Any, new: dict[str, Any]) -> bool:
    """Return True if the value of an undeclared key was passed on in one of the `new` fields.

    The author's code may have read the value from a copy, in which reads are not noted.
    """
    if is_object(value) and value and all(_holds(new.get(name), value[name]) for name in value):
        return True  # an unwrapped wrapper
    # A list or a longer text is unlikely to be equal by chance; 1 or true may be.
    is_telling = _is_collection(value) and len(value) > 1
    return any(
        _holds(each, value) and (is_telling or _are_similar(key, name))
        for name, each in new.items()
    )


def _is_renamed(key: str, new: dict[str, Any]) -> bool:
    """Return True if a key was probably renamed to a new field. The sign is that one of the two
    names contains all words of the other.
    """
    words = _words(key)
    return any(
        value and (words <= _words(name) or _words(name) <= words) for name, value in new.items()
    )


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}


def _is_collection(value: Any) -> TypeIs[str | list[Any] | dict[str, Any]]:
    return isinstance(value, str | list | dict)


def _holds(place: Any, value: Any) -> bool:
    """Return True if `place` equals a value or contains it."""
    # The types are compared as well, because True equals 1.
    if type(place) is type(value) and place == value:
        return True
    if is_object(place):
        return any(_holds(each, value) for each in place.values())
    return is_array(place) and any(_holds(each, value) for each in place)


def _are_similar(name: str, other: str) -> bool:
    one, two = recased(name), recased(other)
    return one in two or two in one
