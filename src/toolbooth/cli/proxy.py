"""`toolbooth proxy`: a guard in front of a server that somebody else wrote."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import click

from toolbooth.cli.command import Command, Seconds
from toolbooth.cli.messages import EXIT_CODES
from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.proxying import messages
from toolbooth.cli.target import Target, takes_target

if TYPE_CHECKING:
    from toolbooth.proxy.records import Records


@click.command(cls=Command, epilog=EXIT_CODES)
@takes_target(running=False)
@click.option(
    "--policy",
    type=click.Choice(["strict", "default", "lenient"]),
    default="default",
    show_default=True,
    help=messages.POLICY,
)
@click.option(
    "--publish",
    type=click.Choice(["portable", "as-is"]),
    default="portable",
    show_default=True,
    help=messages.PUBLISH,
)
@click.option("--flatten", is_flag=True, help=messages.FLATTEN)
@click.option("--allow", multiple=True, metavar="TOOL", help=messages.ALLOW)
@click.option("--deny", multiple=True, metavar="TOOL", help=messages.DENY)
@click.option("--prefix", default="", metavar="TEXT", help=messages.PREFIX)
@click.option(
    "--timeout",
    "seconds",
    type=Seconds(min=0, min_open=True),
    default=300.0,
    show_default=True,
    help=messages.TIMEOUT,
)
@click.option("--log", is_flag=True, help=messages.LOG)
@click.option("--record", metavar="FILE", help=messages.RECORD)
def proxy(
    target: Target, seconds: float, log: bool, record: str | None, **options: Any
) -> int | None:
    """Guard the tool calls for a server that you did not write. TARGET is the command that starts
    it, after `--`.

    \b
    Examples:
      toolbooth proxy -- npx -y @modelcontextprotocol/server-filesystem .
      toolbooth proxy --policy strict -- npx -y @example/server
    """
    if target.kind != "command":
        raise Mistake(messages.ONLY_COMMANDS_AND_URLS)
    from toolbooth.proxy.rules import Rules

    rules = Rules(**options)
    _log_to_stderr()
    click.echo(messages.guarding(target.name, rules.policy), err=True)
    return _serve_stdio(target, rules, seconds, _records(log=log, file=record))


def _serve_stdio(target: Target, rules: Any, timeout: float, records: Records) -> int:
    import asyncio

    from toolbooth.proxy.stdio import serve

    try:
        return asyncio.run(serve(target.command, rules, timeout=timeout, records=records))
    except OSError as error:
        reason = error.strerror or error
        raise Mistake(messages.not_started(target.command[0], reason)) from None


def _records(*, log: bool, file: str | None) -> Records:
    from toolbooth.proxy.records import Records

    records = Records()
    if log:
        from toolbooth.server.observe import log_calls

        records.observe(log_calls)
    if file is not None:
        from toolbooth.recording import record_calls

        try:
            record_calls(records, file)
        except OSError as error:
            raise Mistake(messages.not_recorded(file, error.strerror or error)) from None
    return records


def _log_to_stderr() -> None:
    # Over stdio, any line on standard output that is not a message would break the connection.
    logging.basicConfig(level=logging.INFO, format="toolbooth: %(message)s")
