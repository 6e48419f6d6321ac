"""Large third-party projects behind the gateway: pretix, label-studio and nautobot, compared with
their REST APIs.

Each is installed with its own pins into an environment of its own in `.hosts/large-<host>`, with
Toolbooth beside it. There tests/hosts_large/compare.py makes every comparison. A step is one
comparison of one host; `make hosts-large` continues where it stopped, since it is a part of
`make long`. `python scripts/hosts_large.py pretix reads` runs one step and prints its figures.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from measured import Figures, Step, StepFailed

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".hosts"
TESTS = ROOT / "tests" / "hosts_large"

HOSTS: Mapping[str, tuple[str, ...]] = {
    "pretix": ("pretix==2026.8.0",),
    "label_studio": ("label-studio==1.23.2",),
    # With the packages that its own test factories need.
    "nautobot": ("nautobot==3.2.7", "factory-boy"),
}
"""The packages of each host, with its own pins."""

OWN = ("-e", f"{ROOT}[django]")
"""Toolbooth is this working tree."""

KINDS = ("actions", "reads", "writes", "malformed", "cost", "start", "floor")
REPEATED = {"start": 3, "floor": 3}
"""How many new processes make a measurement that cannot be repeated in one. The best counts."""

BARS = (
    "untold",
    "uncallable",
    "bad names",
    "errors of lint",
    "different",
    "REST ok, MCP refused",
    "slow",
    "more queries",
)
"""Figures that must be 0."""


def steps() -> dict[str, Step]:
    """Every comparison of every host."""
    return {f"{host}: {kind}": partial(step, host, kind) for host in HOSTS for kind in KINDS}


def step(host: str, kind: str) -> Figures:
    """One comparison of one host. Raises StepFailed if REST and MCP differ in it."""
    figures = best([compare(host, kind) for _ in range(REPEATED.get(kind, 1))])
    if any(figures.get(bar) for bar in BARS):
        raise StepFailed(json.dumps(figures, indent=2, ensure_ascii=False))
    return figures


def best(readings: list[Figures]) -> Figures:
    """The smallest of several readings of each figure."""
    if len(readings) == 1:
        return readings[0]
    known = {key: [each[key] for each in readings] for key in readings[0]}
    return {key: None if None in values else min(values) for key, values in known.items()}


def compare(host: str, kind: str) -> Figures:
    """The figures of one comparison. Raises StepFailed if it does not end."""
    set_up(host)
    prepare(host)
    with tempfile.TemporaryDirectory() as copy:  # so that no comparison meets rows of another
        copied = Path(copy, "state")
        shutil.copytree(state(host), copied)
        return json.loads(run(host, copied, str(TESTS / "run.py"), kind).splitlines()[-1])


def set_up(host: str) -> None:
    """Make the environment once. It is made again if the requirements have changed, or if an
    install was interrupted.
    """
    home = HOME / f"large-{host}"
    wanted = "\n".join((*HOSTS[host], *_own_needs()))
    ready = home / "ready"
    if ready.exists() and ready.read_text() == wanted:
        return
    print(f"Installing {host} into .hosts (some minutes, once)", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    pip = [sys.executable, "-m", "pip", "--python", python(host), "install"]
    options = ["-qq", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, *options, *HOSTS[host], *OWN], check=True)
    (home / "state").mkdir()
    ready.write_text(wanted)


def _own_needs() -> list[str]:
    """The dependencies of Toolbooth in a Django project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["django"]]


def prepare(host: str) -> None:
    """Make the tables and rows, once for each version of the files that define them."""
    calls = ("host.py", "writes.py")  # these define the calls, not the rows
    files = [file for file in sorted((TESTS / host).glob("*.py")) if file.name not in calls]
    wanted = "\n".join(file.read_text(encoding="utf-8") for file in files)
    ready = state(host) / "prepared"
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return
    print(f"Preparing the database of {host}", flush=True)
    run(host, state(host), str(TESTS / host / "prepare.py"))
    ready.write_text(wanted, encoding="utf-8")


def state(host: str) -> Path:
    """The folder for the files of a host, and for its database if that is a file."""
    return HOME / f"large-{host}" / "state"


def python(host: str) -> Path:
    return HOME / f"large-{host}" / "bin" / "python"


def environment(host: str, files: Path) -> dict[str, str]:
    """The environment variables with which a program runs as this project."""
    folders = (ROOT / "src", TESTS / host, TESTS, ROOT / "tests" / "hosts_both")
    paths = os.pathsep.join(map(str, folders))
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": f"{host}_settings",
        "PYTHONPATH": paths,
        "HOST_STATE": str(files),
    }


