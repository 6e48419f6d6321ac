"""`make long`: parts run step by step, continue after an interruption, and are named when out of
date.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))  # as `python scripts/long.py` does
long, long_parts, measured = map(importlib.import_module, ("long", "long_parts", "measured"))

RESULT = "/".join(("docs", "measured", "counting.json"))


def listed(figures: dict[str, Any]) -> str:
    return "".join(f"- {name}: {each['length']}\n" for name, each in figures.items())


class Counting:
    """A part of three steps that counts how often each is run; `broken` steps fail."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.broken: set[str] = set()
        self.parts = {"counting": self.part()}

    def part(self) -> Any:
        return measured.Part(
            name="counting",
            title="Counting",
            about="Steps are counted.",
            covers=("src/**/*.py",),
            packages=("pytest",),
            steps=lambda: {name: self.step(name) for name in ("one", "two", "three")},
            table=listed,
        )

    def step(self, name: str) -> Callable[[], dict[str, Any]]:
        def run() -> dict[str, Any]:
            self.ran.append(name)
            if name in self.broken:
                raise measured.StepFailed("what it printed")
            return {"length": len(name)}

        return run


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one covered file, and not a repository."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "covered.py").write_text("x = 1\n")
    return tmp_path


@pytest.fixture
def repository(root: Path) -> Path:
    git(root, "init", "-q")
    git(root, "add", "src")
    git(root, "commit", "-q", "-m", "first")
    return root


def git(root: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words]
    return subprocess.check_output(command, cwd=root, text=True).strip()


def result(root: Path) -> dict[str, Any]:
    return json.loads((root / RESULT).read_text(encoding="utf-8"))


def test_a_part_writes_its_figures_date_commit_and_versions(repository: Path, counting: Counting):
    days = {datetime.now(UTC).date().isoformat()}
    assert long.main(["counting"], counting.parts, repository) == 0
    days.add(datetime.now(UTC).date().isoformat())  # midnight may have passed
    found = result(repository)
    assert found["date"] in days
    assert (found["commit"], found["uncommitted"]) == (git(repository, "rev-parse", "HEAD"), [])
    assert found["packages"] == {"pytest": version("pytest")}
    assert listed(found["figures"]) == "- one: 3\n- two: 3\n- three: 5\n"
    assert not (repository / ".long/counting.json").exists()


def test_the_page_is_made_from_the_figures(root: Path, counting: Counting):
    long.main([], counting.parts, root)
    page = (root / RESULT).with_suffix(".md").read_text(encoding="utf-8")
    assert "# Counting\n\nSteps are counted.\n\n- one: 3\n- two: 3\n- three: 5\n" in page
    assert "at no commit" in page
    assert "make long ARGS=counting" in page


def test_stopped_part_continues_at_the_step_that_failed(
    root: Path, counting: Counting, capsys: Any
):
    counting.broken = {"two"}
    assert long.main(["counting"], counting.parts, root) == 1
    assert "counting: two failed\nwhat it printed" in capsys.readouterr().out
    counting.broken.clear()
    assert long.main(["counting"], counting.parts, root) == 0
    assert counting.ran == ["one", "two", "two", "three"]
    assert "counting: continues, 1 of 3 steps are done" in capsys.readouterr().out
    assert list(result(root)["figures"]) == ["one", "two", "three"]


def test_fresh_starts_over(root: Path, counting: Counting):
    counting.broken = {"two"}
    long.main(["counting"], counting.parts, root)
    counting.broken.clear()
    long.main(["counting", "--fresh"], counting.parts, root)
    assert counting.ran == ["one", "two", "one", "two", "three"]


def test_a_part_starts_over_when_a_covered_file_has_changed(root: Path, counting: Counting):
    counting.broken = {"two"}
    long.main(["counting"], counting.parts, root)
    counting.broken.clear()
    (root / "src" / "covered.py").write_text("x = 2\n")
    long.main(["counting"], counting.parts, root)
    assert counting.ran == ["one", "two", "one", "two", "three"]


def test_unknown_part_is_reported_with_the_nearest_name(
    counting: Counting, root: Path, capsys: Any
):
    with pytest.raises(SystemExit) as ended:
        long.main(["couting"], counting.parts, root)
    assert ended.value.code == 2
    told = "no part 'couting'; did you mean 'counting'? There are counting."
    assert told in capsys.readouterr().err
    assert counting.ran == []


def test_the_parts_are_listed(counting: Counting, root: Path, capsys: Any):
    assert long.main(["--list"], counting.parts, root) == 0
    assert capsys.readouterr().out == "  counting    Counting\n"


# --- stale results ------------------------------------------------------------------------------


def warned(counting: Counting, root: Path, capsys: Any) -> str:
    capsys.readouterr()
    assert long.main(["--stale"], counting.parts, root) == 0
    return capsys.readouterr().out


COMMAND = "\n         measure again: make long ARGS=counting\n"


def changed_since(root: Path, files: str) -> str:
    told = f"{RESULT} is of {result(root)['date']}; changed since then: {files}"
    return f"warning: {told}{COMMAND}"


