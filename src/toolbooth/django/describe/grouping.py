"""Which tools stand behind which dispatcher: by resource, by app, in the project's own groups, or
in one class.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from django.apps import apps

from toolbooth.django.conf import Dispatch
from toolbooth.django.describe import messages
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.names import Name, app_of, free
from toolbooth.errors import called


@dataclass(frozen=True, slots=True)
class Group:
    """What one dispatcher holds: for each resource its actions, for each action its tool."""

    name: str
    title: str | None = None
    resources: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def add(self, name: Name) -> None:
        """Take a tool in."""
        actions = self.resources.setdefault(name.resource, {})
        actions[free(name.action, actions)] = name.tool

    def only(self, tools: Container[str]) -> Group:
        """The same without all other tools."""
        kept: dict[str, dict[str, str]] = {}
        for resource, actions in self.resources.items():
            left = {action: tool for action, tool in actions.items() if tool in tools}
            if left:
                kept[resource] = left
        return Group(self.name, self.title, kept)

    @property
    def tools(self) -> list[str]:
        """Every tool in it."""
        return [tool for actions in self.resources.values() for tool in actions.values()]

    @property
    def below(self) -> Mapping[str, Any]:
        """Its actions; where it holds several resources, those of each."""
        return self.resources if len(self.resources) > 1 else next(iter(self.resources.values()))

    @property
    def alone(self) -> Iterable[str]:
        """Its tools, where all of them are of one resource."""
        return next(iter(self.resources.values())).values() if len(self.resources) == 1 else ()


def grouped(chosen: Dispatch, tools: Iterable[tuple[Name, Action]]) -> list[Group]:
    """The dispatchers that the setting asks for. A tool that is in none of them stays single."""
    made: dict[str, Group] = {}
    for name, action in tools:
        group = _group(chosen, name, action) if name.resource and name.action else None
        if group is None:
            continue
        if group not in made:
            made[group] = Group(group, _title(group) if chosen == "app" else None)
        made[group].add(name)
    return list(made.values())


def _title(app: str) -> str | None:
    """What an app calls itself, where its label does not say that already."""
    found = apps.app_configs.get(app)
    title = app if found is None else str(found.verbose_name)
    return None if title.lower() == app else title


def _group(chosen: Dispatch, name: Name, action: Action) -> str | None:
    if chosen == "app":
        return app_of(action)
    if chosen == "resource":
        return name.resource
    return next(
        (group for group, pattern in _patterns(chosen) if fnmatchcase(name.resource, pattern)), None
    )


def _patterns(chosen: Dispatch) -> Iterator[tuple[str, str]]:
    if isinstance(chosen, Mapping):
        yield from ((group, pattern) for group, patterns in chosen.items() for pattern in patterns)


def unused_patterns(chosen: Dispatch, resources: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each pattern that brings nothing into its group, and why."""
    every = {resource for resource in resources if resource}
    left = set(every)
    for group, pattern in _patterns(chosen):
        fits = {resource for resource in every if fnmatchcase(resource, pattern)}
        if not fits & left:
            reason = messages.FITS_NOTHING_NEW if fits else messages.FITS_NO_RESOURCE
            yield f"TOOLBOOTH['DISPATCH'][{group!r}]: {pattern!r}", reason
        left -= fits


def names_of_clients(dispatcher: str, below: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """How a client calls each tool behind a dispatcher."""
    for name, each in below.items():
        if isinstance(each, str):
            yield each, called(dispatcher, (name,))
            continue
        for action, tool in each.items():
            yield tool, called(dispatcher, (name, action))
