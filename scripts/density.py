"""Name the places where src is too dense, or where a sentence is not in its `messages.py`.

`python scripts/density.py` reads all of src, `python scripts/density.py src/toolbooth/server` one
folder. `tests/test_house.py` runs the same checks.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "toolbooth"

WIDEST = 100
LONGEST_FILE = 400
MOST_CASTS_PER_1000_LINES = 4
FEWEST_WORDS = 5
FOLDERS_WITH_MESSAGES = {"boundary", "server", "django", "cli"}

CONDITIONAL = (ast.IfExp,)
COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """All nodes of a statement but those of the statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                waiting.append(child)


def dense_statements(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line of each statement that does too much at once, and a description of it."""
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt):
            continue
        parts = list(own_expressions(statement))
        conditionals = [part for part in parts if isinstance(part, CONDITIONAL)]
        if any(is_nested(part) for part in conditionals):
            yield statement.lineno, "nested conditional expression"
        together = len(conditionals) + sum(isinstance(part, COMPREHENSION) for part in parts)
        if together > 1:
            yield statement.lineno, f"{together} conditional expressions and comprehensions"


def is_nested(conditional: ast.AST) -> bool:
    return any(
        isinstance(part, CONDITIONAL) for part in ast.walk(conditional) if part is not conditional
    )


def casts(tree: ast.Module) -> int:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return sum(isinstance(call.func, ast.Name) and call.func.id == "cast" for call in calls)


def sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings of five words or more, without docstrings, log calls and schema descriptions."""
    passed = set(map(id, exempt(tree)))
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in passed:
            continue
        words = words_of(node)
        if words is None:
            waiting.extend(ast.iter_child_nodes(node))
        elif len(words) >= FEWEST_WORDS:
            yield node.lineno, f"a sentence: {' '.join(words[:FEWEST_WORDS])} …"


def exempt(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Call) and is_log_call(node):
            yield node
        elif isinstance(node, ast.keyword) and node.arg == "description":
            yield node.value
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (value for key, value in pairs if is_description(key))


def is_log_call(call: ast.Call) -> bool:
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    return function.value.id.strip("_").lower() in {"log", "logger"}


def is_description(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value == "description"


def words_of(node: ast.AST) -> list[str] | None:
    """The words of a string; a value put into an f-string is part of a word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        return "".join(map(str, parts)).split()
    return None


def faults(file: Path) -> Iterator[tuple[int, str]]:
    """Each fault of a file with its line."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > WIDEST:
            yield number, f"{len(line)} columns"
    if len(lines) > LONGEST_FILE:
        yield 1, f"{len(lines)} lines"
    tree = ast.parse(text)
    yield from dense_statements(tree)
    if keeps_messages(file):
        yield from sentences(tree)


def keeps_messages(file: Path) -> bool:
    """Whether the sentences of this file belong in a `messages.py`."""
    folder = file.relative_to(SOURCE).parts[0] if file.is_relative_to(SOURCE) else ""
    return folder in FOLDERS_WITH_MESSAGES and file.name != "messages.py"


def main(arguments: list[str]) -> int:
    places = [Path(each).resolve() for each in arguments] or [SOURCE]
    files = [
        file
        for place in places
        for file in ([place] if place.is_file() else sorted(place.rglob("*.py")))
    ]
    found = [(file, *fault) for file in files for fault in faults(file)]
    for file, line, text in found:
        print(f"{file.relative_to(ROOT)}:{line}: {text}")
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    total = sum(map(casts, trees))
    rate = 1000 * total / max(lines, 1)
    print(f"{len(found)} faults in {lines} lines; {total} casts, {rate:.1f} per 1,000 lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
