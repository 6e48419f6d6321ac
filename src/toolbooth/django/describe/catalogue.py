"""The catalogue of a URLconf: its tools, and the actions and fields that were left out, each with
the reason.

All possible tools are found when the catalogue is started. Each tool is described when it is first
called or listed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.urls import get_urlconf

from toolbooth.django.call.authenticators import authenticating_actions, is_open
from toolbooth.django.conf import Configuration, configuration
from toolbooth.django.describe import messages
from toolbooth.django.describe.building import Building
from toolbooth.django.describe.declared_bodies import (
    unknown_names,
    unused_patterns_of_bodies,
)
from toolbooth.django.describe.discovery import Action, discover, full_updates
from toolbooth.django.describe.left_out import LeftOut, patterns_without_tools
from toolbooth.django.describe.locked_names import LockedNames, lock_complaints, locked_names
from toolbooth.django.describe.name_patterns import excludes, includes
from toolbooth.django.describe.names import Name, name_for_many, named, parted
from toolbooth.django.describe.published_models import PublishedModels, published_models
from toolbooth.django.describe.verbatim import verbatim_mistakes
from toolbooth.django.describe.warm_file import Project, WarmFile, warm_path
from toolbooth.django.describe.warm_key import key_of
from toolbooth.django.own_tools import Broken, own_tools
from toolbooth.server.registry import ToolRegistry


@dataclass(slots=True, kw_only=True)
class Catalogue:
    """The tools of a project. Its lists of mistakes are complete after `describe_all`."""

    configuration: Configuration
    building: Building
    named: tuple[tuple[Name, Action], ...]
    """Every action of a view with its name, published or not."""
    hand_written: Sequence[Name]
    """The names of all hand-written tools, published or not."""
    locked: LockedNames
    """The names in `mcp_names.lock`."""
    open: bool
    """True if every tool is open to all callers. The list of tools then needs no filtering."""
    authenticating_actions: tuple[Action, ...]
    """The actions whose views are asked to authenticate a caller. Of all actions that authenticate
    in the same way, only one is included.
    """
    broken: tuple[Broken, ...] = ()
    """Modules and functions of the project's own tools that have mistakes."""
    is_whole: bool = False

    @property
    def registry(self) -> ToolRegistry:
        return self.building.registry

    @property
    def actions(self) -> Mapping[str, Action]:
        """The action of every tool, including hand-written ones."""
        return self.building.actions

    @property
    def body_names(self) -> Mapping[str, tuple[str, ...]]:
        """The fields that are sent in the body, by tool. Hand-written tools are not included."""
        return self.building.body_names

    @property
    def models(self) -> PublishedModels:
        return self.building.published

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        return tuple(self.building.left_out)

    @property
    def faults(self) -> tuple[LeftOut, ...]:
        """The problems that drf-spectacular reported."""
        return tuple(self.building.faults)

    @property
    def clashes(self) -> tuple[LeftOut, ...]:
        """Tools that lack a control argument, because they have an argument with the same name."""
        return tuple(self.building.clashes)

    @property
    def unused_patterns(self) -> tuple[LeftOut, ...]:
        """Patterns in the settings that match nothing, and lines of `mcp_names.lock` whose tool is
        gone.
        """
        return tuple(self.building.unused_patterns)

    @property
    def undeclared_bodies(self) -> tuple[str, ...]:
        """Tools whose actions do not declare a body. They are called without one."""
        return tuple(self.building.undeclared_bodies)

    @property
    def wrong_entries(self) -> tuple[LeftOut, ...]:
        """Entries of `BODIES`, `VERBATIM` and `mcp_names.lock` that are wrong or name no tool."""
        return tuple(self.building.wrong_entries)

    @property
    def describe_mistakes(self) -> tuple[LeftOut, ...]:
        """Mistakes that the function in `DESCRIBE` has made. Its wrong results were ignored."""
        return tuple(LeftOut(*each) for each in self.building.context.complaints())

    @property
    def project(self) -> Project:
        """The properties of the project. A stored list of tools is used only if it has the same
        properties.
        """
        own = [name.tool for name in self.hand_written]
        found = self.registry
        names = (*found.tools, *found.hidden, *found.promised, *self.actions)
        key = key_of(self.named, own, self.building.language)
        return Project(key=key, tools=frozenset(names), page_size=found.page_size)

    def describe_all(self) -> None:
        """Describe every action that is not described yet, and check the settings."""
        self.registry.complete()
        # Two threads would otherwise add every mistake twice.
        with _lock:
            if not self.is_whole:
                self._look_at_settings()
                self.is_whole = True

    def _look_at_settings(self) -> None:
        chosen, found = self.configuration, self.building
        of_views = [name for name, _ in self.named]
        for_many = [many for _, many in _names_for_many(chosen, self.named)]
        every = [*self.hand_written, *of_views, *for_many, *map(parted, found.actions)]
        found.unused_patterns += patterns_without_tools(chosen, every)
        unused = unused_patterns_of_bodies(chosen, of_views)
        complaints = lock_complaints(self.locked, self.named)
        found.unused_patterns += [LeftOut(*each) for each in (*unused, *complaints)]
        wrong = unknown_names(chosen, of_views)
        wrong_verbatim = verbatim_mistakes(chosen, every, found.contracts)
        mistakes = (*wrong, *wrong_verbatim, *self.locked.mistakes)
        found.wrong_entries += [LeftOut(*each) for each in mistakes]


