"""Toolbooth without any extra: a registry answers a right call and refuses a wrong one."""

from toolbooth import ToolRegistry

registry = ToolRegistry("shop")


@registry.tool
def add_item(name: str, count: int = 1) -> str:
    """Add an item to the order."""
    return f"{count} x {name}"


right = registry.call("add_item", {"name": "tea", "count": "2"})
wrong = registry.call("add_item", {"data": {"name": "tea"}})
assert right["content"][0]["text"] == "2 x tea", right
assert wrong["isError"], wrong
assert '{"name":"tea"}' in wrong["content"][0]["text"].replace(" ", ""), wrong
