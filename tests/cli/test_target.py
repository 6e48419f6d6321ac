"""How the commands find the registry in their arguments, and their messages if there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

SERVER = """
from neighbour import GREETING
from toolbooth import ToolRegistry

registry = ToolRegistry("greetings")
number = 1

@registry.tool
def greet(name: str) -> str:
    return f"{GREETING}, {name}"
"""


def call(target: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `toolbooth call` in a folder."""
    toolbooth = Path(sys.executable).with_name("toolbooth")
    command = [toolbooth, "call", target, "greet", '{"name": "Ann"}']
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a server of loose files, and the same server in a package."""
    for folder, neighbour in (("loose", "neighbour"), ("source/shop/web", "shop.web.neighbour")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "neighbour.py").write_text('GREETING = "Hello"')
        (tmp_path / folder / "server.py").write_text(SERVER.replace("neighbour", neighbour, 1))
    for package in ("shop", "shop/web"):
        (tmp_path / "source" / package / "__init__.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("target", "folder"),
    [
        ("server:registry", "loose"),
        ("server.py:registry", "loose"),
        ("loose/server.py:registry", "."),
        ("{project}/loose/server.py:registry", "source"),
        ("shop.web.server:registry", "source"),
        ("source/shop/web/server.py:registry", "."),
    ],
)
def test_a_registry_is_found_by_module_and_by_file(target: str, folder: str, project: Path):
    found = call(target.format(project=project), project / folder)
    assert (found.stdout, found.stderr, found.returncode) == ("Hello, Ann\n", "", 0)


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (
            "server.py",
            "'server.py' does not name a server: write the file or module, a colon and the name of the variable, such as server.py:registry",
        ),
        (
            "server",
            "'server' does not name a server: write the file or module, a colon and the name of the variable, such as server:registry",
        ),
        (
            "server.py:",
            "'server.py:' does not name a server: write the file or module, a colon and the name of the variable, such as server.py:registry",
        ),
        ("sever.py:registry", "there is no file 'sever.py'"),
        ("sever:registry", "there is no module 'sever' here or on the path"),
        ("server.py:registri", "there is no 'registri' in 'server.py'; use server.py:registry"),
        (
            "server:number",
            "'number' in 'server' is of type int, not ToolRegistry or FastMCP or MCPServer or Server; use server:registry",
        ),
    ],
)
def test_wrong_target_is_reported_with_the_expected_form(target: str, told: str, project: Path):
    found = call(target, project / "loose")
    assert (found.stdout, found.stderr.splitlines()[-1], found.returncode) == (
        "",
        f"Error: {told}",
        2,
    )
