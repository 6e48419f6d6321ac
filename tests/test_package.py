"""`make package`: the checks of a wheel and a source archive, and the environments it creates."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import package
import package_contents
import pytest

MODULES = ("__init__.py", "django/migrations/0001_initial.py", *package_contents.NEEDED)
METADATA = "Metadata-Version: 2.4\nName: toolbooth\nVersion: 1\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the files that a package needs."""
    for name in MODULES:
        file = tmp_path / "src" / "toolbooth" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("Read me.\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("dist/\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def wheel(root: Path, changed: dict[str, str | None] | None = None) -> Path:
    """Return a valid wheel of the checkout, except for the given files."""
    files: dict[str, str | None] = {f"toolbooth/{name}": "x = 1\n" for name in MODULES}
    for name in package_contents.NEEDED_METADATA:
        files[f"toolbooth-1.dist-info/{name}"] = "x"
    files |= {"toolbooth-1.dist-info/METADATA": METADATA, **(changed or {})}
    path = root / "dist" / "toolbooth-1-py3-none-any.whl"
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            if text is not None:
                archive.writestr(name, text)
    return path


def archive(root: Path, *left_out: str) -> Path:
    path = root / "dist" / "toolbooth-1.tar.gz"
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz") as made:
        for name in package_contents.tracked_files(root) - set(left_out):
            made.add(root / name, f"toolbooth-1/{name}")
    return path


def test_a_wheel_with_exactly_the_tracked_files_is_valid(checkout: Path):
    assert package_contents.wheel_faults(wheel(checkout), checkout) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        pytest.param(
            {"tests/test_law.py": "x"},
            "the wheel has tests/test_law.py, which git does not have",
            id="tests",
        ),
        pytest.param(
            {"toolbooth/notes.txt": "x"},
            "the wheel has toolbooth/notes.txt, which git does not have",
            id="untracked",
        ),
        pytest.param(
            {"toolbooth/py.typed": None}, "the wheel has no toolbooth/py.typed", id="py.typed"
        ),
        pytest.param(
            {"toolbooth/django/migrations/0001_initial.py": None},
            "the wheel has no toolbooth/django/migrations/0001_initial.py",
            id="migration",
        ),
        pytest.param(
            {"toolbooth-1.dist-info/entry_points.txt": None},
            "the wheel has no entry_points.txt",
            id="entry-points",
        ),
        pytest.param(
            {"toolbooth/__init__.py": "home = '" + "/".join(("", "home", "ann")) + "'"},
            "the wheel: toolbooth/__init__.py contains a path of this machine, "
            + "/".join(("", "home", "")),
            id="machine-path",
        ),
    ],
)
def test_a_fault_in_a_wheel_is_named(changed: dict[str, str | None], fault: str, checkout: Path):
    assert fault in package_contents.wheel_faults(wheel(checkout, changed), checkout)


def test_a_source_archive_has_every_tracked_file(checkout: Path):
    assert package_contents.archive_faults(archive(checkout), checkout) == []
    assert package_contents.archive_faults(archive(checkout, "README.md"), checkout) == [
        "the source archive has no README.md"
    ]


def test_a_package_is_only_checked_in_a_git_checkout(tmp_path: Path):
    with pytest.raises(package_contents.PackageFault, match="this is not a git checkout"):
        package_contents.tracked_files(tmp_path)


def test_each_extra_is_tried_alone_here_and_all_together_on_other_pythons():
    pythons = {package.THIS_PYTHON: sys.executable, "3.99": "python3.99"}
    tried = package.trials(pythons, ["cli", "django"], every=False)
    assert [(each.version, each.extras) for each in tried] == [
        (package.THIS_PYTHON, ("cli",)),
        (package.THIS_PYTHON, ("django",)),
        (package.THIS_PYTHON, ()),
        ("3.99", ("cli", "django")),
        ("3.99", ()),
    ]
    every = package.trials(pythons, ["cli", "django"], every=True)
    assert [each.extras for each in every] == [("cli",), ("django",), ()] * 2


def test_every_user_facing_extra_has_first_calls_to_try():
    programs = {path.stem.removeprefix("with_") for path in package.CALLS.glob("with_*.py")}
    assert programs == {"alone", *package.user_extras()}


def test_the_pythons_that_are_tried_are_those_in_the_classifiers():
    text = (package.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = [version for version in package.PYTHONS if f"Python :: {version}" in text]
    assert named == list(package.PYTHONS)
    assert package.supported_pythons()[package.THIS_PYTHON] == sys.executable
