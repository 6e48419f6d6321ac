"""A user's program, type-checked against the package as it is installed: strict, with Pyright."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from typing import Annotated, assert_type

from fastmcp import FastMCP
from pydantic import BaseModel
from toolbooth import ToolRegistry, Unpack, protect
from toolbooth import Registry

class Order(BaseModel):
    customer: str

registry = ToolRegistry("shop", profile="exakt")

@registry.tool
def place(order: Annotated[Order, Unpack()]) -> int:
    return len(order.customer)

assert_type(place(Order(customer="Ann")), int)
assert_type(protect(FastMCP("shop")).name, str)
place("Ann")
registry.tool("place")
print(Registry)
"""

SOURCE = Path(__file__).resolve().parent.parent / "src"


def test_types_of_a_users_program_are_known_and_its_mistakes_are_found(tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    options = {"typeCheckingMode": "strict", "extraPaths": [str(SOURCE)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(options))
    python = ["--pythonpath", sys.executable]
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", *python, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = PROGRAM.splitlines()
    marked = {(lines[each["range"]["start"]["line"]], each.get("rule")) for each in found}
    assert marked == {
        ("from toolbooth import Registry", "reportAttributeAccessIssue"),
        ("from toolbooth import Registry", "reportUnknownVariableType"),
        ('registry = ToolRegistry("shop", profile="exakt")', "reportArgumentType"),
        ('place("Ann")', "reportArgumentType"),
        ('registry.tool("place")', "reportArgumentType"),
        ('registry.tool("place")', "reportCallIssue"),
        ("print(Registry)", "reportUnknownArgumentType"),
    }
