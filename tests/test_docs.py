"""The docs say everything that users can meet: every public name, every code, every client key."""

from pathlib import Path
from typing import get_args

import pytest

import toolbooth
from toolbooth.boundary.decode import CLIENT_KEYS, RepairCode
from toolbooth.errors import ProblemCode

DOCS = Path(__file__).resolve().parent.parent / "docs"
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md")))


@pytest.mark.parametrize(
    "names",
    [toolbooth.__all__, get_args(ProblemCode), get_args(RepairCode), sorted(CLIENT_KEYS)],
    ids=["public-names", "problem-codes", "repair-codes", "client-keys"],
)
def test_the_docs_mention_every_one_of_them(names):
    assert [name for name in names if f"`{name}`" not in TEXT] == []
