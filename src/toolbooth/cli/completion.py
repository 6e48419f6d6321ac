"""`toolbooth completion`: the script that completes commands and options in a shell."""

from __future__ import annotations

import click

from toolbooth.cli import messages
from toolbooth.cli.command import Command, OneOf

# click reads this variable whenever the `toolbooth` script starts, and then completes instead of
# running a command.
_VARIABLE = "_TOOLBOOTH_COMPLETE"


@click.command(cls=Command, epilog=messages.EXIT_CODES)
@click.argument("shell", type=OneOf(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    \b
      bash   toolbooth completion bash >> ~/.bashrc
      zsh    toolbooth completion zsh >> ~/.zshrc
      fish   toolbooth completion fish > ~/.config/fish/completions/toolbooth.fish
    """
    from click.shell_completion import get_completion_class

    from toolbooth.cli.main import main

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "toolbooth", _VARIABLE).source())
