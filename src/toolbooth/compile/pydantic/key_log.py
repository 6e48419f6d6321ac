"""The dict that an author's before or wrap validator gets: it notes which keys are read by name.

A walk over a dict (a loop, `dict(d)`, `{**d}`, `sorted(d)`, a comprehension) gives keys of a type
of their own. Code that reads with such a key copies the dict; code that reads with plain text knows
the name.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

_DICT: Any = dict


@dataclass(slots=True)
class History:
    """What the author's validators did with an object that was sent."""

    sent: dict[str, Any]
    read: set[Any] = field(default_factory=set[Any])
    """The keys that were read by name, or removed by name."""
    walked: bool = False
    """Whether all keys were walked over."""
    lost: dict[str, Any] = field(default_factory=dict[str, Any])
    """The undeclared keys that the fields would drop."""


class _WalkedKey(str):
    """A key that a walk has given."""

    __slots__ = ()

    # `str(key)` is the same key, not a name that the author's code knows.
    def __str__(self) -> str:
        return self


class KeyLog(dict[str, Any]):
    """A dict that notes in its history how it is read."""

    __slots__ = ("history",)

    # The author's code may make another one with `type(d)(d)`.
    def __init__(self, *items: Any, **further: Any) -> None:
        super().__init__(*items, **further)
        self.history = History({})

    def _note(self, key: Any) -> None:
        if type(key) is not _WalkedKey:
            self.history.read.add(key)

    # --- walks

    def __iter__(self) -> Iterator[str]:
        self.history.walked = True
        return map(_WalkedKey, super().__iter__())

    def __reversed__(self) -> Iterator[str]:
        self.history.walked = True
        return map(_WalkedKey, super().__reversed__())

    def keys(self) -> Any:
        return _Keys(self)

    def values(self) -> Any:
        return _Values(self)

    def items(self) -> Any:
        return _Items(self)

    def popitem(self) -> tuple[str, Any]:
        self.history.walked = True
        key, value = super().popitem()
        return _WalkedKey(key), value

    # --- reads by name

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def __contains__(self, key: Any) -> bool:
        self._note(key)
        return super().__contains__(key)

    def __delitem__(self, key: str) -> None:
        self._note(key)
        super().__delitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._note(key)
        return super().get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        self._note(key)
        return super().pop(key, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        self._note(key)
        return super().setdefault(key, default)

    # --- copies

    def copy(self) -> KeyLog:
        """A copy with the same history: a name that is read from it is read."""
        self.history.walked = True
        return logged(plain_copy(self), self.history)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> KeyLog:
        self.history.walked = True
        return logged(deepcopy(plain_copy(self), memo), self.history)

    def __reduce__(self) -> tuple[Any, ...]:
        self.history.walked = True
        return dict, (plain_copy(self),)


class _Keys(KeysView[str]):
    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self))


class _Values(ValuesView[Any]):
    def __reversed__(self) -> Iterator[Any]:
        return reversed(list(self))


class _Items(ItemsView[str, Any]):
    def __reversed__(self) -> Iterator[tuple[str, Any]]:
        return reversed(list(self))


def logged(content: dict[str, Any], history: History) -> KeyLog:
    """A dict with this content, of which every read is noted in `history`."""
    made = KeyLog(content)
    made.history = history
    return made


def plain_copy(given: Mapping[Any, Any]) -> dict[Any, Any]:
    """A plain dict with the same content and plain keys. Reading a log leaves no trace in it."""
    items = _DICT.items(given) if isinstance(given, dict) else given.items()
    return {_plain_key(key): value for key, value in items}


def _plain_key(key: Any) -> Any:
    return str.__str__(key) if type(key) is _WalkedKey else key
