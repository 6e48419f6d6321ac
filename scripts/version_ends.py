"""The tests on the lowest and newest versions of our requirements: `make lowest`, `make newest`.

The lowest are the floors in pyproject.toml, with everything else as in constraints.txt. The newest
are those in the package index, on the newest Python of this machine. Each has an environment in
`.versions/`. Arguments after the name are passed on to pytest: `make lowest ARGS=tests/django`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from measured import Figures, Step, StepFailed

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".versions"

LOWEST_EXTRAS = ("django", "cli", "examples")
"""The extras whose floors are tested. Those of `fastmcp` and `mcp` are the only versions that the
adapters know.
"""
FOLLOWS_ANOTHER = ("pydantic_core",)
"""Packages whose version is determined by another package."""
NOT_INSTALLABLE = ("fastmcp<4.1.3", "fastmcp-slim<4.1.3", "fastmcp-tasks<4.1.3")
"""Newer ones need packages that the index of this project does not have."""
NEWEST_PYTHONS = ("python3.14", "python3.13", "python3.12")
SHOWN = (
    "Django",
    "djangorestframework",
    "drf-spectacular",
    "django-filter",
    "pydantic",
    "orjson",
    "jiter",
    "jsonschema-rs",
    "fastmcp",
    "mcp",
    "click",
    "uvicorn",
)
"""The packages whose versions are in the result."""

NO_TESTS = 5
"""The exit code of pytest for a folder with long tests only."""
_REQUIREMENT = re.compile(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)")


# --- which versions -----------------------------------------------------------------------------


def floors(project: Mapping[str, object]) -> dict[str, str]:
    """The lowest version of each package that a Django project gets with Toolbooth."""
    extras = project["optional-dependencies"]
    named = [*project["dependencies"]] + [each for name in LOWEST_EXTRAS for each in extras[name]]
    found = (_REQUIREMENT.match(each) for each in named)
    return {_normal(each[1]): each[2] for each in found if each}


def lowest_constraints(project: Mapping[str, object], pinned: str) -> list[str]:
    """constraints.txt with the floors instead of the versions of our development."""
    lowest = floors(project)
    lines = [line for line in pinned.splitlines() if line.strip()]
    others = [line for line in lines if _normal(line.partition("==")[0]) not in lowest]
    left = [line for line in others if line.partition("==")[0] not in FOLLOWS_ANOTHER]
    return sorted([*left, *(f"{name}=={number}" for name, number in lowest.items())])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def constraints(end: str) -> list[str]:
    if end == "newest":
        return list(NOT_INSTALLABLE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return lowest_constraints(project, (ROOT / "constraints.txt").read_text(encoding="utf-8"))


def interpreter(end: str) -> str:
    """This Python for the lowest versions; for the newest versions, the newest Python that runs."""
    candidates = NEWEST_PYTHONS if end == "newest" else ()
    for name in candidates:
        for found in installed(name):
            # A shim of pyenv is there for each version, and runs only the one that is chosen.
            if subprocess.run([found, "--version"], capture_output=True).returncode == 0:
                return found
    return sys.executable


def installed(name: str) -> list[str]:
    """The interpreters of a Python version: on the path, and in pyenv."""
    on_path = shutil.which(name)
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    of_pyenv = sorted(map(str, home.glob(f"versions/*/bin/{name}")))
    return [on_path, *of_pyenv] if on_path else of_pyenv


# --- running ------------------------------------------------------------------------------------


def set_up(end: str) -> Path:
    """The Python of an environment with these versions. It is made again if they have changed."""
    home = HOME / end
    python = home / "bin" / "python"
    limits = "\n".join(constraints(end)) + "\n"
    runs_on = interpreter(end)
    wanted = f"{runs_on}\n{limits}" + (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ready = home / "ready"
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return python
    print(f"Installing the {end} versions into .versions (some minutes, once)", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    _output(runs_on, "-m", "venv", str(home))
    chosen = home / "constraints.txt"
    chosen.write_text(limits, encoding="utf-8")
    pip = (str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q")
    _output(*pip, "-c", str(chosen), "-e", f"{ROOT}[dev]")
    ready.write_text(wanted, encoding="utf-8")
    return python


def steps(end: str) -> dict[str, Step]:
    """The versions, and the tests by folder."""
    named: dict[str, Step] = {"versions": partial(_versions, end)}
    tests = ROOT / "tests"
    folders = sorted({path.parent for path in tests.rglob("test_*.py")} - {tests})
    top = sorted(str(path) for path in tests.glob("test_*.py"))
    named["tests/*.py"] = partial(_tests, end, *top)
    for folder in folders:
        name = folder.relative_to(ROOT).as_posix()
        named[name] = partial(_tests, end, name)
    return named


def _versions(end: str) -> Figures:
    program = f"""
import json, platform
from importlib.metadata import version
found = {{name: version(name) for name in {SHOWN}}}
print(json.dumps({{"Python": platform.python_version(), **found}}))
"""
    return {"versions": json.loads(_output(str(set_up(end)), "-c", program))}


def _tests(end: str, *words: str) -> Figures:
    options = ("-q", "-n", "2", "--dist", "worksteal", "-m", "not long")
    printed = _output(
        str(set_up(end)), "-m", "pytest", *options, "--hypothesis-profile=quick", *words
    )
    counts = re.findall(r"(\d+) (passed|skipped)", printed.splitlines()[-1])
    found = {name: int(number) for number, name in counts}
    return {"passed": found.get("passed", 0), "skipped": found.get("skipped", 0)}


def _output(*command: str) -> str:
    # The tests must import the packages of their environment, not those installed beside this
    # script.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, **pipes)
    if done.returncode not in (0, NO_TESTS):
        raise StepFailed(done.stdout)
    return done.stdout


def main(end: str, *words: str) -> int:
    try:
        print(json.dumps(_versions(end)["versions"], indent=2))
        print(_tests(end, *(words or ("tests",))))
    except StepFailed as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
