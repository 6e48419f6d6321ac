"""`toolbooth replay`: checks that recorded calls still have the same outcome."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolbooth.cli import messages
from toolbooth.cli.command import Command
from toolbooth.cli.mistakes import DONE, REFUSED, Mistake
from toolbooth.cli.target import Target, load_server, own_stdout, takes_target
from toolbooth.cli.terminal import progress

if TYPE_CHECKING:
    from toolbooth.testing.replay.replay import Replay


@click.command(cls=Command, epilog=messages.EXIT_CODES)
@click.argument("calls", type=click.Path(path_type=Path), metavar="CALLS.jsonl")
@takes_target(running=False)
@click.option("--update", is_flag=True, help=messages.REPLAY_UPDATE)
@click.option("--json", "as_lines", is_flag=True, help=messages.REPLAY_JSON)
def replay(calls: Path, target: Target, update: bool, as_lines: bool) -> int:
    """Compare the recorded calls of CALLS.jsonl with how TARGET judges them today.

    No tool is run. TARGET is a ToolRegistry or a protected server: module:object or file.py:object.
    """
    from toolbooth.errors import ContractError
    from toolbooth.recording import BadRecording
    from toolbooth.testing.replay.replay import replay_calls
    from toolbooth.testing.replay.replay_judge import NotProtected

    if not calls.is_file() and Path(target.text).is_file():
        raise Mistake(messages.recording_first(calls, target.text))
    if not calls.is_file():
        raise Mistake(messages.no_recording(calls))
    server = load_server(target)
    try:
        with progress(messages.replaying(calls), in_pipe=False), own_stdout():
            made = replay_calls(calls, server, update=update)
    except (BadRecording, NotProtected, ContractError) as error:
        raise Mistake(str(error)) from error
    # An update accepts the changes, so they are not a failure.
    code = REFUSED if made.changes and not update else DONE
    if as_lines:
        _show_lines(made, code)
        return code
    click.echo(made)
    if update:
        click.echo(messages.recording_updated(calls))
    elif made.changes:
        click.echo(messages.how_to_update(calls, target.text))
    return code


def _show_lines(made: Replay, code: int) -> None:
    """Print one JSON document per line: first the changes, then the summary."""
    import json

    for change in made.changes:
        row = {
            "kind": "change",
            "line": change.line,
            "tool": change.call.tool,
            "before": change.before,
            "after": change.after,
            "details": change.details,
            "advice": change.advice,
        }
        click.echo(json.dumps(row, ensure_ascii=False))
    summary = {"calls": made.calls, "changes": len(made.changes), "unread": made.unread}
    click.echo(json.dumps({"kind": "summary", **summary, "exit_code": code}))
