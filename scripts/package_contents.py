"""Checks that the wheel and the source archive contain all the right files and no others."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

NEEDED = ("py.typed", "words.txt", "lint/clients.toml", "django/call/browser_page.html")
"""The files beside the modules, relative to the package. Its migrations are modules."""
NEEDED_METADATA = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
MADE_BY_HATCH = {"PKG-INFO"}
# Written so that the pattern does not match itself.
MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:work|tmp|root|home|opt|Users)/")


class PackageFault(Exception):
    """Something is wrong with the built package. The text is for a person."""


def tracked_files(root: Path) -> set[str]:
    """The existing files that git has or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if listed.returncode:
        raise PackageFault("this is not a git checkout; clone the repository and run this there")
    return {name for name in listed.stdout.split("\0") if name and (root / name).is_file()}


def wheel_faults(wheel: Path, root: Path) -> list[str]:
    """Everything that is wrong with a wheel that was built from a checkout."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    packed = {name for name in files if ".dist-info/" not in name}
    metadata = {name.partition(".dist-info/")[2] for name in files.keys() - packed}
    modules = {name.removeprefix("src/") for name in tracked_files(root) if _is_packaged(name)}
    return [
        *_differences(packed, modules, "the wheel"),
        *(f"the wheel has no {name}" for name in NEEDED if f"toolbooth/{name}" not in packed),
        *(f"the wheel has no {name}" for name in NEEDED_METADATA if name not in metadata),
        *_machine_paths(files, "the wheel"),
    ]


def _is_packaged(name: str) -> bool:
    return name.startswith("src/toolbooth/")


def archive_faults(archive: Path, root: Path) -> list[str]:
    """Everything that is wrong with a source archive: it has the files of git except hidden
    ones.
    """
    with tarfile.open(archive) as opened:
        members = [member for member in opened.getmembers() if member.isfile()]
        files = {
            member.name.partition("/")[2]: opened.extractfile(member).read() for member in members
        }
    packed = {name for name in files if not _is_hidden(name)} - MADE_BY_HATCH
    tracked = {name for name in tracked_files(root) if not _is_hidden(name)}
    return [
        *_differences(packed, tracked, "the source archive"),
        *_machine_paths(files, "the source archive"),
    ]


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _differences(packed: set[str], tracked: set[str], where: str) -> Iterator[str]:
    for name in sorted(packed - tracked):
        yield f"{where} has {name}, which git does not have"
    for name in sorted(tracked - packed):
        yield f"{where} has no {name}"


def _machine_paths(files: Mapping[str, bytes], where: str) -> Iterator[str]:
    for name, content in sorted(files.items()):
        if found := MACHINE_PATH.search(content):
            yield f"{where}: {name} contains a path of this machine, {found[0].decode()}"
