"""Where something stands in the arguments: `$.lines[0].sku`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

Path = tuple[str | int, ...]

_KEY_ECHO = 60


def at(path: Iterable[str | int]) -> str:
    """The path as the agent reads it; a long key is cut, a strange one quoted."""
    return "$" + "".join(_step(step) for step in path)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _is_plain(step) else f"[{quoted(step)}]"


def _is_plain(name: str) -> bool:
    return len(name) <= _KEY_ECHO and name.isidentifier() and name.isascii()


def quoted(name: str) -> str:
    """A key in JSON quotes, cut where it is absurdly long."""
    if _is_plain(name):
        return f'"{name}"'
    return json.dumps(name if len(name) <= _KEY_ECHO else name[: _KEY_ECHO - 1] + "…", ensure_ascii=False)


@lru_cache(maxsize=1024)  # mostly the declared fields of the same few objects
def listed(names: tuple[str, ...], most: int = 24) -> str:
    """Names in quotes; a long list is cut with a count."""
    shown = ", ".join(quoted(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def look_up(arguments: Any, path: Path) -> Any:
    """The value at a path, or None where there is none."""
    for step in path:
        try:
            arguments = arguments[step]
        except (KeyError, IndexError, TypeError):
            return None
    return arguments
