"""`toolbooth proxy`: a guard in front of a server that somebody else wrote."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from toolbooth.cli.command import Command, Count, Port, Seconds, absolute
from toolbooth.cli.messages import EXIT_CODES, HEADER, HEADERS_WITHOUT_URL, bad_url
from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.proxying import messages
from toolbooth.cli.serving import messages as serving
from toolbooth.cli.target import Target, read_headers, takes_target
from toolbooth.extras import require

if TYPE_CHECKING:
    from toolbooth.proxy.link import Link
    from toolbooth.proxy.records import Records
    from toolbooth.proxy.rules import Rules


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
@click.option("--http", "port", type=Port(0, 65535), help=messages.HTTP)
@click.option("--host", default="127.0.0.1", show_default=True, help=serving.HOST)
@click.option("--path", default="/mcp", show_default=True, callback=absolute, help=serving.PATH)
@click.option("--allow-host", multiple=True, metavar="HOST", help=serving.ALLOW_HOST)
@click.option("--token-file", metavar="FILE", help=serving.TOKEN_FILE)
@click.option("--no-auth", is_flag=True, help=serving.NO_AUTH)
@click.option(
    "--sessions",
    type=Count(min=1),
    default=8,
    show_default=True,
    help=messages.SESSIONS,
)
@click.option(
    "--idle",
    type=Seconds(min=0, min_open=True),
    default=600.0,
    show_default=True,
    help=messages.IDLE,
)
@click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help=HEADER)
@click.option("--observe", is_flag=True, help=messages.OBSERVE)
@click.option("--log", is_flag=True, help=messages.LOG)
@click.option("--record", metavar="FILE", help=messages.RECORD)
def proxy(
    target: Target,
    file: str | None,
    seconds: float,
    log: bool,
    record: str | None,
    headers: tuple[str, ...],
    port: int | None,
    **options: Any,
) -> int | None:
    """Guard the tool calls for a server that you did not write. TARGET is its URL, or the command
    that starts it, after `--`. `proxy report FILE` sums up the calls that `--record` has written.

    \b
    Examples:
      toolbooth proxy -- npx -y @modelcontextprotocol/server-filesystem .
      toolbooth proxy https://example.org/mcp --http 9000
      toolbooth proxy --observe --record calls.jsonl -- npx -y @example/server
      toolbooth proxy report calls.jsonl
    """
    if target.text == "report" and file is not None:
        return _report(file)
    if file is not None:
        raise Mistake(messages.ONE_TARGET)
    if target.kind == "object":
        raise Mistake(messages.ONLY_COMMANDS_AND_URLS)
    from toolbooth.proxy.rules import Rules

    over_http = {name: options.pop(name) for name in _OVER_HTTP}
    rules = Rules(**options)
    if rules.observe and (port is not None or target.kind == "url"):
        raise Mistake(messages.OBSERVE_IS_FOR_STDIO)
    _log_to_stderr()
    first = messages.observing if rules.observe else messages.guarding
    records = _records(log=log, file=record)
    connect = partial(_link, target, read_headers(headers), rules)
    connect()  # a mistake in the target is reported before anything is served
    if port is not None:
        from toolbooth.cli.proxy_http import serve_http

        sessions = over_http.pop("sessions")
        most = sessions if target.kind == "command" else None
        words = first(target.name, rules.policy)
        proxied = Proxied(connect=connect, rules=rules, timeout=seconds, records=records)
        return serve_http(proxied, port, most=most, first=words, **over_http)
    click.echo(first(target.name, rules.policy), err=True)
    return _serve_stdio(target, connect(), rules, seconds, records)


_OVER_HTTP = ("host", "path", "allow_host", "token_file", "no_auth", "sessions", "idle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxied:
    """What is proxied, and how."""

    connect: Callable[[], Link]
    rules: Rules
    timeout: float
    records: Records


def _link(target: Target, headers: dict[str, str], rules: Rules) -> Link:
    """The connection of a new session."""
    if target.kind == "url":
        require("toolbooth proxy URL", extra="proxy", modules={"httptools": "httptools"})
        from toolbooth.proxy.http_link import HttpLink

        try:
            return HttpLink(target.text, headers)
        except ValueError:
            raise Mistake(bad_url(target.text)) from None
    from toolbooth.proxy.child import PAUSES
    from toolbooth.proxy.link import ChildLink

    if headers:
        raise Mistake(HEADERS_WITHOUT_URL)
    # A server that is started again has a new session: a trial run would hide that.
    return ChildLink(target.command, pauses=() if rules.observe else PAUSES)


def _serve_stdio(target: Target, link: Link, rules: Rules, timeout: float, records: Records) -> int:
    import asyncio

    from toolbooth.proxy.stdio import serve

    try:
        return asyncio.run(serve(link, rules, timeout=timeout, records=records))
    except OSError as error:
        reason = error.strerror or error
        raise Mistake(messages.not_started(target.name, reason)) from None


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
