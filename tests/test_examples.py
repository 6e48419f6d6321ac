"""Every block of the README and of the docs runs, and prints the output that the page shows.

The Python blocks of a page share one module, and its console blocks one folder. The `#> ` lines of
a block show its output; so do the lines below a console command (`...` replaces lines that are left
out). A Python block with `title="server.py"` is also written into the folder, and runs without the
names of the other blocks: it imports the names it uses. The commands of a page about Django run in
a copy of `examples/crm`.

A block that cannot run here has a comment in the line above it: `<!-- tested by FILE -->` or `<!--
not run: REASON -->`. JSON, TOML and YAML blocks are parsed.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(
    r"(?:^ *(?P<note><!--[^\n]*-->)\n)?"
    r"^(?P<indent> *)```(?P<kind>\w+)(?P<info>[^\n]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
PRINTED = re.compile(r"^ *#>(?: (.*))?$", re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')
TESTED = re.compile(r"<!-- tested by (tests/[\w/]+\.py) -->")
NOT_RUN = re.compile(r"<!-- not run: .{10,} -->")
INSTALL = re.compile(r"'?toolbooth(?:\[([\w,]+)\])?'?$")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    kind: str
    info: str
    note: str
    code: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}, line {self.line}"

    @property
    def runs_here(self) -> bool:
        return not self.note and self.info.strip() != "skip"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, found.start("code")),
            kind=found["kind"],
            info=found["info"],
            note=note if is_marker(note := found["note"] or "") else "",
            code=dedent(found["code"]),
        )
        for found in FENCE.finditer(text)
    ]


def is_marker(note: str) -> bool:
    return bool(TESTED.fullmatch(note) or NOT_RUN.fullmatch(note))


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
EXECUTABLE = [block for block in BLOCKS if block.kind in ("python", "console")]


def with_blocks(kinds: set[str]) -> list[Path]:
    return [page for page in PAGES if any(b.page == page and b.kind in kinds for b in BLOCKS)]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# --- running ------------------------------------------------------------------------------------

# Users copy these tools, so each parameter must show the agent the format to write.
EXAMPLES_REQUIRED = pytest.mark.filterwarnings("error::toolbooth.errors.ContractWarning")


@EXAMPLES_REQUIRED
@pytest.mark.parametrize("page", with_blocks({"python", "console"}), ids=name_of)
def test_examples_run_and_print_the_shown_output(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.syspath_prepend(tmp_path)
    for block in blocks_of(page):
        title = TITLE.search(block.info)
        if title:
            file = tmp_path / title[1]
            file.write_text(block.code, encoding="utf-8")
            # A later file of the page may import this one; other pages have files of this name.
            monkeypatch.setitem(sys.modules, file.stem, module)
            monkeypatch.delitem(sys.modules, file.stem)
        if block.runs_here and block.kind == "python":
            run = run_file if title else run_python
            run(block, module)
        if block.runs_here and block.kind == "console":
            run_console(block, tmp_path)


def run_file(block: Block, module: ModuleType) -> None:
    """Run a block that readers save as a file. Names of earlier blocks are not defined in it."""
    names = vars(module)
    earlier = {name: value for name, value in names.items() if not name.startswith("__")}
    for name in earlier:
        del names[name]
    run_python(block, module)
    for name, value in earlier.items():
        names.setdefault(name, value)


def run_python(block: Block, module: ModuleType) -> None:
    # Blank lines before it, so that the line numbers of a traceback are those of the page.
    code = compile("\n" * block.line + block.code, block.page, "exec", dont_inherit=True)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, vars(module))
    printed = [line.rstrip() for line in output.getvalue().splitlines()]
    assert printed == [line.rstrip() for line in PRINTED.findall(block.code)], block.where


def run_console(block: Block, folder: Path) -> None:
    for command, shown in commands(block.code):
        words = shlex.split(command, comments=True)
        # The destination of the output does not matter here.
        words = list(itertools.takewhile(lambda word: word not in (">", ">>"), words))
        found = printed_by(words, folder)
        if shown:
            pattern = ".*".join(re.escape(part) for part in "\n".join(shown).split("..."))
            assert re.fullmatch(pattern, found.strip(), re.DOTALL), f"{block.where}\n{found}"


def commands(code: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command and the lines below it; in a block without `$`, each line is a command."""
    lines = code.strip().splitlines()
    if not any(line.startswith("$ ") for line in lines):
        yield from ((line, []) for line in lines)
        return
    command, shown = "", []
    for line in lines:
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line.removeprefix("$ "), []
        else:
            shown.append(line)
    yield command, shown


