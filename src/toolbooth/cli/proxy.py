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
@click.argument("file", required=False)
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
@click.option("--observe", is_flag=True, help=messages.OBSERVE)
@click.option("--log", is_flag=True, help=messages.LOG)
@click.option("--record", metavar="FILE", help=messages.RECORD)
def proxy(
    target: Target,
    file: str | None,
    seconds: float,
    log: bool,
    record: str | None,
    **options: Any,
) -> int | None:
    """Guard the tool calls for a server that you did not write. TARGET is the command that starts
    it, after `--`. `proxy report FILE` sums up the calls that `--record` has written.

    \b
    Examples:
      toolbooth proxy -- npx -y @modelcontextprotocol/server-filesystem .
      toolbooth proxy --policy strict -- npx -y @example/server
      toolbooth proxy --observe --record calls.jsonl -- npx -y @example/server
      toolbooth proxy report calls.jsonl
    """
    if target.text == "report" and file is not None:
        return _report(file)
    if file is not None:
        raise Mistake(messages.ONE_TARGET)
    if target.kind != "command":
        raise Mistake(messages.ONLY_COMMANDS_AND_URLS)
    from toolbooth.proxy.rules import Rules

    rules = Rules(**options)
    _log_to_stderr()
    first = messages.observing if rules.observe else messages.guarding
    click.echo(first(target.name, rules.policy), err=True)
    return _serve_stdio(target, rules, seconds, _records(log=log, file=record))


def _serve_stdio(target: Target, rules: Any, timeout: float, records: Records) -> int:
    import asyncio

    from toolbooth.proxy.child import PAUSES
    from toolbooth.proxy.link import ChildLink
    from toolbooth.proxy.stdio import serve

    # A server that is started again has a new session: a trial run would hide that.
    link = ChildLink(target.command, pauses=() if rules.observe else PAUSES)
    try:
        return asyncio.run(serve(link, rules, timeout=timeout, records=records))
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


def _report(file: str) -> None:
    from toolbooth.proxy.report import by_tool, lines
    from toolbooth.recording import BadRecording, read_calls

    try:
        calls = read_calls(file)
    except (OSError, BadRecording) as error:
        raise Mistake(str(error)) from None
    click.echo("\n".join(lines(by_tool(calls.values()))))


def _log_to_stderr() -> None:
    # Over stdio, any line on standard output that is not a message would break the connection.
    logging.basicConfig(level=logging.INFO, format="toolbooth: %(message)s")
