"""A server, a tool and arguments go in; what the agent sees comes out. No socket, and nothing that
one would change.

Held to real HTTP, result by result: tests/testing/test_call.py.
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
    """Call a tool of any server with what a real client delivers for these arguments (see `wire`).

    None sends no arguments; bytes are sent as they are, as JSON text. `server` is a ToolRegistry, a
    FastMCP or an MCPServer, protected or not. Calls share what its lifespan holds within `async
    with served(server) as server:`.

    Raises:
        NotJson: the arguments hold what no client can send.
    """
    there = served(server)
    if isinstance(arguments, bytes):
        if host != "json" or fill is not None:
            raise ValueError("bytes are sent as they are: host= and fill= are for values")
        return read_result(await there.call(tool, arguments))
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
    """`call_over_wire_async` for tests that are not async."""
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
