"""Ctrl-C while a tool or a module of this process does not stop: exit code 130, and no output."""

import contextlib
import signal
import subprocess
from pathlib import Path

import pytest

from commands import LIMIT, TOOLBOOTH

SLOW = """
import sys, threading
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from toolbooth import ToolRegistry, protect

def slow(n: int = 1) -> str:
    "Never ends."
    print("started", file=sys.stderr, flush=True)
    threading.Event().wait()
    return ""

registry = ToolRegistry("r")
registry.tool(slow)
fast = protect(FastMCP("f"))
fast.tool(slow)
sdk = protect(MCPServer("s"))
sdk.tool()(slow)
"""
SLOW_MODULE = """
import sys, threading
print("started", file=sys.stderr, flush=True)
threading.Event().wait()
"""


@pytest.mark.parametrize(
    "words",
    [
        ["call", "slow.py:registry", "slow"],
        ["call", "slow.py:fast", "slow"],
        ["call", "slow.py:sdk", "slow"],
        ["test", "slow.py:registry", "--allow", "slow"],
        ["test", "slow.py:fast", "--allow", "slow"],
        ["lint", "module.py:server"],
        ["tools", "module.py:server"],
        ["serve", "module.py:server", "--http", "0"],
        ["replay", "calls.jsonl", "module.py:server"],
    ],
    ids=" ".join,
)
def test_ctrl_c_ends_a_command_whose_tool_or_module_does_not_stop(words: list[str], tmp_path: Path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "module.py").write_text(SLOW_MODULE)
    (tmp_path / "calls.jsonl").write_text('{"tool": "slow", "arguments": {}}\n')
    pipe = subprocess.PIPE
    command = [TOOLBOOTH, *words]
    with subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == "started\n"
        error = interrupted(child)
    assert (child.returncode, error) == (130, "")


def interrupted(child: subprocess.Popen[str]) -> str:
    """Press Ctrl-C, again if nothing happens, and return the program's standard error.

    The kernel seldom gives the signal to a thread other than the main one. Then the main thread of
    a Python program does not wake up before the next signal.
    """
    try:
        for _ in range(3):
            child.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.communicate(timeout=LIMIT / 3)[1]
        raise AssertionError("the program still runs")
    finally:
        child.kill()
