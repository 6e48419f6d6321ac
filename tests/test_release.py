"""`make release`, run as a maintainer would: in a clone, with git, in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import measured
import package
import pytest
import release
from long_parts import PARTS
from package_contents import tracked_files

ROOT = Path(__file__).resolve().parent.parent
AUTHOR = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.com",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.com",
}
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n"
NOTES = "# Releases\n\n## 9.0.0\n\nNot released yet.\n\nIt has a thing.\n\n## 0.1.0\n\nFirst.\n"


def git(folder: Path, *words: str) -> str:
    env = {**os.environ, **AUTHOR}
    return subprocess.check_output(["git", *words], cwd=folder, env=env, text=True).strip()


def commit(folder: Path, message: str = "change") -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a repository of the files of this checkout, in which every result of make long is
    fresh.
    """
    folder = tmp_path_factory.mktemp("release") / "origin"
    for name in tracked_files(ROOT):
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy)
    (folder / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    (folder / "docs" / "project" / "releases.md").write_text(NOTES, encoding="utf-8")
    folders = measured.Folders(folder)
    for part in PARTS.values():
        files = measured.digest(part, folders)
        fresh = {"files": files, "commit": None, "date": "2026-01-01"}
        folders.result(part.name).write_text(json.dumps(fresh), encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "first")
    return folder


@pytest.fixture
def clone(origin: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(origin), str(folder))
    return folder


def run(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/release.py", *words]
    return subprocess.run(command, cwd=clone, capture_output=True, text=True)


def refusal(clone: Path, *words: str) -> str:
    """Return the sentence of a release that must fail. Nothing may have changed."""
    before = git(clone, "status", "--porcelain")
    done = run(clone, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert git(clone, "status", "--porcelain") == before
    assert not (clone / "dist").exists()
    [line] = done.stderr.splitlines()
    return line


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(
            [],
            "No release: there is no version; write, for example: make release VERSION=0.2.0.",
            id="none",
        ),
        pytest.param(
            ["v9"],
            "No release: 'v9' is not a version; write, for example: make release VERSION=0.2.0.",
            id="malformed",
        ),
        pytest.param(
            ["0.0.9"],
            "No release: 0.0.9 is not newer than {present}, the version in pyproject.toml; "
            "choose a higher one.",
            id="older",
        ),
        pytest.param(
            ["{present}rc1"],
            "No release: {present}rc1 is not newer than {present}, the version in pyproject.toml; "
            "choose a higher one.",
            id="pre-release-of-the-present-one",
        ),
    ],
)
def test_an_invalid_version_is_reported_in_one_sentence(
    words: list[str], sentence: str, clone: Path
):
    text = (clone / "pyproject.toml").read_text(encoding="utf-8")
    present = tomllib.loads(text)["project"]["version"]
    assert refusal(clone, *(word.format(present=present) for word in words)) == sentence.format(
        present=present
    )


def test_a_release_with_uncommitted_files_names_them(clone: Path):
    (clone / "README.md").write_text("changed\n", encoding="utf-8")
    (clone / "new.txt").write_text("new\n", encoding="utf-8")
    assert refusal(clone, "9.0.0") == (
        "No release: not everything is committed (README.md, new.txt); commit or stash it first."
    )


def test_a_release_from_another_branch_is_refused(clone: Path):
    git(clone, "switch", "--quiet", "--create", "feature")
    assert refusal(clone, "9.0.0") == (
        "No release: the branch is feature, and releases are made from main; run: git switch main."
    )
    git(clone, "checkout", "--quiet", "--detach")
    assert refusal(clone, "9.0.0") == (
        "No release: no branch is checked out, and releases are made from main; "
        "run: git switch main."
    )


def test_a_release_without_git_is_refused(clone: Path, tmp_path: Path):
    folder = tmp_path / "archive"
    shutil.copytree(clone, folder, ignore=shutil.ignore_patterns(".git"))
    done = run(folder, "9.0.0")
    assert (done.returncode, done.stderr) == (
        1,
        "No release: this is not a git checkout; clone the repository and run make release there.\n",
    )


def test_a_version_that_is_already_tagged_is_refused(clone: Path):
    git(clone, "tag", "v9.0.0")
    assert refusal(clone, "9.0.0") == (
        "No release: the tag v9.0.0 exists already; choose the next version."
    )


def test_a_changelog_without_changes_is_refused(clone: Path):
    changelog = clone / "CHANGELOG.md"
    changelog.write_text("# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\n- A.\n", encoding="utf-8")
    commit(clone)
    assert refusal(clone, "9.0.0") == (
        "No release: CHANGELOG.md has nothing under [Unreleased]; write what users will notice."
    )
    changelog.write_text("# Changelog\n\n## [0.1.0]\n\n- A.\n", encoding="utf-8")
    commit(clone)
    assert refusal(clone, "9.0.0") == (
        "No release: CHANGELOG.md has no line '## [Unreleased]'; add it above the last release."
    )


def test_outdated_results_of_make_long_are_named(clone: Path):
    part = next(iter(PARTS.values()))
    measured.Folders(clone).result(part.name).unlink()
    commit(clone)
    assert refusal(clone, "9.0.0") == (
        f"No release: the result of make long for {part.name} is out of date; "
        f"run make long ARGS={part.name} and commit what it writes."
    )
    engine = clone / "src" / "toolbooth" / "shape.py"
    engine.write_text(engine.read_text(encoding="utf-8") + "\n# Changed.\n", encoding="utf-8")
    commit(clone)
    sentence = refusal(clone, "9.0.0")
    assert " results of make long are out of date (" in sentence
    assert sentence.endswith("; run make long and commit what it writes.")


# --- the release --------------------------------------------------------------------------------


@pytest.fixture
def built_with(clone: Path) -> Path:
    """Return the clone, with the build tools of this checkout: they are installed once."""
    package.tools()
    (clone / ".package").symlink_to(package.TOOLS_HOME)
    return clone


def test_a_release_is_written_built_tested_and_its_commands_printed(built_with: Path, origin: Path):
    clone, head = built_with, git(built_with, "rev-parse", "HEAD")
    done = run(clone, "9.0.0")
    assert (done.returncode, done.stderr) == (0, "")
    project = tomllib.loads((clone / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == "9.0.0"
    changelog = (clone / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]\n\n## [9.0.0] - 20" in changelog
    notes = (clone / "docs" / "project" / "releases.md").read_text(encoding="utf-8")
    assert "## 9.0.0\n\nReleased on 20" in notes
    assert f"Python {package.THIS_PYTHON}, alone: answers" in done.stdout

    commands = [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    assert commands == [
        'git commit --all --message "Release 9.0.0"',
        "git tag --annotate v9.0.0 --file dist/notes-9.0.0.md --cleanup=whitespace",
        "git push origin main v9.0.0",
        ".package/bin/python -m twine upload dist/toolbooth-9.0.0-py3-none-any.whl "
        "dist/toolbooth-9.0.0.tar.gz",
    ]
    # Nothing is committed, tagged or pushed by the release itself.
    assert (git(clone, "rev-parse", "HEAD"), git(clone, "tag")) == (head, "")
    for command in commands[:2]:
        subprocess.run(command, shell=True, cwd=clone, env={**os.environ, **AUTHOR}, check=True)
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "for-each-ref", "refs/tags", "--format=%(contents)").endswith(
        "It has a thing."
    )
    assert git(origin, "tag") == ""


def test_every_file_is_restored_if_the_package_check_fails(built_with: Path):
    home = "/".join(("", "home", "ann"))
    (built_with / "src" / "toolbooth" / "mine.py").write_text(f"HOME = '{home}'\n", "utf-8")
    # The results of make long cover this file, too.
    folders = measured.Folders(built_with)
    for part in PARTS.values():
        fresh = {"files": measured.digest(part, folders), "commit": None, "date": "2026-01-01"}
        folders.result(part.name).write_text(json.dumps(fresh), encoding="utf-8")
    commit(built_with)
    done = run(built_with, "9.0.0")
    assert done.returncode == 1
    sentence, *faults = done.stderr.splitlines()
    assert sentence == (
        "No release: the package is not right, and every file is as it was before; "
        "correct the faults below and run make release again."
    )
    path = "/".join(("", "home", ""))
    assert f"the wheel: toolbooth/mine.py contains a path of this machine, {path}" in faults
    assert git(built_with, "status", "--porcelain") == ""


# --- the notes ----------------------------------------------------------------------------------


def test_missing_release_notes_are_made_from_the_changelog():
    written = release.write_notes(
        "# Releases\n\n## 0.1.0\n\nFirst.\n", "9.0.0", "2026-02-03", "- A."
    )
    assert written == (
        "# Releases\n\n## 9.0.0\n\nReleased on 2026-02-03.\n\n- A.\n\n## 0.1.0\n\nFirst.\n"
    )
    assert release.notes_of(written, "9.0.0") == "Released on 2026-02-03.\n\n- A.\n"


def test_notes_without_the_line_of_an_unreleased_version_are_refused():
    with pytest.raises(release.Mistake, match="has a section"):
        release.write_notes("# Releases\n\n## 9.0.0\n\nDone.\n", "9.0.0", "2026-02-03", "- A.")


def test_versions_are_compared_in_release_order():
    versions = ["0.1.0", "0.2.0a1", "0.2.0b1", "0.2.0rc1", "0.2.0rc2", "0.2.0", "0.10.0", "1.0.0"]
    mixed = [*versions[4:], *versions[:4]]
    assert sorted(mixed, key=release.order) == versions
