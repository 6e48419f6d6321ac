"""The house rules that no other tool enforces. None of them has a list of exceptions."""

import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tokenize
from pathlib import Path
from types import ModuleType

import density
import pytest

import toolbooth
import toolbooth.django
import toolbooth.publish
import toolbooth.testing

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "toolbooth"
MODULES = sorted(PACKAGE.rglob("*.py"))
PUBLIC = [toolbooth, toolbooth.django, toolbooth.publish, toolbooth.testing]
"""The packages that users import names from. From all others, names are imported by module."""

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", *sys.path])}
HOSTS = {"fastmcp", "mcp", "mcp_types", "django", "rest_framework", "pytest", "hypothesis"}
EMPTY_NAMES = {"utils", "helpers", "common", "manager", "base", "data", "info"}
# Written so that neither pattern matches this file.
INDEX_HOST = re.compile(rb"py(?:pi\.org|thonhosted\.org)|index-(?:url)\b")
MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:work|tmp|root|home|opt|Users)/")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def committed_files() -> list[Path]:
    """Return all files that git tracks or would add; without git (a source archive), every file
    outside hidden folders.
    """
    git = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if git.returncode == 0:
        return [ROOT / name for name in git.stdout.split("\0") if (ROOT / name).is_file()]
    files = (path for path in ROOT.rglob("*") if path.is_file())
    return [
        path
        for path in files
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    ]


def test_imports_point_down_the_layers_and_hosts_stay_in_their_folders():
    # In a process of its own, because import-linter disables existing loggers.
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
    ]
    options = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--no-logo"]
    done = subprocess.run([*command, *options], env=ENV, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_importing_toolbooth_loads_no_host():
    program = "import json, sys, toolbooth; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert HOSTS & set(json.loads(loaded)) == set()


def test_importing_toolbooth_loads_nothing_until_a_name_is_used():
    program = (
        "import json, sys; before = set(sys.modules); import toolbooth; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", program], check=True, capture_output=True, text=True, env=ENV
    ).stdout
    assert {name.partition(".")[0] for name in json.loads(loaded)} & {
        "pydantic",
        "pydantic_core",
        "jiter",
        "asyncio",
    } == set()


def test_using_the_sync_names_loads_neither_a_host_nor_an_event_loop():
    program = (
        "import json, sys; from toolbooth import compile_function, handle_bytes; "
        "print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert (HOSTS | {"asyncio", "uvicorn", "click"}) & set(json.loads(loaded)) == set()


@pytest.mark.parametrize("package", PUBLIC, ids=lambda package: package.__name__)
def test_all_lists_exactly_the_public_names_in_order(package: ModuleType):
    for name in package.__all__:  # loaded on first use
        getattr(package, name)
    public = [
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    assert sorted(package.__all__) == sorted(public)
    assert set(package.__all__) <= set(dir(package))


def test_inits_that_publish_no_names_are_only_a_docstring():
    public = [Path(package.__file__ or "") for package in PUBLIC]
    inits = [path for path in MODULES if path.name == "__init__.py" and path not in public]
    more_than_a_docstring = []
    for path in inits:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if len(tree.body) != 1 or ast.get_docstring(tree) is None:
            more_than_a_docstring.append(relative(path))
    assert more_than_a_docstring == []


def test_no_module_has_a_vague_name():
    names = {path: set(path.relative_to(PACKAGE).with_suffix("").parts) for path in MODULES}
    assert [relative(path) for path, parts in names.items() if parts & EMPTY_NAMES] == []


def test_no_import_is_guarded_by_try():
    guarded = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Try | ast.TryStar):
                inside = (child for statement in node.body for child in ast.walk(statement))
                guarded += [
                    f"{relative(path)}:{child.lineno}"
                    for child in inside
                    if isinstance(child, ast.Import | ast.ImportFrom)
                ]
    assert guarded == []


@pytest.mark.parametrize(
    "pattern", [INDEX_HOST, MACHINE_PATH], ids=["package-index", "machine-path"]
)
def test_committed_files_name_neither_a_package_index_nor_this_machine(pattern: re.Pattern[bytes]):
    named = []
    for path in committed_files():
        if path.suffix != ".md":
            named += [
                f"{relative(path)}: {match[0].decode()}"
                for match in pattern.finditer(path.read_bytes())
            ]
    assert named == []


LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)\s]*)?\)")
"""A relative link in Markdown."""
MENTION = re.compile(r"(?<![\w/.-])(docs/[\w./-]*\w|evidence/[\w-]+\.md)")
"""The path of a page from the root, or the name of an evidence page, in any text file."""
# Written so that the pattern does not match this file.
NUMBERED_SOURCE = re.compile(r"seed[ _]0[0]", re.IGNORECASE)


def committed_texts() -> dict[Path, str]:
    texts: dict[Path, str] = {}
    for path in committed_files():
        with contextlib.suppress(UnicodeDecodeError):
            texts[path] = path.read_text(encoding="utf-8")
    return texts


def is_page(mention: str) -> bool:
    return (ROOT / mention).exists() or (ROOT / "docs" / "project" / mention).exists()


def test_the_files_that_relative_links_name_exist():
    pages = {path: text for path, text in committed_texts().items() if path.suffix == ".md"}
    missing = [
        f"{relative(path)}: {link}"
        for path, text in pages.items()
        for link in LINK.findall(text)
        if not (path.parent / link).exists()
    ]
    assert missing == []


