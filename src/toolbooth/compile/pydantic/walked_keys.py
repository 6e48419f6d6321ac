"""The keys that an author's validator gets when it iterates over its dict. They record in a history
how the code uses them.

Python compares keys when it looks one up in a dict. So a key can notice that it is looked up, and
by which code, even in a copy of the dict. Pydantic looks up the names that a model declares and
silently drops other keys. At Pydantic's first lookup, the history records which keys Pydantic got.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from dis import opmap
from inspect import currentframe
from types import FrameType
from typing import Any

from toolbooth.jsonvalue import is_object

_DICT: Any = dict

_CONTAINERS = (dict, list, tuple)

_COMPARISONS = frozenset((opmap["COMPARE_OP"], opmap["CONTAINS_OP"]))
"""The bytecode instructions of `key == name` and `key in names`. For `function(**d)`, Python
compares keys with the names of parameters too, but with another instruction.
"""

_EXPANSION = opmap["DICT_MERGE"]
"""The bytecode instruction of `**d` in a call."""


@dataclass(slots=True, eq=False)
class History:
    """Records how the author's validators used one object that was sent."""

    sent: dict[str, Any]
    declared: frozenset[str] = frozenset()
    """The names of the fields that are declared for this object."""
    read: set[Any] = field(default_factory=set[Any])
    """The keys that were read by name, or removed by name."""
    told_apart: set[str] = field(default_factory=set[str])
    """The keys that the code compared with another name, or removed while it iterated over the
    object.
    """
    walked: bool = False
    """True if the code has iterated over all keys."""
    given: frozenset[str] | None = None
    """The keys that Pydantic or a function last got. None if it got none."""
    lost: dict[str, Any] = field(default_factory=dict[str, Any])
    """The undeclared keys that the fields would drop, with their values."""
    noticed: dict[int, Any] = field(default_factory=dict[int, Any])
    """The objects that Pydantic has got so far, by `id`. All histories of a call share this dict.
    """

    def unread(self, declared: frozenset[str]) -> dict[str, Any]:
        """Return the undeclared keys that were not read by name."""
        known = declared | self.read
        return {key: value for key, value in self.sent.items() if key not in known}


class Log(dict[str, Any]):
    """A dict that records its use in a history."""

    __slots__ = ("history",)
    history: History


class WalkedKey(str):
    """A key that comes from an iteration over a log. A text that was made from such a key, as by
    `key.lower()`, has this type too.
    """

    __slots__ = ("history", "name")
    history: History
    name: str
    """The key that was sent."""

    def renamed(self, text: str) -> WalkedKey:
        made = WalkedKey(text)
        made.history, made.name = self.history, self.name
        return made

    # --- comparisons

    def __eq__(self, other: object) -> bool:
        is_equal = str.__eq__(self, other)
        # If both keys are from iterations, the code copies a dict and does not know the name.
        if _is_name(other):
            self._note(_caller(), is_equal=is_equal)
        return is_equal

    def __ne__(self, other: object) -> bool:
        is_other = str.__ne__(self, other)
        if _is_name(other):
            self._note(_caller(), is_equal=not is_other)
        return is_other

    # A class with `__eq__` loses its `__hash__`. The key needs the hash of its text, or no lookup
    # would find it.
    __hash__ = str.__hash__

    def _note(self, reader: FrameType, *, is_equal: bool) -> None:
        if is_equal:
            self.history.read.add(self.name)
        # A lookup from Pydantic's own code means that a model is being made from this dict.
        if reader.f_globals.get("__name__", "").partition(".")[0] == "pydantic":
            _note_given(reader, self.history.noticed)
        elif not is_equal and _instruction(reader) in _COMPARISONS:
            self.history.told_apart.add(self.name)

    # --- the same key, in another form

    def __str__(self) -> str:
        # `str(key)` must return such a key too. Otherwise it would be plain text, and its reads
        # could not be noted.
        return self

    def lower(self) -> str:
        return self.renamed(super().lower())

    def upper(self) -> str:
        return self.renamed(super().upper())

    def casefold(self) -> str:
        return self.renamed(super().casefold())

    def strip(self, chars: str | None = None, /) -> str:
        return self.renamed(super().strip(chars))

    def removeprefix(self, prefix: str, /) -> str:
        return self.renamed(super().removeprefix(prefix))

    def removesuffix(self, suffix: str, /) -> str:
        return self.renamed(super().removesuffix(suffix))

    def replace(self, old: str, new: str, *count: Any, **further: Any) -> str:
        return self.renamed(super().replace(old, new, *count, **further))

    def __add__(self, other: str) -> str:
        return self.renamed(super().__add__(other))

    def __radd__(self, other: str) -> str:
        # Added as plain text, because Python would otherwise call this method recursively.
        return self.renamed(other + plain_key(self))

    def __copy__(self) -> WalkedKey:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> WalkedKey:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle gets plain text, because another process has no history to write.
        return str, (plain_key(self),)


def _is_name(other: object) -> bool:
    return isinstance(other, str) and type(other) is not WalkedKey


def walked_key(key: str, history: History) -> WalkedKey:
    """Return a key as an iteration over a log returns it."""
    made = WalkedKey(key)
    made.history, made.name = history, plain_key(key)
    return made


def plain_key(key: Any) -> Any:
    """Return a key from an iteration as plain text. Return anything else unchanged."""
    return str.__str__(key) if type(key) is WalkedKey else key


# --- the code that reads a key --------------------------------------------------------------------


def _caller() -> FrameType:
    """Return the frame that called the caller of this function."""
    frame: Any = currentframe()
    # Two frames up: the first one is `__eq__`, the second the code that compares.
    return frame.f_back.f_back


def _instruction(frame: FrameType) -> int:
    """Return the bytecode instruction that a frame is executing."""
    return frame.f_code.co_code[frame.f_lasti]


def note_expansion(log: Log) -> None:
    """If `keys()` is called for `function(**log)`, record that the function gets all keys."""
    frame: Any = currentframe()
    if _instruction(frame.f_back.f_back) == _EXPANSION:
        log.history.given = frozenset(_DICT.keys(log))


def _note_given(reader: FrameType, noticed: dict[int, Any]) -> None:
    """Record which keys Pydantic gets. They are in a local variable of Pydantic's function."""
    variables: dict[str, Any] = reader.f_locals
    # The name of the variable differs between Pydantic's functions, so all variables are checked.
    for each in variables.values():
        if issubclass(type(each), _CONTAINERS) and id(each) not in noticed:
            noticed[id(each)] = each  # kept, so that no other object gets this `id`
            _note_keys(each)


def _note_keys(given: Any) -> None:
    if isinstance(given, Log):
        given.history.given = frozenset(_DICT.keys(given))
    elif is_object(given):
        for history, names in _names_in(given).items():
            history.given = frozenset(names)
    parts: Any = _DICT.values(given) if is_object(given) else given
    for each in parts if isinstance(given, _CONTAINERS) else ():
        _note_keys(each)


def _names_in(given: dict[Any, Any]) -> dict[History, list[str]]:
    """Return the keys in a copy, grouped by the history of the object that they come from."""
    found: dict[History, list[str]] = {}
    for key in given:
        if type(key) is WalkedKey:
            found.setdefault(key.history, []).append(key.name)
    return found
