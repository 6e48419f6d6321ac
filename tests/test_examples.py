"""Every Python block of the README and the docs runs, and prints what it says.

The blocks of a page share one module. What a block prints stands in it as `#> ` lines. Blocks marked
`python skip` are not run.
"""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

BLOCK = re.compile(
    r"^(?P<indent> *)```python(?! skip\b)(?: .*)?\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
PRINTED = re.compile(r"^ *#>(?: (.*))?$", re.MULTILINE)


# Agents' users copy these tools: each parameter shows what to write in it.
EXAMPLES_REQUIRED = pytest.mark.filterwarnings("error::toolbooth.errors.ContractWarning")


@EXAMPLES_REQUIRED
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_run_and_print_what_they_say(page: Path, monkeypatch: pytest.MonkeyPatch):
    text = page.read_text(encoding="utf-8")
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in BLOCK.finditer(text):
        code = dedent(block["code"])
        # Blank lines before it, so that a traceback names the line of the page.
        lines_above = text.count("\n", 0, block.start("code"))
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile("\n" * lines_above + code, page, "exec", dont_inherit=True), vars(module))
        printed = [line.rstrip() for line in output.getvalue().splitlines()]
        assert printed == [line.rstrip() for line in PRINTED.findall(code)], (
            f"{page.name}, line {lines_above}"
        )


def test_the_tour_of_the_terminal_runs():
    tour = subprocess.run(
        [sys.executable, ROOT / "demo" / "tour.py"], check=True, capture_output=True, text=True
    )
    assert (tour.stdout.count("  sent "), tour.stderr) == (9, "")
