"""Print the largest files and functions of src, for a reader to judge: over 400 or 60 lines, look
for a way to split them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 8


def files() -> Iterator[tuple[int, str]]:
    for path in (ROOT / "src").rglob("*.py"):
        yield len(path.read_text(encoding="utf-8").splitlines()), str(path.relative_to(ROOT))


def functions() -> Iterator[tuple[int, str]]:
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield lines, f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def show(title: str, rooms: Iterator[tuple[int, str]]) -> None:
    print(title)
    for lines, name in sorted(rooms, reverse=True)[:SHOWN]:
        print(f"  {lines:5}  {name}")


if __name__ == "__main__":
    show("Largest files (lines)", files())
    show("Largest functions (lines)", functions())
