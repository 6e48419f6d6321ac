"""What tools are called: `contacts__create`, and how they are told apart where two want one name.

Each tool has a list of names, which depends on its own route only. Where tools of two resources
want one name, all tools of both resources take their next one, and no other tool gets the name.
So no name is given to another tool because a route is added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from toolbooth.django.describe.candidate_names import (
    LONGEST_RESOURCE,
    Candidates,
    candidates_of,
    cut,
    fitting,
)
from toolbooth.django.describe.discovery import Action

Identity = tuple[str, str, str]
"""What a name belongs to: a method, a path and a view."""

_Wanted = Mapping[Action, Candidates]
_Address = tuple[str, str]
_ANOTHER: _Address = ("", "")
"""Of a tool that has no route."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What a tool is called, and what it is called below a dispatcher."""

    tool: str
    resource: str
    """The tool's name without its action; empty for a tool that is no resource's."""
    action: str
    candidates: Candidates | None = None
    """The names that it might have; None for a tool that has no route."""

    @property
    def short(self) -> str:
        """The name that the tool has if no other tool wants it."""
        return self.tool if self.candidates is None else self.candidates.short

    @property
    def reached(self) -> set[str]:
        """The names that the tool has or had to give up, because others want them too."""
        found = {self.tool, self.short}
        if self.candidates is None:
            return found
        resources = [cut(each, LONGEST_RESOURCE) for each in self.candidates.resources]
        labels = self.candidates.labels
        # A name that was written by hand is not among them.
        level = resources.index(self.resource) if self.resource in resources else 0
        last = labels.index(self.action) if self.action in labels else 0
        for label in labels[: last + 1]:
            found.update(self.candidates.name(each, label) for each in range(level + 1))
        return found


def identity_of(action: Action) -> Identity:
    """What tells an action from all others, in every process and version of a project."""
    view = action.view
    # REST framework gives the class of a function view the function's name only.
    is_function = not view.__qualname__.endswith(view.__name__)
    name = view.__name__ if is_function else view.__qualname__
    return action.method, action.path, f"{view.__module__}.{name}"


def named(
    found: Iterable[Action],
    taken: Iterable[str] = (),
    locked: Mapping[Identity, str] | None = None,
) -> Iterator[tuple[Name, Action]]:
    """Every action with its name. `taken`: names of tools that have no route. `locked`: names that
    actions keep; nothing else gets such a name, also if its action is gone.
    """
    wanted = {each: candidates_of(each) for each in found}
    others = set(taken)
    fixed: dict[Action, str] = {}
    for action in wanted if locked else ():
        name = (locked or {}).get(identity_of(action), "")
        if name and name not in others:
            fixed[action] = name
    chosen = _chosen(wanted, fixed, _reserved(wanted, fixed, others, locked or {}))
    given = {*others, *fixed.values()}
    for action, candidates in wanted.items():
        if action in fixed:
            yield _locked_name(fixed[action], candidates), action
            continue
        resource, label = chosen[action]
        tool = free(f"{resource}__{label}", given)
        given.add(tool)
        yield _whole(tool, resource, label, candidates), action


def free(wanted: str, taken: Container[str]) -> str:
    """A name that is not taken, and not too long: this one, or else with a number behind it."""
    first = fitting(wanted)
    numbered = (fitting(f"{first}_{number}") for number in count(2))
    return next(each for each in chain((first,), numbered) if each not in taken)


def parted(tool: str) -> Name:
    """A tool's name in its parts."""
    resource, _, action = tool.rpartition("__")
    return Name(tool=tool, resource=cut(resource, LONGEST_RESOURCE), action=action)


def _whole(tool: str, resource: str, label: str, candidates: Candidates) -> Name:
    """A name whose parts are known: the tool's name may be cut."""
    return Name(
        tool=tool, resource=cut(resource, LONGEST_RESOURCE), action=label, candidates=candidates
    )


def _locked_name(tool: str, candidates: Candidates) -> Name:
    for resource in candidates.resources:
        for label in candidates.labels:
            if fitting(f"{resource}__{label}") == tool:
                return _whole(tool, resource, label, candidates)
    name = parted(tool)
    return _whole(tool, name.resource, name.action, candidates)


