"""The inventory on Toolbooth's own server: `toolbooth serve on_toolbooth.py:registry [--http PORT]`."""

from store import Store
from tools import INSTRUCTIONS, Inventory

from toolbooth import ToolRegistry

registry = ToolRegistry("inventory", instructions=INSTRUCTIONS)
for tool, annotations in Inventory(Store.from_environment()).tools():
    registry.tool(annotations=annotations)(tool)
