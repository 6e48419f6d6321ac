"""The extra `testing`: the shapes of agents and the pytest plugin, on a registry."""

import sys
from pathlib import Path

import pytest

from toolbooth import ToolRegistry
from toolbooth.testing import call_over_wire

SERVER = '''
from toolbooth import ToolRegistry

registry = ToolRegistry("shop")

@registry.tool
def add_item(name: str, count: int = 1) -> str:
    """Add an item to the order."""
    return f"{count} x {name}"
'''

registry = ToolRegistry("shop")


@registry.tool
def add_item(name: str, count: int = 1) -> str:
    """Add an item to the order."""
    return f"{count} x {name}"


right = call_over_wire(registry, "add_item", {"name": "tea", "count": "2"})
wrong = call_over_wire(registry, "add_item", {"data": {"name": "tea"}})
assert right.text == "2 x tea", right
assert wrong.is_error, wrong

Path("shop.py").write_text(SERVER, encoding="utf-8")
sys.path.insert(0, "")
assert pytest.main(["-q", "--toolbooth", "shop.py:registry"]) == pytest.ExitCode.OK
