"""`toolbooth tools`: what an agent is shown."""

from __future__ import annotations

from typing import Any

import click

from toolbooth.cli import messages
from toolbooth.cli.target import load_server


@click.command()
@click.argument("target", metavar="MODULE:SERVER")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help=messages.TOOLS_JSON)
def tools(target: str, name: str | None, as_json: bool) -> None:
    """List the tools of MODULE:SERVER, or show the fields of the one called NAME.

    MODULE may also be a file: server.py:registry.
    """
    import asyncio

    import orjson

    from toolbooth.adapters.connect import served

    found = asyncio.run(served(load_server(target)).tools())
    if name is not None:
        found = [tool for tool in found if tool["name"] == name]
        if not found:
            raise click.BadParameter(messages.no_tool(name))
    if as_json:
        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    for tool in found:
        click.echo(f"{tool['name']}{_first_line(tool)}")
        if name is not None:
            for field, schema in tool["inputSchema"].get("properties", {}).items():
                must = "" if field in tool["inputSchema"].get("required", ()) else "?"
                click.echo(f"  {field}{must}: {_type(schema)}{_first_line(schema)}")


def _first_line(described: dict[str, Any]) -> str:
    """The first line of a description."""
    first = (described.get("description") or "").strip().partition("\n")[0]
    return f"  {first}" if first else ""


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    kind: Any = schema.get("type", "any")
    return kind if isinstance(kind, str) else " | ".join(kind)
