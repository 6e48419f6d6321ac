"""`toolbooth`: the commands, each in its own file, loaded only when it is called."""

from __future__ import annotations

import click

from toolbooth.cli import messages
from toolbooth.cli.command import Commands


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=messages.EXIT_CODES,
    help=messages.TOOLBOOTH,
)
@click.version_option(package_name="toolbooth")
def main() -> None:
    pass
