"""Builds the package, checks it, and tries it in clean environments: `make package`.

The wheel is built from the source archive. On this Python it is installed alone and with each extra
alone; on each other Python that is supported and on this machine, alone and with all extras. In
each environment the programs of `first_calls/` import Toolbooth and answer a right and a wrong
call. Nothing of the repository is in reach.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from package_contents import PackageFault, archive_faults, wheel_faults
from version_ends import installed

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
CALLS = ROOT / "scripts" / "first_calls"
CONSTRAINTS = ROOT / "constraints.txt"

TOOLS_HOME = ROOT / ".package"
TOOLS = ("build==1.6.1", "hatchling==1.33.0", "twine==7.0.0")
THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
PYTHONS = ("3.11", "3.12", "3.13")
"""The versions in the classifiers of pyproject.toml."""
NOT_FOR_USERS = ("dev",)
FRAMEWORKS = ROOT / "tests" / "frameworks" / "versions.toml"
AT_ONCE = 2
"""The number of environments that are made at the same time. Installing mostly needs the processor.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One clean environment: a Python, and the extras that are installed with the wheel."""

    python: str
    version: str
    extras: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"Python {self.version}, {', '.join(self.extras) or 'alone'}"


# --- building -----------------------------------------------------------------------------------


def build(dist: Path = DIST) -> tuple[Path, Path]:
    """Build the source archive and the wheel into an empty folder. Returns the wheel first."""
    python = tools()
    shutil.rmtree(dist, ignore_errors=True)
    _run([python, "-m", "build", "--no-isolation", "--outdir", dist, ROOT])
    wheel, archive = next(dist.glob("*.whl")), next(dist.glob("*.tar.gz"))
    faults = [*wheel_faults(wheel, ROOT), *archive_faults(archive, ROOT)]
    if faults:
        raise PackageFault("\n".join(faults))
    _run([python, "-m", "twine", "check", "--strict", wheel, archive])
    return wheel, archive


def tools() -> Path:
    """The Python of the environment with the tools that build and check. It is made once."""
    python, ready = TOOLS_HOME / "bin" / "python", TOOLS_HOME / "ready"
    wanted = "\n".join(TOOLS)
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return python
    tell("Installing build, hatchling and twine into .package (once)")
    shutil.rmtree(TOOLS_HOME, ignore_errors=True)
    _run([sys.executable, "-m", "venv", "--without-pip", TOOLS_HOME])
    _run([*_pip(python), *TOOLS])
    ready.write_text(wanted, encoding="utf-8")
    return python


# --- trying -------------------------------------------------------------------------------------


def trials(pythons: Mapping[str, str], extras: Sequence[str], *, every: bool) -> list[Trial]:
    """Each extra alone on this Python, all together on the others; or alone on every Python."""
    chosen: list[Trial] = []
    for version, python in pythons.items():
        apart = every or version == THIS_PYTHON
        sets = [(extra,) for extra in extras] if apart else [tuple(extras)]
        if extras:
            chosen += [Trial(python=python, version=version, extras=each) for each in sets]
        chosen.append(Trial(python=python, version=version, extras=()))
    return chosen


def supported_pythons() -> dict[str, str]:
    """The supported versions that are on this machine, each with its interpreter."""
    found = {version: list(_running(f"python{version}")) for version in PYTHONS}
    others = {version: pythons[0] for version, pythons in found.items() if pythons}
    return others | {THIS_PYTHON: sys.executable}


def _running(name: str) -> Iterator[str]:
    # A shim of pyenv is there for each version, and runs only the one that is chosen.
    for python in installed(name):
        if subprocess.run([python, "--version"], capture_output=True).returncode == 0:
            yield python


def user_extras() -> list[str]:
    """The extras that users install. Those of agent frameworks cannot be installed together, and
    `make frameworks` has an environment for each.
    """
    frameworks = tomllib.loads(FRAMEWORKS.read_text(encoding="utf-8"))
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    return [name for name in extras if name not in (*NOT_FOR_USERS, *frameworks)]


def try_out(trial: Trial, wheel: Path) -> str:
    """Install the wheel into a new environment and make the first calls. Returns one line."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "environment"
        _run([trial.python, "-m", "venv", "--without-pip", home])
        python = home / "bin" / "python"
        wanted = f"{wheel}[{','.join(trial.extras)}]" if trial.extras else str(wheel)
        _run([*_pip(python), "--constraint", CONSTRAINTS, wanted])
        empty = Path(folder) / "empty"
        empty.mkdir()
        for name in trial.extras or ("alone",):
            _call(python, name, empty)
        _ask_for_help(python, trial, empty)
    return f"{trial.name}: answers ({time.monotonic() - started:.0f} s)"


def _call(python: Path, name: str, folder: Path) -> None:
    """Run the first calls from an empty folder, so that nothing of the repository is imported."""
    _run([python, "-I", CALLS / f"with_{name}.py"], folder)


def _ask_for_help(python: Path, trial: Trial, folder: Path) -> None:
    """`toolbooth --help` must work with every extra, and without any."""
    printed = _run([python.with_name("toolbooth"), "--help"], folder)
    if not printed.startswith("Usage: toolbooth"):
        raise PackageFault(f"{trial.name}: toolbooth --help printed\n{printed}")


# --- processes ----------------------------------------------------------------------------------


def _pip(python: Path) -> list[str | Path]:
    """Use pip of this environment to install into another. Most modules are never imported, so
    nothing is compiled in advance.
    """
    options = ("install", "-qq", "--disable-pip-version-check", "--no-compile")
    return [sys.executable, "-m", "pip", "--python", python, *options]


def _run(command: list[str | Path], folder: Path = ROOT) -> str:
    """Return the output of a command on stdout.

    Raises:
        PackageFault: it failed. The text is its whole output.
    """
    words = [str(word) for word in command]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=folder, env=inherited, capture_output=True, text=True)
    if done.returncode:
        raise PackageFault(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def tell(text: str) -> None:
    print(text, flush=True)


# --- the command --------------------------------------------------------------------------------


def check(chosen: list[Trial], dist: Path = DIST) -> Path:
    """Build, check and try the package. Returns the wheel.

    Raises:
        PackageFault: something is wrong. The text describes it.
    """
    wheel, archive = build(dist)
    tell(f"{archive.name} and {wheel.name}: the contents are right, twine check passed")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in pool.map(lambda trial: try_out(trial, wheel), chosen):
            tell(line)
    return wheel


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="package.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", action="store_true", help="each extra alone on every Python")
    every = parser.parse_args(words).every
    pythons = supported_pythons()
    missing = [version for version in PYTHONS if version not in pythons]
    if missing:
        tell(f"Not on this machine, so not tried: Python {', '.join(missing)}")
    try:
        check(trials(pythons, user_extras(), every=every))
    except PackageFault as fault:
        print(f"The package is not right.\n{fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
