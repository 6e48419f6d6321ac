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

LONGEST_NAME = 64
_VERBS = {
    "list": "List",
    "retrieve": "Get one of",
    "create": "Create",
    "update": "Replace one of",
    "partial_update": "Change one of",
    "destroy": "Delete one of",
}


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
    return Name(tool=tool, resource=fitting(resource), action=action)


def title(action: Action) -> str:
    """A tool's name for people."""
    base = _words(action.base)
    verb = _VERBS.get(action.name)
    return f"{verb} {base}" if verb else f"{_words(action.name).capitalize()} ({base})"


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


def _words(text: str) -> str:
    return re.sub(r"[_\-]+", " ", text).strip()


def fitting(name: str) -> str:
    """A name that is not too long."""
    if len(name) <= LONGEST_NAME:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{name[: LONGEST_NAME - 7]}_{mark}"
