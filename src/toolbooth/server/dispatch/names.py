"""The tool that is meant by a name that no tool has, as a client calls it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolbooth.errors import called
from toolbooth.jsonvalue import near_name
from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.tool import Shows, Tool

_LONGEST = 128
"""Characters of a name that is compared: nothing useful is near a longer one."""


def is_near(name: str, names: Iterable[str]) -> bool:
    """Whether one of these names may be meant."""
    return near_name(name[:_LONGEST], names) is not None


def nearest(
    name: str, listed: Mapping[str, Tool], hidden: Mapping[str, Tool], shows: Shows | None
) -> str | None:
    """The tool of the nearest name, if the caller is shown it. One that is not listed is called
    through a dispatcher.
    """
    known = {**hidden, **listed}
    near = near_name(name[:_LONGEST], known)
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
