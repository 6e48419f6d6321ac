"""Values near a right call, right and wrong ones; the schema decides which they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

LONG = 20_000
MANY = 200
ANYWHERE = (
    None,
    True,
    0,
    -1,
    1.5,
    10**12,
    -(10**12),
    "",
    "unheard",
    "x" * LONG,
    [],
    [1],
    ["x"],
    {},
    {"unheard": 1},
)


def near(calls: Iterable[Any]) -> Iterator[Any]:
    """Each call with one change."""
    for call in calls:
        yield from _changed(call)


def _changed(value: Any) -> Iterator[Any]:
    yield from ANYWHERE
    if isinstance(value, dict):
        yield from _changed_object(value)
    elif isinstance(value, list):
        yield from _changed_array(value)
    elif isinstance(value, str):
        yield from (f"{value}!", value[:1], value.upper(), value.lower())
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from (-value, value + 1, value + 0.001, value * 1000)


def _changed_object(value: dict[str, Any]) -> Iterator[Any]:
    yield from ({**value, "unheard": more} for more in (1, "x"))
    yield from (
        {**value, **{f"unheard{n}": more for n in range(MANY)}} for more in list(value.values())[:1]
    )
    for key, inner in value.items():
        yield {name: each for name, each in value.items() if name != key}
        yield from ({**value, key: changed} for changed in _changed(inner))


def _changed_array(value: list[Any]) -> Iterator[Any]:
    yield from (
        value[:-1],
        value[::-1],
        [*value, 1],
        [*value, "x"],
        value[:1] * 2,
        value[:1] * MANY,
    )
    for index, inner in enumerate(value):
        yield from ([*value[:index], changed, *value[index + 1 :]] for changed in _changed(inner))
