"""Toolbooth's own server."""

import warnings
from collections.abc import Iterable

import orjson
from servers.tools import Function

from toolbooth import ContractWarning, ToolRegistry
from toolbooth.server import asgi, stdio
from toolbooth.server.respond import respond_sync

# The models have a list without an example. With a thousand tools, that is five hundred warnings.
warnings.simplefilter("ignore", ContractWarning)


def registry(tools: Iterable[Function]) -> ToolRegistry:
    made = ToolRegistry("bench")
    for tool in tools:
        made.tool(tool)
    return made


def application(tools: Iterable[Function]) -> asgi.Application:
    return asgi.app(registry(tools))


def serve_stdio(tools: Iterable[Function]) -> None:
    stdio.serve(registry(tools))


def list_all(made: ToolRegistry) -> int:
    """Write the whole list, page by page. Returns the number of tools."""
    listed = 0
    params: dict[str, str] | None = {}
    while params is not None:
        sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
        result = orjson.loads(respond_sync(made, orjson.dumps(sent)).body)["result"]
        listed += len(result["tools"])
        cursor = result.get("nextCursor")
        params = None if cursor is None else {"cursor": cursor}
    return listed
