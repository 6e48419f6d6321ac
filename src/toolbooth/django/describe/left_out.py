"""The actions and fields of an API that are not published, with the reasons. Also finds patterns in
the settings that match nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from toolbooth.django.conf import Configuration
from toolbooth.django.describe import messages
from toolbooth.django.describe.name_patterns import sharing, takes_away
from toolbooth.django.describe.names import Name


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An action, or one field of an action, that is not published."""

    what: str
    why: str


def patterns_without_tools(chosen: Configuration, names: Iterable[Name]) -> list[LeftOut]:
    """Return the patterns that match none of the possible tools. Such a pattern is probably
    misspelt.
    """
    every = list(names)
    # Without any tool every pattern would be reported, which would hide the real mistake.
    if not every:
        return []
    found: list[LeftOut] = []
    for pattern in chosen.include:
        if not any(fnmatchcase(each.tool, pattern) for each in every):
            why = messages.fits_no_tool(None, sharing(pattern, every))
            found.append(LeftOut(f"TOOLBOOTH['INCLUDE']: {pattern!r}", why))
    for pattern in chosen.exclude:
        if not any(takes_away(pattern, each) for each in every):
            found.append(LeftOut(f"TOOLBOOTH['EXCLUDE']: {pattern!r}", messages.FITS_NO_TOOL))
    return found
