"""The test suites of FastMCP and of the official SDK, with every server protected when it is
created. Tests that fail are run again on plain servers.

The suites come with the source distributions of the versions in constraints.txt; they and their
requirements are in `.peers/`. tests/peers/differences.toml lists the tests that pass on a plain
server and fail on a protected one, with the reason. A test that differs and is not listed fails the
run, and so does an entry whose tests no longer differ.

`make peers` runs everything, `make peers ARGS=tests/tools` the files whose path contains a word.
`make long ARGS=peers` also writes the page of the results.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from measured import Figures, Step, StepFailed

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".peers"
TESTS = ROOT / "tests" / "peers"
PYTHON = HOME / "venv" / "bin" / "python"
FILES_PER_STEP = 40

NEEDED = (
    "-e",
    f"{ROOT}[fastmcp,mcp]",
    "fastmcp[anthropic,apps,code-mode,jev,openai,tasks]",
    "mcp[cli]",
    "blockbuster",
    "coverage",
    "dirty-equals",
    "fastapi",
    "inline-snapshot",
    "logfire",
    "opentelemetry-sdk",
    "pillow",
    "psutil",
    "pydantic-settings",
    "pyperclip",
    "pytest",
    "pytest-asyncio",
    "pytest-env",
    "pytest-examples",
    "pytest-retry",
    "pytest-timeout",
    "trio",
)
"""The further requirements of the suites. Versions: constraints.txt, tests/peers/constraints.txt.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The test suite of a host."""

    name: str
    package: str
    options: tuple[str, ...]
    """Arguments for pytest."""
    left_out: tuple[str, ...]
    """Folders with tests that are not about servers, or need more than Python."""
    imports: str = "."
    """The folder from which its tests import."""

    @property
    def home(self) -> Path:
        """The source distribution, unpacked."""
        return HOME / f"{self.package}-{pinned(self.package)}"


SUITES = (
    Suite(
        name="FastMCP",
        package="fastmcp",
        # Its own limit of five seconds for a test is too short for a busy machine.
        options=(
            "--timeout=60",
            "-m",
            "not integration and not client_process and not subprocess_heavy and not conformance",
        ),
        left_out=("cli", "conformance", "docs", "integration_tests", "scripts"),
    ),
    Suite(
        name="official SDK",
        package="mcp",
        options=("-p", "no:asyncio", "-p", "anyio", "-p", "examples"),
        left_out=("docs",),
        imports="examples",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Tests that fail on protected servers, and why that is right."""

    suite: str
    tests: str
    kind: str
    reason: str


