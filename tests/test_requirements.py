"""docs/project/requirements.md names tests and pages that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "project" / "requirements.md"
TEXT = PAGE.read_text(encoding="utf-8")

# A vertical bar inside a cell is escaped.
CELL = re.compile(r"(?<!\\)\|")
NUMBER = re.compile(r"[NAPF]\d+")
TEST = re.compile(r"`(tests/[^`]+\.py)::([^`]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)\s]+))?\)")


def rows() -> list[list[str]]:
    """Return the cells of each requirement."""
    tables = [line for line in TEXT.splitlines() if line.startswith("| ")]
    split = [[cell.strip() for cell in CELL.split(line)[1:-1]] for line in tables]
    return [cells for cells in split if NUMBER.fullmatch(cells[0])]


ROWS = rows()
EVERY_ROW = pytest.mark.parametrize("cells", ROWS, ids=lambda cells: cells[0])


@cache
def defined_in(file: str) -> frozenset[str]:
    """Return the tests that a file defines."""
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = [node.name for node in tree.body if isinstance(node, functions)]
    return frozenset(name for name in names if name.startswith("test_"))


def anchors_in(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as MkDocs makes them."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    words = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[\s-]+", "-", each) for each in words}


def test_each_document_has_its_requirements_in_order():
    numbers = [cells[0] for cells in ROWS]
    counts = {letter: sum(each[0] == letter for each in numbers) for letter in "NAPF"}
    assert numbers == [
        f"{letter}{number}" for letter, count in counts.items() for number in range(1, count + 1)
    ]
    assert sum(counts.values()) >= 75


@EVERY_ROW
def test_every_requirement_names_tests_that_exist(cells: list[str]):
    assert len(cells) == 5
    named = TEST.findall(cells[3])
    assert named
    assert [f"{file}::{test}" for file, test in named if test not in defined_in(file)] == []


def test_every_linked_page_exists():
    missing: list[str] = []
    for link, anchor in LINK.findall(TEXT):
        page = PAGE.parent / link
        if not page.is_file() or (anchor and anchor not in anchors_in(page)):
            missing.append(f"{link}#{anchor}")
    assert missing == []