def _reserved(
    wanted: _Wanted,
    fixed: Mapping[Action, str],
    taken: Iterable[str],
    locked: Mapping[Identity, str],
) -> dict[str, set[_Address]]:
    """Names that only the tools at these addresses may have."""
    found: dict[str, set[_Address]] = defaultdict(set)
    for name in taken:
        found[name].add(_ANOTHER)
    for (method, path, _), name in locked.items():
        found[name].add((method, path))
    # A short name that two tools want is not given to the other one only because the first has
    # another name in the file.
    for action in fixed:
        found[wanted[action].short].add((action.method, action.path))
    return found


@dataclass(frozen=True, slots=True)
class _Claim:
    """The names of all tools of a resource at one level."""

    names: frozenset[str]
    is_reserved: bool
    """One of them belongs to another tool, whatever else is there."""


def _chosen(
    wanted: _Wanted, fixed: Mapping[Action, str], reserved: Mapping[str, set[_Address]]
) -> dict[Action, tuple[str, str]]:
    """The resource and the label of each action that has no fixed name."""
    labels = _labels(wanted)
    groups: dict[tuple[str, ...], list[Action]] = defaultdict(list)
    for action, candidates in wanted.items():
        if action in fixed:
            continue
        name = candidates.name(0, labels[action])
        # Beside a function that has the name of one tool, the others keep theirs.
        alone = (name,) if _ANOTHER in reserved.get(name, ()) else ()
        groups[*candidates.group, *alone].append(action)
    items = [_claims(tools, wanted, labels, reserved) for tools in groups.values()]
    chosen: dict[Action, tuple[str, str]] = {}
    for tools, level in zip(groups.values(), _settled(items), strict=True):
        for action in tools:
            chosen[action] = wanted[action].resources[level], labels[action]
    return chosen


def _labels(wanted: _Wanted) -> dict[Action, str]:
    """What each action is called: no two alike of one resource at one place."""
    groups: dict[tuple[str, ...], list[Action]] = defaultdict(list)
    for action, candidates in wanted.items():
        groups[candidates.group].append(action)
    labels: dict[Action, str] = {}
    for tools in groups.values():
        items = [_claims_of_labels(wanted[action].labels) for action in tools]
        for action, level in zip(tools, _settled(items), strict=True):
            labels[action] = wanted[action].labels[level]
    return labels


def _claims_of_labels(labels: Iterable[str]) -> list[_Claim]:
    return [_Claim(frozenset((label,)), is_reserved=False) for label in labels]


def _claims(
    tools: Sequence[Action],
    wanted: _Wanted,
    labels: Mapping[Action, str],
    reserved: Mapping[str, set[_Address]],
) -> list[_Claim]:
    """What the tools of one resource are called at each level."""
    claims: list[_Claim] = []
    for level in range(min(len(wanted[each].resources) for each in tools)):
        names = {wanted[each].name(level, labels[each]): each for each in tools}
        is_reserved = any(
            reserved.get(name, set()) - {(each.method, each.path)} for name, each in names.items()
        )
        claims.append(_Claim(frozenset(names), is_reserved))
    return claims


def _settled(items: Sequence[Sequence[_Claim]]) -> list[int]:
    """The first level of each item at which no other item wants one of its names, or has wanted it
    on its way. The order of the items does not matter, and with more items no level is lower.
    """
    levels = [0] * len(items)
    wanting: dict[str, set[int]] = defaultdict(set)
    moved = set(range(len(items)))
    while moved:
        names = {name for at in moved for name in items[at][levels[at]].names}
        for at in moved:
            for name in items[at][levels[at]].names:
                wanting[name].add(at)
        met = {at for name in names if len(wanting[name]) > 1 for at in wanting[name]} | moved
        moved = {at for at in met if _is_contested(items[at], levels[at], wanting)}
        for at in moved:
            levels[at] += 1
    return levels


def _is_contested(item: Sequence[_Claim], level: int, wanting: Mapping[str, set[int]]) -> bool:
    if level + 1 == len(item):
        return False
    claim = item[level]
    return claim.is_reserved or any(len(wanting[name]) > 1 for name in claim.names)
