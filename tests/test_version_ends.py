"""`make lowest` takes its versions from pyproject.toml alone."""

import sys
import tomllib
from pathlib import Path

import version_ends

ROOT = Path(__file__).resolve().parent.parent

PROJECT = {
    "dependencies": ["pydantic>=2.14,<3", "jsonschema-rs>=0.52"],
    "optional-dependencies": {
        "django": ["Django>=4.2", "djangorestframework>=3.15.2"],
        "cli": ["click>=8.2"],
        "examples": ["django-filter>=23.5"],
        "dev": ["ruff>=0.17"],
    },
}


def test_lowest_versions_of_dependencies_replace_the_pinned_versions():
    pinned = "click==8.5.1\nDjango==5.2.19\njsonschema_rs==0.60.3\npydantic==2.14.3\n"
    pinned += "pydantic_core==2.50.4\nruff==0.17.4\n"
    assert version_ends.lowest_constraints(PROJECT, pinned) == [
        "click==8.2",
        "django-filter==23.5",
        "django==4.2",
        "djangorestframework==3.15.2",
        "jsonschema-rs==0.52",
        "pydantic==2.14",
        "ruff==0.17.4",
    ]


def test_every_package_that_users_install_has_a_minimum_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"]]
    named += [each for name in version_ends.LOWEST_EXTRAS for each in extras[name]]
    assert len(version_ends.floors(project)) == len(named)


def test_every_test_folder_is_a_step_of_the_run():
    steps = version_ends.steps("lowest")
    assert list(steps)[:2] == ["versions", "tests/*.py"]
    assert {"tests/django", "tests/boundary", "tests/server"} < steps.keys()


def test_the_newest_python_may_be_one_that_pyenv_has_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    home = tmp_path / "versions" / "3.13.0" / "bin"
    home.mkdir(parents=True)
    python = home / "python3.13"
    python.symlink_to(sys.executable)
    assert version_ends.installed("python3.13") == [str(python)]
    assert version_ends.interpreter("newest") == str(python)
    assert version_ends.interpreter("lowest") == sys.executable
    python.unlink()
    assert version_ends.interpreter("newest") == sys.executable
