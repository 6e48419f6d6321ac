"""The list of the hosts' tests that differ, and how it is compared with the results."""

import importlib
from typing import Any

import pytest

peers, measured = map(importlib.import_module, ("peers", "measured"))


def entry(tests: str, kind: str = "law") -> Any:
    return peers.Difference(suite="mcp", tests=tests, kind=kind, reason="so")


def test_each_entry_has_a_known_kind_and_suite_a_reason_and_one_file():
    packages = {suite.package for suite in peers.SUITES}
    for each in peers.differences():
        assert each.kind in peers.KINDS
        assert each.suite in packages
        assert each.reason.endswith(".")
        file, _, test = each.tests.partition("::")
        assert file.endswith(".py")
        assert "*" not in file
        assert test


@pytest.mark.parametrize(
    ("pattern", "test", "same"),
    [
        ("tests/a.py::test_x", "tests/a.py::test_x", True),
        ("tests/a.py::*::test_x", "tests/a.py::TestA::test_x", True),
        ("tests/a.py::test_x*", "tests/a.py::test_x[one-two]", True),
        ("tests/a.py::test_x[one]", "tests/a.py::test_x[one]", True),
        ("tests/a.py::test_x[one]", "tests/a.py::test_xo", False),
        ("tests/a.py::test_x", "tests/a.py::test_xy", False),
    ],
)
def test_a_pattern_matches_test_ids(pattern: str, test: str, same: bool):
    assert peers.kind_of(test, [entry(pattern)]) == ("law" if same else None)


def test_a_difference_that_is_not_listed_fails_with_its_text():
    again = {"tests/a.py::test_x": {"outcome": "failed", "text": "assert 1 == 2"}}
    with pytest.raises(
        measured.StepFailed, match=r"not listed: tests/a\.py::test_x\nassert 1 == 2"
    ):
        peers._check({"tests/a.py::test_x": None}, [], again)


def test_an_entry_whose_tests_do_not_differ_fails():
    with pytest.raises(measured.StepFailed, match=r"the same on both: tests/a\.py::test_x"):
        peers._check({"tests/a.py::test_y": "law"}, [entry("tests/a.py::test_x")], {})


def test_differences_are_counted_by_suite_and_kind():
    figures = {
        "1": {"suite": "S", "tests": 5, "skipped": 1, "fail on both": 0, "differences": {}},
        "2": {
            "suite": "S",
            "tests": 3,
            "skipped": 0,
            "fail on both": 1,
            "differences": {"law": ["a", "b"], "schema": ["c"]},
        },
    }
    assert peers.rows(figures) == [("S", 8, 1, 1, 2, 0, 1, 0)]
