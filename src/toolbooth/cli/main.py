"""`toolbooth`: the commands, each in its own file, loaded only when it is called."""

from __future__ import annotations

import click

from toolbooth.cli.call import call
from toolbooth.cli.lint import lint
from toolbooth.cli.replay import replay
from toolbooth.cli.serve import serve
from toolbooth.cli.tools import tools


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="toolbooth")
def main() -> None:
    """Toolbooth stands between an AI agent and your Python tools."""


main.add_command(serve)
main.add_command(call)
main.add_command(lint)
main.add_command(replay)
main.add_command(tools)
