"""`make count`: figures are compared with the accepted ones. `make check` makes the real counts."""

import importlib.util
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def loaded() -> Any:
    """bench/count.py is imported by path: with its folder on `sys.path`, names like `calls` would
    clash.
    """
    spec = importlib.util.spec_from_file_location("count_of_bench", ROOT / "bench" / "count.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


count = loaded()


def test_five_percent_more_instructions_are_accepted_and_six_are_not():
    before = {"flat": 100_000, "contact": 100_000, "records": 100_000}
    now = {"flat": 105_000, "contact": 106_000, "records": 90_000}
    assert count.dearer(before, now) == ["contact"]


def test_a_scenario_without_an_accepted_figure_is_named():
    assert count.dearer({"flat": 100}, {"flat": 100, "nested": 1}) == ["nested"]


def test_the_table_shows_the_change_of_each_scenario():
    lines = count.table({"flat": 2_000}, {"flat": 2_100, "new": 7}).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["flat", "2,000", "2,100", "+5.0%"],
        ["new", "7"],
    ]


def test_accepted_figures_are_written_with_their_versions_and_every_reason(
    tmp_path: Path, monkeypatch: Any
):
    monkeypatch.setattr(count, "RESULT", tmp_path / "count.json")
    count.accept(count.accepted_result(), {"flat": 10}, "first figures")
    count.accept(count.accepted_result(), {"flat": 20}, "a check more")
    written = json.loads((tmp_path / "count.json").read_text())
    assert written["instructions"] == {"flat": 20}
    assert written["versions"] == count.versions()
    assert [each["reason"] for each in written["accepted"]] == ["first figures", "a check more"]


def test_the_committed_figures_name_their_versions_and_have_a_reason():
    written = json.loads((ROOT / "bench" / "results" / "count.json").read_text())
    assert written["versions"].keys() == count.versions().keys()
    assert written["instructions"]
    assert all(each["reason"] for each in written["accepted"])
