"""Proposes an option when the command does not have the one that the user wrote.

Users often write the options of other tools. The option with the most similar name is then often a
wrong proposal: `--port` looks like `--host`, and `--sarif` looks like `--strict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from toolbooth.cli.usage import messages
from toolbooth.jsonvalue import near_name

_BEARER = "--header 'Authorization: Bearer TOKEN'"

SAME_HERE: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("--port", "-p", "--http-port"), ("--http PORT",)),
    (("--bind", "--address", "--listen"), ("--host ADDRESS",)),
    (("--endpoint", "--mount", "--route", "--prefix-path"), ("--path PATH",)),
    (("--watch", "--auto-reload"), ("--reload",)),
    (("-H", "--headers"), ("--header 'NAME: VALUE'",)),
    (
        ("--token", "--auth", "--bearer", "--bearer-token", "--api-key"),
        ("--token TOKEN", _BEARER, "--token-file FILE"),
    ),
    (("--verbose", "-v", "-vv", "--debug"), ("--log", "--meta", "--notes", "--traceback")),
    (("--log-file", "--save", "--recording"), ("--record FILE",)),
    (("--output-format", "--reporter", "-f"), ("--format FORMAT", "--json")),
    (("--format", "--output-json", "--jsonl", "--json-lines", "-j"), ("--json",)),
    (("--rule", "--only", "--enable"), ("--select RULE", "--allow TOOL")),
    (("--include", "--tool", "--tools"), ("--allow TOOL",)),
    (("--exclude", "--skip", "--disable"), ("--ignore RULE", "--deny TOOL")),
    (("--hide", "--block", "--forbid"), ("--deny TOOL",)),
    (("--list-rules",), ("--rules",)),
    (("--list-clients",), ("--clients",)),
    (("--autofix", "--write", "--output"), ("--fix FILE",)),
    (("--severity", "--level", "--min-severity"), ("--fail-on SEVERITY",)),
    (("--config", "--config-file", "-c"), ("--config FILE", "--booth FILE")),
    (("--dry-run", "--trial", "--audit"), ("--observe",)),
    (("--writes", "--unsafe", "--force", "--yes"), ("--allow-writes",)),
    (("--accept", "--overwrite", "-u"), ("--update",)),
    (("--wait", "--max-time", "--seconds"), ("--timeout NUMBER",)),
)
"""Options of other tools, and the options of ours that do the same. The first one that the command
has is proposed.
"""
SAME_WORD = {
    "--uri": "--url",
    "--cmd": "--command",
    "--args": "--arguments",
    "--input": "--arguments",
    "--params": "--arguments",
    "--data": "--arguments",
    "-d": "--arguments",
    "--name": "--tool",
    "--out": "--output",
    "-o": "--output",
    "--color": "--no-color",
    "--no-colour": "--no-color",
    "--silent": "--quiet",
    "-q": "--quiet",
}
"""Other names for the keys of `messages.WITHOUT_OPTION`."""


def explained(wrong: str, words: Sequence[str], ctx: click.Context) -> str:
    """Return a sentence about `wrong`, an option that the command of `ctx` does not have."""
    written = _as_written(wrong, words)
    if isinstance(ctx.command, click.Group):
        hint = _before_command(written, words, ctx.command, ctx)
        return messages.unknown_option(written, hint)
    return messages.unknown_option(written, _hint(written, ctx))


def _as_written(wrong: str, words: Sequence[str]) -> str:
    """Return the word as the user wrote it. From `-json`, click reports only `-j`."""
    if wrong.startswith("--"):
        return wrong
    return next((each for each in words if each.startswith(wrong)), wrong)


def _hint(wrong: str, ctx: click.Context) -> str | None:
    own = _options(ctx.command)
    double = f"-{wrong}" if f"-{wrong}" in own else None
    found = double or _same_here(wrong, own) or _choice(wrong, ctx.command)
    if found is not None:
        return messages.write(found)
    # The names are compared without their dashes, because the dashes would make short names look
    # alike.
    near = near_name(wrong.lstrip("-"), [each.lstrip("-") for each in own])
    if near is not None:
        return messages.did_you_mean(f"--{near}")
    without = messages.WITHOUT_OPTION.get(SAME_WORD.get(wrong, wrong))
    if without is not None:
        return without
    group = ctx.parent.command if ctx.parent is not None else None
    owners = _owners(wrong, group, ctx) if isinstance(group, click.Group) else []
    return messages.option_of(owners) if owners else None


def _before_command(
    wrong: str, words: Sequence[str], group: click.Group, ctx: click.Context
) -> str | None:
    """Return the hint for an option that the user wrote in front of the name of the command."""
    if wrong in ("-V", "-v"):
        return messages.write("--version")
    owners = _owners(wrong, group, ctx)
    if owners:
        meant = next((each for each in words if each in owners), owners[0])
        return messages.comes_after(meant, wrong)
    near = near_name(wrong.lstrip("-"), ["version", "help"])
    return messages.did_you_mean(f"--{near}") if near else None


def _owners(wrong: str, group: click.Group, ctx: click.Context) -> list[str]:
    """Return the names of the commands that have the option."""
    commands = {name: group.get_command(ctx, name) for name in group.list_commands(ctx)}
    return [name for name, each in commands.items() if each and wrong in _options(each)]


def _same_here(wrong: str, own: Sequence[str]) -> str | None:
    for names, ours in SAME_HERE:
        if wrong in names:
            for proposed in ours:
                if proposed.split()[0] in own:
                    return proposed
    return None


def _choice(wrong: str, command: click.Command) -> str | None:
    """Return the option that has the wrong option as one of its values: for `--sarif`, return
    `--format sarif`.
    """
    value = wrong.lstrip("-")
    for each in command.params:
        # The type of `choices` is unknown to Pyright.
        values: Any = getattr(each.type, "choices", ())
        if isinstance(each, click.Option) and value in values:
            return f"{each.opts[0]} {value}"
    return None


def _options(command: click.Command) -> list[str]:
    """Return the options of a command that are not hidden in its help."""
    shown = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    return [name for each in shown for name in each.opts if name.startswith("--")]
