"""Finds the tool to suggest for an unknown name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolbooth.errors import called
from toolbooth.jsonvalue import near_name
from toolbooth.server.dispatch.build import narrowed
from toolbooth.server.tool import Shows, Tool

_LONGEST = 128
"""A longer name is not compared with other names, because a suggestion would not help."""


def near_to(name: str, names: Iterable[str]) -> str | None:
    """Return the known name that is most similar to an unknown one. Return None if no name is
    similar enough.
    """
    return near_name(name[:_LONGEST], names)


def nearest(
    name: str, listed: Mapping[str, Tool], hidden: Mapping[str, Tool], shows: Shows | None
) -> str | None:
    """Return how to call the tool whose name is most similar. This is the name of the tool, or a
    call of its dispatcher if the tool is not listed. Return None if no name is similar, or if the
    caller may not see the tool.
    """
    known = {**hidden, **listed}
    near = near_to(name, known)
    # A tool that this caller may not see is not suggested, because its name would reveal that it
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
