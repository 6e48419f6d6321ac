"""`toolbooth call`: one call through the boundary, as the wire would bring it."""

from __future__ import annotations

import sys

import click

from toolbooth.cli.target import load_registry
from toolbooth.server.registry import UnknownTool


@click.command()
@click.argument("target", metavar="MODULE:REGISTRY")
@click.argument("tool")
@click.argument("arguments", default="{}")
@click.option("--meta", is_flag=True, help="Also print `_meta`: repairs, problems, the corrected call.")
def call(target: str, tool: str, arguments: str, meta: bool) -> None:
    """Call TOOL with ARGUMENTS (JSON; - reads standard input) and print what the agent would read.

    MODULE may also be a file: server.py:registry. Exit code 1 means that the call was refused or that the tool failed.
    """
    import orjson

    registry = load_registry(target)
    body = sys.stdin.buffer.read() if arguments == "-" else arguments.encode()
    try:
        result = registry.dispatch_bytes(tool, body)
    except UnknownTool as error:
        raise click.BadParameter(str(error)) from None
    click.echo("\n".join(part.get("text", f"[{part['type']}]") for part in result["content"]))
    if meta and "_meta" in result:
        click.echo(orjson.dumps(result["_meta"], option=orjson.OPT_INDENT_2).decode())
    sys.exit(1 if result["isError"] else 0)
