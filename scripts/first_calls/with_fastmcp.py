"""The extra `fastmcp`: a FastMCP server, protected, called by FastMCP's own client."""

import asyncio
from typing import Any

from fastmcp import Client, FastMCP

from toolbooth import protect

server = protect(FastMCP("shop"))


@server.tool
def add_item(name: str, count: int = 1) -> str:
    """Add an item to the order."""
    return f"{count} x {name}"


async def answers() -> tuple[Any, Any]:
    async with Client(server) as client:
        right = await client.call_tool("add_item", {"name": "tea", "count": "2"})
        wrong = await client.call_tool("add_item", {"data": {"name": "tea"}}, raise_on_error=False)
    return right, wrong


right, wrong = asyncio.run(answers())
assert right.content[0].text == "2 x tea", right
assert wrong.is_error, wrong
assert "Send" in wrong.content[0].text, wrong
