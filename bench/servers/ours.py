"""Toolbooth's own server."""

from collections.abc import Iterable

from servers.tools import Function

from toolbooth import ToolRegistry
from toolbooth.server import asgi, stdio


def registry(tools: Iterable[Function]) -> ToolRegistry:
    made = ToolRegistry("bench")
    for tool in tools:
        made.tool(tool)
    return made


def application(tools: Iterable[Function]) -> asgi.Application:
    return asgi.app(registry(tools))


def serve_stdio(tools: Iterable[Function]) -> None:
    stdio.serve(registry(tools))
