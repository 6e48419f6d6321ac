"""The contract suite of the agent frameworks, each in an environment of its own: `make frameworks`,
or `make frameworks ARGS=langchain` for one.

The environments are in `.frameworks/`, with the versions of `tests/frameworks/versions.toml` or the
newest ones (`make frameworks NEWEST=1`). `--shapes` runs only the twelve shapes on the first tier,
as `make check` does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from measured import Figures, Folders, Part, Step, StepFailed, run

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".frameworks"
TESTS = Path("tests/frameworks")
VERSIONS: dict[str, Any] = tomllib.loads((ROOT / TESTS / "versions.toml").read_text())
FIRST_TIER = [name for name, each in VERSIONS.items() if each["tier"] == 1]


# --- environments -------------------------------------------------------------------------------


def python_of(name: str, *, newest: bool = False) -> Path:
    """The Python of a framework's environment, which is made if its requirements have changed. One
    with the newest versions is upgraded each time.
    """
    wanted = requirements(name, newest=newest)
    home = HOME / (f"{name}-newest" if newest else name)
    python, stamp = home / "bin" / "python", home / "requirements.txt"
    if stamp.is_file() and stamp.read_text() == "\n".join(wanted) and not newest:
        return python
    install = ["install", "--quiet", "--disable-pip-version-check"]
    if newest and python.is_file():
        install += ["--upgrade", "--upgrade-strategy=eager"]
    else:
        _call(sys.executable, "-m", "venv", "--clear", str(home))
    _call(str(python), "-m", "pip", *install, *wanted)
    stamp.write_text("\n".join(wanted))
    return python


def requirements(name: str, *, newest: bool) -> list[str]:
    """What pip installs: the packages in their versions, and Toolbooth with the extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = VERSIONS[name]["packages"]
    packages = [each if newest else f"{each}=={number}" for each, number in pins.items()]
    if VERSIONS[name]["tier"] == 3:
        # Without an adapter, and some of them need an older Pydantic than Toolbooth.
        return packages
    named = project["optional-dependencies"].get(name, ())
    # An extra may need another one of ours, which no index has: it comes with the line below.
    extra = sorted(each for each in named if not each.startswith("toolbooth["))
    ours = ["-e", f"{ROOT}[testing{',' + name if named else ''}]"]
    return [*ours, *packages, *extra, *sorted(project["dependencies"])]


def _call(*command: str, **environment: str) -> str:
    """The output of a command. If it fails, StepFailed has it."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(TESTS), **environment},
    )
    if done.returncode:
        raise StepFailed(done.stdout)
    return done.stdout


# --- steps --------------------------------------------------------------------------------------


def check_types(name: str, python: Path) -> None:
    """Check the adapter with Pyright, strict, against the installed framework."""
    module = name.replace("-", "_")
    files = ROOT / "src/toolbooth/adapters/frameworks" / f"{module}*.py"
    config = python.parents[1] / "pyrightconfig.json"
    settings = {
        # Pyright takes no absolute path here.
        "include": [os.path.relpath(files, config.parent)],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        **VERSIONS[name].get("types", {}),
    }
    config.write_text(json.dumps(settings))
    pyright = Path(sys.executable).with_name("pyright")
    _call(str(pyright), "--project", str(config), "--pythonpath", str(python))


def run_tests(name: str, python: Path, *words: str) -> str:
    """Run the shared suite and the framework's own tests. Returns pytest's last line."""
    module = name.replace("-", "_")
    own, suite = TESTS / f"own_{module}.py", TESTS / "suite.py"
    files = [str(each) for each in (own, suite) if (ROOT / each).is_file()]
    left_out = [f"--deselect={suite}::{test}" for test in VERSIONS[name].get("own", ())]
    pytest = (str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider")
    command = (*pytest, *files, *left_out, *words)
    return _call(*command, FRAMEWORK=name).splitlines()[-1]


def whole(name: str, *, newest: bool = False) -> Figures:
    """Everything for one framework, and its figures."""
    python = python_of(name, newest=newest)
    has_adapter = VERSIONS[name]["tier"] < 3
    if has_adapter:
        check_types(name, python)
        run_tests(name, python)
    script = TESTS / ("measure.py" if has_adapter else "losses.py")
    printed = _call(str(python), "-W", "ignore", str(script), name)
    figures: Figures = json.loads(printed.splitlines()[-1])
    packages = ",".join(VERSIONS[name]["packages"])
    script = f"from importlib.metadata import version as v; print(*map(v, {packages!r}.split(',')))"
    numbers = _call(str(python), "-c", script).split()
    return {"versions": dict(zip(VERSIONS[name]["packages"], numbers, strict=True)), **figures}


def steps(*, newest: bool = False) -> Mapping[str, Step]:
    return {name: partial(whole, name, newest=newest) for name in VERSIONS}


# --- the page -----------------------------------------------------------------------------------


def table(figures: Mapping[str, Figures]) -> str:
    """Losses and costs, then the calls of the corpus that a framework decides by itself."""
    heads = ("framework", "lost, plain", "lost, protected", "plain", "protected", "seconds")
    lines = [f"| {' | '.join(heads)} |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    lines += [_row(name, each) for name, each in figures.items()]
    lines += ["", "| framework | calls of the corpus | reason | the framework's line |"]
    lines += ["| --- | ---: | --- | --- |"]
    for name, each in figures.items():
        for reason, count in each.get("corpus", {}).items():
            line = _line(each["lines"].get(reason, ""))
            lines.append(f"| {name} | {count:,} | {reason} | {line} |")
        for reason in sorted(each.get("lines", {}).keys() - each.get("corpus", {}).keys()):
            lines.append(f"| {name} | | {reason} | {_line(each['lines'][reason])} |")
    return "\n".join(lines) + "\n"


def _line(found: str) -> str:
    """A line of a file as code; nothing, and a program, as they are."""
    return f"`{found}`" if found and "`" not in found else found


def _row(name: str, figures: Figures) -> str:
    versions = ", ".join(f"{package} {number}" for package, number in figures["versions"].items())
    cost = figures.get("cost", {})
    shown = [f"{cost[key]:.0f} µs" if key in cost else "" for key in ("plain", "protected")]
    lost = [str(figures.get(key, "")) for key in ("lost, plain", "lost, protected")]
    return f"| {name}: {versions} | {' | '.join([*lost, *shown])} | {figures['seconds']} |"


PART = Part(
    name="frameworks",
    title="Tools of agent frameworks",
    about="""Each framework runs in an environment of its own. "Lost" counts, of twelve shapes in
