"""Finds the tools that a name or a pattern in the settings matches.

A setting that publishes or describes tools matches only the name that a tool has. A setting that
excludes tools matches every name that the tool might have. Otherwise an excluded tool could be
published because another tool was added or removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from toolbooth.django.conf import Configuration
from toolbooth.django.describe.candidate_names import fitting
from toolbooth.django.describe.names import Name


def includes(chosen: Configuration, name: Name) -> bool:
    """Return True if INCLUDE and EXCLUDE let a tool be published."""
    included = any(fnmatchcase(name.tool, pattern) for pattern in chosen.include)
    return included and not excludes(chosen, name)


def excludes(chosen: Configuration, name: Name) -> bool:
    """Return True if EXCLUDE excludes a tool."""
    return any(takes_away(pattern, name) for pattern in chosen.exclude)


def takes_away(pattern: str, name: Name) -> bool:
    """Return True if a pattern of EXCLUDE matches a name that a tool might have: its short name, or
    one with segments of its path in front.
    """
    if any(fnmatchcase(each, pattern) for each in name.reached):
        return True
    if name.candidates is None:
        return False
    resource, _, action = pattern.rpartition("__")
    labels = name.candidates.labels
    fits = action in labels or any(fnmatchcase(each, action) for each in (name.action, labels[0]))
    # A `*` in the resource matches only names that tools have, not all that they might have.
    return fits and any(resource in (each, _cut(each)) for each in name.candidates.resources)


def sharing(pattern: str, names: Iterable[Name]) -> list[str]:
    """Return the tools that would match a pattern if they did not share a short name with other
    tools.
    """
    return [each.tool for each in names if fnmatchcase(each.short, pattern)]


def sharing_resource(pattern: str, names: Iterable[Name]) -> list[str]:
    """Return the resources that would match a pattern if they did not share a short name with other
    resources.
    """
    found = (each.resource for each in names if fnmatchcase(_short_resource(each), pattern))
    return list(dict.fromkeys(found))


def tools(names: Iterable[Name]) -> Iterator[str]:
    """Yield the whole names of tools."""
    return (each.tool for each in names)


def _short_resource(name: Name) -> str:
    return name.resource if name.candidates is None else name.candidates.resources[0]


def _cut(resource: str) -> str:
    """Return a resource in the form, cut if necessary, that it has in the names of its standard
    tools.
    """
    return fitting(f"{resource}__list").removesuffix("__list")
