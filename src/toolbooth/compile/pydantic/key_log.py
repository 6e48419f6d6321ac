"""The dict that is passed to an author's before or wrap validator.

It notes which keys the validator reads by name. An iteration over it (a loop, `dict(d)`, `{**d}`,
`sorted(d)`, a comprehension) returns keys of a special type. This distinguishes two cases: code
that reads with such a key only copies the dict, and code that reads with plain text knows the name
of the key.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from copy import deepcopy
from typing import Any

from toolbooth.compile.pydantic.walked_keys import (
    History,
    Log,
    WalkedKey,
    note_expansion,
    plain_key,
    walked_key,
)

_DICT: Any = dict


class KeyLog(Log):
    """A dict that notes every read of a key in its history."""

    __slots__ = ()

    # The author's code may make a second log with `type(d)(d)`.
    def __init__(self, *items: Any, **further: Any) -> None:
        super().__init__(*items, **further)
        self.history = History({})

    def _noted(self, key: Any) -> Any:
        """Note that a key was read by name. Return the key as plain text."""
        if type(key) is WalkedKey:
            return plain_key(key)
        self.history.read.add(key)
        return key

    def _removed(self, key: Any) -> Any:
        """Note that a key was removed. Return the key as plain text."""
        # An iteration that removes keys, such as a filter, has looked at this key.
        if type(key) is WalkedKey:
            self.history.told_apart.add(key.name)
        return self._noted(key)

    def _walked(self, key: str) -> str:
        return walked_key(key, self.history)

    # --- iterations

    def __iter__(self) -> Iterator[str]:
        self.history.walked = True
        return map(self._walked, super().__iter__())

    def __reversed__(self) -> Iterator[str]:
        self.history.walked = True
        return map(self._walked, super().__reversed__())

    def keys(self) -> Any:
        # `function(**d)` calls `keys()` too, and gives the function all keys at once.
        note_expansion(self)
        return _Keys(self)

    def values(self) -> Any:
        return _Values(self)

    def items(self) -> Any:
        return _Items(self)

    def popitem(self) -> tuple[str, Any]:
        self.history.walked = True
        key, value = super().popitem()
        return self._walked(key), value

    # --- reads by name

    def __getitem__(self, key: str) -> Any:
        return super().__getitem__(self._noted(key))

    def __contains__(self, key: Any) -> bool:
        return super().__contains__(self._noted(key))

    def __delitem__(self, key: str) -> None:
        super().__delitem__(self._removed(key))

    def get(self, key: str, default: Any = None) -> Any:
        return super().get(self._noted(key), default)

    def pop(self, key: str, *default: Any) -> Any:
        return super().pop(self._removed(key), *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        return super().setdefault(self._noted(key), default)

    # --- copies

    def copy(self) -> KeyLog:
        """Return a copy with the same history. Reads from the copy count too."""
        # The copy has every key, so any of them may be used from now on.
        self.history.walked = True
        return logged(plain_copy(self), self.history)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> KeyLog:
        self.history.walked = True
        return logged(deepcopy(plain_copy(self), memo), self.history)

    def __reduce__(self) -> tuple[Any, ...]:
        self.history.walked = True
        return dict, (plain_copy(self),)


# The views of `collections.abc` call `__iter__` of the log. So an iteration is noted when it
# begins, and not when the view is made.
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
    """Return a dict with this content. It notes every read in `history`."""
    made = KeyLog(content)
    made.history = history
    return made


def plain_copy(given: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a plain dict with the same content and plain keys. Nothing is noted."""
    # The methods of `dict` are called, because those of the log would note a read.
    items = _DICT.items(given) if isinstance(given, dict) else given.items()
    return {plain_key(key): value for key, value in items}


def origins_of(made: Mapping[Any, Any]) -> list[History]:
    """Return the histories of the sent objects that a mapping was made from."""
    if isinstance(made, KeyLog):
        return [made.history]
    keys = _DICT.keys(made) if isinstance(made, dict) else made.keys()
    return list(dict.fromkeys(key.history for key in keys if type(key) is WalkedKey))
