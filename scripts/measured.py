"""A long measurement: its steps, its state between two runs, and its result.

A result is `docs/measured/<name>.json` and a page made from it. It names the commit and holds a
digest of the files that the measurement covers: when one of them changes, the result is stale.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

Figures = dict[str, Any]
Step = Callable[[], Figures]
Tell = Callable[[str], None]
LIMIT_MINUTES = 40
IGNORED = {"__pycache__", ".hypothesis", ".pytest_cache"}


class StepFailed(Exception):
    """A step found a fault or failed; the text is its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One measurement of `make long`."""

    name: str
    title: str
    about: str
    """A paragraph for its page: a description of the run, and the meaning of the figures."""
    covers: tuple[str, ...]
    """The files that the result depends on, as glob patterns from the root of the repository."""
    packages: tuple[str, ...]
    """The packages whose versions matter for the figures."""
    steps: Callable[[], Mapping[str, Step]]
    """The steps by name. A step that is done is not run again when the part is continued."""
    table: Callable[[Mapping[str, Figures]], str]
    """The figures of all steps as Markdown."""
    picture: Callable[[Mapping[str, Figures], Path], None] | None = None
    """Draws the figures of all steps; the page shows `<name>.png`."""
    at_once: int = 1
    """How many steps run at the same time: one where time is measured."""


@dataclass(frozen=True, slots=True)
class Folders:
    """The repository, and in it the results and the state of unfinished parts."""

    root: Path

    def result(self, name: str) -> Path:
        return self.root / "docs" / "measured" / f"{name}.json"

    def state(self, name: str) -> Path:
        return self.root / ".long" / f"{name}.json"


# --- the covered files --------------------------------------------------------------------------


def covered(part: Part, folders: Folders) -> Iterator[Path]:
    """The files that the part covers, in order."""
    found = {path for pattern in part.covers for path in folders.root.glob(pattern)}
    return (path for path in sorted(found) if path.is_file() and not IGNORED & set(path.parts))


def digest(part: Part, folders: Folders) -> str:
    """Changes with the name and the content of each covered file."""
    told = hashlib.sha256()
    for path in covered(part, folders):
        told.update(f"{path.relative_to(folders.root).as_posix()}\0".encode())
        told.update(hashlib.sha256(path.read_bytes()).digest())
    return told.hexdigest()[:16]


def _pathspecs(part: Part) -> list[str]:
    """The covered files as pathspecs of git."""
    return [f":(glob){pattern}" for pattern in part.covers]


def _git(folders: Folders, *words: str) -> str | None:
    """The output of git; None without git, without a repository, or without such a commit."""
    command = ["git", *words]
    try:
        done = subprocess.run(command, cwd=folders.root, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


# --- running ------------------------------------------------------------------------------------


@dataclass(slots=True)
class State:
    """The steps that are done, written after each of them."""

    path: Path
    files: str
    steps: dict[str, Figures] = field(default_factory=dict)
    seconds: float = 0.0
    """Wall time and CPU time so far, over all runs of the part."""
    cpu_seconds: float = 0.0

    @classmethod
    def load(cls, path: Path, files: str) -> State:
        """Read the stored state. Returns a new one if there is none, or if covered files have
        changed.
        """
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls(path, files)
        return cls(path, **kept) if kept["files"] == files else cls(path, files)

    def save(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        kept = {name: getattr(self, name) for name in ("files", "steps", "seconds", "cpu_seconds")}
        written = self.path.with_suffix(".new")
        written.write_text(json.dumps(kept, indent=2), encoding="utf-8")
        written.replace(self.path)


def run(part: Part, folders: Folders, tell: Tell, *, fresh: bool = False) -> Path:
    """Run the steps that are not done, then write the result. Returns the path of its JSON."""
    path = folders.state(part.name)
    if fresh:
        path.unlink(missing_ok=True)
    state = State.load(path, digest(part, folders))
    steps = part.steps()
    if state.steps:
        done = f"{len(state.steps)} of {len(steps)} steps are done"
        tell(f"{part.name}: continues, {done} (--fresh starts over)")
    left = {name: step for name, step in steps.items() if name not in state.steps}
    _run_steps(part, left, state, tell)
    record = _record(part, folders, state, list(steps))
    result = folders.result(part.name)
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    result.with_suffix(".md").write_text(page(part, record), encoding="utf-8")
    if part.picture is not None:
        part.picture(record["figures"], result.with_suffix(".png"))
    path.unlink(missing_ok=True)
    if record["minutes"] > LIMIT_MINUTES:
        tell(f"{part.name}: took {record['minutes']} minutes; the limit is {LIMIT_MINUTES}")
    return result


def _run_steps(part: Part, steps: Mapping[str, Step], state: State, tell: Tell) -> None:
    """Run them, `at_once` at a time. After a failure no other is started; finished steps are
    kept.
    """
    total = len(steps) + len(state.steps)
    clock, lock, failed = Clock(state), threading.Lock(), threading.Event()

    def run_step(name: str, step: Step) -> None:
        if failed.is_set():
            return
        tell(f"{part.name}: {name} …")
        start = time.monotonic()
        try:
            figures = step()
        except BaseException:
            failed.set()
            raise
        with lock:
            seconds = round(time.monotonic() - start)
            state.steps[name] = {**figures, "seconds": seconds}
            clock.add()
            state.save()
            tell(f"{part.name}: {len(state.steps)}/{total} {name}, {seconds} s")

    with ThreadPoolExecutor(part.at_once) as pool:
        started = {pool.submit(run_step, name, step): name for name, step in steps.items()}
    for done, name in started.items():
        try:
            done.result()
        except StepFailed as error:
            raise StepFailed(f"{part.name}: {name} failed\n{error}") from error


class Clock:
    """Adds the time since its last call to a state."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.wall, self.cpu = time.monotonic(), _cpu_seconds()

    def add(self) -> None:
        wall, cpu = time.monotonic(), _cpu_seconds()
        self.state.seconds += wall - self.wall
        self.state.cpu_seconds += cpu - self.cpu
        self.wall, self.cpu = wall, cpu


