"""Print the figures of the code as a table, to compare this clone with other commits.

`python scripts/code_figures.py COMMIT` prints that commit and this clone side by side.
`docs/project/figures.md` keeps one such table.
"""

import ast
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCK = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
BRANCH = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert)
COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Module(NamedTuple):
    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


def modules(source: Path) -> list[Module]:
    found: list[Module] = []
    for file in sorted(source.rglob("*.py")):
        name = ".".join(file.relative_to(source.parent).with_suffix("").parts)
        text = file.read_text(encoding="utf-8")
        found.append(Module(name.removesuffix(".__init__"), text, ast.parse(text)))
    return found


def nodes(code: list[Module], kind: type | tuple[type, ...]) -> Iterator[ast.AST]:
    for module in code:
        yield from (node for node in ast.walk(module.tree) if isinstance(node, kind))


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes inside it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTION, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def complexity(function: ast.AST) -> int:
    """McCabe's complexity as radon counts it, with boolean operators and comprehensions."""
    total = 1
    for node in own_nodes(function):
        if isinstance(node, BRANCH):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
        elif isinstance(node, ast.Match):
            total += len(node.cases)
    return total


def depth(node: ast.AST) -> int:
    """The depth of nested blocks; an `elif` is as deep as its `if`."""
    if isinstance(node, (*FUNCTION, ast.ClassDef)):
        return 0
    below = max(map(depth, ast.iter_child_nodes(node)), default=0)
    alone = isinstance(node, ast.If) and len(node.orelse) == 1
    if alone and isinstance(node.orelse[0], ast.If):
        inside = max(map(depth, node.body), default=0)
        return max(1 + inside, depth(node.orelse[0]))
    return below + isinstance(node, BLOCK)


