"""`toolbooth tools`: shows the tools as an agent sees them, with their cost in tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from toolbooth.cli import messages
from toolbooth.cli.command import Command
from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.target import Target, ask, open_target, takes_target
from toolbooth.cli.terminal import paint, width


@click.command(cls=Command, epilog=messages.EXIT_CODES)
@takes_target()
@click.argument("name", metavar="[TOOL]", required=False)
@click.option("--json", "as_json", is_flag=True, help=messages.TOOLS_JSON)
def tools(target: Target, name: str | None, as_json: bool) -> None:
    """List the tools with their cost in tokens, or show the description and the fields of TOOL.

    \b
    Examples:
      toolbooth tools server.py:mcp
      toolbooth tools https://example.org/mcp search
      toolbooth tools search -- npx -y @example/server
    """
    import orjson

    found = listed_tools(target)
    shown: Any = found
    if name is not None:
        shown = next((tool for tool in found if tool.get("name") == name), None)
        if shown is None:
            raise Mistake(messages.no_tool(name, [tool.get("name", "") for tool in found]))
    if as_json:
        click.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    lines = _listing(found) if name is None else _tool(shown)
    click.echo("\n".join(lines))


def listed_tools(target: Target) -> list[dict[str, Any]]:
    """Return the tools of a target as `tools/list` has them."""
    there = open_target(target)
    # `async with` is not needed, because a single request opens and closes its own connection.
    return ask(target, there.tools, messages.asking(target.name))


def _listing(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each tool: its tokens, its name, and the first line of its description."""
    from toolbooth.lint.listing import listing

    listed = listing(found)
    names = max((len(tool.name) for tool in listed.tools), default=0)
    for tool in listed.tools:
        first = tool.description.strip().partition("\n")[0]
        about = f"{messages.marks_of_tool(tool.entry)}{first}"
        line = f"{tool.tokens:>7,}  {tool.name:{names}}  {about}".rstrip()
        yield line if len(line) <= width() else f"{line[: width() - 1]}…"
    yield messages.tokens_of_tools(listed.tokens, len(listed.tools))


def _tool(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about one tool: its cost, its whole description, and all its fields."""
    from toolbooth.cli.schema_fields import fields
    from toolbooth.lint.listing import listing

    # The tool is read in the same way as in the linter, so that both commands show the same number
    # of tokens.
    tool = listing([found]).tools[0]
    marks = messages.marks_of_tool(found)
    yield f"{paint(tool.name, 'tool')}  {marks}{messages.tokens_of_tool(tool.tokens)}"
    for line in tool.description.strip().splitlines():
        yield f"  {line.strip()}".rstrip()
    rows = list(fields(tool.schema))
    if not rows:
        yield f"  {messages.NO_FIELDS}"
        return
    yield ""
    names = max(2 * row.depth + len(row.name) for row in rows)
    for row in rows:
        name = f"{'  ' * row.depth}{row.name}"
        words = "; ".join(word for word in (row.type, row.about) if word)
        line = f"  {name:{names}}  {words}".rstrip()
        yield line if len(line) <= width() else f"{line[: width() - 1]}…"