def _cpu_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


# --- results ------------------------------------------------------------------------------------


def _record(part: Part, folders: Folders, state: State, order: list[str]) -> dict[str, Any]:
    changed = _git(folders, "status", "--porcelain", "--", *_pathspecs(part)) or ""
    return {
        "part": part.name,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _git(folders, "rev-parse", "HEAD"),
        "uncommitted": sorted(line.split(maxsplit=1)[1] for line in changed.splitlines()),
        "files": state.files,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {package: version(package) for package in part.packages},
        "cores": os.cpu_count(),
        "minutes": round(state.seconds / 60, 1),
        "cpu_minutes": round(state.cpu_seconds / 60, 1),
        "figures": {name: state.steps[name] for name in order},
    }


def page(part: Part, record: Mapping[str, Any]) -> str:
    """The page of a result, from its JSON alone. Its `note` is a remark for readers of the
    figures.
    """
    numbers = [f"{name} {number}" for name, number in record["packages"].items()]
    versions = ", ".join([record["python"], *numbers])
    commit = f"commit `{record['commit'][:10]}`" if record["commit"] else "no commit"
    if record["uncommitted"]:
        commit += f" and changes in {', '.join(f'`{name}`' for name in record['uncommitted'])}"
    note = f"\n{record['note']}\n\n" if "note" in record else ""
    return f"""<!-- Written by scripts/long.py from {part.name}.json. -->

# {part.title}

{part.about}

{part.table(record["figures"])}
Measured on {record["date"]} at {commit}, with {versions}. It took
{record["minutes"]} minutes on {record["cores"]} cores, {record["cpu_minutes"]} minutes of CPU time.
{note}To measure again:

```text
make long ARGS={part.name}
```
"""


def stale(part: Part, folders: Folders) -> str | None:
    """Why the result does not apply to the present files; None if it does."""
    path = folders.result(part.name)
    shown = path.relative_to(folders.root).as_posix()
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        files, commit, date = record["files"], record["commit"], record["date"]
    except FileNotFoundError:
        return f"{shown} does not exist yet"
    except (ValueError, KeyError, TypeError) as error:
        return f"{shown} cannot be read: {error!r}"
    if files == digest(part, folders):
        return None
    return f"{shown} is of {date}; changed since then: {_changed(part, folders, commit)}"


def _changed(part: Part, folders: Folders, commit: str | None) -> str:
    """The first few files that git names."""
    said = commit and _git(folders, "diff", "--name-only", commit, "--", *_pathspecs(part))
    if not said:
        return "files that it covers"
    names = said.splitlines()
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table with its first column to the left and the figures to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
