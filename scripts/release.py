"""Prepares a release: `make release VERSION=0.2.0`. It commits, tags and pushes nothing itself.

It checks that the repository is ready, writes the version, the section of the changelog and the
release notes, builds the package, tries the wheel in clean environments, and prints the commands
that commit, tag and upload. If anything fails, every file is as it was before.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import package
from long_parts import PARTS
from measured import Folders, stale
from package_contents import PackageFault

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "pyproject.toml"
CHANGELOG = ROOT / "CHANGELOG.md"
NOTES = ROOT / "docs" / "project" / "releases.md"
BRANCH = "main"

UNRELEASED = "## [Unreleased]\n"
NOT_RELEASED = "Not released yet."
"""The first line of a section of release notes that is written before its release."""
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
_PRE_RELEASE = {"a": 0, "b": 1, "rc": 2, "": 3}


class Mistake(Exception):
    """Why there can be no release now: one sentence that includes the next step."""


# --- may there be a release? --------------------------------------------------------------------


def check_version(version: str) -> None:
    if not _VERSION.fullmatch(version):
        written = f"{version!r} is not a version" if version else "there is no version"
        raise Mistake(f"{written}; write, for example: make release VERSION=0.2.0")
    present = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    if order(version) <= order(present):
        raise Mistake(
            f"{version} is not newer than {present}, the version in pyproject.toml; "
            "choose a higher one"
        )


def order(version: str) -> tuple[int, ...]:
    """The key by which versions are sorted: a release follows its own pre-releases."""
    major, minor, patch, stage, number = re.fullmatch(
        r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?", version
    ).groups(default="")
    return int(major), int(minor), int(patch), _PRE_RELEASE[stage], int(number or 0)


def check_tree(version: str) -> None:
    """The checkout is on the right branch, has nothing uncommitted, and has no such tag yet."""
    branch = _git("branch", "--show-current")
    if branch is None:
        raise Mistake("this is not a git checkout; clone the repository and run make release there")
    if branch != BRANCH:
        here = f"the branch is {branch}" if branch else "no branch is checked out"
        raise Mistake(f"{here}, and releases are made from {BRANCH}; run: git switch {BRANCH}")
    # Not stripped as a whole: the first two characters of a line are the state of the file.
    changed = [line[3:] for line in (_git("status", "--porcelain") or "").splitlines()]
    if changed:
        raise Mistake(f"not everything is committed ({_some(changed)}); commit or stash it first")
    if _git("tag", "--list", f"v{version}"):
        raise Mistake(f"the tag v{version} exists already; choose the next version")


def check_measurements() -> None:
    """No result of `make long` is out of date."""
    folders = Folders(ROOT)
    outdated = [part.name for part in PARTS.values() if stale(part, folders) is not None]
    if len(outdated) == 1:
        raise Mistake(
            f"the result of make long for {outdated[0]} is out of date; "
            f"run make long ARGS={outdated[0]} and commit what it writes"
        )
    if outdated:
        raise Mistake(
            f"{len(outdated)} results of make long are out of date ({', '.join(outdated)}); "
            "run make long and commit what it writes"
        )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _git(*words: str) -> str | None:
    """The output of git; None if there is no repository."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.rstrip() if done.returncode == 0 else None


# --- writing ------------------------------------------------------------------------------------


def write_version(text: str, version: str) -> str:
    return re.sub(r'^version = ".*"$', f'version = "{version}"', text, count=1, flags=re.MULTILINE)


def changes_in(changelog: str) -> str:
    """The unreleased entries of the changelog."""
    _, found, rest = changelog.partition(UNRELEASED)
    if not found:
        raise Mistake(
            f"CHANGELOG.md has no line {UNRELEASED.strip()!r}; add it above the last release"
        )
    changes = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()
    if not changes:
        raise Mistake("CHANGELOG.md has nothing under [Unreleased]; write what users will notice")
    return changes


