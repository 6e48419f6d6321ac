"""`manage.py mcp_tools`: what agents are shown, as a tree, with what it costs them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.management.users import add_user, agent_of, shown_to, unlogged
from toolbooth.lint.listing import Tool, listing

_LONGEST = 60


class Command(BaseCommand):
    """Lists the tools."""

    help = "List the tools with their cost in tokens (bytes / 4), or show one of them whole."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "name", metavar="TOOL", nargs="?", help="Show this one as `tools/list` gives it."
        )
        add_user(parser, "all tools are listed")
        parser.add_argument(
            "--json", action="store_true", dest="whole", help="Print all of them so."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name, username = options["name"], options["username"]
        found = self._found(username)
        if name is not None:
            self._write(found.get(name) or _behind(name, username))
        elif options["whole"]:
            self._write(list(found.values()))
        else:
            self._tree(listing(list(found.values())).tools, username)

    def _found(self, username: str | None) -> dict[str, dict[str, Any]]:
        if username is None:
            return {name: tool.listing() for name, tool in catalogue().registry.tools.items()}
        try:
            with unlogged():
                return agent_of(username).tools()
        except PermissionError as error:
            raise CommandError(str(error)) from None

    def _write(self, shown: Any) -> None:
        self.stdout.write(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())

    def _tree(self, tools: Iterable[Tool], username: str | None) -> None:
        groups: dict[str, list[Tool]] = {}
        dispatchers: list[Tool] = []
        for tool in tools:
            if catalogue().registry.tools[tool.name].is_dispatcher:
                dispatchers.append(tool)
            else:
                groups.setdefault(tool.name.rpartition("__")[0], []).append(tool)
        behind = sum(self._dispatcher(tool, username) for tool in dispatchers)
        for group, members in sorted(groups.items()):
            self._heading(_tokens(members), group or "(by themselves)")
            for tool in members:
                name = tool.name.removeprefix(f"{group}__")
                self._branch(
                    f"{name}  {self.style.HTTP_INFO(_first(tool))}",
                    tool.tokens,
                    last=tool is members[-1],
                )
        every = [*dispatchers, *(tool for members in groups.values() for tool in members)]
        more = f", with {behind:,} more behind" if behind else ""
        counted = f"{len(every):,} tool{'' if len(every) == 1 else 's'}"
        self.stdout.write(f"{_tokens(every):>8,}  tokens for {counted}{more} (bytes / 4)")

    def _dispatcher(self, tool: Tool, username: str | None) -> int:
        """One tool with the actions behind it, and how many these are."""
        self._heading(tool.tokens, tool.name)
        resources = _resources(tool.name, username)
        for resource, actions in resources.items():
            words = f"{resource}: {', '.join(actions)}" if resource else ", ".join(actions)
            self._branch(words, last=resource == list(resources)[-1])
        return sum(map(len, resources.values()))

    def _heading(self, tokens: int, words: str) -> None:
        self.stdout.write(self.style.MIGRATE_HEADING(f"{tokens:>8,}  {words}"))

    def _branch(self, words: str, tokens: int | None = None, *, last: bool) -> None:
        cost = "" if tokens is None else f"{tokens:,}"
        self.stdout.write(f"{cost:>8}  {'└──' if last else '├──'} {words}")


def _resources(name: str, username: str | None) -> dict[str, list[str]]:
    """What is behind a dispatcher: each resource with its actions."""
    table = catalogue().registry.tools[name].table
    shows = None if username is None else shown_to(username)
    found: dict[str, list[str]] = {}
    for way, tool in () if table is None else table.subs():
        if shows is None or shows(tool):
            found.setdefault(way.get("resource", ""), []).append(way["action"])
    return found


def _behind(name: str, username: str | None) -> dict[str, Any]:
    """A tool that stands behind a dispatcher, as `tools/list` would show it. Raises CommandError."""
    found = catalogue().registry.hidden.get(name)
    if found is None or (username is not None and not shown_to(username)(found)):
        raise CommandError(
            f"there is no tool {name!r}; without a name all are listed", returncode=2
        )
    return found.listing()


def _tokens(tools: Iterable[Tool]) -> int:
    return sum(tool.tokens for tool in tools)


def _first(tool: Tool) -> str:
    said = tool.description.strip().partition("\n")[0]
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
