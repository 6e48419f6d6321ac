"""`manage.py mcp_tools`: prints a tree of the tools that agents see, with their cost in tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser

from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.locked_names import lock_path, locked_names, text_of
from toolbooth.django.management import messages
from toolbooth.django.management.printing import PrintingCommand
from toolbooth.django.management.users import add_user, agent_of, shown_to, unlogged
from toolbooth.lint.listing import Tool, listing

_LONGEST = 60


class Command(PrintingCommand):
    """Lists the tools."""

    help = messages.TOOLS_HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="TOOL", nargs="?", help=messages.TOOLS_NAME_HELP)
        add_user(parser, "all tools are listed")
        parser.add_argument(
            "--json", action="store_true", dest="whole", help=messages.TOOLS_JSON_HELP
        )

        parser.add_argument("--lock", action="store_true", help=messages.TOOLS_LOCK_HELP)
        parser.add_argument("--check", action="store_true", help=messages.TOOLS_CHECK_HELP)

    def handle(self, *args: Any, **options: Any) -> None:
        name, username = options["name"], options["username"]
        if options["check"] and not options["lock"]:
            raise CommandError(messages.CHECK_WITHOUT_LOCK, returncode=2)
        if options["lock"] and (name or username or options["whole"]):
            raise CommandError(messages.LOCK_IS_FOR_ALL, returncode=2)
        if options["lock"]:
            self._lock(is_check=options["check"])
            return
        found = self._found(username)
        if name is not None:
            # A tool behind a dispatcher is not listed, but agents read its name in the dispatcher's
            # help.
            self._write(found.get(name) or _behind(name, username, found))
        elif options["whole"]:
            self._write(list(found.values()))
        else:
            self._tree(listing(list(found.values())).tools, username)

    def _lock(self, *, is_check: bool) -> None:
        """Write the names of all tools into mcp_names.lock. With `is_check`, only print the
        changes.
        """
        found = catalogue()
        path = lock_path(found.configuration)
        if path is None:
            raise CommandError(messages.NO_LOCK_PATH, returncode=2)
        # A file with mistakes is not overwritten: it may contain names that clients use.
        mistake = locked_names(found.configuration).mistake
        if mistake:
            raise CommandError(f"{path}: {mistake}", returncode=2)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = text_of(found.named)
        for line in _changes(before, after):
            self.stdout.write(line)
        if before == after:
            self.stdout.write(messages.names_are_locked(path, len(found.named)))
        elif is_check:
            raise CommandError(messages.names_would_change(path))
        else:
            path.write_text(after, encoding="utf-8")
            self.stdout.write(messages.names_written(path, len(found.named)))

    def _found(self, username: str | None) -> dict[str, dict[str, Any]]:
        if username is None:
            # Without a user all tools are listed, whoever may call them.
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
                # The name of a view's tool is `resource__action`; a project's own function has no
                # group.
                groups.setdefault(tool.name.rpartition("__")[0], []).append(tool)
        # This prints the dispatchers, too.
        behind = sum(self._dispatcher(tool, username) for tool in dispatchers)
        for group, members in sorted(groups.items()):
            self._heading(_tokens(members), group or "(by themselves)")
            for tool in members:
                # The heading contains the group already.
                name = tool.name.removeprefix(f"{group}__")
                self._branch(
                    f"{name}  {self.style.HTTP_INFO(_first_line(tool))}",
                    tool.tokens,
                    last=tool is members[-1],
                )
        if not dispatchers and not groups:
            self.stderr.write(messages.no_tools(username))
        every = [*dispatchers, *(tool for members in groups.values() for tool in members)]
        self.stdout.write(messages.total_cost(_tokens(every), len(every), behind))

    def _dispatcher(self, tool: Tool, username: str | None) -> int:
        """Print one dispatcher and the actions behind it. Return the number of actions."""
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


def _changes(before: str, after: str) -> Iterator[str]:
    """Yield the lines of the file that are removed, and the lines that are added."""
    old, new = before.splitlines(), after.splitlines()
    yield from (f"- {line}" for line in old if line not in set(new))
    yield from (f"+ {line}" for line in new if line not in set(old))


def _resources(name: str, username: str | None) -> dict[str, list[str]]:
    """Return the resources of a dispatcher, each with its actions."""
    table = catalogue().registry.tools[name].table
    shows = None if username is None else shown_to(username)
    found: dict[str, list[str]] = {}
    for route, tool in () if table is None else table.subs():
        if shows is None or shows(tool.name):
            # A dispatcher for one resource has routes without its name.
            found.setdefault(route.get("resource", ""), []).append(route["action"])
    return found


def _behind(name: str, username: str | None, listed: Iterable[str]) -> dict[str, Any]:
    """Return a tool of a dispatcher as `tools/list` would show it.

    Raises:
        CommandError: there is no such tool, or the user does not see it.
    """
    registry = catalogue().registry
    found = registry.hidden.get(name)
    if found is None or (username is not None and not shown_to(username)(found.name)):
        # Only names that the user sees are proposed.
        known = [*listed, *(registry.hidden if username is None else ())]
        raise CommandError(messages.no_such_tool(name, known), returncode=2)
    return found.listing()


def _tokens(tools: Iterable[Tool]) -> int:
    return sum(tool.tokens for tool in tools)


def _first_line(tool: Tool) -> str:
    line = tool.description.strip().partition("\n")[0]
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