def test_documents_that_are_mentioned_exist():
    missing = [
        f"{relative(path)}: {mention}"
        for path, text in committed_texts().items()
        for mention in MENTION.findall(text)
        if not is_page(mention)
    ]
    assert missing == []


def test_sources_have_names_that_readers_can_look_up():
    evidence = ROOT / "docs" / "project" / "evidence"
    numbered = [
        relative(path)
        for path, text in committed_texts().items()
        if evidence not in path.parents and NUMBERED_SOURCE.search(text)
    ]
    assert numbered == []


# --- plain English --------------------------------------------------------------------------------

DIALECT = {
    r"what": 1.0,
    r"told|tells?|said|says?": 0.3,
    r"stands?": 0.2,
    r"goes on|go on|comes? to|leads? to": 0.2,
    r"(?<!there )is no [a-z]+": 0.3,
    r"whoever|nobody|whatever": 0.3,
}
"""Words of the old dialect, and how many per 1,000 words of docstrings and comments there may be.

A ratchet: lower a figure when the share gets lower, never raise one.
"""


BESIDE_THE_PACKAGE = ("examples", "demo", "scripts", "bench", "oracle", "wild")
"""Folders with fewer words, which are counted together: in one of them alone, a single word could
exceed a figure.
"""


def modules_in(*folders: str) -> list[Path]:
    python = [path for path in committed_files() if path.suffix == ".py"]
    return [path for path in python if path.relative_to(ROOT).parts[0] in folders]


def prose(modules: list[Path]) -> str:
    """Every docstring and comment of these modules, in lower case."""
    found = []
    for path in modules:
        source = path.read_text(encoding="utf-8")
        owners = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, owners)]
        found += [ast.get_docstring(node) or "" for node in nodes]
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        found += [token.string for token in tokens if token.type == tokenize.COMMENT]
    return " ".join(found).lower()


@pytest.mark.parametrize(
    "modules",
    [MODULES, modules_in(*BESIDE_THE_PACKAGE), modules_in("tests")],
    ids=["src", "beside-src", "tests"],
)
def test_the_share_of_dialect_words_does_not_grow(modules: list[Path]):
    text = prose(modules)
    words = len(re.findall(r"\w+", text))
    shares = {
        pattern: 1000 * len(re.findall(rf"\b(?:{pattern})\b", text)) / words for pattern in DIALECT
    }
    assert {
        pattern: round(share, 1) for pattern, share in shares.items() if share > DIALECT[pattern]
    } == {}


LEAST_COMMENTS = 4.0
"""Comment lines per 100 lines of `src`."""
# A directive for a tool and a line between sections explain nothing.
NOT_A_COMMENT = re.compile(r"#\s*(?:noqa|type:|pyright:|pragma|fmt:|---)")


def comment_lines(source: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    return sum(NOT_A_COMMENT.match(comment.string) is None for comment in comments)


def test_comments_explain_the_code_often_enough():
    sources = [path.read_text(encoding="utf-8") for path in MODULES]
    lines = sum(len(source.splitlines()) for source in sources)
    assert 100 * sum(map(comment_lines, sources)) / lines >= LEAST_COMMENTS


def test_directives_and_section_lines_do_not_count_as_comments():
    source = "# --- a section ---\nimport a  # noqa: F401\n# Because b.\nb = 1  # type: ignore[x]\n"
    assert comment_lines(source) == 1


# --- density --------------------------------------------------------------------------------------


def test_no_line_statement_or_file_is_too_dense_and_sentences_are_in_messages():
    found = [(relative(path), *fault) for path in MODULES for fault in density.faults(path)]
    assert found == []


def test_casts_are_rare():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES)
    assert sum(map(density.casts, trees)) <= density.MOST_CASTS_PER_1000_LINES * lines / 1000


def test_no_test_file_is_too_long():
    files = (ROOT / "tests").rglob("*.py")
    lengths = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name: length for name, length in lengths.items() if length > 600} == {}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x = 1 if a else 2", []),
        ("x = 1 if a else 2 if b else 3", ["nested conditional expression", "2 conditional"]),
        ("x = [1 if a else 2 for a in b]", ["2 conditional"]),
        ("x = [a for a in b]\ny = [a for a in b]", []),
        ("for a in (b for b in c):\n    x = [a for a in b]", []),
        ("def f(a=[b for b in c if (d if e else f)]): ...", ["2 conditional"]),
    ],
)
def test_density_counts_within_one_statement(code: str, found: list[str]):
    texts = [text for _, text in density.dense_statements(ast.parse(code))]
    assert len(texts) == len(found)
    assert all(text.startswith(start) for text, start in zip(texts, found, strict=True))


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ('"""One two three four five."""', 0),
        ('def f():\n    """One two three four five."""', 0),
        ('x = "one two three four"', 0),
        ('x = "one two three four five"', 1),
        ('raise ValueError(f"one {two} three {four} five")', 1),
        ('x = {"description": "one two three four five"}', 0),
        ('x = Field(description="one two three four five")', 0),
        ('_log.warning("one two three four five", x)', 0),
        ('print("one two " "three four five")', 1),
    ],
)
def test_sentences_are_strings_of_five_words_outside_docstrings(code: str, number: int):
    assert len(list(density.sentences(ast.parse(code)))) == number
