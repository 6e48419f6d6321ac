"""An author's before or wrap validator in front of a model that ignores undeclared keys.

The author's code may read any key by name. A key that it does not read and that no field declares
would be dropped in silence, so it is left for the closed model to refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_core import InitErrorDetails, ValidationError

from toolbooth.compile.pydantic.core_schema import (
    AUTHORED,
    FIELD_LISTS,
    Config,
    CoreNode,
    extra_of,
    fields_of,
    first_keys,
)
from toolbooth.jsonvalue import is_object


class _KeyLog(dict[str, Any]):
    """A dict that remembers which keys the author's code read by name.

    A key that it did not read, and that the model does not declare, would be dropped in silence,
    even if it was copied along on the way.
    """

    __slots__ = ("seen", "walked")

    def __init__(self, items: dict[str, Any], seen: set[str] | None = None) -> None:
        super().__init__(_plain_copy(items))
        self.seen: set[str] = set() if seen is None else seen
        self.walked = False

    def unread(self, made: dict[str, Any]) -> dict[str, Any]:
        """The keys that were not read: copied into the dict that the author `made`, or left behind
        without a look at all.
        """
        return {
            key: value
            for key, value in _plain_copy(self).items()
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

    def __contains__(self, key: Any) -> bool:
        self.seen.add(key)
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.seen.add(key)
        return super().get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        self.seen.add(key)
        return super().pop(key, *default)

    def copy(self) -> dict[str, Any]:
        self.walked = True
        return _KeyLog(self, self.seen)


def _plain_copy(items: dict[str, Any]) -> dict[str, Any]:
    """A plain copy, made without leaving a trace."""
    return dict(_DICT.items(items))


_DICT: Any = dict


def watch_keys(node: CoreNode, config: Config) -> CoreNode:
    """The author's validator, called with a dict that notes which keys it reads. The list of fields
    behind it is closed now.
    """
    declared = _ignoring_keys(node, config)
    if declared is None:
        return node["function"]
    function = node["function"]["function"]

    def settle(before: Any, after: Any) -> tuple[Any, dict[str, Any]]:
        """The values that the author made for the fields, and the undeclared keys that were not
        read.
        """
        if not (isinstance(before, _KeyLog) and is_object(after)):
            return after, {}
        made = _plain_copy(after)
        lost = {key: value for key, value in before.unread(made).items() if key not in declared}
        return {key: value for key, value in made.items() if key in declared}, lost

    def watch(value: Any) -> Any:
        return _KeyLog(value) if is_object(value) and type(value) is dict else value

    def before(value: Any, *info: Any) -> Any:
        logged = watch(value)
        made, lost = settle(logged, function(logged, *info))
        # The closed list of fields refuses them, together with all other problems.
        return {**made, **lost} if lost else made

    def wrap(value: Any, handler: Any, *info: Any) -> Any:
        logged = watch(value)
        lost: dict[str, Any] = {}

        def settled(inner: Any, *outer: Any) -> Any:
            made, found = settle(logged, inner)
            lost.update(found)
            return handler(made, *outer)

        made = function(logged, settled, *info)
        if lost:  # raised here, where the author's code can no longer catch it
            raise _forbidden(lost)
        return made

    return {**node["function"], "function": before if node["type"] == "function-before" else wrap}


def _forbidden(keys: dict[str, Any]) -> ValidationError:
    errors: list[InitErrorDetails] = []
    for key, value in keys.items():
        errors.append({"type": "extra_forbidden", "loc": (key,), "input": value})
    return ValidationError.from_exception_data("", errors)


def _ignoring_keys(node: CoreNode, config: Config) -> frozenset[str] | None:
    """The keys of the list of fields right below an author's validator, if it ignores others."""
    inner = node["schema"]
    config = Config.of(inner, config)
    while inner["type"] in ("model", "dataclass", "default", "function-after", *AUTHORED):
        inner = inner["schema"]
        config = Config.of(inner, config)
    if inner["type"] not in FIELD_LISTS or extra_of(inner, config) != "ignore":
        return None
    return frozenset(key for name, field in fields_of(inner) for key in (name, *first_keys(field)))