def write_changelog(changelog: str, version: str, day: str) -> str:
    """The changelog with the unreleased entries as the section of the version."""
    return changelog.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {day}\n", 1)


def write_notes(notes: str, version: str, day: str, changes: str) -> str:
    """The release notes with the day. A missing section is made from the changelog."""
    prepared = f"## {version}\n\n{NOT_RELEASED}\n"
    dated = f"## {version}\n\nReleased on {day}.\n"
    if prepared in notes:
        return notes.replace(prepared, dated, 1)
    if re.search(rf"^## {re.escape(version)}$", notes, flags=re.MULTILINE):
        raise Mistake(
            f"docs/project/releases.md has a section {version} without the line "
            f"{NOT_RELEASED!r} below its title; add it, or choose the next version"
        )
    start = re.search(r"^## ", notes, flags=re.MULTILINE)
    at = start.start() if start else len(notes)
    return f"{notes[:at]}{dated}\n{changes}\n\n{notes[at:]}"


def notes_of(notes: str, version: str) -> str:
    """The section of one version, without its title."""
    _, _, rest = notes.partition(f"## {version}\n")
    return re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip() + "\n"


@contextmanager
def restored_on_failure(*paths: Path) -> Iterator[None]:
    """Restore the present text of the files if the block fails or is interrupted."""
    before = {path: path.read_bytes() for path in paths}
    try:
        yield
    except BaseException:
        for path, content in before.items():
            path.write_bytes(content)
        raise


# --- the release --------------------------------------------------------------------------------


def prepare(version: str, day: str, tell: Callable[[str], None]) -> None:
    """Check, write, build and try.

    Raises:
        Mistake: there can be no release now. No file was changed.
        PackageFault: the package is not right. The files are as they were before.
    """
    check_version(version)
    check_tree(version)
    changelog, notes = CHANGELOG.read_text("utf-8"), NOTES.read_text("utf-8")
    changes = changes_in(changelog)
    dated_notes = write_notes(notes, version, day, changes)
    check_measurements()
    with restored_on_failure(PROJECT, CHANGELOG, NOTES):
        PROJECT.write_text(write_version(PROJECT.read_text("utf-8"), version), "utf-8")
        CHANGELOG.write_text(write_changelog(changelog, version, day), "utf-8")
        NOTES.write_text(dated_notes, "utf-8")
        tell("wrote the version, the changelog and the release notes; building")
        package.check(package.trials(package.supported_pythons(), [], every=False))
    _notes_file(version).write_text(notes_of(dated_notes, version), "utf-8")


def _notes_file(version: str) -> Path:
    return package.DIST / f"notes-{version}.md"


def commands(version: str) -> list[str]:
    """The commands that publish the release, in this order."""
    notes = _notes_file(version).relative_to(ROOT)
    built = " ".join(
        str(path.relative_to(ROOT)) for path in sorted(package.DIST.glob("toolbooth-*"))
    )
    twine = (package.TOOLS_HOME / "bin" / "python").relative_to(ROOT)
    return [
        f'git commit --all --message "Release {version}"',
        f"git tag --annotate v{version} --file {notes} --cleanup=whitespace",
        f"git push origin {BRANCH} v{version}",
        f"{twine} -m twine upload {built}",
    ]


def tell(text: str) -> None:
    print(text, flush=True)


def main(words: list[str]) -> int:
    version = words[0] if len(words) == 1 else " ".join(words)
    try:
        prepare(version, datetime.now(UTC).date().isoformat(), tell)
    except Mistake as mistake:
        print(f"No release: {mistake}.", file=sys.stderr)
        return 1
    except PackageFault as fault:
        print(
            "No release: the package is not right, and every file is as it was before; "
            f"correct the faults below and run make release again.\n{fault}",
            file=sys.stderr,
        )
        return 1
    tell(
        f"Toolbooth {version} is ready. Nothing was committed, tagged or sent. "
        "Look at git diff, then run:"
    )
    for command in commands(version):
        tell(f"  {command}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
