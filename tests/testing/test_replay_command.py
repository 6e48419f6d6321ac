"""`toolbooth replay`: what it prints, and how it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

SERVER = """
from toolbooth import ToolRegistry
registry = ToolRegistry("shop")

@registry.tool
def take(value: int, limit: int = {limit}) -> str:
    raise SystemExit("a tool was run")
"""


def replay(folder: Path, *words: str) -> tuple[int, str, str]:
    toolbooth = Path(sys.executable).with_name("toolbooth")
    done = subprocess.run([toolbooth, "replay", *words], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_the_command_tells_by_its_exit_code(tmp_path: Path):
    (tmp_path / "calls.jsonl").write_text('{"tool": "take", "arguments": {"value": 1}}\n')
    (tmp_path / "server.py").write_text(SERVER.format(limit=10))
    asked = ("calls.jsonl", "server.py:registry")
    assert replay(tmp_path, *asked) == (0, "1 of 1 calls mean the same.\n", "")
    assert replay(tmp_path, *asked, "--update") == (
        0,
        "1 of 1 calls mean the same.\ncalls.jsonl now holds what is made of them today.\n",
        "",
    )
    (tmp_path / "server.py").write_text(SERVER.format(limit=20))
    assert replay(tmp_path, *asked) == (
        1,
        "take: passed → other values (line 1)\n"
        '  sent {"value":1}\n'
        "  $.limit: 10 → 20\n"
        "  The tool now gets something else for the same call.\n"
        "\n"
        "0 of 1 calls mean the same.\n"
        "If that is meant: toolbooth replay calls.jsonl server.py:registry --update\n",
        "",
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            ("no.jsonl", "server.py:registry"),
            "Invalid value for 'CALLS.jsonl': File 'no.jsonl' does not exist.",
        ),
        (("bad.jsonl", "server.py:registry"), "line 1: not an object"),
        (("calls.jsonl", "server.py:shop"), "'shop' in 'server.py' is missing; there is registry"),
    ],
    ids=["no-file", "bad-line", "no-server"],
)
def test_what_cannot_be_compared_has_an_exit_code_of_its_own(
    asked: tuple[str, str], told: str, tmp_path: Path
):
    (tmp_path / "calls.jsonl").write_text('{"tool": "take", "arguments": {"value": 1}}\n')
    (tmp_path / "bad.jsonl").write_text("[]")
    (tmp_path / "server.py").write_text(SERVER.format(limit=10))
    code, out, error = replay(tmp_path, *asked)
    assert (code, out, error.splitlines()[-1].endswith(told)) == (2, "", True)
