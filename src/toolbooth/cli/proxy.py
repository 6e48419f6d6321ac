"""`toolbooth proxy`: a guard in front of a server that somebody else wrote."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from toolbooth.cli.command import Command, Count, OneOf, Port, Seconds, absolute
from toolbooth.cli.messages import EXIT_CODES, HEADER, HEADERS_WITHOUT_URL, bad_url
from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.proxying import messages
from toolbooth.cli.serving import messages as serving
from toolbooth.cli.target import Target, read_headers, takes_target
from toolbooth.extras import require

if TYPE_CHECKING:
    from toolbooth.proxy.booth import ServerSettings
    from toolbooth.proxy.link import Credentials, Link
    from toolbooth.proxy.records import Records
    from toolbooth.proxy.session import Server


@click.command(cls=Command, epilog=EXIT_CODES)
@takes_target(required=False, running=False)
@click.argument("file", required=False)
@click.option("--config", "booth", metavar="FILE", help=messages.CONFIG)
@click.option(
    "--policy",
    type=OneOf(["strict", "default", "lenient"]),
    default="default",
    show_default=True,
    help=messages.POLICY,
)
@click.option(
    "--publish",
    type=OneOf(["portable", "as-is"]),
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
@click.option("--shared", is_flag=True, help=messages.SHARED)
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
    """Guard the tool calls for a server that you did not write. TARGET is the URL of the server, or
    `--` and the command that starts it. With --config, TARGET is the name of a server in the file;
    leave it out for all servers of the file. `proxy report FILE` sums up the calls that --record
    has written. `proxy login NAME` logs in to a server that requires a login.

    \b
    Examples:
      toolbooth proxy -- npx -y @modelcontextprotocol/server-filesystem .
      toolbooth proxy https://example.org/mcp --http 9000
      toolbooth proxy --config booth.toml
      toolbooth proxy --config booth.toml files
      toolbooth proxy --observe --record calls.jsonl -- npx -y @example/server
      toolbooth proxy report calls.jsonl
      toolbooth proxy login https://example.org/mcp
    """
    if target is not None and target.text == "report" and file is not None:
        return _report(file)
    if target is not None and target.text == "login" and file is not None:
        from toolbooth.cli.proxy_login import log_in

        return log_in(_address(file, booth or BOOTH_FILE))
    if booth is None and target is not None and target.text in messages.NO_ARGUMENT:
        raise Mistake(messages.NO_ARGUMENT[target.text])
    if file is not None:
        raise Mistake(messages.ONE_TARGET)
    _refuse_unused(in_file=booth is not None, is_http=port is not None)
    over_http = {name: options.pop(name) for name in _OVER_HTTP}
    if booth is not None:
        name = None if target is None else target.text
        chosen = _configured(booth, name, observe=options["observe"])
    else:
        chosen = [_described(target, read_headers(headers), seconds, options)]
    is_trial = chosen[0].rules.observe
    if is_trial and len(chosen) > 1:
        raise Mistake(messages.OBSERVE_IS_FOR_ONE)
    _log_to_stderr()
    first = messages.observing if is_trial else messages.guarding
    words = first(chosen)
    records = _records(log=log, file=record)
    is_shared = over_http.pop("shared")
    if is_shared and not any(each.command for each in chosen):
        raise Mistake(messages.SHARED_IS_FOR_COMMANDS)
    if is_shared and is_trial:
        raise Mistake(messages.SHARED_CHANGES_IDS)
    servers = [_server(each, is_shared=is_shared) for each in chosen]
    if len(servers) > 1:
        _check_names(servers)
    if port is not None:
        from toolbooth.cli.proxy_http import serve_http

        sessions = over_http.pop("sessions")
        has_children = any(each.command for each in chosen) and not is_shared
        most = sessions if has_children else None
        return serve_http(servers, records, port, most=most, first=words, **over_http)
    click.echo(words, err=True)
    return _serve_stdio(servers, records)


def _refuse_unused(*, in_file: bool, is_http: bool) -> None:
    """Raise Mistake for an option that would have no effect."""
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


def _address(name: str, booth: str) -> str:
    """Return the URL of the server to log in to. `name` is this URL, or the name of a server in the
    file `booth`.
    """
    if "://" in name:
        return name
    servers = read_servers(booth, "")  # no server is started, so no variable is needed
    if name not in servers:
        raise Mistake(messages.no_such_server(name, booth, list(servers)))
    if not servers[name].url:
        raise Mistake(messages.login_needs_url(name))
    return servers[name].url


def _described(
    target: Target | None, headers: dict[str, str], seconds: float, options: dict[str, Any]
) -> ServerSettings:
    """Return the settings of the server that the command line describes."""
    from toolbooth.proxy.booth import ServerSettings
    from toolbooth.proxy.rules import Rules

    if target is None:
        raise Mistake(messages.ONLY_COMMANDS_AND_URLS)
    if target.kind == "object":
        raise Mistake(_why_no_target(target.text))
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


def _why_no_target(text: str) -> str:
    """Return a sentence about a target that is neither a URL nor a command."""
    from pathlib import Path

    if text.endswith(".toml"):
        return messages.file_as_target(text)
    if ".py" in text:
        return messages.python_as_target(text)
    if Path(BOOTH_FILE).is_file():
        return messages.name_as_target(text, BOOTH_FILE)
    return messages.ONLY_COMMANDS_AND_URLS


def _configured(file: str, name: str | None, *, observe: bool) -> list[ServerSettings]:
    """Return the settings of one server of the configuration file, or of all its servers."""
    servers = read_servers(file, name)
    if name is not None and name not in servers:
        raise Mistake(messages.no_such_server(name, file, list(servers)))
    chosen = list(servers.values()) if name is None else [servers[name]]
    return [replace(each, rules=replace(each.rules, observe=observe)) for each in chosen]


def read_servers(file: str, starts: str | None) -> dict[str, ServerSettings]:
    """Return the servers of a configuration file. With `starts`, only the server of this name needs
    its variables. Otherwise all servers need their variables. Raises Mistake.
    """
    import os
    from pathlib import Path

    from toolbooth.proxy.booth import BoothError, read_booth

    try:
        return read_booth(Path(file).read_text(encoding="utf-8"), os.environ, starts=starts)
    except OSError as error:
        raise Mistake(messages.config_not_read(file, error.strerror or error)) from None
    except (BoothError, UnicodeDecodeError) as error:
        raise Mistake(messages.config_not_read(file, error)) from None


BOOTH_FILE = "booth.toml"
"""The usual name of the configuration file."""
_OVER_HTTP = ("host", "path", "allow_host", "token_file", "no_auth", "sessions", "idle", "shared")
_IN_FILE = ("policy", "publish", "flatten", "allow", "deny", "prefix", "seconds", "headers")


def _server(settings: ServerSettings, *, is_shared: bool) -> Server:
    """Return the `Server` for these settings. It has a function that opens connections to the
    server.
    """
    import os

    from toolbooth.proxy.memory import memory_of
    from toolbooth.proxy.session import Server

    connect: Callable[[], Link] = partial(_link, settings, _credentials(settings))
    connect()  # a mistake in the target is reported before anything is served
    if is_shared and settings.command:
        from toolbooth.proxy.shared import SharedChild

        connect = SharedChild(connect).seat
    address = settings.url or [settings.cwd, *settings.command]
    return Server(
        name=settings.name,
        connect=connect,
        rules=settings.rules,
        timeout=settings.timeout,
        memory=memory_of(settings.name, address, os.environ),
    )


def _check_names(servers: list[Server]) -> None:
    from toolbooth.proxy.probe import SameTool, ServerNotStarted, check_names

    try:
        check_names(servers)
    except SameTool as error:
        raise Mistake(str(error)) from None
    except ServerNotStarted as error:
        raise Mistake(messages.not_started(error.name, error)) from None


def _credentials(settings: ServerSettings) -> Credentials | None:
    """Return the login that `toolbooth proxy login` has saved for a server, if there is one."""
    import os

    from toolbooth.server.state_file import state_file

    file = state_file("login", settings.url, os.environ)
    if not settings.url or not file.exists():
        return None
    require(messages.A_SAVED_LOGIN, extra="mcp", modules={"mcp": "mcp"})
    from toolbooth.adapters.sdk.oauth import SavedLogin
    from toolbooth.cli.proxy_login import quiet

    quiet()
    return SavedLogin(settings.url, file)


def _link(server: ServerSettings, credentials: Credentials | None) -> Link:
    """Return the connection for a new session."""
    if server.url:
        require("toolbooth proxy URL", extra="proxy", modules={"httptools": "httptools"})
        from toolbooth.proxy.headers import is_header
        from toolbooth.proxy.http_link import HttpLink

        for name, value in server.headers.items():
            if not is_header(name, value):
                raise Mistake(messages.bad_header(server.name, name))
        try:
            return HttpLink(server.url, server.headers, credentials)
        except ValueError:
            raise Mistake(bad_url(server.url)) from None
    from toolbooth.proxy.child import PAUSES
    from toolbooth.proxy.link import ChildLink

    # A restarted server would have a new session, and a trial run would hide this.
    pauses = () if server.rules.observe else PAUSES
    return ChildLink(server.command, env=server.env, cwd=server.cwd, pauses=pauses)


def _serve_stdio(servers: list[Server], records: Records) -> int:
    import asyncio

    from toolbooth.proxy.stdio import serve

    try:
        return asyncio.run(serve(servers, records=records))
    except OSError as error:
        reason = error.strerror or error
        names = ", ".join(server.name for server in servers)
        raise Mistake(messages.not_started(names, reason)) from None


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
    except OSError as error:
        raise Mistake(messages.not_a_recording(file, error.strerror or error)) from None
    except BadRecording as error:
        raise Mistake(str(error)) from None
    click.echo("\n".join(lines(by_tool(calls.values()))))


def _log_to_stderr() -> None:
    # Over stdio, any line on standard output that is not a message would break the connection.
    logging.basicConfig(level=logging.INFO, format="toolbooth: %(message)s")
