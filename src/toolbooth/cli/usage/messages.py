"""The sentences about options that do not exist, and about commands without `--` before them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

WITHOUT_OPTION = {
    "--url": "the URL itself is TARGET",
    "--target": "TARGET is written without an option",
    "--server": "TARGET is written without an option",
    "--command": "the command that starts a server comes last, after `--`",
    "--shell": "the shell is written without an option",
    "--stdio": "stdio is used unless you add --http PORT",
    "--transport": "stdio is used unless you add --http PORT",
    "--tool": "the tool is written without an option, after TARGET",
    "--arguments": "the arguments are one JSON object in single quotes, after TOOL",
    "--output": "the result is on standard output, so write `> FILE` at the end",
    "--no-color": "set NO_COLOR=1 in the environment",
    "--quiet": "write `2>/dev/null` at the end, and only the result is printed",
}
"""What to do instead of an option that no command has."""


def unknown_option(option: str, hint: str | None) -> str:
    """Report an option that the command does not have."""
    return f"There is no option {option!r}" + (f"; {hint}" if hint else "")


def write(option: str) -> str:
    """Propose the option of this command that does the same."""
    return f"write `{option}`"


def did_you_mean(option: str) -> str:
    """Propose the option with a similar name."""
    return f"did you mean {option!r}?"


def option_of(commands: Sequence[str]) -> str:
    """Name the commands that have the option."""
    names = ", ".join(f"`toolbooth {each}`" for each in commands)
    return f"it is an option of {names}"


def comes_after(command: str, option: str) -> str:
    """Propose to write the option after the name of the command."""
    return f"options come after the command, such as `toolbooth {command} {option}`"


def command_after_dashes(path: str, before: Sequence[str], words: Sequence[str]) -> str:
    """Report that `--` is missing in front of a command that starts a server."""
    line = f"{' '.join([path, *before])} -- {shlex.join(words)}"
    return f"{words[0]!r} is a program; the command that starts a server comes after `--`: `{line}`"


def loads_itself(path: str, program: str) -> str:
    """Report that the target is a program. The command needs a target that it can load itself."""
    return (
        f"{program!r} is a program, and `{path}` loads the server itself: write module:object or "
        "file.py:object, such as server.py:mcp"
    )
