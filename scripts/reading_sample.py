"""Draw texts of the project to read as somebody who has never seen it.

`docs/project/newcomer-trials.md` has the result.

`python scripts/reading_sample.py` prints 40 docstrings, 40 messages and the names of 5 pages, with
their places. `--seed N` draws others.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "toolbooth"
DOCS = ROOT / "docs"

SEED = 20261119
DOCSTRINGS, MESSAGES, PAGES = 40, 40, 5
FEWEST_WORDS = 5
"""Shorter texts are names and parts of sentences."""

WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Found(NamedTuple):
    """A text with its place."""

    place: str
    text: str


def docstrings(file: Path, tree: ast.Module) -> Iterator[Found]:
    for node in ast.walk(tree):
        if isinstance(node, WITH_DOCSTRING) and (text := ast.get_docstring(node)):
            yield Found(place(file, getattr(node, "lineno", 1)), text)


def messages(file: Path, tree: ast.Module) -> Iterator[Found]:
    """The texts of a `messages.py` that are not docstrings. A value that is put in is shown as …"""
    # An expression statement with a text is a docstring, of a function or of a constant.
    own = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    # The parts of an f-string are visited too, and are not texts of their own.
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        if (
            id(node) in own
            or id(node) in parts
            or not isinstance(node, ast.Constant | ast.JoinedStr)
        ):
            continue
        text = shown(node)
        if len(text.split()) >= FEWEST_WORDS:
            yield Found(place(file, node.lineno), text)


def shown(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    constants = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    return "".join(map(str, constants))


def place(file: Path, line: int) -> str:
    return f"{file.relative_to(ROOT)}:{line}"


def sentences(text: str) -> int:
    """How many sentences a text has, without code and tables; at least one."""
    prose = re.sub(
        r"^```.*?^```|^\|.*?$|^#.*?$|^<!--.*?$", "", text, flags=re.DOTALL | re.MULTILINE
    )
    return max(1, len(re.findall(r"[.!?](?=[\s)\"]|$)", prose)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=SEED)
    chance = random.Random(options.parse_args().seed)
    trees = {
        file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(SOURCE.rglob("*.py"))
    }
    said = [each for file, tree in trees.items() for each in docstrings(file, tree)]
    sent = [
        each
        for file, tree in trees.items()
        if file.name.endswith("messages.py")
        for each in messages(file, tree)
    ]
    pages = sorted(DOCS.rglob("*.md"))
    for title, drawn in (
        ("Docstrings", chance.sample(said, DOCSTRINGS)),
        ("Messages", chance.sample(sent, MESSAGES)),
    ):
        counted = sum(sentences(each.text) for each in drawn)
        print(f"# {title}, {counted} sentences\n")
        for each in drawn:
            print(f"{each.place}\n{each.text}\n")
    print("# Pages\n")
    for page in chance.sample(pages, PAGES):
        counted = sentences(page.read_text(encoding="utf-8"))
        print(f"{page.relative_to(ROOT)}, {counted} sentences")


if __name__ == "__main__":
    main()