def test_a_result_of_unchanged_files_is_not_reported_as_stale(
    repository: Path, counting: Counting, capsys: Any
):
    long.main([], counting.parts, repository)
    (repository / "README.md").write_text("not covered\n")
    assert warned(counting, repository, capsys) == ""


def test_a_stale_result_is_reported_with_the_files_that_changed_since_its_commit(
    repository: Path, counting: Counting, capsys: Any
):
    long.main([], counting.parts, repository)
    (repository / "src" / "covered.py").write_text("x = 2\n")
    assert warned(counting, repository, capsys) == changed_since(repository, "src/covered.py")


def test_a_stale_result_is_reported_without_git_too(root: Path, counting: Counting, capsys: Any):
    long.main([], counting.parts, root)
    (root / "src" / "covered.py").unlink()
    assert warned(counting, root, capsys) == changed_since(root, "files that it covers")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "does not exist yet"),
        ("no JSON", "cannot be read: JSONDecodeError"),
        ("{}", "cannot be read: KeyError('files')"),
    ],
    ids=["missing", "no-json", "other-json"],
)
def test_a_result_that_cannot_be_parsed_is_reported(
    text, told, root: Path, counting: Counting, capsys
):
    path = root / RESULT
    if text is not None:
        path.parent.mkdir(parents=True)
        path.write_text(text)
    found = warned(counting, root, capsys)
    assert found.startswith(f"warning: {RESULT} {told}")
    assert found.endswith(COMMAND)


# --- the real parts -----------------------------------------------------------------------------


@pytest.mark.parametrize("part", long_parts.PARTS.values(), ids=lambda part: part.name)
def test_each_pattern_of_a_part_covers_a_file(part: Any):
    assert [pattern for pattern in part.covers if not any(ROOT.glob(pattern))] == []


def test_each_page_is_made_from_its_figures():
    folders = measured.Folders(ROOT)
    for part in long_parts.PARTS.values():
        path = folders.result(part.name)
        if path.exists():
            record = json.loads(path.read_text(encoding="utf-8"))
            page = path.with_suffix(".md").read_text(encoding="utf-8")
            assert page == measured.page(part, record)


def test_the_tests_that_make_test_skips_exist(request: pytest.FixtureRequest):
    table = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py")).LONG
    missing = [
        f"{file}::{name}"
        for file, names in table.items()
        for name in names
        if f"def {name}(" not in (ROOT / "tests" / file).read_text(encoding="utf-8")
    ]
    assert missing == []


def test_the_large_hosts_page_lists_exactly_the_hosts_that_were_run():
    hosts = importlib.import_module("hosts_large")
    keys = (*hosts.ACTIONS, *hosts.CALLS, *hosts.MALFORMED, *hosts.START)
    counts = dict.fromkeys(keys, 0)
    figures = {f"pretix: {kind}": counts for kind in hosts.KINDS}
    figures["pretix: actions"] = {
        **counts,
        "versions": {"pretix": "2026.8.0"},
        "reasons": {"it takes a file": 1},
        "errors of lint in what the host decides": {"open-map": 2},
    }
    figures["pretix: cost"] = {"list": dict.fromkeys(hosts.COST, 1.5), "seconds": 3}
    page = long_parts.HOSTS.table(figures)
    assert "| endpoints | pretix |" in page
    assert "| pretix, writes | 0 |" in page
    assert "| pretix, list | 1.5 |" in page
    assert "| then the whole list, CPU seconds | 0 |" in page
    assert page.endswith(
        "- pretix, 1 endpoints left out: it takes a file.\n"
        "- pretix, errors of lint in what the project itself decides: open-map 2.\n"
    )


def test_the_doctor_page_quotes_each_report_unchanged():
    doctor = importlib.import_module("doctor_hosts")
    lines = ["toolbooth 0.1.0", "", "0 errors"]
    figures = {"package": "pretix 2026.8.0", "command": "mcp_doctor --as ann", "lines": lines}
    assert doctor.PART.table({"pretix": {**figures, "seconds": 1}}) == (
        "## pretix 2026.8.0\n\n3 lines:\n\n"
        "```text\n$ manage.py mcp_doctor --as ann\ntoolbooth 0.1.0\n\n0 errors\n```\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
@pytest.mark.parametrize("transport", ["stdio", "HTTP"])
def test_the_memory_of_a_server_is_measured_while_it_answers(transport: str):
    memory = importlib.import_module("memory")
    figures = memory.measure(transport, calls=300, warm=300)
    size = figures["first_mb"]
    assert figures == {"calls": 300, **dict.fromkeys(memory.SIZES, size)}
    assert 10 < size < 500
    page = memory.PART.table({transport: {**figures, "seconds": 1}})
    assert page.endswith(f"| {transport} | 300 |{f' {size} MB |' * 4} 1 |\n")


def test_the_kills_page_lists_every_kill_point_and_the_database_version():
    kills = importlib.import_module("kills")
    figures = dict.fromkeys(kills.COLUMNS, 7) | {"PostgreSQL": "15.20"}
    page = kills.PART.table(dict.fromkeys(kills.NUMBER, figures))
    assert "\n| between commit and answer | 7 |" in page
    assert "\n| at any moment | 7 |" in page
    assert page.endswith("\n\nThe database: PostgreSQL 15.20.\n")
