"""Groups tools behind dispatchers. There is one dispatcher for each resource, for each app, or for
each group that the project defines.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from django.apps import apps

from toolbooth.django.conf import Dispatch
from toolbooth.django.describe import messages
from toolbooth.django.describe.candidate_names import app_of
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.name_patterns import sharing_resource
from toolbooth.django.describe.names import Name, free
from toolbooth.errors import called


@dataclass(frozen=True, slots=True)
class Group:
    """The tools of one dispatcher. `resources` maps each resource to its actions, and each action
    to its tool.
    """

    name: str
    title: str | None = None
    resources: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def add(self, name: Name) -> None:
        actions = self.resources.setdefault(name.resource, {})
        # Two routes of one resource may have actions of the same name.
        actions[free(name.action, actions)] = name.tool

    def only(self, tools: Container[str]) -> Group:
        """Return the same group with only these tools."""
        kept: dict[str, dict[str, str]] = {}
        for resource, actions in self.resources.items():
            left = {action: tool for action, tool in actions.items() if tool in tools}
            if left:
                kept[resource] = left
        return Group(self.name, self.title, kept)

    @property
    def tools(self) -> list[str]:
        """Every tool in the group."""
        return [tool for actions in self.resources.values() for tool in actions.values()]

    @property
    def below(self) -> Mapping[str, Any]:
        """Maps each action to its tool. If the group has several resources, maps each resource to
        such a mapping.
        """
        return self.resources if len(self.resources) > 1 else next(iter(self.resources.values()))

    @property
    def alone(self) -> Iterable[str]:
        """The tools of the group if it has only one resource, otherwise nothing."""
        return next(iter(self.resources.values())).values() if len(self.resources) == 1 else ()


def grouped(chosen: Dispatch, tools: Iterable[tuple[Name, Action]]) -> list[Group]:
    """Return the groups that the setting asks for. A tool that belongs to no group is published by
    itself.
    """
    made: dict[str, Group] = {}
    for name, action in tools:
        # The name of a hand-written tool need not have a resource and an action.
        group = _group(chosen, name, action) if name.resource and name.action else None
        if group is None:
            continue
        if group not in made:
            made[group] = Group(group, _title(group) if chosen == "app" else None)
        made[group].add(name)
    return list(made.values())


def _title(app: str) -> str | None:
    """Return the verbose name of an app. Return None if it equals the label of the app."""
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


def unused_patterns(chosen: Dispatch, names: Iterable[Name]) -> Iterator[tuple[str, str]]:
    """Yield each pattern that adds no resource to its group, and the reason."""
    known = [each for each in names if each.resource]
    every = {each.resource for each in known}
    left = set(every)
    for group, pattern in _patterns(chosen):
        fits = {resource for resource in every if fnmatchcase(resource, pattern)}
        if not fits & left:
            shared = messages.fits_no_resource(sharing_resource(pattern, known))
            reason = messages.FITS_NOTHING_NEW if fits else shared
            yield f"TOOLBOOTH['DISPATCH'][{group!r}]: {pattern!r}", reason
        # A resource belongs to the first group that matches it, so later patterns get the rest.
        left -= fits


def names_of_clients(dispatcher: str, below: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each tool behind a dispatcher, and the name by which a client calls it."""
    for name, each in below.items():
        if isinstance(each, str):
            yield each, called(dispatcher, (name,))
            continue
        for action, tool in each.items():
            yield tool, called(dispatcher, (name, action))
