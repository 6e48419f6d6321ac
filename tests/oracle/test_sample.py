"""The schemas that the oracle gets, and the page with its results. `make oracle` itself runs the
SDKs.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/measured/oracle.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def sample() -> dict[str, Any]:
    """Return the schemas by group and name. The program ends with an error if a call does not match
    its label in the sample.
    """
    command = [sys.executable, str(ROOT / "oracle/sample.py")]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def test_every_construct_has_correct_and_incorrect_calls(sample: dict[str, Any]):
    few = [
        name
        for name, each in sample["constructs"].items()
        if len(each["valid"]) < 2 or not each["invalid"]
    ]
    assert few == []
    assert len(sample["constructs"]) >= 60


def test_every_tool_of_the_examples_has_correct_calls(sample: dict[str, Any]):
    tools = {group: every for group, every in sample.items() if group != "constructs"}
    assert list(tools) == ["inventory", "recon"]
    assert [
        name for every in tools.values() for name, each in every.items() if len(each["valid"]) < 2
    ] == []


def test_page_lists_exactly_the_schemas_of_the_sample(sample: dict[str, Any]):
    _, _, told = PAGE.partition("### Constructs")
    told, _, _ = told.partition("<!-- written by make oracle: end -->")
    assert sorted(re.findall(r"`(\w+)`", told)) == sorted(
        name for every in sample.values() for name in every
    )


def test_the_page_names_the_versions_that_are_run():
    pins = re.findall(
        r'^    "\w+": \(\s*"([^"]+)"', (ROOT / "oracle/environments.py").read_text(), re.MULTILINE
    )
    assert len(pins) == 6
    assert [pin for pin in pins if f"`{pin}`" not in PAGE] == []


def test_the_page_has_no_converter_that_raises_on_the_portable_form():
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| (\d+) \|", PAGE, re.MULTILINE)
    assert [name for _, name, raises in rows if raises != "0"] == []
    assert len(rows) == 16
    assert re.findall(r"\| E", PAGE) == []
