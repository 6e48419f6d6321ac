"""The docs cover every public name, code and setting, and the project pages name code that exists."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
import reference_docs

import toolbooth
from toolbooth import testing
from toolbooth.boundary.repairs import CLIENT_KEYS, RepairCode
from toolbooth.errors import ProblemCode

DOCS = Path(__file__).resolve().parent.parent / "docs"
ROOT = DOCS.parent
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md")))


@pytest.mark.parametrize(
    "names",
    [toolbooth.__all__, get_args(ProblemCode), get_args(RepairCode), sorted(CLIENT_KEYS)],
    ids=["public-names", "problem-codes", "repair-codes", "client-keys"],
)
def test_docs_mention_every_public_name_and_code(names):
    assert [name for name in names if f"`{name}`" not in TEXT] == []


# --- where tool authors find the wire contract and the test helper ---


def test_the_front_page_links_every_start_page():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in (DOCS / "start").glob("*.md")]
    assert [page for page in pages if f"]({page})" not in index] == []


def test_the_readme_shows_protect_and_the_refused_call_by_line_25():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    beginning = "\n".join(lines[:25])
    expected = ("pip install", "protect(FastMCP(", "toolbooth call", "Refused: 1 problem")
    assert [each for each in expected if each not in beginning] == []


# --- the reference ---


@pytest.mark.parametrize("name", reference_docs.PAGES)
def test_generated_reference_pages_are_up_to_date(name: str):
    """If this fails: `python scripts/reference_docs.py --write`."""
    written = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert written == generated(name)


def generated(name: str) -> str:
    """Render the page in a process of its own, where no Django project is set up."""
    script = ROOT / "scripts" / "reference_docs.py"
    command = [sys.executable, script, "--print", name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_public_api_page_has_every_public_name():
    names = {*toolbooth.__all__, *testing.__all__}
    listed = {name for _, _, group in reference_docs.GROUPS for name in group}
    assert names - listed == set()


def test_every_setting_has_a_description():
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    assert [text.split("\n")[0] for text in sections if text.split("\n")[2][:1] in ("", "-")] == []


def test_the_codes_page_has_a_row_for_each_code():
    page = (DOCS / "reference" / "codes.md").read_text(encoding="utf-8")
    problems, repairs = (
        re.findall(r"^\| `([\w-]+)` \|", part, re.MULTILINE) for part in page.split("\n## ")[1:3]
    )
    assert sorted(problems) == sorted(get_args(ProblemCode))
    assert sorted(repairs) == sorted(get_args(RepairCode))


@pytest.mark.parametrize(
    "page", ["../README.md", "guides/serving.md", "guides/fastmcp.md", "guides/mcp-sdk.md"]
)
def test_pages_for_tool_authors_link_the_wire_contract_and_the_test_helper(page: str):
    text = (DOCS / page).read_text(encoding="utf-8")
    expected = ("wire-contract.md)", "testing.md)", "`call_over_wire")
    assert [each for each in expected if each not in text] == []


@pytest.mark.parametrize(
    "owner",
    [toolbooth.ToolRegistry, toolbooth.ToolRegistry.tool, toolbooth.compile_function],
    ids=lambda owner: owner.__qualname__,
)
def test_docstrings_for_tool_authors_name_the_wire_contract_and_the_test_helper(owner: Any):
    text = inspect.getdoc(owner) or ""
    expected = ("docs/reference/wire-contract.md", "toolbooth.testing.call_over_wire")
    assert [each for each in expected if each not in text] == []


# --- security ---


def test_no_row_is_cut_off_from_its_table():
    row, rule = re.compile(r"^\|.*\|$"), re.compile(r"^\|[\s:|-]+\|$")
    cut_off: list[str] = []
    for page in sorted(DOCS.rglob("*.md")):
        text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        lines = ["", *text.splitlines(), ""]
        # The first row of a table is its head, and has a rule below it.
        starts = [at for at in range(1, len(lines) - 1) if row.match(lines[at])]
        starts = [at for at in starts if not row.match(lines[at - 1])]
        cut_off += [f"{page}: {lines[at]}" for at in starts if not rule.match(lines[at + 1])]
    assert cut_off == []


def test_every_promise_about_security_names_tests_that_exist():
    page = (DOCS / "reference" / "security.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "|---" not in line]
    promises = [row for row in rows if not row.endswith("| tests |")]
    files = [re.findall(r"`(tests/[\w/]+\.py)`", row) for row in promises]
    assert [row for row, named in zip(promises, files, strict=True) if not named] == []
    assert [each for named in files for each in named if not (DOCS.parent / each).is_file()] == []


# --- the map of the code ---

PACKAGE = ROOT / "src" / "toolbooth"
PROJECT_PAGES = sorted((DOCS / "project").rglob("*.md"))
CODE_FILE = re.compile(r"(?<![\w/.-])((?:[\w-]+/)*[\w-]+\.(?:py|toml))\b")
FUNCTION = re.compile(r"\b(\w+)\(\)")


def code_file(name: str) -> Path | None:
    return next((folder / name for folder in (PACKAGE, ROOT) if (folder / name).is_file()), None)


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


@pytest.mark.parametrize("page", PROJECT_PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_code_that_project_pages_name_exists(page: Path):
    """A function in a line, `name()`, is looked up in the last file named before it in that line."""
    missing: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        files = [(found.start(), found[1]) for found in CODE_FILE.finditer(line) if "/" in found[1]]
        missing += [name for _, name in files if code_file(name) is None]
        for function in FUNCTION.finditer(line):
            before = [code_file(name) for start, name in files if start < function.start()]
            if before and before[-1] is not None and function[1] not in names_in(before[-1]):
                missing.append(f"{before[-1].relative_to(ROOT)}: {function[1]}()")
    assert missing == []
