"""`toolbooth replay`: its output and its exit codes."""

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


def test_exit_code_of_replay_shows_whether_calls_changed(tmp_path: Path):
    (tmp_path / "calls.jsonl").write_text('{"tool": "take", "arguments": {"value": 1}}\n')
    (tmp_path / "server.py").write_text(SERVER.format(limit=10))
    asked = ("calls.jsonl", "server.py:registry")
    assert replay(tmp_path, *asked) == (0, "1 of 1 calls mean the same.\n", "")
    assert replay(tmp_path, *asked, "--update") == (
        0,
        "1 of 1 calls mean the same.\ncalls.jsonl now contains today's results.\n",
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
        "To accept the changes: toolbooth replay calls.jsonl server.py:registry --update\n",
        "",
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            ("no.jsonl", "server.py:registry"),
            "there is no file 'no.jsonl'; `toolbooth.testing.record_calls` writes such files",
        ),
        (("bad.jsonl", "server.py:registry"), "line 1: not an object"),
        (
            ("calls.jsonl", "server.py:shop"),
            "there is no 'shop' in 'server.py'; use server.py:registry",
        ),
    ],
    ids=["no-file", "bad-line", "no-server"],
)
def test_replay_that_cannot_compare_exits_with_2(asked: tuple[str, str], told: str, tmp_path: Path):
    (tmp_path / "calls.jsonl").write_text('{"tool": "take", "arguments": {"value": 1}}\n')
    (tmp_path / "bad.jsonl").write_text("[]")
    (tmp_path / "server.py").write_text(SERVER.format(limit=10))
    code, out, error = replay(tmp_path, *asked)
    assert (code, out, error.splitlines()[-1].endswith(told)) == (2, "", True)
