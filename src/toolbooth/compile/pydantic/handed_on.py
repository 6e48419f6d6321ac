"""The data that an author's validator hands on: what the fields get of it, and which of the
undeclared keys that were sent they would drop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from typing_extensions import TypeIs

from toolbooth.compile.pydantic.key_log import History, KeyLog, logged, plain_copy
from toolbooth.jsonvalue import JsonPath, is_array, is_mapping, is_object, recased

Histories = dict[JsonPath, History]
"""The histories of the objects in a value, by their paths."""


class Watch(Protocol):
    """What is watched on the way of a value through an author's validator."""

    def histories_of(self, value: Any) -> Histories | None:
        """The histories of the objects in a value; None if none is needed."""
        ...

    def logged(self, value: Any, histories: Histories) -> Any:
        """The value for the author's code, in which reads are noted."""
        ...

    def kept(self, value: Any, made: Any) -> Any:
        """What the fields get if no history is needed."""
        ...

    def pass_on(self, histories: Histories, made: Any) -> Any:
        """What the fields get of the data that the author's code hands on. Sets `lost` of each
        history.
        """
        ...

    def with_lost(self, histories: Histories, passed: Any) -> Any:
        """What the fields get, with the lost keys; None if they would not report them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsBehind:
    """The fields right behind an author's validator, and what becomes of undeclared keys there."""

    declared: frozenset[str]
    keep_extra: bool
    """The author's model forbids undeclared keys itself, also those that a validator adds."""
    report_extra: bool
    """There is one list of fields, which reports undeclared keys together with other problems."""
    last: bool
    """No other validator of the author runs between this one and the fields."""

    def histories_of(self, value: Any) -> Histories | None:
        history = self.history_of(value)
        return None if history is None else {(): history}

    def history_of(self, value: Any) -> History | None:
        """The history of the object that a validator gets; None if no history is needed."""
        if isinstance(value, KeyLog):
            return value.history
        if not is_object(value) or (self.last and value.keys() <= self.declared):
            return None
        return History(value)

    def logged(self, value: Any, histories: Histories) -> Any:
        return logged(plain_copy(value), histories[()])

    def kept(self, value: Any, made: Any) -> Any:
        return self._declared_part(made) if is_object(value) else made

    def pass_on(self, histories: Histories, made: Any) -> Any:
        return self.pass_on_object(histories[()], made)

    def with_lost(self, histories: Histories, passed: Any) -> Any:
        if not self.report_extra or not is_object(passed):
            return None
        return {**passed, **histories[()].lost}

    def _declared_part(self, made: Any) -> Any:
        if self.keep_extra or not is_mapping(made):
            return made
        if is_object(made) and made.keys() <= self.declared:
            return made
        return {key: value for key, value in plain_copy(made).items() if key in self.declared}

    def pass_on_object(self, history: History, made: Any) -> Any:
        """What the fields, or the author's next validator, get of one object that the author's code
        hands on. Sets `history.lost`.
        """
        if not is_mapping(made):
            history.lost = self._not_in(history, made)
            return made
        read = set(history.read)
        content = plain_copy(made)
        history.read = read  # a mapping of the author's own may have read keys to give them
        if not self.last:
            return logged(content, history)
        new = {name: content[name] for name in self._new_names(history) if name in content}
        history.lost = {
            key: value
            for key, value in self._unread(history).items()
            if (key in content or not history.walked) and not _is_handed_on(key, value, new)
        }
        return self._declared_part(content)

    def _unread(self, history: History) -> dict[str, Any]:
        known = self.declared | history.read
        return {key: value for key, value in history.sent.items() if key not in known}

    def _new_names(self, history: History) -> frozenset[str]:
        return self.declared - history.sent.keys()

    def _not_in(self, history: History, made: Any) -> dict[str, Any]:
        """The unread keys whose values are not in an instance that the author's code has made. A
        model drops the keys that it does not declare without a trace.
        """
        new = {name: getattr(made, name, None) for name in self._new_names(history)}
        unread = self._unread(history).items()
        return {key: value for key, value in unread if not _is_handed_on(key, value, new)}


@dataclass(frozen=True, slots=True)
class ItemsBehind:
    """The items of a list, or the values of an open object, right behind an author's validator. A
    list of the same length is taken to have its items at the same places.
    """

    fields: FieldsBehind

    def histories_of(self, value: Any) -> Histories | None:
        if not is_array(value) and not is_object(value):
            return None
        items = _items(value)
        if all(self.fields.history_of(each) is None for each in items.values()):
            return None
        return {(place,): _item_history(each) for place, each in items.items()}

    def logged(self, value: Any, histories: Histories) -> Any:
        logs = list(map(_logged_item, _items(value).values(), histories.values()))
        return logs if is_array(value) else dict(zip(value, logs, strict=True))

    def kept(self, value: Any, made: Any) -> Any:
        if not _are_alike(value, made):
            return made
        before = _items(value)
        return _each_item(made, lambda place, each: self.fields.kept(before.get(place), each))

    def pass_on(self, histories: Histories, made: Any) -> Any:
        if is_array(made) and len(made) != len(histories):
            histories = {}
        return _each_item(
            made, lambda place, each: self._pass_on_item(histories.get((place,)), each)
        )

    def _pass_on_item(self, history: History | None, made: Any) -> Any:
        if isinstance(made, KeyLog) and made.history.sent:
            history = made.history  # the author's code may have changed the order
        if history is None or not history.sent:
            return made
        return self.fields.pass_on_object(history, made)

    def with_lost(self, histories: Histories, passed: Any) -> Any:
        return None


def _items(value: Any) -> dict[str | int, Any]:
    """The parts of a list or an object, by position or key."""
    return dict(enumerate(value)) if is_array(value) else value


def _each_item(made: Any, change: Callable[[str | int, Any], Any]) -> Any:
    """A list or an object with each part changed; anything else as it is."""
    if is_array(made):
        return [change(index, each) for index, each in enumerate(made)]
    if is_object(made):
        return {key: change(key, each) for key, each in made.items()}
    return made


def _are_alike(value: Any, made: Any) -> bool:
    """Whether what the author's code made has its parts at the places where they were sent."""
    if is_array(value):
        return is_array(made) and len(value) == len(made)
    return is_object(value) and is_object(made)


def _item_history(item: Any) -> History:
    return History(item if is_object(item) else {})


def _logged_item(item: Any, history: History) -> Any:
    return logged(plain_copy(item), history) if is_object(item) else item


def _is_handed_on(key: str, value: Any, new: dict[str, Any]) -> bool:
    """Whether the value of an undeclared key was handed on in one of the `new` fields.

    The author's code may have worked on a copy, where a read by name leaves no trace.
    """
    if is_object(value) and value and all(_holds(new.get(name), value[name]) for name in value):
        return True  # a wrapper, unwrapped
    is_telling = _is_collection(value) and len(value) > 1
    return any(
        _holds(each, value) and (is_telling or _are_similar(key, name))
        for name, each in new.items()
    )


def _is_collection(value: Any) -> TypeIs[str | list[Any] | dict[str, Any]]:
    return isinstance(value, str | list | dict)


def _holds(place: Any, value: Any) -> bool:
    """Whether a value is, or contains, another one."""
    if type(place) is type(value) and place == value:
        return True
    if is_object(place):
        return any(_holds(each, value) for each in place.values())
    return is_array(place) and any(_holds(each, value) for each in place)


def _are_similar(name: str, other: str) -> bool:
    one, two = recased(name), recased(other)
    return one in two or two in one
