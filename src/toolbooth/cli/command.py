"""Defines the parts that all commands share. A command is loaded when it is called, accepts a
command after `--`, and ends with the exit codes of `mistakes.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from toolbooth.cli import messages
from toolbooth.cli.mistakes import INTERRUPTED, TRACEBACK, ended

AFTER_DASHES = "toolbooth.after_dashes"
"""The key of `Context.meta` for the words after `--`."""

# No word of a command line can contain this character. So no target of a user is equal to this
# text.
COMMAND_TARGET = "\0"
"""The stand-in for TARGET that the parser gets if the target is the command after `--`."""


class Seconds(click.FloatRange):
    """Seconds. The help shows NUMBER, and an error calls the value a number."""

    name = "number"


class Count(click.IntRange):
    """A whole number of things."""

    name = "number"


class Port(click.IntRange):
    """A port. The help shows PORT, and an error calls the value a port."""

    name = "port"


def absolute(context: click.Context, option: click.Parameter, path: str) -> str:
    """A path with a slash at its beginning: `--path mcp` means /mcp. Without it, the path would be
    a part of the port.
    """
    return f"/{path.lstrip('/')}"


class OneOf(click.Choice[str]):
    """An argument that must be one of a few words. An error lists them in the same line."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return messages.choose_from(self.choices)


class Command(click.Command):
    """A command with `--traceback`. If it takes a TARGET, that may be a command after `--`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        shown = click.Option(
            [TRACEBACK], is_flag=True, expose_value=False, help=messages.TRACEBACK_HELP
        )
        self.params.append(shown)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, after = split_at_dashes(args)
        takes_target = any(param.name == "target" for param in self.params)
        if after is not None and takes_target:
            ctx.meta[AFTER_DASHES] = after
            return super().parse_args(ctx, _with_target(self, own))
        return super().parse_args(ctx, args)


def _with_target(command: click.Command, own: list[str]) -> list[str]:
    """Return the words of the command line with a stand-in in the place of TARGET."""
    # Without the stand-in, click would read `search` in `toolbooth call search -- npx server` as
    # TARGET.
    arguments = [param.name for param in command.params if isinstance(param, click.Argument)]
    if arguments[0] == "target":
        return [COMMAND_TARGET, *own]
    return [*own, COMMAND_TARGET]


def split_at_dashes(words: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Return the words before `--` and the words after it. The latter are None if there is no
    `--`.
    """
    given = list(words)
    if "--" not in given:
        return given, None
    place = given.index("--")
    return given[:place], given[place + 1 :]


class Commands(click.Group):
    """The `toolbooth` script. A command's module is imported when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(messages.COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in messages.COMMANDS:
            return None
        return getattr(import_module(f"toolbooth.cli.{cmd_name}"), cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in messages.COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(messages.unknown_command(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(messages.COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # click would write an empty line
            ctx.exit(INTERRUPTED)

    def main(self, args: Sequence[str] | None = None, *arguments: Any, **options: Any) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        # click would otherwise print errors in its own form, and exit with its own codes.
        options["standalone_mode"] = False
        run = super().main
        # A `--json` after the dashes belongs to the other command.
        own, _ = split_at_dashes(given)
        sys.exit(ended(lambda: run(given, *arguments, **options), own))