_lock = threading.RLock()
_started: dict[Any, Catalogue] = {}
"""The catalogues by URLconf. A host may serve several URLconfs, each with its own views."""

_MOST_STARTED = 8


def catalogue() -> Catalogue:
    """Return the catalogue of the URLconf in use, with every action described."""
    found = started_catalogue()
    found.describe_all()
    return found


def started_catalogue() -> Catalogue:
    """Return the catalogue of the URLconf in use. The first request starts it."""
    # Middleware may have chosen another URLconf for this request.
    urlconf = get_urlconf() or settings.ROOT_URLCONF
    # Most calls find a started catalogue, and need no lock.
    found = _started.get(urlconf)
    if found is not None:
        return found
    with _lock:
        # Another thread may have started it in the meantime.
        if urlconf not in _started:
            # The oldest is dropped, so that a host with many URLconfs does not fill the memory.
            if len(_started) >= _MOST_STARTED:
                del _started[next(iter(_started))]
            _started[urlconf] = start(configuration())
        return _started[urlconf]


def forget() -> None:
    """Discard all catalogues, for tests that change settings or URLs."""
    with _lock:
        _started.clear()


def build(chosen: Configuration) -> Catalogue:
    """Return a catalogue in which every action that the configuration includes is described."""
    found = start(chosen)
    found.describe_all()
    return found


def start(chosen: Configuration) -> Catalogue:
    """Return a catalogue with the name of every included action. No view is described yet."""
    made = Building(chosen)
    own = own_tools()
    for tool in own.tools:
        if includes(chosen, parted(tool.contract.name)):
            made.add_hand_written(tool)
    found = discover(login_views=chosen.login_views)
    made.left_out += [LeftOut(what, why) for what, why in found.hidden]
    # The authors of hand-written tools have chosen their names, so views must not use them.
    taken = [*made.actions, *(each.name for each in made.dispatchers)]
    locked = locked_names(chosen)
    # Every action gets a name, published or not. Otherwise a change of INCLUDE or EXCLUDE would
    # rename tools.
    names = tuple(named(found.actions, taken, locked.names))
    included = [(name, each) for name, each in names if includes(chosen, name)]
    _promise(made, included)
    # This comes after the names of all tools are known, because groups are made from them.
    made.add_dispatchers()
    actions = made.actions.values()
    started = Catalogue(
        configuration=chosen,
        building=made,
        named=names,
        hand_written=[parted(each.contract.name) for each in own.tools],
        locked=locked,
        open=all(map(is_open, actions)),
        authenticating_actions=authenticating_actions(actions),
        broken=own.broken,
    )
    path = warm_path(chosen)
    # The file holds the tools of one URLconf only.
    if path is not None and get_urlconf() in (None, settings.ROOT_URLCONF):
        # The properties of the project include digests of all settings, so they are computed only
        # if the file is read.
        made.registry.earlier = WarmFile(path, lambda: started.project)
    return started


def _promise(made: Building, included: Sequence[tuple[Name, Action]]) -> None:
    """Register the name of a tool for each of these actions. A tool is described when it is first
    needed.
    """
    actions = [action for _, action in included]
    made.published = replace(published_models(actions), needs=made.needs)
    made.repeating = full_updates(actions)
    for name, action in included:
        if made.chosen.updates == "partial" and action in made.repeating:
            made.left_out.append(LeftOut(name.tool, messages.ONLY_PARTIAL_UPDATES))
            continue
        made.promise(name, action)
    for tool, many in _names_for_many(made.chosen, included):
        if not excludes(made.chosen, many):
            made.promise_bulk(many.tool, tool)


def _names_for_many(
    chosen: Configuration, named_actions: Sequence[tuple[Name, Action]]
) -> Iterator[tuple[str, Name]]:
    """Yield the name of each tool that creates one row, with the name of the separate tool that
    creates many rows.
    """
    for name, action in named_actions if chosen.bulk_tools else ():
        if action.name == "create":
            yield name.tool, name_for_many(name)