def printed_by(words: list[str], folder: Path) -> str:
    for prefix, run in RUNNERS.items():
        if words[: len(prefix)] == list(prefix):
            return run(words, folder)
    raise AssertionError(f"no way to run {shlex.join(words)}")


def check_install(words: list[str], folder: Path) -> str:
    """Check that the extras of an install line exist; nothing is installed."""
    ours = [found for word in words[2:] if (found := INSTALL.match(word))]
    extras = [extra for found in ours for extra in (found[1] or "").split(",") if extra]
    assert ours or words[2:] == ["-e", "."], words
    assert [extra for extra in extras if extra not in EXTRAS] == [], words
    return ""


def check_target(words: list[str], folder: Path) -> str:
    """Check that the target is in the Makefile; `make check` itself runs it, or a test of it does."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{re.escape(words[1])}:", makefile, re.MULTILINE), words
    return ""


def run_command(words: list[str], folder: Path) -> str:
    """Run a command of ours as a user runs it. A server gets an empty input, which ends it."""
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    # 1: refused, or a lint, test or replay has found something.
    assert done.returncode in (0, 1), (words, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def run_manage(words: list[str], folder: Path) -> str:
    """Run a command of a Django project: the example, with its rows, in a folder of its own."""
    project = folder / "project"
    if not project.exists():
        shutil.copytree(
            ROOT / "examples" / "crm", project, ignore=shutil.ignore_patterns("*.sqlite3")
        )
        run_command([sys.executable, "manage.py", "seed"], project)
    return run_command([sys.executable, *words[1:]], project)


def environment() -> dict[str, str]:
    bins = Path(sys.executable).parent
    # Other tests of this process may have set up a Django project.
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("DJANGO")}
    return {**inherited, "PATH": f"{bins}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}


def serve_until_it_listens(words: list[str], folder: Path) -> str:
    """Start a server over HTTP on a free port, check that it listens, and stop it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    at = words.index("--http") + 1
    command = [*words[:at], str(port), *words[at + 1 :]]
    server = subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        while server.poll() is None and not listens(port):
            select.select([], [], [], 0.05)
        assert server.poll() is None, server.communicate()[0]
    finally:
        server.terminate()
        server.communicate(timeout=60)
    return ""


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run_toolbooth(words: list[str], folder: Path) -> str:
    over_http = "--http" in words
    return serve_until_it_listens(words, folder) if over_http else run_command(words, folder)


RUNNERS: dict[tuple[str, ...], Callable[[list[str], Path], str]] = {
    ("pip", "install"): check_install,
    ("make",): check_target,
    ("toolbooth",): run_toolbooth,
    ("pytest",): run_command,
    ("python", "manage.py"): run_manage,
}


# --- blocks that do not run here ----------------------------------------------------------------


def test_a_block_that_is_not_run_names_its_test_or_the_reason():
    unmarked = [
        block.where for block in EXECUTABLE if block.info.strip() == "skip" and not block.note
    ]
    assert unmarked == []


def test_each_test_named_above_a_block_exists_and_reads_the_page():
    named = [(block, found[1]) for block in BLOCKS if (found := TESTED.fullmatch(block.note))]
    assert named
    wrong = [
        block.where
        for block, test in named
        if not (ROOT / test).is_file()
        or block.page.name not in (ROOT / test).read_text(encoding="utf-8")
    ]
    assert wrong == []


def test_at_most_one_block_in_twenty_is_not_run():
    not_run = [block.where for block in EXECUTABLE if NOT_RUN.fullmatch(block.note)]
    assert len(not_run) * 20 <= len(EXECUTABLE), not_run


# --- blocks of data -----------------------------------------------------------------------------

PARSERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


@pytest.mark.parametrize("page", with_blocks(set(PARSERS)), ids=name_of)
def test_blocks_of_data_are_well_formed(page: Path):
    for block in blocks_of(page):
        if parse := PARSERS.get(block.kind):
            try:
                parse(block.code)
            except ValueError as error:
                pytest.fail(f"{block.where}: {error}")


# --- the tour -----------------------------------------------------------------------------------


def test_the_terminal_tour_runs():
    tour = subprocess.run(
        [sys.executable, ROOT / "demo" / "tour.py"], check=True, capture_output=True, text=True
    )
    assert (tour.stdout.count("  sent "), tour.stderr) == (9, "")
