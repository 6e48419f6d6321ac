"""`manage.py mcp_tools`: what agents are shown, as a tree, with what it costs them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolbooth.django.catalogue import catalogue
from toolbooth.django.management.users import add_user, agent_of, unlogged
from toolbooth.lint.listing import Tool, listing

_LONGEST = 60


class Command(BaseCommand):
    """Lists the tools."""

    help = "List the tools with their cost in tokens (bytes / 4), or show one of them whole."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="TOOL", nargs="?", help="Show this one as `tools/list` gives it.")
        add_user(parser, "all tools are listed")
        parser.add_argument("--json", action="store_true", dest="whole", help="Print all of them so.")

    def handle(self, *args: Any, **options: Any) -> None:
        found = self._found(options["username"])
        if options["name"] is not None:
            found = {name: tool for name, tool in found.items() if name == options["name"]}
            if not found:
                raise CommandError(f"there is no tool {options['name']!r}; without a name all are listed", returncode=2)
        if options["whole"] or options["name"]:
            shown: Any = list(found.values()) if options["name"] is None else found[options["name"]]
            self.stdout.write(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
            return
        self._tree(listing(list(found.values())).tools)

    def _found(self, username: str | None) -> dict[str, dict[str, Any]]:
        if username is None:
            return {name: tool.listing() for name, tool in catalogue().registry.tools.items()}
        try:
            with unlogged():
                return agent_of(username).tools()
        except PermissionError as error:
            raise CommandError(str(error)) from None

    def _tree(self, tools: Iterable[Tool]) -> None:
        groups: dict[str, list[Tool]] = {}
        for tool in tools:
            groups.setdefault(tool.name.rpartition("__")[0], []).append(tool)
        for group, members in sorted(groups.items()):
            self.stdout.write(self.style.MIGRATE_HEADING(f"{_tokens(members):>8,}  {group or '(by themselves)'}"))
            for tool in members:
                branch = "└──" if tool is members[-1] else "├──"
                name = tool.name.removeprefix(f"{group}__")
                self.stdout.write(f"{tool.tokens:>8,}  {branch} {name}  {self.style.HTTP_INFO(_first(tool))}")
        every = [tool for members in groups.values() for tool in members]
        self.stdout.write(f"{_tokens(every):>8,}  tokens for {len(every):,} tools (bytes / 4)")


def _tokens(tools: Iterable[Tool]) -> int:
    return sum(tool.tokens for tool in tools)


def _first(tool: Tool) -> str:
    said = tool.description.strip().partition("\n")[0]
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
