"""The house rules that no other tool holds. None of them has a list of exceptions."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from importlinter.cli import lint_imports

import toolbooth
import toolbooth.testing

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "toolbooth"
MODULES = sorted(PACKAGE.rglob("*.py"))
PUBLIC = [toolbooth, toolbooth.testing]
"""The packages that users import names from; every other one is imported by module."""

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", *sys.path])}
HOSTS = {"fastmcp", "mcp", "mcp_types", "django", "rest_framework", "pytest", "hypothesis"}
EMPTY_NAMES = {"utils", "helpers", "common", "manager", "base", "data", "info"}
# Written so that neither pattern matches itself.
INDEX_HOST = re.compile(rb"py(?:pi\.org|thonhosted\.org)|index-(?:url)\b")
MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:work|tmp|root|home|opt|Users)/")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def committed_files() -> list[Path]:
    """What git holds or would add; without git (a source archive), every file outside hidden folders."""
    git = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if git.returncode == 0:
        return [ROOT / name for name in git.stdout.split("\0") if (ROOT / name).is_file()]
    files = (path for path in ROOT.rglob("*") if path.is_file())
    return [path for path in files if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)]


def test_imports_point_down_the_layers_and_hosts_stay_in_their_folders(capsys: pytest.CaptureFixture[str]):
    exit_code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert exit_code == 0, capsys.readouterr().out


def test_importing_toolbooth_loads_no_host():
    program = "import json, sys, toolbooth; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert HOSTS & set(json.loads(loaded)) == set()


def test_importing_toolbooth_costs_nothing_before_a_name_is_used():
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
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert (HOSTS | {"asyncio", "uvicorn", "click"}) & set(json.loads(loaded)) == set()


def test_using_the_testing_names_loads_no_test_framework():
    program = (
        "import json, sys; from toolbooth.testing import call_over_wire, wire; "
        "print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert HOSTS & set(json.loads(loaded)) == set()


@pytest.mark.parametrize("package", PUBLIC, ids=lambda package: package.__name__)
def test_all_lists_exactly_the_public_names_in_order(package: ModuleType):
    for name in package.__all__:  # loaded on first use
        getattr(package, name)
    public = [
        name for name, value in vars(package).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    assert sorted(package.__all__) == sorted(public)
    assert dir(package) == sorted(package.__all__)


def test_inits_that_publish_no_names_are_only_a_docstring():
    public = [Path(package.__file__ or "") for package in PUBLIC]
    inits = [path for path in MODULES if path.name == "__init__.py" and path not in public]
    more_than_a_docstring = []
    for path in inits:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if len(tree.body) != 1 or ast.get_docstring(tree) is None:
            more_than_a_docstring.append(relative(path))
    assert more_than_a_docstring == []


def test_module_names_say_something():
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


@pytest.mark.parametrize("pattern", [INDEX_HOST, MACHINE_PATH], ids=["package-index", "machine-path"])
def test_committed_files_name_neither_a_package_index_nor_this_machine(pattern: re.Pattern[bytes]):
    named = []
    for path in committed_files():
        if path.suffix != ".md":
            named += [f"{relative(path)}: {match[0].decode()}" for match in pattern.finditer(path.read_bytes())]
    assert named == []
