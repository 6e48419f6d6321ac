"""`toolbooth proxy`: a guard in front of a server that somebody else wrote."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from toolbooth.cli.command import Command, Count, Port, Seconds, absolute
from toolbooth.cli.messages import EXIT_CODES, HEADER, HEADERS_WITHOUT_URL, bad_url
from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.proxying import messages
from toolbooth.cli.serving import messages as serving
from toolbooth.cli.target import Target, read_headers, takes_target
from toolbooth.extras import require

if TYPE_CHECKING:
    from toolbooth.proxy.booth import ServerSettings
    from toolbooth.proxy.link import Link
    from toolbooth.proxy.records import Records
    from toolbooth.proxy.rules import Rules


@click.command(cls=Command, epilog=EXIT_CODES)
@takes_target(required=False, running=False)
@click.argument("file", required=False)
@click.option("--config", "booth", metavar="FILE", help=messages.CONFIG)
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
    target: Target | None,
    file: str | None,
    booth: str | None,
    seconds: float,
    log: bool,
    record: str | None,
    headers: tuple[str, ...],
    port: int | None,
    **options: Any,
) -> int | None:
    """Guard the tool calls for a server that you did not write. TARGET is its URL, or the command
    that starts it, after `--`; with --config, its name in the file. `proxy report FILE` sums up the
    calls that --record has written.

    \b
    Examples:
      toolbooth proxy -- npx -y @modelcontextprotocol/server-filesystem .
      toolbooth proxy https://example.org/mcp --http 9000
      toolbooth proxy --config booth.toml files
      toolbooth proxy --observe --record calls.jsonl -- npx -y @example/server
      toolbooth proxy report calls.jsonl
    """
    if target is not None and target.text == "report" and file is not None:
        return _report(file)
    if booth is None and target is not None and target.text == "report":
        raise Mistake(messages.NO_RECORDING)
    if file is not None:
        raise Mistake(messages.ONE_TARGET)
    _refuse_unused(in_file=booth is not None, is_http=port is not None)
    over_http = {name: options.pop(name) for name in _OVER_HTTP}
    if booth is not None:
        server = _configured(booth, None if target is None else target.text, options["observe"])
    else:
        server = _described(target, read_headers(headers), seconds, options)
    if server.rules.observe and (port is not None or server.url):
        raise Mistake(messages.OBSERVE_IS_FOR_STDIO)
    _log_to_stderr()
    first = messages.observing if server.rules.observe else messages.guarding
    words = first(server.name, server.rules.policy)
    records = _records(log=log, file=record)
    connect = partial(_link, server)
    link = connect()  # a mistake in the target is reported before anything is served
    if port is not None:
        from toolbooth.cli.proxy_http import serve_http

        sessions = over_http.pop("sessions")
        most = sessions if server.command else None
        proxied = Proxied(
            connect=connect, rules=server.rules, timeout=server.timeout, records=records
        )
        return serve_http(proxied, port, most=most, first=words, **over_http)
    click.echo(words, err=True)
    return _serve_stdio(server, link, records)


def _refuse_unused(*, in_file: bool, is_http: bool) -> None:
    """Raises Mistake for an option that would have no effect."""
    context = click.get_current_context()
    options = {each.name: each.opts[0] for each in context.command.params}
    given = [
        name
        for name in context.params
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]
    for name in given:
        if in_file and name in _IN_FILE:
            raise Mistake(messages.belongs_in_file(options[name]))
        if not is_http and name in _OVER_HTTP:
            raise Mistake(serving.only_with_http(options[name]))


def _described(
    target: Target | None, headers: dict[str, str], seconds: float, options: dict[str, Any]
) -> ServerSettings:
    """Return the server that the command line describes."""
    from toolbooth.proxy.booth import ServerSettings
    from toolbooth.proxy.rules import Rules

    if target is None or target.kind == "object":
        raise Mistake(messages.ONLY_COMMANDS_AND_URLS)
    if headers and target.kind != "url":
        raise Mistake(HEADERS_WITHOUT_URL)
    return ServerSettings(
        name=target.name,
        command=target.command,
        url=target.text,
        headers=headers,
        timeout=seconds,
        rules=Rules(**options),
    )


def _configured(file: str, name: str | None, observe: bool) -> ServerSettings:
    """A server of the configuration file."""
    servers = read_servers(file, name)
    if name is None and len(servers) == 1:
        name = next(iter(servers))
    if name not in servers:
        raise Mistake(messages.no_such_server(name, file, list(servers)))
    found = servers[name]
    return replace(found, rules=replace(found.rules, observe=observe))


def read_servers(file: str, starts: str | None) -> dict[str, ServerSettings]:
    """The servers of a configuration file, of which one is to be started. Raises Mistake."""
    import os
    from pathlib import Path

    from toolbooth.proxy.booth import BoothError, read_booth

    try:
        return read_booth(Path(file).read_text(encoding="utf-8"), os.environ, starts=starts)
    except OSError as error:
        raise Mistake(messages.config_not_read(file, error.strerror or error)) from None
    except (BoothError, UnicodeDecodeError) as error:
        raise Mistake(messages.config_not_read(file, error)) from None


_OVER_HTTP = ("host", "path", "allow_host", "token_file", "no_auth", "sessions", "idle")
_IN_FILE = ("policy", "publish", "flatten", "allow", "deny", "prefix", "seconds", "headers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxied:
    """The connection, the rules and the options of a proxy."""

    connect: Callable[[], Link]
    rules: Rules
    timeout: float
    records: Records


def _link(server: ServerSettings) -> Link:
    """Return the connection for a new session."""
    if server.url:
        require("toolbooth proxy URL", extra="proxy", modules={"httptools": "httptools"})
        from toolbooth.proxy.http_link import HttpLink

        try:
            return HttpLink(server.url, server.headers)
        except ValueError:
            raise Mistake(bad_url(server.url)) from None
    from toolbooth.proxy.child import PAUSES
    from toolbooth.proxy.link import ChildLink

    # A restarted server would have a new session, and a trial run would hide this.
    pauses = () if server.rules.observe else PAUSES
    return ChildLink(server.command, env=server.env, cwd=server.cwd, pauses=pauses)


def _serve_stdio(server: ServerSettings, link: Link, records: Records) -> int:
    import asyncio

    from toolbooth.proxy.stdio import serve

    try:
        return asyncio.run(serve(link, server.rules, timeout=server.timeout, records=records))
    except OSError as error:
        reason = error.strerror or error
        raise Mistake(messages.not_started(server.name, reason)) from None


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
