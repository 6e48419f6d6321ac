"""The examples for CI: each is parsed, and each of its commands runs on a small project."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "examples" / "ci"
BIN = Path(sys.executable).parent

SERVER = '''
from toolbooth import ToolRegistry

registry = ToolRegistry("shop")


@registry.tool
def add_item(name: str, count: int = 1) -> str:
    """Add an item to the order."""
    return f"{count} x {name}"
'''
REFUSED = '{"tools": [{"name": "t", "description": "Does it."}]}'


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of an example as a shell would."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    return subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True)


def workflow_steps() -> list[dict[str, Any]]:
    text = (CI / "github-workflow.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["jobs"]["tools"]["steps"]


def local_hooks() -> list[dict[str, Any]]:
    text = (CI / "pre-commit-config.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["repos"][0]["hooks"]


def published_hook() -> dict[str, Any]:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return hook


COMMANDS = [each["run"] for each in workflow_steps() if "run" in each] + [
    each["entry"] for each in local_hooks()
]


@pytest.mark.parametrize("command", [each for each in COMMANDS if not each.startswith("pip ")])
def test_a_command_of_the_examples_passes_on_a_good_server(command: str, tmp_path: Path):
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_uploads_the_file_that_the_lint_writes(tmp_path: Path):
    steps = {each["name"]: each for each in workflow_steps() if "name" in each}
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    run(steps["Lint"]["run"], tmp_path)
    uploaded = tmp_path / steps["Show the findings"]["with"]["sarif_file"]
    assert json.loads(uploaded.read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_the_workflow_installs_extras_that_exist():
    [install] = [each["run"] for each in workflow_steps() if each.get("name") == "Install"]
    requirement = shlex.split(install)[-1]
    assert requirement == "toolbooth[cli,mcp,testing]"


def test_the_published_hook_lints_the_target_in_its_arguments(tmp_path: Path):
    hook = published_hook()
    assert (hook["id"], hook["language"], hook["pass_filenames"]) == (
        "toolbooth-lint",
        "python",
        False,
    )
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    (tmp_path / "tools.json").write_text(REFUSED, encoding="utf-8")
    assert run(f"{hook['entry']} server.py:registry", tmp_path).returncode == 0
    assert run(f"{hook['entry']} tools.json", tmp_path).returncode == 1
