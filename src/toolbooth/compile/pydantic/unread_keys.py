"""An author's before or wrap validator in front of a model that ignores undeclared keys.

What the author's code asks for by name is the author's business; a key that nobody asks for and no
field declares would be dropped in silence, so it is left for the closed model to refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pydantic_core import ValidationError

from toolbooth.compile.pydantic.core_schema import (
    AUTHORED,
    FIELD_LISTS,
    Config,
    Node,
    extra_of,
    fields_of,
    first_keys,
)


class _Watched(dict[str, Any]):
    """A dict that remembers which keys somebody asked for by name.

    A key that the author's code asked for is the author's business. One that nobody asked for, and
    that the model does not declare, would be dropped in silence, even if it was copied along on the
    way.
    """

    __slots__ = ("seen", "walked")

    def __init__(self, items: dict[str, Any], seen: set[str] | None = None) -> None:
        super().__init__(_unwatched(items))
        self.seen: set[str] = set() if seen is None else seen
        self.walked = False

    def unread(self, made: dict[str, Any]) -> dict[str, Any]:
        """What nobody asked for: carried along into what the author `made`, or left behind without
        a look at all.
        """
        return {
            key: value
            for key, value in _unwatched(self).items()
            if key not in self.seen and (key in made or not self.walked)
        }

    def __iter__(self) -> Iterator[str]:
        self.walked = True
        return super().__iter__()

    def keys(self) -> Any:
        self.walked = True
        return super().keys()

    def items(self) -> Any:
        self.walked = True
        return super().items()

    def values(self) -> Any:
        self.walked = True
        return super().values()

    def __getitem__(self, key: str) -> Any:
        self.seen.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.seen.add(cast("str", key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.seen.add(key)
        return super().get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        self.seen.add(key)
        return super().pop(key, *default)

    def copy(self) -> dict[str, Any]:
        self.walked = True
        return _Watched(self, self.seen)


def _unwatched(items: dict[str, Any]) -> dict[str, Any]:
    """A plain copy, made without leaving a trace."""
    return dict(_DICT.items(items))


_DICT: Any = dict


def watched(node: Node, config: Config) -> Node:
    """The author's validator, given a dict that notes what it reads, in front of a list of fields
    now closed.
    """
    declared = _ignoring_keys(node, config)
    if declared is None:
        return node["function"]
    function = node["function"]["function"]

    def settle(before: Any, after: Any) -> tuple[Any, dict[str, Any]]:
        """What the author made for the fields, and what nobody looked at that no field declares."""
        if not (isinstance(before, _Watched) and isinstance(after, dict)):
            return after, {}
        made = _unwatched(cast("dict[str, Any]", after))
        lost = {key: value for key, value in before.unread(made).items() if key not in declared}
        return {key: value for key, value in made.items() if key in declared}, lost

    def watch(value: Any) -> Any:
        return _Watched(cast("dict[str, Any]", value)) if type(value) is dict else value

    def before(value: Any, *info: Any) -> Any:
        watched = watch(value)
        made, lost = settle(watched, function(watched, *info))
        return (
            {**made, **lost} if lost else made
        )  # for the closed list of fields to refuse, with all else

    def wrap(value: Any, handler: Any, *info: Any) -> Any:
        watched = watch(value)
        lost: dict[str, Any] = {}

        def settled(inner: Any, *outer: Any) -> Any:
            made, found = settle(watched, inner)
            lost.update(found)
            return handler(made, *outer)

        made = function(watched, settled, *info)
        if lost:  # told here, where the author's code can no longer catch it
            raise ValidationError.from_exception_data(
                "",
                [
                    {"type": "extra_forbidden", "loc": (key,), "input": each}
                    for key, each in lost.items()
                ],
            )
        return made

    return {**node["function"], "function": before if node["type"] == "function-before" else wrap}


def _ignoring_keys(node: Node, config: Config) -> frozenset[str] | None:
    """The keys of the list of fields right below an author's validator, if it ignores all others."""
    inner = node["schema"]
    config = Config.of(inner, config)
    while inner["type"] in ("model", "dataclass", "default", "function-after", *AUTHORED):
        inner = inner["schema"]
        config = Config.of(inner, config)
    if inner["type"] not in FIELD_LISTS or extra_of(inner, config) != "ignore":
        return None
    return frozenset(key for name, field in fields_of(inner) for key in (name, *first_keys(field)))
