"""Proposes `--` when it is missing in front of the command that starts a server, as in `toolbooth
tools npx -y @example/server`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence

import click

from toolbooth.cli.usage import messages

_NAMES = "--config"
"""The option of `toolbooth proxy` that makes TARGET the name of a server in a file."""
_WORDS = ("report", "login")
"""The words after `toolbooth proxy` that are not a target. `login` is also the name of a
program.
"""
_PROGRAM = re.compile(r"[\w.+-]{1,100}")
"""Matches the name of a program."""
_LAUNCHERS = {"npx", "uvx", "node", "python", "python3", "docker", "uv", "bunx", "deno"}
"""Programs that start servers. They are recognised even if this machine does not have them."""


def with_dashes(ctx: click.Context, words: Sequence[str]) -> str | None:
    """Return a sentence with the right command line. Return None if the first word after the
    options is not the name of a program.
    """
    place = _first_argument(ctx.command, words)
    if any(each.partition("=")[0] == _NAMES for each in words):
        return None
    if place is None or words[place] in _WORDS or not _is_program(words[place]):
        return None
    path = ctx.command_path
    if not _takes_commands(ctx.command):
        return messages.loads_itself(path, words[place])
    required = [each for each in ctx.command.params[1:] if each.required]
    before = [*words[:place], *(str(each.metavar or each.name).upper() for each in required)]
    return messages.command_after_dashes(path, before, words[place:])


def _takes_commands(command: click.Command) -> bool:
    # Commands that load the server themselves have no time limit for its answers.
    return any("--timeout" in each.opts for each in command.params)


def _first_argument(command: click.Command, words: Sequence[str]) -> int | None:
    options = [each for each in command.params if isinstance(each, click.Option)]
    with_value = {name for each in options if not each.is_flag for name in each.opts}
    place = 0
    while place < len(words):
        word = words[place]
        if not word.startswith("-") or word == "-":
            return place
        place += 2 if word in with_value else 1
    return None


def _is_program(word: str) -> bool:
    # Other words are JSON, the path of a saved tools/list, a Python object or a URL.
    if not _PROGRAM.fullmatch(word) or os.path.exists(word):
        return False
    return word in _LAUNCHERS or shutil.which(word) is not None