def pinned(package: str) -> str:
    """The version in constraints.txt."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{package}==(\S+)$", text, re.MULTILINE)
    if found is None:
        raise LookupError(package)
    return found[1]


# --- setting up ---------------------------------------------------------------------------------


def set_up() -> None:
    """Make the environment and unpack the suites once. Both are made again if requirements
    change.
    """
    files = (ROOT / "constraints.txt", TESTS / "constraints.txt", ROOT / "pyproject.toml")
    wanted = "\n".join([*NEEDED, *(file.read_text(encoding="utf-8") for file in files)])
    ready = HOME / "ready"
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return
    print("Installing the suites of the hosts into .peers (some minutes, once)", flush=True)
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir()
    for suite in SUITES:
        _unpack(suite)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", HOME / "venv"], check=True)
    pins = [word for file in files[:2] for word in ("-c", file)]
    _pip("--python", PYTHON, "install", "-qq", "--no-compile", *pins, *NEEDED)
    ready.write_text(wanted, encoding="utf-8")


def _unpack(suite: Suite) -> None:
    wanted = f"{suite.package}=={pinned(suite.package)}"
    _pip("download", "-qq", "--no-deps", "--no-binary", suite.package, "-d", HOME, wanted)
    archive = HOME / f"{suite.home.name}.tar.gz"
    with tarfile.open(archive) as packed:
        packed.extractall(HOME, filter="data")


def _pip(*words: object) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, words)]
    subprocess.run(command, check=True)


# --- running ------------------------------------------------------------------------------------


def steps(words: Sequence[str] = ()) -> dict[str, Step]:
    """A step for the files of a suite, or only those whose path contains one of the words."""
    set_up()
    found: dict[str, Step] = {}
    for suite in SUITES:
        chosen = [file for file in _files(suite) if not words or any(map(file.count, words))]
        parts = [chosen[at : at + FILES_PER_STEP] for at in range(0, len(chosen), FILES_PER_STEP)]
        for number, part in enumerate(parts, start=1):
            name = f"{suite.name} {number} of {len(parts)}"
            found[name] = partial(compare, suite, part)
    return found


def _files(suite: Suite) -> list[str]:
    found = sorted(suite.home.glob("tests/**/test_*.py"))
    files = [path.relative_to(suite.home) for path in found]
    return [path.as_posix() for path in files if path.parts[1] not in suite.left_out]


def compare(suite: Suite, files: Sequence[str]) -> Figures:
    """Run files of a suite on protected servers, and the tests that fail on plain ones too.

    Raises:
        StepFailed: a difference is not listed, or a listed one no longer exists.
    """
    protected = outcomes(suite, files, protect=True)
    failed = _with_outcome(protected, "failed")
    # Run again with few others: some tests depend on time and fail on a busy machine.
    again = outcomes(suite, failed, protect=True) if failed else {}
    failed = _with_outcome(again, "failed")
    plain = outcomes(suite, failed, protect=False) if failed else {}
    differing = _with_outcome(plain, "passed")
    listed = [each for each in differences() if each.suite == suite.package]
    kinds = {test: kind_of(test, listed) for test in differing}
    _check(kinds, [each for each in listed if _matches_any(each, protected)], again)
    by_kind: dict[str, list[str]] = {}
    for test, kind in kinds.items():
        by_kind.setdefault(str(kind), []).append(test)
    return {
        "suite": suite.name,
        "tests": len(protected),
        "skipped": len(_with_outcome(protected, "skipped")),
        "fail on both": len(failed) - len(differing),
        "differences": by_kind,
    }


def _check(
    kinds: Mapping[str, str | None], listed: Iterable[Difference], again: Mapping[str, Any]
) -> None:
    unknown = [test for test, kind in kinds.items() if kind is None]
    gone = [each.tests for each in listed if not _matches_any(each, kinds)]
    if unknown or gone:
        texts = [f"differs, and is not listed: {test}\n{again[test]['text']}" for test in unknown]
        texts += [f"listed, but the same on both: {each}" for each in gone]
        raise StepFailed("\n\n".join(texts))


def outcomes(suite: Suite, tests: Sequence[str], *, protect: bool) -> dict[str, dict[str, str]]:
    """The outcome of each test."""
    state = "protected" if protect else "plain"
    written = HOME / f"{os.getpid()}-{abs(hash((suite, *tests)))}-{state}.jsonl"
    paths = os.pathsep.join(map(str, (ROOT / "src", TESTS, suite.home / suite.imports)))
    env = {**os.environ, "PYTHONPATH": paths, "PEERS_OUTCOMES": str(written)}
    if protect:
        env["PEERS_PROTECT"] = suite.package
    command = [PYTHON, "-m", "pytest", "-q", "-p", "peers_plugin", "-p", "no:cacheprovider"]
    command += ["-o", "addopts=", "--continue-on-collection-errors"]
    done = subprocess.run(
        [*command, *suite.options, *tests],
        cwd=suite.home,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = written.read_text(encoding="utf-8").splitlines() if written.exists() else []
    written.unlink(missing_ok=True)
    # 1: some tests failed. 5: there are none.
    if done.returncode not in (0, 1, 5):
        raise StepFailed(done.stdout)
    return {found["test"]: found for found in map(json.loads, lines)}


def _with_outcome(found: Mapping[str, Mapping[str, str]], outcome: str) -> list[str]:
    return [test for test, each in found.items() if each["outcome"] == outcome]


# --- the list of differences --------------------------------------------------------------------


def differences() -> list[Difference]:
    """The entries of tests/peers/differences.toml."""
    kinds = tomllib.loads((TESTS / "differences.toml").read_text(encoding="utf-8"))
    return [
        Difference(suite=each["suite"], tests=tests, kind=kind, reason=each["reason"])
        for kind, entries in kinds.items()
        for each in entries
        for tests in each["tests"]
    ]


def kind_of(test: str, table: Iterable[Difference]) -> str | None:
    return next((each.kind for each in table if _matches(each, test)), None)


def _matches(each: Difference, test: str) -> bool:
    # `[` begins the parameters of a test here, not a set of characters.
    return fnmatchcase(test.replace("[", "("), each.tests.replace("[", "("))


def _matches_any(each: Difference, tests: Iterable[str]) -> bool:
    return any(_matches(each, test) for test in tests)


# --- results ------------------------------------------------------------------------------------


KINDS = ("law", "wording", "schema", "result")
COLUMNS = ("tests", "skipped", "fail on both", *KINDS)


def rows(figures: Mapping[str, Figures]) -> list[tuple[str | int, ...]]:
    """For each suite: its tests, and how many differ, by kind."""
    found: dict[str, Counter[str]] = {}
    for each in figures.values():
        sums = found.setdefault(each["suite"], Counter())
        sums.update({key: each[key] for key in COLUMNS if key in each})
        sums.update({kind: len(tests) for kind, tests in each["differences"].items()})
    return [(suite, *(sums[key] for key in COLUMNS)) for suite, sums in found.items()]


def main(words: list[str]) -> int:
    failed = False
    for name, step in steps(words).items():
        print(f"{name} …", flush=True)
        try:
            found = step()
        except StepFailed as error:
            print(error, flush=True)
            failed = True
            continue
        shown = {kind: len(tests) for kind, tests in found["differences"].items()}
        print(f"  {found['tests']} tests, differences: {shown or 'none'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
