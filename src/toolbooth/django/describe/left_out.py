"""What is not published, and why; and patterns in the settings that fit nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from toolbooth.django.conf import Configuration
from toolbooth.django.describe import messages


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An action, or one field of it, that is not published."""

    what: str
    why: str


def patterns_without_tools(chosen: Configuration, names: Iterable[str]) -> list[LeftOut]:
    """The patterns that fit none of the tools there could be: most likely misspelt."""
    every = list(names)
    if not every:
        return []
    patterns = [("INCLUDE", each) for each in chosen.include]
    patterns += [("EXCLUDE", each) for each in chosen.exclude]
    found: list[LeftOut] = []
    for key, pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in every):
            found.append(LeftOut(f"TOOLBOOTH[{key!r}]: {pattern!r}", messages.FITS_NO_TOOL))
    return found
