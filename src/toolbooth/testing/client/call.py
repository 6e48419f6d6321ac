"""Calls a tool of a server as a client does. Returns the result that the agent sees.

No socket is used, but the result is the same. tests/testing/test_call.py compares the results with
those of real HTTP.
"""

from __future__ import annotations

import asyncio
from typing import Any

from toolbooth.adapters.connect import Served, served
from toolbooth.jsonvalue import Json
from toolbooth.server.wire_result import WireResult, read_result
from toolbooth.testing.client.delivery import Fill, Host, wire


async def call_over_wire_async(
    server: Any, tool: str, arguments: Any = None, *, host: Host = "json", fill: Fill | None = None
) -> WireResult:
    """Call a tool of any server. The arguments arrive as a real client delivers them (see `wire`).

    If `arguments` is None, no arguments are sent. Bytes are sent unchanged, as JSON text. `server`
    is a ToolRegistry, a FastMCP or an MCPServer, protected or not. To keep its lifespan open for
    several calls, use `async with served(server) as server:`.

    Raises:
        NotJson: if no client could send these arguments.
    """
    there = served(server)
    if isinstance(arguments, bytes):
        if host != "json" or fill is not None:
            raise ValueError("bytes are sent as they are: host= and fill= are for values")
        return read_result(await there.call(tool, arguments))
    # With `fill`, a model that does not want to send any argument still writes every key, with
    # null.
    if arguments is None and fill is None:
        return read_result(await there.call(tool, b""))
    schema = await _schema(there, tool) if fill is not None else None
    return read_result(
        await there.call(
            tool, wire({} if arguments is None else arguments, host, fill, schema=schema)
        )
    )


def call_over_wire(
    server: Any, tool: str, arguments: Any = None, *, host: Host = "json", fill: Fill | None = None
) -> WireResult:
    """Do the same as `call_over_wire_async`, from a sync test."""
    # `asyncio.run` raises an error here too, but its message does not name the remedy.
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("an event loop is running here: await call_over_wire_async(...)")
    return asyncio.run(call_over_wire_async(server, tool, arguments, host=host, fill=fill))


async def _schema(server: Served, tool: str) -> Json:
    schemas = {each["name"]: each["inputSchema"] for each in await server.tools()}
    if tool not in schemas:
        raise LookupError(
            f"{server.name} has no tool {tool!r}; it has {', '.join(schemas) or 'none'}"
        )
    return schemas[tool]
