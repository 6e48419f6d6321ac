"""The built site: no broken link, a Markdown twin of every page, and llms.txt."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_has_a_markdown_twin_that_its_html_names(site: Path):
    missing = [page for page in PAGES if not (site / page).is_file()]
    html = {page: (site / page).with_suffix(".html").read_text(encoding="utf-8") for page in PAGES}
    link = 'type="text/markdown" href="{}"'
    unnamed = [page for page, text in html.items() if link.format(Path(page).name) not in text]
    assert (missing, unnamed) == ([], [])


def test_llms_txt_lists_every_page_with_its_title(site: Path):
    listed = re.findall(
        r"^- \[.+\]\((\S+)\): ", (site / "llms.txt").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == PAGES
