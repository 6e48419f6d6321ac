"""`toolbooth replay`: do yesterday's calls still mean the same?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from toolbooth.cli import messages
from toolbooth.cli.target import load_server


@click.command()
@click.argument(
    "calls", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="CALLS.jsonl"
)
@click.argument("target", metavar="MODULE:SERVER")
@click.option(
    "--update",
    is_flag=True,
    help=messages.REPLAY_UPDATE,
)
def replay(calls: Path, target: str, update: bool) -> None:
    """Hold recorded calls to today's tools of MODULE:SERVER (or FILE.py:SERVER), without running
    them.

    Exit code 1 means that some calls no longer mean the same, 2 that they could not be compared.
    """
    from toolbooth.errors import ContractError
    from toolbooth.testing.replay.record import BadRecording
    from toolbooth.testing.replay.replay import replay_calls
    from toolbooth.testing.replay.replay_judge import NotProtected

    server = load_server(target)
    try:
        made = replay_calls(calls, server, update=update)
    except (BadRecording, NotProtected, ContractError) as error:
        raise click.UsageError(str(error)) from None
    click.echo(made)
    if update:
        click.echo(messages.recording_updated(calls))
    elif made.changes:
        click.echo(messages.how_to_update(calls, target))
    sys.exit(1 if made.changes and not update else 0)
