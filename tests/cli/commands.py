"""Runs the commands for their tests: the console script, in a process of its own."""

import subprocess
import sys
from pathlib import Path

TOOLBOOTH = str(Path(sys.executable).with_name("toolbooth"))
LIMIT = 120

SHOP = """
from typing import Literal
from toolbooth import ToolRegistry

server = ToolRegistry("shop")

@server.tool
def order(item: str, count: int = 1) -> str:
    '''Order something.'''
    print("printed by a tool")
    with open("orders.txt", "a") as orders:
        orders.write(item)
    return f"{count} {item}"

@server.tool(annotations={"readOnlyHint": True})
def price(item: str, unit: Literal["piece", "kilo"] = "piece") -> str:
    '''The price of something.'''
    return f"1 per {unit} of {item}"
"""


def toolbooth(folder: Path, *words: str, sent: str = "") -> tuple[int, str, str]:
    """Return the exit code, standard output, and standard error without the lines of progress."""
    done = subprocess.run(
        [TOOLBOOTH, *words],
        cwd=folder,
        input=sent,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    lines = [line for line in done.stderr.splitlines() if not line.endswith(" ...")]
    return done.returncode, done.stdout, "\n".join(lines)
