"""Where something stands in the arguments: `$.lines[0].sku`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

Path = tuple[str | int, ...]

_KEY_ECHO = 60

write_json = json.JSONEncoder(ensure_ascii=False).encode
"""JSON as people read it; `json.dumps` would make a new encoder each time."""


def at(path: Iterable[str | int], start: str = "$") -> str:
    """The path as the agent reads it, from `start` on; a long key is cut, a strange one quoted."""
    for step in path:
        if isinstance(step, int):
            start += f"[{step}]"
        elif step.isidentifier() and step.isascii() and len(step) <= _KEY_ECHO:
            start += f".{step}"
        else:
            start += f"[{quoted(step)}]"
    return start


def quoted(name: str) -> str:
    """A key in JSON quotes, cut where it is absurdly long."""
    if name.isidentifier() and len(name) <= _KEY_ECHO:
        return f'"{name}"'
    return write_json(name if len(name) <= _KEY_ECHO else name[: _KEY_ECHO - 1] + "…")


def listed(names: tuple[str, ...], most: int = 24) -> str:
    """Names in quotes; a long list is cut with a count."""
    shown = ", ".join(quoted(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


listed_fields = lru_cache(maxsize=1024)(listed)
"""`listed` for declared fields: the same few, again and again. Not for what an agent sent: that could be anything."""


def look_up(arguments: Any, path: Path) -> Any:
    """The value at a path, or None where there is none."""
    for step in path:
        try:
            arguments = arguments[step]
        except (KeyError, IndexError, TypeError):
            return None
    return arguments
