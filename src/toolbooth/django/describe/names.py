"""Names the tools, such as `contacts__create`, and resolves conflicts between their names.

Each tool has a list of possible names, which depends only on its own route. If tools of two
resources want the same name, all tools of both resources take the next name of their lists, and no
tool gets the contested name. So adding a route never gives the name of one tool to another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from toolbooth.django.describe.candidate_names import (
    LONGEST_RESOURCE,
    Candidates,
    candidates_of,
    cut,
    fitting,
)
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.function_views import import_path_of

Identity = tuple[str, str, str]
"""The owner of a name: a method, a path and a view."""

_Wanted = Mapping[Action, Candidates]
_Address = tuple[str, str]
_ANOTHER: _Address = ("", "")
"""The address of a tool without a route."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """The name of a tool, and the parts of this name. A client of a dispatcher calls the tool by
    the parts.
    """

    tool: str
    resource: str
    """The tool's name without its action; empty for a tool without a resource."""
    action: str
    candidates: Candidates | None = None
    """The names that the tool might have. None for a tool without a route."""

    @property
    def short(self) -> str:
        """The name that the tool would have if no other tool wanted it."""
        return self.tool if self.candidates is None else self.candidates.short

    @property
    def reached(self) -> set[str]:
        """The tool's name, and the names that it could not have because other tools want them
        too.
        """
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
    """Return the identity of an action. It is the same in every process, and in every version of a
    project.
    """
    return action.method, action.path, import_path_of(action.view)


def named(
    found: Iterable[Action],
    taken: Iterable[str] = (),
    locked: Mapping[Identity, str] | None = None,
) -> Iterator[tuple[Name, Action]]:
    """Yield every action with its name. `taken` has the names of tools without a route. `locked`
    has the names that actions must keep. No other tool gets a locked name, even if its action is
    gone.
    """
    wanted = {each: candidates_of(each) for each in found}
    others = set(taken)
    fixed: dict[Action, str] = {}
    for action in wanted if locked else ():
        name = (locked or {}).get(identity_of(action), "")
        # A tool without a route keeps its name, even if the file has it for an action.
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
    """Return the wanted name. It is cut if it is too long, and gets a number if it is taken."""
    first = fitting(wanted)
    numbered = (fitting(f"{first}_{number}") for number in count(2))
    return next(each for each in chain((first,), numbered) if each not in taken)


def parted(tool: str) -> Name:
    """Split a tool's name into its parts."""
    resource, _, action = tool.rpartition("__")
    return Name(tool=tool, resource=cut(resource, LONGEST_RESOURCE), action=action)


def name_for_many(create: Name) -> Name:
    """Return the name of the tool that creates many rows, made from the name of the tool that
    creates one.
    """
    action = f"bulk_{create.action}"
    candidates = create.candidates
    if candidates is not None:
        labels = tuple(f"bulk_{each}" for each in candidates.labels)
        candidates = replace(candidates, labels=labels)
    tool = fitting(f"{create.resource}__{action}")
    return Name(tool=tool, resource=create.resource, action=action, candidates=candidates)


def _whole(tool: str, resource: str, label: str, candidates: Candidates) -> Name:
    """Return a Name whose parts are known. They cannot be read from the tool's name, because that
    name may be cut.
    """
    return Name(
        tool=tool, resource=cut(resource, LONGEST_RESOURCE), action=label, candidates=candidates
    )


def _locked_name(tool: str, candidates: Candidates) -> Name:
    # Most locked names are among the candidates, whose parts are known.
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
    """Return the reserved names. Each name has the addresses (method and path) of the actions whose
    tools may get it.
    """
    found: dict[str, set[_Address]] = defaultdict(set)
    for name in taken:
        # No action has this address, so none of them gets the name.
        found[name].add(_ANOTHER)
    for (method, path, _), name in locked.items():
        found[name].add((method, path))
    # Another tool may want the same short name. It must not get the name only because this tool has
    # a different one in the file.
    for action in fixed:
        found[wanted[action].short].add((action.method, action.path))
    return found


@dataclass(frozen=True, slots=True)
class _Claim:
    """The names that the tools of one resource would get together. All of them are at the same
    position (the "level") in the tools' lists of possible names.
    """

    names: frozenset[str]
    is_reserved: bool
    """True if one of the names is reserved for another tool."""


def _chosen(
    wanted: _Wanted, fixed: Mapping[Action, str], reserved: Mapping[str, set[_Address]]
) -> dict[Action, tuple[str, str]]:
    """Return the resource and the label for each action that has no fixed name."""
    # The labels come first, because the names of a resource's tools contain them.
    labels = _labels(wanted)
    groups: dict[tuple[str, ...], list[Action]] = defaultdict(list)
    for action, candidates in wanted.items():
        if action in fixed:
            continue
        name = candidates.name(0, labels[action])
        # If a hand-written tool has the name of one of these tools, the others of the resource keep
        # theirs.
        alone = (name,) if _ANOTHER in reserved.get(name, ()) else ()
        groups[*candidates.group, *alone].append(action)
    items = [_claims(tools, wanted, labels, reserved) for tools in groups.values()]
    chosen: dict[Action, tuple[str, str]] = {}
    for tools, level in zip(groups.values(), _settled(items), strict=True):
        for action in tools:
            chosen[action] = wanted[action].resources[level], labels[action]
    return chosen


def _labels(wanted: _Wanted) -> dict[Action, str]:
    """Return the label of each action. The actions of one resource at one path have different
    labels.
    """
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
    """Return the names that the tools of one resource would get at each level."""
    claims: list[_Claim] = []
    for level in range(min(len(wanted[each].resources) for each in tools)):
        names = {wanted[each].name(level, labels[each]): each for each in tools}
        is_reserved = any(
            reserved.get(name, set()) - {(each.method, each.path)} for name, each in names.items()
        )
        claims.append(_Claim(frozenset(names), is_reserved))
    return claims


def _settled(items: Sequence[Sequence[_Claim]]) -> list[int]:
    """Return the level of each item. It is the first level whose names no other item wants, or has
    wanted at a lower level. The result does not depend on the order of the items, and adding an
    item never lowers a level.
    """
    levels = [0] * len(items)
    wanting: dict[str, set[int]] = defaultdict(set)
    moved = set(range(len(items)))
    # An item that has moved stays in `wanting`, so no other item gets the name that it gave up.
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
    # The last name contains a hash of the path, so it is unique.
    if level + 1 == len(item):
        return False
    claim = item[level]
    return claim.is_reserved or any(len(wanting[name]) > 1 for name in claim.names)
