"""What tools are called: `contacts__create`, and how they are told apart where two would share a
name.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count

from django.apps import apps

from toolbooth.django.describe.discovery import Action

LONGEST_NAME = 48
"""Clients take 64 characters, and some put the server's name before a tool's: `mcp__server__`."""

LONGEST_RESOURCE = 32
"""So that all of its usual actions have room behind it, and the same resource before them."""

_SHORTEST_RESOURCE = 12
"""Characters that must be left of a resource before a long action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What a tool is called, and what it is called below a dispatcher."""

    tool: str
    resource: str
    """The tool's name without its action; empty for a tool that is no resource's."""
    action: str


def named(found: Iterable[Action], taken: Iterable[str] = ()) -> Iterator[tuple[Name, Action]]:
    """Every action with its name. Where two would share one, or one is taken, the app's label goes
    in front.

    One action that answers to several methods is a tool for each of them.
    """
    actions = list(found)
    methods = Counter((each.path, _name(each)) for each in actions)
    names: list[str] = []
    for each in actions:
        name = _name(each)
        has_several_methods = methods[each.path, name] > 1
        names.append(f"{name}_{each.method.lower()}" if has_several_methods else name)
    counts = Counter([*names, *taken])
    # A name with an app's label in front may be the whole name of another tool, which keeps it.
    given = {*taken, *names}
    for action, name in zip(actions, names, strict=True):
        is_shared = counts[name] > 1
        wanted = f"{app_of(action)}__{name}" if is_shared else name
        if not is_shared:
            given.discard(name)
        chosen = free(wanted, given)
        given.add(chosen)
        yield parted(chosen, wanted), action


def free(wanted: str, taken: Container[str]) -> str:
    """A name that is not taken, and not too long: this one, or else with a number behind it."""
    first = fitting(wanted)
    numbered = (fitting(f"{first}_{number}") for number in count(2))
    return next(each for each in chain((first,), numbered) if each not in taken)


def parted(tool: str, wanted: str = "") -> Name:
    """A tool's name in its parts; where it had to be cut, those of the name that it should have
    had.
    """
    whole = tool if tool.startswith(wanted) else wanted
    resource, _, action = whole.rpartition("__")
    return Name(tool=tool, resource=_cut(resource, LONGEST_RESOURCE), action=action)


def _name(action: Action) -> str:
    return f"{_resource(action.base)}__{_snake_case(action.name)}"


def _resource(base: str) -> str:
    """A basename with its double underscores: `dcim__devices`. The last one of a tool's name is
    still the one before its action, since an action has none.
    """
    parts = [_snake_case(part) for part in re.split("_{2,}", base)]
    return "__".join(filter(None, parts))


def app_of(action: Action) -> str:
    """The label of the app that an action's view belongs to."""
    module = action.view.__module__
    config = apps.get_containing_app_config(module)
    return _snake_case(config.label if config is not None else module.partition(".")[0])


def _snake_case(text: str) -> str:
    """The text in small letters, digits and underscores; a text in another script is a hash."""
    if not text.isascii():
        return f"x{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return re.sub(r"[^a-zA-Z0-9]+", "_", text).strip("_").lower()


def fitting(name: str) -> str:
    """A tool's name that is not too long. Its action stays whole if possible."""
    resource, separator, action = name.rpartition("__")
    end = separator + action
    room = min(LONGEST_RESOURCE, LONGEST_NAME - len(end))
    return _cut(name, LONGEST_NAME) if room < _SHORTEST_RESOURCE else _cut(resource, room) + end


def _cut(text: str, room: int) -> str:
    """The beginning of a text that is too long, and a short hash of the whole text."""
    if len(text) <= room:
        return text
    mark = hashlib.sha256(text.encode()).hexdigest()[:4]
    return f"{text[: room - 5].rstrip('_')}_{mark}"