which agents send one call (`tests/frameworks/shapes.py`), those in which the function runs with
other values than were sent, in the step that calls a tool. The two times are the median of the
CPU time of a correct call in that step, plain and protected in turn in one process. Agno,
smolagents and CrewAI have no adapter. For the others, every call of the shape corpus
(`tests/wire/`) goes through the protected tools. "As a registry" counts the calls with the same
text for the model, the same repairs and the same problems as on our own server; the other rows
are calls that the framework decides, or changes, before any tool is called, with its line. "In
the loop" is what only its agent loop does. The run fails if a call is answered otherwise, or if
the contract suite fails (`tests/frameworks/suite.py`): it includes the twelve shapes and 300
calls of the corpus in the framework's agent loop, with a scripted model. For the Claude Agent SDK
that is the loop of Claude Code, the program that comes with it. Calls that the SDK's check of the
schema refuses for a
protected tool are repaired, or refused with a corrected call, by a protected server.""",
    covers=(
        "src/toolbooth/*.py",
        "src/toolbooth/boundary/**/*.py",
        "src/toolbooth/compile/**/*.py",
        "src/toolbooth/publish/**/*.py",
        "src/toolbooth/adapters/agent_tools/*.py",
        "src/toolbooth/adapters/frameworks/*.py",
        "tests/frameworks/**/*",
        "tests/wire/**/*",
        "tests/*wire*.py",
        "scripts/frameworks.py",
    ),
    packages=("pydantic",),
    steps=steps,
    table=table,
)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="frameworks.py")
    parser.add_argument("names", nargs="*", metavar="FRAMEWORK", help="all by default")
    parser.add_argument("--newest", action="store_true", help="the newest versions")
    parser.add_argument("--shapes", action="store_true", help="the twelve shapes, first tier only")
    chosen = parser.parse_args(words)
    for name in chosen.names:
        if name not in VERSIONS:
            parser.error(f"no framework {name!r}; there are {', '.join(VERSIONS)}")
    try:
        if chosen.shapes:
            _shapes(chosen.names or FIRST_TIER)
        elif chosen.names or chosen.newest:
            for name in chosen.names or VERSIONS:
                print(f"frameworks: {name} …", flush=True)
                print(json.dumps(whole(name, newest=chosen.newest), indent=1), flush=True)
        else:
            run(PART, Folders(ROOT), partial(print, flush=True))
    except StepFailed as error:
        print(error)
        return 1
    return 0


def _shapes(names: list[str]) -> None:
    for name in names:
        print(f"frameworks: {name} …", flush=True)
        print(f"frameworks: {run_tests(name, python_of(name), '-k', 'shape')}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
