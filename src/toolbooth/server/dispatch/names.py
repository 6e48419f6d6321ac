"""The tool that is meant by a name that no tool has, as a client calls it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolbooth.errors import called
from toolbooth.jsonvalue import near_name
from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.tool import Shows, Tool

_LONGEST = 128
"""Characters of a name that is compared: nothing useful is near a longer one."""


def near_to(name: str, names: Iterable[str]) -> str | None:
    """The one of these names that may be meant."""
    return near_name(name[:_LONGEST], names)


def nearest(
    name: str, listed: Mapping[str, Tool], hidden: Mapping[str, Tool], shows: Shows | None
) -> str | None:
    """How to call the tool of the nearest name: by this name, or through a dispatcher if it is not
    listed. None if the caller is not shown it.
    """
    known = {**hidden, **listed}
    near = near_to(name, known)
    # A tool that this caller is not shown must not be suggested: its name would reveal that it
    # exists.
    if near is None or (shows is not None and narrowed(known[near], shows) is None):
        return None
    return called(near) if near in listed else _through_dispatcher(near, listed)


def _through_dispatcher(name: str, listed: Mapping[str, Tool]) -> str | None:
    subs = [
        (tool.name, target, sub.name)
        for tool in listed.values()
        if tool.table is not None
        for target, sub in tool.table.subs()
    ]
    ways = {sub: called(dispatcher, target.values()) for dispatcher, target, sub in subs}
    return ways.get(name)
