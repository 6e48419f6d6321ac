"""Defines what all commands share. The module of a command is imported when the command is called.
A command accepts a server's command after `--`, and ends with one of the exit codes in
`mistakes.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
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
    """A number of seconds. The help shows NUMBER, and an error message calls the value a number."""

    name = "number"


class Count(click.IntRange):
    """A whole number."""

    name = "number"


class Port(click.IntRange):
    """A port number. The help shows PORT, and an error message calls the value a port."""

    name = "port"


def absolute(context: click.Context, option: click.Parameter, path: str) -> str:
    """Return a path that begins with a slash, so that `--path mcp` means /mcp. Otherwise the path
    would become a part of the port in the URL.
    """
    return f"/{path.lstrip('/')}"


class OneOf(click.Choice[str]):
    """A value that must be one of a few words. An error lists them in one line, and proposes the
    nearest one.
    """

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        return messages.not_one_of(str(value), self.choices)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return messages.choose_from(self.choices)


def _keep(context: click.Context, option: click.Parameter, value: bool) -> None:
    context.meta[TRACEBACK] = value


@contextmanager
def short_errors() -> Generator[None]:
    """Inside a `with` block, log an exception in one line. With `--traceback`, log all of it."""
    from toolbooth.server.logged.one_line import one_line_errors

    if click.get_current_context().meta[TRACEBACK]:
        yield
        return
    with one_line_errors():
        yield


class Command(click.Command):
    """A command with the option `--traceback`. If the command takes a TARGET, you can instead write
    a server's command after `--`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        shown = click.Option(
            [TRACEBACK],
            is_flag=True,
            expose_value=False,
            callback=_keep,
            help=messages.TRACEBACK_HELP,
        )
        self.params.append(shown)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, after = split_at_dashes(args)
        arguments = _arguments(self)
        words = args
        if after is not None and "target" in arguments:
            ctx.meta[AFTER_DASHES] = after
            words = _with_target(arguments, own)
        elif after is None and arguments[0] == "target" and not ctx.resilient_parsing:
            _refuse_program(ctx, own)
        # The words are kept, because click removes those that it has read.
        with _explained(ctx, list(words)):
            return super().parse_args(ctx, words)


def _arguments(command: click.Command) -> list[str | None]:
    return [param.name for param in command.params if isinstance(param, click.Argument)]


def _with_target(arguments: list[str | None], own: list[str]) -> list[str]:
    """Return the words of the command line with a placeholder for TARGET. The target itself is the
    command after `--`.
    """
    # Without the stand-in, click would read `search` in `toolbooth call search -- npx server` as
    # TARGET.
    if arguments[0] == "target":
        return [COMMAND_TARGET, *own]
    return [*own, COMMAND_TARGET]


def _refuse_program(ctx: click.Context, words: list[str]) -> None:
    """Raise UsageError for the command of a server without `--` before it. Otherwise click would
    read the options of that command.
    """
    from toolbooth.cli.usage.dashes import with_dashes

    if (sentence := with_dashes(ctx, words)) is not None:
        raise click.UsageError(sentence, ctx)


@contextmanager
def _explained(ctx: click.Context, words: list[str]) -> Generator[None]:
    """Add to an error about an option what to write instead, and which command has the help."""
    try:
        yield
    except click.NoSuchOption as error:
        from toolbooth.cli.usage.options import explained

        raise click.UsageError(explained(error.option_name, words, ctx), ctx) from None
    except click.UsageError as error:
        # click leaves it out of errors about the value of an option.
        error.ctx = error.ctx or ctx
        raise


def split_at_dashes(words: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Return the words before `--` and the words after it. Without a `--`, the second part is
    None.
    """
    given = list(words)
    if "--" not in given:
        return given, None
    place = given.index("--")
    return given[:place], given[place + 1 :]


class Commands(click.Group):
    """The `toolbooth` script. The module of a command is imported when the command is called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _explained(ctx, list(args)):
            return super().parse_args(ctx, args)

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
