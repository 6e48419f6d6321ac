"""`mcp_names.lock`: the names that the tools of a project keep, even when routes are added.

`manage.py mcp_tools --lock` writes it, with one line for each tool:

    contacts__list GET /api/contacts/ sales.views.ContactViewSet
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from toolbooth.django.conf import Configuration
from toolbooth.django.describe import messages
from toolbooth.django.describe.discovery import METHODS, Action
from toolbooth.django.describe.names import Identity, Name, identity_of
from toolbooth.server.registry import TOOL_NAME

FILE = "mcp_names.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedNames:
    """The contents of the file `mcp_names.lock`."""

    names: Mapping[Identity, str] = field(default_factory=dict[Identity, str])
    mistake: str = ""
    """The mistakes in the file. Lines with mistakes are ignored."""

    @property
    def mistakes(self) -> tuple[tuple[str, str], ...]:
        """The name of the file, with a sentence about its mistakes. Empty if the file has no
        mistakes.
        """
        return ((FILE, self.mistake),) if self.mistake else ()


def lock_path(chosen: Configuration) -> Path | None:
    """Return the path of the file. `NAMES_LOCK` names the file, and a relative path starts at the
    project's `BASE_DIR`. Return None if the project sets neither.
    """
    folder: Any = getattr(settings, "BASE_DIR", None)
    if folder is None and not chosen.names_lock:
        return None
    return Path(folder or "") / (chosen.names_lock or FILE)


def locked_names(chosen: Configuration) -> LockedNames:
    """Return the names in the project's file. Without a file, there are no names."""
    path = lock_path(chosen)
    if path is None:
        return LockedNames()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return LockedNames()
    except (OSError, UnicodeDecodeError) as error:
        return LockedNames(mistake=messages.cannot_read(error))
    return read(text)


def read(text: str) -> LockedNames:
    """Return the names in the text of a file."""
    names: dict[Identity, str] = {}
    given: set[str] = set()
    wrong: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = _entry(line)
        if entry is None:
            wrong.append(messages.not_a_locked_name(number))
        # This happens, for example, after a merge of two branches that both locked names.
        elif entry[0] in given or entry[1] in names:
            wrong.append(messages.locked_twice(number, entry[0]))
        else:
            given.add(entry[0])
            names[entry[1]] = entry[0]
    return LockedNames(names=names, mistake=messages.wrong_lines(wrong) if wrong else "")


def text_of(named: Iterable[tuple[Name, Action]]) -> str:
    """Return the text of the file for these tools."""
    # In alphabetical order, so that a new route adds one line to the diff.
    lines = sorted(" ".join((name.tool, *identity_of(action))) for name, action in named)
    return "".join(f"{line}\n" for line in (f"# {messages.LOCK_HEADING}", *lines))


def lock_complaints(
    locked: LockedNames, named: Iterable[tuple[Name, Action]]
) -> Iterator[tuple[str, str]]:
    """Yield each name in the file that no tool has now, and the reason."""
    tools = {identity_of(action): name.tool for name, action in named}
    # The address may still exist, but with another view.
    addresses = {(method, path): view for method, path, view in tools}
    for identity, name in locked.names.items():
        method, path, _ = identity
        if identity not in tools:
            yield (
                f"{FILE}: {name!r}",
                messages.route_is_gone(f"{method} {path}", addresses.get((method, path))),
            )
        elif tools[identity] != name:
            yield f"{FILE}: {name!r}", messages.NAME_OF_A_FUNCTION


def _entry(line: str) -> tuple[str, Identity] | None:
    name, _, rest = line.partition(" ")
    method, _, rest = rest.partition(" ")
    # From the right, because a path may contain spaces.
    path, _, view = rest.rpartition(" ")
    is_right = TOOL_NAME.fullmatch(name) and method in METHODS and path.startswith("/") and view
    return (name, (method, path, view)) if is_right else None
