"""`toolbooth call`: one call of a tool, as the wire would bring it."""

from __future__ import annotations

import sys
from typing import Any

import click

from toolbooth.cli import messages
from toolbooth.cli.target import load_server


@click.command()
@click.argument("target", metavar="MODULE:SERVER")
@click.argument("tool")
@click.argument("arguments", default="{}")
@click.option("--meta", is_flag=True, help=messages.CALL_META)
def call(target: str, tool: str, arguments: str, meta: bool) -> None:
    """Call TOOL with ARGUMENTS (JSON; - reads standard input) and print what the agent would read.

    MODULE may also be a file: server.py:registry. SERVER is a ToolRegistry, a FastMCP server or one
    of the official SDK. Exit code 1 means that the call was refused or that the tool failed.
    """
    import orjson

    server = load_server(target)
    body = sys.stdin.buffer.read() if arguments == "-" else arguments.encode()
    result = _result(server, tool, body)
    click.echo("\n".join(part.get("text", f"[{part['type']}]") for part in result["content"]))
    if meta and "_meta" in result:
        click.echo(orjson.dumps(result["_meta"], option=orjson.OPT_INDENT_2).decode())
    sys.exit(1 if result.get("isError") else 0)


def _result(server: Any, tool: str, body: bytes) -> dict[str, Any]:
    """The tool result. Raises click's own error where there is no such tool."""
    import asyncio

    from toolbooth.adapters.connect import served
    from toolbooth.server.listed_tools import UnknownTool
    from toolbooth.server.registry import ToolRegistry

    if isinstance(server, ToolRegistry):
        try:
            return server.call_bytes(tool, body)
        except UnknownTool as error:
            raise click.BadParameter(messages.unknown_tool(error)) from None
    result = asyncio.run(served(server).call(tool, body))
    if "error" in result:
        raise click.BadParameter(result["error"]["message"])
    return result
