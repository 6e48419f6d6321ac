"""Messages to a small shop's server, and its answers: for the tests of `respond`."""

import asyncio
import json
from typing import Any

from toolbooth import ToolRegistry
from toolbooth.server.respond import Reply, respond, respond_sync
from toolbooth.server.revisions import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    SERVER_KEY,
    STATELESS,
    VERSION_KEY,
)

META = {
    VERSION_KEY: STATELESS[0],
    CAPABILITIES_KEY: {},
    CLIENT_KEY: {"name": "tests", "version": "1"},
}
"""The `_meta` of every request of 2026-07-28."""

SERVED = {SERVER_KEY: {"name": "shop", "version": "0.1.0"}}
"""The `_meta` of every reply of 2026-07-28."""


def message(method: Any, params: Any = None, **more: Any) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}, **more}
    ).encode()


def tool_call(name: Any, arguments: Any = None, **params: Any) -> bytes:
    return message("tools/call", {"name": name, "arguments": arguments, **params})


def routed(method: str, name: str | None = None, **more: str) -> dict[str, str]:
    """Return the headers of a request of 2026-07-28."""
    headers = {
        "mcp-protocol-version": STATELESS[0],
        "mcp-method": method,
        **({"mcp-name": name} if name else {}),
    }
    return headers | {key.replace("_", "-"): value for key, value in more.items()}


def answer(
    registry: ToolRegistry, body: bytes, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    """Return status and message of the reply, on which `respond` and `respond_sync` must agree."""

    async def ask() -> Reply:
        async with asyncio.timeout(10):
            return await respond(registry, body, headers)

    reply = asyncio.run(ask())
    assert reply.events is None
    assert respond_sync(registry, body, headers) == reply
    return reply.status, json.loads(reply.body) if reply.body else None


def result_of(registry: ToolRegistry, body: bytes, headers: dict[str, str] | None = None) -> Any:
    status, found = answer(registry, body, headers)
    assert (status, found.keys(), found["id"]) == (200, {"jsonrpc", "id", "result"}, 1)
    return found["result"]


def error_of(
    registry: ToolRegistry, body: bytes, headers: dict[str, str] | None = None
) -> tuple[int, Any, Any]:
    """Return status, id and error of an error reply."""
    status, found = answer(registry, body, headers)
    assert found.keys() == {"jsonrpc", "id", "error"}
    return status, found["id"], found["error"]


def text(words: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": error}


def shop(**how: Any) -> ToolRegistry:
    """A registry with two tools, one sync and one async."""
    registry = ToolRegistry("shop", **how)

    @registry.tool
    def add(a: int, b: int = 0) -> int:
        """Add two numbers."""
        return a + b

    @registry.tool(title="Echo", annotations={"readOnlyHint": True})
    async def echo(words: str) -> str:
        return words

    return registry


LISTED = [
    {
        "name": "add",
        "description": "Add two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 0}},
            "required": ["a"],
        },
    },
    {
        "name": "echo",
        "title": "Echo",
        "inputSchema": {
            "type": "object",
            "properties": {"words": {"type": "string"}},
            "required": ["words"],
        },
        "annotations": {"readOnlyHint": True},
    },
]