def imports(module: Module) -> set[str]:
    """The modules of the package that a module imports at its top."""
    found: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("toolbooth"):
            found.add(str(node.module))
            found.update(f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            found.update(each.name for each in node.names if each.name.startswith("toolbooth"))
    return found


def most_imports(code: list[Module]) -> str:
    names = {module.name for module in code}
    counts = [(len(imports(module) & names), module.name) for module in code]
    number, name = max(counts)
    return f"{number} ({name.removeprefix('toolbooth.')})"


def inner_imports(code: list[Module]) -> int:
    total = 0
    for function in nodes(code, FUNCTION):
        for node in own_nodes(function):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("toolbooth"):
                total += 1
    return total


def cycles(code: list[Module]) -> int:
    """The number of groups of modules that import one another in a cycle."""
    names = {module.name for module in code}
    edges = {module.name: imports(module) & names - {module.name} for module in code}
    reached = {name: reach(edges, name) for name in names}
    circular = {name for name in names if name in reached[name]}
    groups = {
        frozenset(n for n in circular if n in reached[m] and m in reached[n]) for m in circular
    }
    return len(groups)


def reach(edges: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(edges[name])
    return seen


def documented(code: list[Module]) -> str:
    public: list[ast.AST] = []
    for module in code:
        public += public_names(module.tree)
    share = sum(ast.get_docstring(node) is not None for node in public) / len(public)
    return f"{len(public)}, {share:.0%}"


def public_names(scope: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (*FUNCTION, ast.ClassDef)) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_names(node)


def per_1000(count: int, code: list[Module]) -> str:
    return f"{1000 * count / total_lines(code):.1f}"


def total_lines(code: list[Module]) -> int:
    return sum(module.lines for module in code)


def nested_conditionals(code: list[Module]) -> int:
    outer = nodes(code, ast.IfExp)
    inner = [[n for n in ast.walk(node) if isinstance(n, ast.IfExp)] for node in outer]
    return sum(len(each) > 1 for each in inner)


def calls_of(code: list[Module], name: str) -> int:
    calls = nodes(code, ast.Call)
    return sum(isinstance(c.func, ast.Name) and c.func.id == name for c in calls)


def quantiles(values: Iterable[int]) -> str:
    ordered = sorted(values)
    last = len(ordered) - 1
    picked = [ordered[round(last * share)] for share in (0.5, 0.9, 0.99, 1)]
    return " / ".join(map(str, picked))


def complexities(code: list[Module]) -> str:
    values = [complexity(function) for function in nodes(code, FUNCTION)]
    over = sum(value > 10 for value in values) / len(values)
    return f"{statistics.mean(values):.1f}; {over:.1%}; {max(values)}"


def nesting(code: list[Module]) -> str:
    values = [max(map(depth, function.body)) for function in nodes(code, FUNCTION)]
    return f"{max(values)}, {sum(value >= 4 for value in values)}"


def sizes(code: list[Module]) -> list[int]:
    return [module.lines for module in code]


def median_and_large(code: list[Module]) -> str:
    large = sum(size > 400 for size in sizes(code))
    return f"{statistics.median(sizes(code)):.0f}, {large}"


def comments(code: list[Module]) -> str:
    lines = (line.strip() for module in code for line in module.text.splitlines())
    return f"{100 * sum(line.startswith('#') for line in lines) / total_lines(code):.1f}"


def wide(code: list[Module]) -> str:
    lines = (line for module in code for line in module.text.splitlines())
    return f"{100 * sum(len(line) > 100 for line in lines) / total_lines(code):.1f} %"


FIGURES: dict[str, Callable[[list[Module]], object]] = {
    "files / lines": lambda code: f"{len(code)} / {total_lines(code):,}",
    "median file, files over 400 lines": median_and_large,
    "largest file": lambda code: max(sizes(code)),
    "lines of a function, p50 / p90 / p99 / max": lambda code: quantiles(
        function.end_lineno - function.lineno + 1 for function in nodes(code, FUNCTION)
    ),
    "deepest nesting, functions of 4 and more": nesting,
    "complexity: mean; over 10; max": complexities,
    "import cycles": cycles,
    "own imports inside functions": inner_imports,
    "most own imports in one module": most_imports,
    "public names, documented": documented,
    "comment lines per 100 lines": comments,
    "lines over 100 columns": wide,
    "conditional expressions per 1,000 lines": lambda code: per_1000(
        len(list(nodes(code, ast.IfExp))), code
    ),
    "comprehensions per 1,000 lines": lambda code: per_1000(
        len(list(nodes(code, COMPREHENSION))), code
    ),
    "nested conditional expressions": nested_conditionals,
    "`cast` per 1,000 lines": lambda code: per_1000(calls_of(code, "cast"), code),
}
"""The rows of the table; each takes the modules of `src`."""


def column(root: Path) -> list[str]:
    code = modules(root / "src" / "toolbooth")
    tests = modules(root / "tests")
    values = [str(figure(code)) for figure in FIGURES.values()]
    return [*values, f"{total_lines(tests) / total_lines(code):.2f}", mocks(tests)]


def mocks(tests: list[Module]) -> str:
    functions = [each.name for each in nodes(tests, FUNCTION)]
    number = sum(name.startswith("test_") for name in functions)
    text = "\n".join(module.text for module in tests)
    patched = text.count("monkeypatch.setattr") + text.count("mock.patch")
    return f"{100 * patched / number:.1f}"


def checkout(commit: str, folder: Path) -> Path:
    """Unpack a commit of this repository into a folder."""
    packed = subprocess.run(
        ["git", "archive", commit, "src", "tests"], cwd=ROOT, check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder


def main(commits: list[str]) -> None:
    columns: list[list[str]] = []
    for commit in commits:
        with tempfile.TemporaryDirectory() as folder:
            columns.append(column(checkout(commit, Path(folder))))
    columns.append(column(ROOT))
    rows = [*FIGURES, "lines of tests ÷ lines of code", "patches per 100 test functions"]
    print(f"| | {' | '.join([*commits, 'now'])} |")
    print("|---" * (len(columns) + 1) + "|")
    for row, *values in zip(rows, *columns, strict=True):
        print(f"| {row} | {' | '.join(values)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
