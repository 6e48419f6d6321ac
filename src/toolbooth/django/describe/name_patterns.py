"""Finds the tools that a name or a pattern in the settings matches.

A setting that publishes or describes tools matches the names that tools have. A setting that
excludes tools also matches every name that a tool might get. Otherwise an excluded tool could be
published because its name changes when another tool is added or removed.
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
    """Return True if a pattern of EXCLUDE matches a name that a tool might get: its short name, or
    a longer name that begins with segments of its path.
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
    """Return the tools whose short name matches a pattern. They have longer names, because other
    tools have the same short name.
    """
    return [each.tool for each in names if fnmatchcase(each.short, pattern)]


def sharing_resource(pattern: str, names: Iterable[Name]) -> list[str]:
    """Return the resources whose short name matches a pattern. They have longer names, because
    other resources have the same short name.
    """
    found = (each.resource for each in names if fnmatchcase(_short_resource(each), pattern))
    return list(dict.fromkeys(found))


def tools(names: Iterable[Name]) -> Iterator[str]:
    """Yield the full names of tools."""
    return (each.tool for each in names)


def _short_resource(name: Name) -> str:
    return name.resource if name.candidates is None else name.candidates.resources[0]


def _cut(resource: str) -> str:
    """Return a resource as it is written in the names of its standard tools. A long resource is cut
    there.
    """
    return fitting(f"{resource}__list").removesuffix("__list")
