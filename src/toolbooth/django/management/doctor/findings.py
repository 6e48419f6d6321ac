"""Findings of examinations, with remedies. Findings with the same cause are grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from typing import Literal

from django.db import OperationalError

from toolbooth.django.management.doctor import messages
from toolbooth.django.management.doctor.places import relative_path

Level = Literal["ok", "note", "warning", "error"]

SEVERITY: tuple[Level, ...] = ("error", "warning", "note", "ok")
"""All levels, the worst first."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause that several findings may share, with one remedy for all of them."""

    code: str
    title: str
    """The sentence for a group of findings. `{count}` is replaced by the number of places."""
    cure: str
    """The remedy. Empty if there is nothing to do."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of an examination, with its remedy."""

    level: Level
    what: str
    remedy: str = ""
    cause: Cause | None = None
    """Findings with the same level and cause are shown as one group."""
    place: str = ""
    """The tool, view, setting or line in a file that a finding with a cause is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Findings that have the same cause."""

    level: Level
    code: str
    what: str
    cure: str
    findings: tuple[Finding, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """The places of the findings, without duplicates."""
        return tuple(dict.fromkeys(each.place for each in self.findings if each.place))


Examination = Callable[[], Iterator[Finding]]


def examine_all(examinations: Mapping[str, Examination]) -> list[Group]:
    """Return the groups of all findings. The worst levels come first. If several examinations find
    the same problem, it is reported once.
    """
    found: dict[tuple[Level, str, str], Group] = {}
    for title, examine in examinations.items():
        for each in _grouped(title.lower().replace(" ", "-"), findings(examine)):
            found.setdefault((each.level, each.what, each.cure), each)
    return sorted(found.values(), key=lambda each: SEVERITY.index(each.level))


def findings(examine: Examination) -> list[Finding]:
    """Return the findings of an examination. If the examination raises an exception, that is a
    finding too.
    """
    found: list[Finding] = []
    try:
        # `extend` keeps the findings that were yielded before an exception; `list(examine())` would
        # lose them.
        found.extend(examine())
    except Exception as error:
        # Whatever the project's code raises, the other examinations must still run.
        found.append(Finding("error", messages.examination_failed(error), _remedy(error)))
    return found


def _remedy(error: Exception) -> str:
    # The line of Django that connects to the database would not help anybody.
    if isinstance(error, OperationalError):
        return messages.START_THE_DATABASE
    file, line = _place_of(error)
    return messages.look_at(relative_path(file), line)


def _place_of(error: Exception) -> tuple[str, int]:
    """Return the file and line of the innermost frame in the project's own code. If no frame is in
    the project's code, return the file and line of the innermost frame.
    """
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    # Python's own import machinery has no files.
    in_files = [each for each in frames if not each[0].startswith("<")]
    own = [each for each in in_files if _is_of_project(Path(each[0]))]
    return (own or in_files)[-1]


def _is_of_project(file: Path) -> bool:
    """Return True if a file is in the current folder. Files of Toolbooth and of installed packages
    do not count.
    """
    is_installed = "site-packages" in file.parts or file.is_relative_to(_OUR_FOLDER)
    return file.is_relative_to(Path.cwd()) and not is_installed


_OUR_FOLDER = Path(messages.__file__).parents[3]
"""The folder of the package `toolbooth`."""


def _grouped(code: str, found: Iterable[Finding]) -> Iterator[Group]:
    by_cause: dict[object, list[Finding]] = {}
    for each in found:
        # A finding without a cause is grouped with its own repetitions only.
        key = (each.level, each.what) if each.cause is None else (each.level, each.cause)
        by_cause.setdefault(key, []).append(each)
    for members in by_cause.values():
        yield _group(code, members)


def _group(code: str, members: list[Finding]) -> Group:
    """Return one group of findings. A group with one finding keeps the sentence of that finding,
    because it has more detail than the sentence of the cause.
    """
    first = members[0]
    cause = first.cause
    what, cure = first.what, first.remedy
    count = len({each.place for each in members})
    if cause is not None:
        code = cause.code
    if cause is not None and count > 1:
        what, cure = cause.title.format(count=f"{count:,}"), cause.cure
    return Group(level=first.level, code=code, what=what, cure=cure, findings=tuple(members))