def run(host: str, files: Path, *words: str) -> str:
    """Return the output of a program in a project, and show its progress. StepFailed if it
    fails.
    """
    command = [python(host), *words]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(host, files),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise StepFailed(f"{host}: {' '.join(words)} ended with {done.returncode}\n{done.stdout}")
    return done.stdout


# --- the page -------------------------------------------------------------------------------------

ACTIONS = (
    "endpoints",
    "endpoints with a tool",
    "of these by the two lines alone",
    "left out with a reason",
    "untold",
    "uncallable",
    "errors of lint",
    "actions without a declared body",
    "bodies named in the settings",
    "bytes of tools/list",
    "catalogue, CPU seconds",
)
CALLS = (
    "compared",
    "equal",
    "both refused",
    "both failed",
    "not JSON over REST",
    "REST failed, MCP refused",
    "REST ok, MCP refused",
    "left out",
    "different",
)
MALFORMED = (
    "compared",
    "refused, no row changed",
    "the same as the right call",
    "text in a field of any type, as over REST",
    "different",
)
START = (
    "actions",
    "tools listed",
    "first server/discover, CPU seconds",
    "then the first call, CPU seconds",
    "then the whole list, CPU seconds",
    "memory after these, MB more",
    "the whole list again, CPU seconds",
    "drf-spectacular's own document, CPU seconds",
)
COST = (
    "REST, CPU ms",
    "MCP, CPU ms",
    "empty, CPU ms",
    "MCP ÷ REST",
    "MCP ÷ (REST + empty)",
    "queries of REST",
    "queries of MCP",
    "queries of empty",
)

Table = tuple[tuple[str, ...], list[list[object]]]


def tables(figures: Mapping[str, Figures]) -> list[Table]:
    """The tables of the page, each with its heads and its rows."""
    by_host = {host: _of(host, figures) for host in HOSTS}
    hosts = {host: found for host, found in by_host.items() if found}
    calls = [
        [f"{host}, {kind}", *(found[kind].get(key, 0) for key in CALLS)]
        for host, found in hosts.items()
        for kind in ("reads", "writes")
    ]
    costs = [
        [f"{host}, {kind}", *(each[key] for key in COST)]
        for host, found in hosts.items()
        for kind, each in found["cost"].items()
        if isinstance(each, dict)
    ]
    started = {host: found for host, found in hosts.items() if "start" in found}
    made: list[Table] = [
        (("endpoints", *hosts), _turned(hosts, "actions", ACTIONS)),
        (("calls", *CALLS), calls),
        (("malformed writes", *hosts), _turned(hosts, "malformed", MALFORMED)),
        (("cost", *COST), costs),
    ]
    # A result from before this was measured has no such figures.
    if started:
        joined = {host: {"start": _started(found)} for host, found in started.items()}
        made.append((("first messages", *started), _turned(joined, "start", START)))
    return made


def _started(found: Mapping[str, Figures]) -> Figures:
    """The figures of the first messages, with a dash for each that a result does not have."""
    known = {**found["start"], **found.get("floor", {})}
    return {key: "–" if known.get(key) is None else known[key] for key in START}


def _of(host: str, figures: Mapping[str, Figures]) -> dict[str, Figures]:
    return {kind: figures[f"{host}: {kind}"] for kind in KINDS if f"{host}: {kind}" in figures}


def _turned(
    hosts: Mapping[str, dict[str, Figures]], kind: str, keys: tuple[str, ...]
) -> list[list[object]]:
    """One row for each figure, one column for each host."""
    return [[key, *(found[kind][key] for found in hosts.values())] for key in keys]


def notes(figures: Mapping[str, Figures]) -> list[str]:
    """The versions of each host, the reasons for endpoints that are left out, and the findings of
    lint about the host's own names and values.
    """
    lines: list[str] = []
    for host in HOSTS:
        found = figures.get(f"{host}: actions")
        if found is not None:
            versions = ", ".join(f"{name} {each}" for name, each in found["versions"].items())
            lines.append(f"{host}: {versions}.")
            reasons = found["reasons"].items()
            lines += [f"{host}, {count} endpoints left out: {why}." for why, count in reasons]
            rules = found["errors of lint in what the host decides"].items()
            told = ", ".join(f"{rule} {count}" for rule, count in rules)
            if told:
                lines.append(f"{host}, errors of lint in what the project itself decides: {told}.")
    return lines


def main(words: list[str]) -> int:
    hosts = [word for word in words if word in HOSTS] or list(HOSTS)
    kinds = [word for word in words if word in KINDS] or KINDS
    for host in hosts:
        for kind in kinds:
            print(f"{host}: {kind}", flush=True)
            print(json.dumps(compare(host, kind), indent=2, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
